# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Batches and tensors with DALI's methods. They keep the data that they show alive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from stoker import missing_gpu
from stoker.compat._samples import (
    Number,
    Samples,
    address_of,
    array_of,
    checked_layout,
    copy_to,
    dtype_of,
    reinterpreted,
    reshaped,
)
from stoker.compat._text import told_list, told_tensor
from stoker.errors import DeviceError
from stoker.types import DType

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from stoker import Batch, Tensor


class TensorCPU:
    """One tensor, of a batch or made from an array or a DLPack capsule.

    All other attributes are Stoker's, or the array's.
    """

    _claimed: Any = None  # a type that no tensor has, such as types.INTERP_TYPE

    def __init__(self, data: Any, layout: str | None = None, is_pinned: bool = False) -> None:
        self._check_place(data)
        if isinstance(data, TensorCPU):
            layout = data.layout() if layout is None else layout
            self._claimed = data._claimed
            data = data._data
        elif not hasattr(data, "viewed"):  # no tensor of Stoker's
            data = array_of(data)
        self._data: Tensor | Any = data
        self._layout = layout
        if layout is not None:
            self.set_layout(layout)

    @classmethod
    def _check_place(cls, data: Any) -> None:
        """Raises ``TypeError`` for data in memory that is not this class's. This one takes any."""

    def shape(self) -> list[int]:
        """The extent of each axis."""
        return [int(n) for n in self._data.shape]

    @property
    def ndim(self) -> Number:
        """How many axes it has; ``ndim()`` says the same."""
        return Number(len(self._data.shape))

    @property
    def dtype(self) -> DType:
        """The element type, e.g. ``types.FLOAT``."""
        return self._claimed or dtype_of(self._data.dtype)

    def layout(self) -> str:
        """The meaning of each axis; "" when unknown."""
        if self._layout is not None:
            return self._layout
        own = getattr(self._data, "layout", "")
        return own if isinstance(own, str) else ""

    def set_layout(self, layout: str | None) -> None:
        """Says the meaning of each axis. Raises ``ValueError`` for another number of axes."""
        self._layout = checked_layout(layout, len(self.shape()), "tensor")

    def source_info(self) -> str:
        """Where the sample came from."""
        return str(getattr(self._data, "source_info", ""))

    def get_property(self, key: str) -> str | None:
        """``"layout"`` or ``"source_info"``; None where nothing is known, or for any other key."""
        known = {"layout": self.layout, "source_info": self.source_info}
        return (known[key]() or None) if key in known else None

    def squeeze(self, dim: int | None = None) -> bool:
        """Takes an axis of extent 1 away, or all of them. Returns whether there was one.

        Raises ``RuntimeError`` if there is no such axis.
        """
        shape = self.shape()
        if dim is not None and not -len(shape) <= dim < len(shape):
            raise RuntimeError(f"squeeze: there is no axis {dim} in a tensor of {len(shape)} axes")
        axes = range(len(shape)) if dim is None else [dim % len(shape)]
        gone = [a for a in axes if shape[a] == 1]
        layout = self.layout()
        if gone:
            kept = [n for a, n in enumerate(shape) if a not in gone]
            self._data = reshaped(self._data, kept, "squeeze")
            self._layout = "".join(c for a, c in enumerate(layout) if a not in gone)
        return bool(gone)

    def reinterpret(self, new_type: Any) -> None:
        """Takes its bytes as another type, which must be as large; else ``RuntimeError``."""
        layout = self.layout()
        self._data, self._layout = reinterpreted(self._data, new_type), layout
        self._claimed = claimed(new_type)

    def data_ptr(self) -> int:
        """The address of the first element."""
        data: Any = self._data
        return int(data.data_ptr if hasattr(data, "data_ptr") else data.ctypes.data)

    def copy_to_external(self, pointer: Any, *_: Any, **__: Any) -> None:
        """Copies to an address, given as an int, a ``ctypes`` pointer or a ``c_void_p``."""
        copy_to(self._data, pointer)

    def as_cpu(self) -> TensorCPU:
        """The tensor itself, which is in host memory."""
        return self

    def _as_gpu(self) -> NoReturn:
        """Raises ``DeviceError``: pipelines copy to a GPU."""
        refuse_copy()

    def is_pinned(self) -> bool:
        """False: whether memory is pinned is the pipeline's own matter."""
        return False

    def __stoker_fed__(self) -> tuple[Any, str]:
        """What is fed of it: the data in host memory, and the layout."""
        return self.as_cpu()._data, self.layout()

    def __array__(self, *args: Any, **options: Any) -> Any:
        _refuse_array_of(self._claimed)
        return self._data.__array__(*args, **options)

    def __len__(self) -> int:
        return len(self._data)

    def __getattr__(self, name: str) -> Any:
        if name in ("__array_interface__", "__array_struct__"):  # which NumPy asks for first
            _refuse_array_of(self._claimed)
        return getattr(self.__dict__["_data"], name)

    def __dlpack__(self, **options: Any) -> Any:
        return self._data.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self._data.__dlpack_device__()

    def __str__(self) -> str:
        return told_tensor(self, with_values=True)

    def __repr__(self) -> str:
        return told_tensor(self)


