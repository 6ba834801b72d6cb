# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Batches that a script makes of its own arrays, and what they share with single tensors."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from typing import Any

from stoker.types import DType


class Number(int):
    """A number that can also be called, as older and newer scripts do."""

    def __call__(self) -> int:
        return int(self)


class _Capsule:
    """What a DLPack capsule shows, for NumPy."""

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **_: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0  # the CPU


# Where a capsule tells on which kind of device its memory is, by its name; and DLPack's kinds.
_PLACES = {b"dltensor": 8, b"dltensor_versioned": 40}
_KINDS = {1: "cpu", 3: "cpu", 2: "gpu", 13: "gpu"}


def kind_of_capsule(value: object) -> str | None:
    """``"cpu"`` or ``"gpu"`` for a DLPack capsule, "" for other memory; None if it is none."""
    if type(value).__name__ != "PyCapsule":
        return None
    api = ctypes.pythonapi
    capsule = ctypes.py_object(value)
    for name, offset in _PLACES.items():
        if api.PyCapsule_IsValid(capsule, name):
            pointer = _pointer_of(capsule, name)
            return _KINDS.get(ctypes.c_int32.from_address(pointer + offset).value, "")
    return None


_pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


def array_of(value: Any) -> Any:
    """The value as an array of NumPy, on its own memory where that can be.

    Raises ``TypeError`` for a capsule of another device's memory.
    """
    import numpy

    if type(value).__name__ == "PyCapsule":
        if kind_of_capsule(value) not in ("cpu", None):
            raise TypeError("expected a DLPack capsule of host memory, got one of a GPU's")
        return numpy.from_dlpack(_Capsule(value))
    if hasattr(value, "__array__") or not hasattr(value, "__dlpack__"):
        return numpy.asarray(value)
    return numpy.from_dlpack(value)


def writable_array_of(value: Any) -> Any:
    """The value as an array that can be written into, a copy where it cannot be otherwise."""
    array = array_of(value)
    return array if array.flags.writeable else array.copy()


def capsule_of(value: Any) -> Any:
    """A DLPack capsule of an array."""
    return writable_array_of(value).__dlpack__()


def checked_layout(layout: str | None, ndim: int, what: str) -> str:
    """The layout as text. Raises ``ValueError`` if it has not one letter for each axis."""
    text = str(layout or "")
    if text and len(text) != ndim:
        raise ValueError(
            f"the layout '{text}' has {len(text)} axes, expected {ndim} as the {what} has"
        )
    return text


def reinterpreted(data: Any, dtype: Any) -> Any:
    """The bytes of a tensor as another type. Raises ``RuntimeError`` unless it is as large.

    A type that no tensor has, such as ``types.INTERP_TYPE``, is held as int32.
    """
    import numpy

    dtype = "int32" if hasattr(dtype, "_number") else dtype
    now, wanted = numpy.dtype(str(data.dtype)), numpy.dtype(str(dtype))
    if wanted.itemsize != now.itemsize:
        raise RuntimeError(
            f"reinterpret expects a type of {now.itemsize} bytes as {now} is, got {wanted}"
        )
    return data.viewed(str(wanted)) if hasattr(data, "viewed") else data.view(wanted)


def reshaped(data: Any, shape: Sequence[int], what: str) -> Any:
    """The elements of a tensor in another shape. Raises ``RuntimeError`` unless it has as many."""
    if math.prod(shape) != math.prod(data.shape) or min(shape, default=0) < 0:
        raise RuntimeError(
            f"{what} expects a shape of {math.prod(data.shape)} elements, got {list(shape)}"
        )
    if hasattr(data, "viewed"):
        return data.viewed(shape=list(shape))
    return array_of(data).reshape(tuple(shape))


class Samples:
    """A batch of arrays, with the methods of a batch that the engine made."""

    device = "cpu"

    def __init__(self, arrays: Sequence[Any], layout: str | None = None, whole: Any = None) -> None:
        self.arrays = list(arrays)
        self.whole = whole  # all of them as one array, where they lie one behind the other
        for i, array in enumerate(self.arrays):
            first = self.arrays[0]
            if (array.dtype, array.ndim) != (first.dtype, first.ndim):
                raise TypeError(
                    f"the tensor at {i} is of {array.ndim} axes and {array.dtype}, expected "
                    f"{first.ndim} axes and {first.dtype} as the first"
                )
        ndim = self.arrays[0].ndim if self.arrays else len(layout or "")
        self.layout = checked_layout(layout, ndim, "sample")
        self.infos: list[str] = [""] * len(self.arrays)

    @classmethod
    def of_whole(cls, array: Any, layout: str | None) -> Samples:
        """The samples along the first axis of an array."""
        if array.ndim == 0:
            raise TypeError("a list of tensors expects an array whose first axis is the batch")
        return cls(list(array), layout, array)

    def viewed(self, dtype: str = "", layout: str | None = None) -> Samples:
        """The same memory as another element type, or with another layout."""

        def as_type(array: Any) -> Any:
            return array.view(dtype) if dtype and array is not None else array

        layout = self.layout if layout is None else layout
        made = Samples([as_type(a) for a in self.arrays], layout, as_type(self.whole))
        made.infos = self.infos
        return made

    def shape(self) -> list[tuple[int, ...]]:
        return [tuple(a.shape) for a in self.arrays]

    @property
    def dtype(self) -> str:
        known = self.arrays[0] if self.arrays else self.whole
        return "uint8" if known is None else str(known.dtype)

    @property
    def is_dense(self) -> bool:
        return len(set(self.shape())) <= 1

    def source_info(self, index: int) -> str:
        return self.infos[index]

    def at(self, index: int) -> Any:
        return self.arrays[index]

    def as_array(self) -> Any:
        import numpy

        if not self.is_dense:
            raise RuntimeError("the samples differ in shape, so they are no single array")
        return numpy.stack(self.arrays) if self.whole is None else self.whole

    as_tensor = as_array

    def as_cpu(self) -> Samples:
        return self

    def __getitem__(self, index: int) -> Any:
        return self.arrays[index]

    def __len__(self) -> int:
        return len(self.arrays)

    def __array__(self, *args: Any, **options: Any) -> Any:
        return self.as_array().__array__(*args, **options)

    def __dlpack__(self, **options: Any) -> Any:
        return self.as_array().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0  # the CPU


def dtype_of(name: object) -> DType:
    """The element type with this name."""
    return DType(str(name))


def copy_to(data: Any, pointer: Any) -> int:
    """Copies an array to an address. Returns the size of the array in bytes."""
    import numpy

    array = numpy.ascontiguousarray(numpy.asarray(data))
    ctypes.memmove(address_of(pointer), array.ctypes.data, array.nbytes)
    return array.nbytes


def address_of(pointer: Any) -> int:
    """The address that an int, a ``c_void_p`` or another pointer holds."""
    if isinstance(pointer, int):
        address: int | None = pointer
    elif isinstance(pointer, ctypes.c_void_p):
        address = pointer.value
    else:
        address = ctypes.addressof(pointer.contents)
    if not address:
        raise ValueError("copy_to_external expects an address, got a null pointer")
    return address
