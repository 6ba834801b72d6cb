# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Batches and tensors with DALI's methods. They keep the data that they show alive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
from stoker.types import DType

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from stoker import Batch, Tensor


class TensorCPU:
    """One tensor, of a batch or made from an array or a DLPack capsule.

    All other attributes are Stoker's, or the array's.
    """

    def __init__(self, data: Any, layout: str | None = None, is_pinned: bool = False) -> None:
        if isinstance(data, TensorCPU):
            layout = data.layout() if layout is None else layout
            data = data._data
        elif not hasattr(data, "viewed"):  # no tensor of Stoker's
            data = array_of(data)
        self._data: Tensor | Any = data
        self._layout = layout
        if layout is not None:
            self.set_layout(layout)

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
        return dtype_of(self._data.dtype)

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

    def __stoker_fed__(self) -> tuple[Any, str]:
        """What is fed of it: the data in host memory, and the layout."""
        return self.as_cpu()._data, self.layout()

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
    """The samples of one output of one step, or of an array whose first axis is the batch, of a
    list of tensors or arrays, or of a DLPack capsule.

    All other attributes are Stoker's.
    """

    def __init__(
        self,
        data: Any,
        layout: str | None = None,
        is_pinned: bool = False,
        contiguous: bool = True,
    ) -> None:
        self._batch: Batch | Any
        if isinstance(data, TensorListCPU):
            self._batch = data._batch
        elif hasattr(data, "is_dense"):
            self._batch = data
        elif isinstance(data, (list, tuple)):
            self._batch = _of_tensors(
                [x if isinstance(x, TensorCPU) else TensorCPU(x) for x in data], layout
            )
        else:
            self._batch = Samples.of_whole(array_of(data), layout)
        if layout is not None and self.layout() != layout:
            self.set_layout(layout)

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
        return dtype_of(self._batch.dtype)

    def layout(self) -> str:
        """The layout of one sample; "" when unknown."""
        return str(self._batch.layout)

    def set_layout(self, layout: str | None) -> None:
        """Says the layout of one sample. Raises ``ValueError`` for another number of axes."""
        self._batch = self._batch.viewed(layout=checked_layout(layout, self.ndim, "sample"))

    def reinterpret(self, new_type: Any) -> None:
        """Takes the bytes as another type, which must be as large; else ``RuntimeError``."""
        self._batch = reinterpreted(self._batch, new_type)

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
        return self._batch.at(index)

    def as_array(self) -> Any:
        """All samples as a NumPy array; they must be of one shape."""
        return self._batch.as_array()

    def as_tensor(self) -> TensorCPU:
        """All samples as one tensor; they must be of one shape."""
        layout = self.layout()
        return TensorCPU(self._batch.as_tensor(), f"N{layout}" if layout else None)

    def as_reshaped_tensor(self, shape: Sequence[int]) -> TensorCPU:
        """All samples as one tensor of this shape, which must have as many elements."""
        tensor = self.as_tensor()
        tensor._data = reshaped(tensor._data, shape, "as_reshaped_tensor")
        tensor._layout = ""
        return tensor

    def as_cpu(self) -> TensorListCPU:
        """The batch in host memory; a copy unless it is there."""
        return TensorListCPU(self._batch.as_cpu())

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
        return TensorCPU(batch[index], batch.layout if isinstance(batch, Samples) else None)

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

    def device_id(self) -> int:
        """The number of the GPU."""
        return device_id(self._data.device)

    def as_cpu(self) -> TensorCPU:
        """A copy in host memory."""
        return TensorCPU(self._data.as_cpu(), self._layout)


class TensorListGPU(TensorListCPU):
    """The samples of one output of one step, on the GPU."""

    def device_id(self) -> int:
        """The number of the GPU."""
        return device_id(self._batch.device)

    def at(self, index: int) -> TensorGPU:
        """One sample as a tensor on the same memory."""
        return self[index]

    def as_tensor(self) -> TensorGPU:
        """All samples as one tensor; they must be of one shape."""
        return TensorGPU(self._batch.as_tensor())

    def __getitem__(self, index: int) -> TensorGPU:
        return TensorGPU(self._batch[index])


def device_id(device: str) -> int:
    """The number in a device's name."""
    return int(device.rpartition(":")[2])


def _of_tensors(tensors: Sequence[TensorCPU], layout: str | None) -> Samples:
    layouts = {t.layout() for t in tensors}
    if layout is None and len(layouts) > 1:
        raise TypeError(f"tensors of a list expect one layout, got {sorted(layouts)}")
    made = Samples([array_of(t._data) for t in tensors], layout or next(iter(layouts), ""))
    made.infos = [t.source_info() for t in tensors]
    return made


def as_list(batch: Batch) -> TensorListCPU:
    """Gives a batch of Stoker DALI's methods."""
    return TensorListCPU(batch) if batch.device == "cpu" else TensorListGPU(batch)