class TensorListCPU:
    """The samples of one output of one step, or of an array whose first axis is the batch, of a
    list of tensors or arrays, or of a DLPack capsule.

    All other attributes are Stoker's.
    """

    _claimed: Any = None  # as of TensorCPU

    def __init__(
        self,
        data: Any,
        layout: str | None = None,
        is_pinned: bool = False,
        contiguous: bool = True,
    ) -> None:
        self._check_place(data)
        self._batch: Batch | Any
        if isinstance(data, TensorListCPU):
            self._batch, self._claimed = data._batch, data._claimed
        elif hasattr(data, "is_dense"):
            self._batch = data
        elif isinstance(data, (list, tuple)):
            self._batch = _of_tensors([_tensor_at(i, x) for i, x in enumerate(data)], layout)
        else:
            self._batch = Samples.of_whole(array_of(data), layout)
        if layout is not None and self.layout() != layout:
            self.set_layout(layout)

    @classmethod
    def _check_place(cls, data: Any) -> None:
        """Raises ``TypeError`` for data in memory that is not this class's. This one takes any."""

    @staticmethod
    def broadcast(tensor: TensorCPU, count: int) -> TensorListCPU:
        """A list that has one tensor several times."""
        return TensorListCPU(Samples([array_of(tensor._data)] * count, tensor.layout()))

    @staticmethod
    def from_dlpack_list(
        list_of_objects: Sequence[Any], layout: str | None = None, contiguous: bool = False
    ) -> TensorListCPU:
        """A list of what has ``__dlpack__``."""
        return TensorListCPU(list(list_of_objects), layout)

    def shape(self) -> list[tuple[int, ...]]:
        """The shape of each sample."""
        return list(self._batch.shape())

    @property
    def dtype(self) -> DType:
        """The element type, e.g. ``types.FLOAT``."""
        return self._claimed or dtype_of(self._batch.dtype)

    def layout(self) -> str:
        """The layout of one sample; "" when unknown."""
        return str(self._batch.layout)

    def set_layout(self, layout: str | None) -> None:
        """Says the layout of one sample. Raises ``ValueError`` for another number of axes."""
        self._batch = self._batch.viewed(layout=checked_layout(layout, self.ndim, "sample"))

    def reinterpret(self, new_type: Any) -> None:
        """Takes the bytes as another type, which must be as large; else ``RuntimeError``."""
        self._batch = reinterpreted(self._batch, new_type)
        self._claimed = claimed(new_type)

    def reset(self) -> None:
        """Lets its samples go."""
        self._batch = Samples([])

    @property
    def ndim(self) -> Number:
        """How many axes one sample has; ``ndim()`` says the same."""
        return Number(len(self._batch.shape()[0]) if len(self) else 0)

    def is_dense_tensor(self) -> bool:
        """Whether all samples have one shape, so that ``as_tensor()`` works."""
        return len(set(self.shape())) <= 1

    def at(self, index: int) -> Any:
        """One sample as a NumPy array on the same memory."""
        _refuse_array_of(self._claimed)
        return self._batch.at(index)

    def as_array(self) -> Any:
        """All samples as a NumPy array; they must be of one shape."""
        _refuse_array_of(self._claimed)
        return self._batch.as_array()

    def as_tensor(self) -> TensorCPU:
        """All samples as one tensor; they must be of one shape."""
        layout = self.layout()
        whole = TensorCPU(self._batch.as_tensor(), f"N{layout}" if layout else None)
        whole._claimed = self._claimed
        return whole

    def as_reshaped_tensor(self, shape: Sequence[int]) -> TensorCPU:
        """All samples as one tensor of this shape, which must have as many elements."""
        tensor = self.as_tensor()
        tensor._data = reshaped(tensor._data, shape, "as_reshaped_tensor")
        tensor._layout = ""
        return tensor

    def as_cpu(self) -> TensorListCPU:
        """The batch in host memory; a copy unless it is there."""
        there = TensorListCPU(self._batch.as_cpu())
        there._claimed = self._claimed
        return there

    def _as_gpu(self) -> NoReturn:
        """Raises ``DeviceError``: pipelines copy to a GPU."""
        refuse_copy()

    def is_pinned(self) -> bool:
        """False: whether memory is pinned is the pipeline's own matter."""
        return False

    def get_property(self, key: str) -> list[str] | str | None:
        """``"layout"``, or ``"source_info"`` of each sample; None for any other key."""
        if key == "source_info":
            return [tensor.source_info() for tensor in self]
        return (self.layout() or None) if key == "layout" else None

    def data_ptr(self) -> int:
        """The address of the first element of a dense batch."""
        return self.as_tensor().data_ptr()

    def copy_to_external(self, pointer: Any, *_: Any, **__: Any) -> None:
        """Copies all samples, one behind the other, to an address."""
        at = address_of(pointer)
        for i in range(len(self)):
            at += copy_to(self._batch[i], at)

    def __stoker_fed__(self) -> tuple[Any, str]:
        """What is fed of it: the samples in host memory, and their layout."""
        batch = self.as_cpu()._batch
        return (batch.arrays if isinstance(batch, Samples) else batch), self.layout()

    def __getitem__(self, index: int) -> TensorCPU:
        batch = self._batch
        one = TensorCPU(batch[index], batch.layout if isinstance(batch, Samples) else None)
        one._claimed = self._claimed
        return one

    def __iter__(self) -> Iterator[TensorCPU]:
        return (self[i] for i in range(len(self)))

    def __len__(self) -> int:
        return len(self._batch)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_batch"], name)

    def __array__(self, *args: Any, **options: Any) -> Any:
        _refuse_array_of(self._claimed)
        return self._batch.__array__(*args, **options)

    def __dlpack__(self, **options: Any) -> Any:
        return self._batch.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self._batch.__dlpack_device__()

    def __str__(self) -> str:
        return told_list(self, with_values=True)

    def __repr__(self) -> str:
        return told_list(self)


