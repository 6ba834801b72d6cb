# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Batches and tensors with DALI's methods. They keep the data that they show alive."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from stoker.types import DType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stoker import Batch, Tensor


class TensorCPU:
    """One tensor, of a batch or made from an array. All other attributes are Stoker's."""

    def __init__(self, data: Any, layout: str | None = None) -> None:
        if not hasattr(data, "__dlpack__"):
            import numpy

            data = numpy.asarray(data)
        self._data: Tensor | Any = data
        self._layout = layout

    def shape(self) -> list[int]:
        """The extent of each axis."""
        return [int(n) for n in self._data.shape]

    @property
    def dtype(self) -> DType:
        """The element type, e.g. ``types.FLOAT``."""
        return DType(str(self._data.dtype))

    def layout(self) -> str:
        """The meaning of each axis; "" when unknown."""
        return str(getattr(self._data, "layout", "") if self._layout is None else self._layout)

    def source_info(self) -> str:
        """Where the sample came from."""
        return str(getattr(self._data, "source_info", ""))

    def data_ptr(self) -> int:
        """The address of the first element."""
        data: Any = self._data
        return int(data.data_ptr if hasattr(data, "data_ptr") else data.ctypes.data)

    def copy_to_external(self, pointer: Any, *_: Any, **__: Any) -> None:
        """Copies to an address, given as an int, a ``ctypes`` pointer or a ``c_void_p``."""
        _copy(self._data, pointer)

    def as_cpu(self) -> TensorCPU:
        """The tensor itself, which is in host memory."""
        return self

    def __array__(self, *args: Any, **options: Any) -> Any:
        return self._data.__array__(*args, **options)

    def __len__(self) -> int:
        return len(self._data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_data"], name)

    def __dlpack__(self, **options: Any) -> Any:
        return self._data.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self._data.__dlpack_device__()

    def __repr__(self) -> str:
        return f"{type(self).__name__}(dtype={self.dtype!r}, shape={self.shape()})"


class TensorListCPU:
    """The samples of one output of one step. All other attributes are Stoker's."""

    def __init__(self, data: Any, layout: str | None = None) -> None:
        if isinstance(data, (list, tuple)) or not hasattr(data, "is_dense"):
            data = _Samples([TensorCPU(x, layout) for x in data])
        self._batch: Batch | Any = data

    def shape(self) -> list[tuple[int, ...]]:
        """The shape of each sample."""
        return list(self._batch.shape())

    @property
    def dtype(self) -> DType:
        """The element type, e.g. ``types.FLOAT``."""
        return DType(str(self._batch.dtype))

    def layout(self) -> str:
        """The layout of one sample; "" when unknown."""
        return str(self._batch.layout)

    @property
    def ndim(self) -> int:
        """How many axes one sample has."""
        return len(self._batch.shape()[0]) if len(self) else 0

    def is_dense_tensor(self) -> bool:
        """Whether all samples have one shape and lie one behind the other."""
        return bool(self._batch.is_dense)

    def at(self, index: int) -> Any:
        """One sample as a NumPy array on the same memory."""
        return self._batch.at(index)

    def as_array(self) -> Any:
        """All samples as a NumPy array; they must be of one shape."""
        return self._batch.as_array()

    def as_tensor(self) -> TensorCPU:
        """All samples as one tensor; they must be of one shape."""
        return TensorCPU(self._batch.as_tensor())

    def as_cpu(self) -> TensorListCPU:
        """The batch in host memory; a copy unless it is there."""
        return TensorListCPU(self._batch.as_cpu())

    def data_ptr(self) -> int:
        """The address of the first element of a dense batch."""
        return self.as_tensor().data_ptr()

    def copy_to_external(self, pointer: Any, *_: Any, **__: Any) -> None:
        """Copies all samples, one behind the other, to an address."""
        at = _address(pointer)
        for i in range(len(self)):
            at += _copy(self._batch[i], at)

    def __getitem__(self, index: int) -> TensorCPU:
        return TensorCPU(self._batch[index])

    def __iter__(self) -> Iterator[TensorCPU]:
        return (self[i] for i in range(len(self)))

    def __len__(self) -> int:
        return len(self._batch)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_batch"], name)

    def __array__(self, *args: Any, **options: Any) -> Any:
        return self._batch.__array__(*args, **options)

    def __dlpack__(self, **options: Any) -> Any:
        return self._batch.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self._batch.__dlpack_device__()

    def __repr__(self) -> str:
        return f"{type(self).__name__}(dtype={self.dtype!r}, shape={self.shape()})"


class TensorGPU(TensorCPU):
    """One tensor on the GPU."""

    def as_cpu(self) -> TensorCPU:
        """A copy in host memory."""
        return TensorCPU(self._data.as_cpu(), self._layout)


class TensorListGPU(TensorListCPU):
    """The samples of one output of one step, on the GPU."""

    def at(self, index: int) -> TensorGPU:
        """One sample as a tensor on the same memory."""
        return self[index]

    def as_tensor(self) -> TensorGPU:
        """All samples as one tensor; they must be of one shape."""
        return TensorGPU(self._batch.as_tensor())

    def __getitem__(self, index: int) -> TensorGPU:
        return TensorGPU(self._batch[index])


class _Samples:
    """A batch of tensors that a user made."""

    def __init__(self, samples: list[TensorCPU]) -> None:
        self.samples = samples

    def shape(self) -> list[tuple[int, ...]]:
        return [tuple(s.shape()) for s in self.samples]

    @property
    def dtype(self) -> str:
        return str(self.samples[0].dtype) if self.samples else "uint8"

    @property
    def layout(self) -> str:
        return self.samples[0].layout() if self.samples else ""

    @property
    def is_dense(self) -> bool:
        return len(set(self.shape())) <= 1

    def at(self, index: int) -> Any:
        import numpy

        return numpy.asarray(self.samples[index])

    def as_array(self) -> Any:
        import numpy

        return numpy.stack([numpy.asarray(s) for s in self.samples])

    as_tensor = as_array

    def as_cpu(self) -> _Samples:
        return self

    def __getitem__(self, index: int) -> Any:
        return self.samples[index]._data

    def __len__(self) -> int:
        return len(self.samples)


def as_list(batch: Batch) -> TensorListCPU:
    """Gives a batch of Stoker DALI's methods."""
    return TensorListCPU(batch) if batch.device == "cpu" else TensorListGPU(batch)


def _address(pointer: Any) -> int:
    if isinstance(pointer, int):
        address: int | None = pointer
    elif isinstance(pointer, ctypes.c_void_p):
        address = pointer.value
    else:
        address = ctypes.addressof(pointer.contents)
    if not address:
        raise ValueError("copy_to_external expects an address, got a null pointer")
    return address


def _copy(data: Any, pointer: Any) -> int:
    """Copies an array to an address. Returns the size of the array in bytes."""
    import numpy

    array = numpy.ascontiguousarray(numpy.asarray(data))
    ctypes.memmove(_address(pointer), array.ctypes.data, array.nbytes)
    return array.nbytes