def refuse_copy() -> NoReturn:
    raise DeviceError(
        "a tensor in host memory is copied to a GPU by a pipeline: feed it, and copy its node by "
        f".gpu() ({missing_gpu() or 'there is a GPU'})"
    )


def claimed(new_type: Any) -> Any:
    """The type, if it is one that no tensor has."""
    return new_type if hasattr(new_type, "_number") else None


def _refuse_array_of(claims: Any) -> None:
    """Raises ``TypeError`` for a type that no array has."""
    if claims is not None:
        raise TypeError(f"an array has no elements of type '{claims}'; fn.cast gives numbers")


def _tensor_at(index: int, value: Any) -> TensorCPU:
    if isinstance(value, TensorCPU):
        return value
    shown = ("__array__", "__array_interface__", "__dlpack__")
    if type(value).__name__ != "PyCapsule" and not any(hasattr(value, name) for name in shown):
        raise TypeError(f"the object at {index} is no tensor: it is a {type(value).__name__}")
    return TensorCPU(value)


def _of_tensors(tensors: Sequence[TensorCPU], layout: str | None) -> Samples:
    layouts = {t.layout() for t in tensors if t.layout()}
    if layout is None and len(layouts) > 1:
        raise TypeError(f"tensors of a list expect one layout, got {sorted(layouts)}")
    made = Samples([array_of(t._data) for t in tensors], layout or next(iter(layouts), ""))
    made.infos = [t.source_info() for t in tensors]
    return made
