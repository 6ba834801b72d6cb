# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""For test_contract.py: how each framework's iterators are made and its tensors are read.

A framework is imported only when its adapter is made.
"""

from __future__ import annotations

import importlib.util
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from helpers import Array
from stoker import Pipeline

Step = list[dict[str, Array]]
AVAILABLE = [
    name
    for name in ("numpy", "torch", "jax", "tensorflow", "mxnet")
    if importlib.util.find_spec(name) is not None
]
TYPES = (
    *("bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"),
    *("float16", "float32", "float64"),
)


class Adapter(ABC):
    """One framework. ``types`` are the element types that it takes without conversion.

    ``takes_many`` says whether an iterator may have several pipelines.
    """

    types: Sequence[str] = TYPES
    takes_many = True
    _make: Callable[..., Any]

    def open(
        self, pipelines: Pipeline | Sequence[Pipeline], names: Sequence[str], **arguments: Any
    ) -> Any:
        """An iterator, made with the arguments that the established library's has."""
        return self._make(pipelines, names, **arguments)

    def read(self, step: Any) -> Step:
        """A step as NumPy copies, one dict per pipeline. Samples that do not count are left out."""
        return [{name: self.array(x).copy() for name, x in one.items()} for one in step]

    @abstractmethod
    def array(self, tensor: Any) -> Array:
        """A view of a tensor's memory."""

    def address(self, tensor: Any) -> int:
        """Where a tensor's memory begins."""
        return int(self.array(tensor).ctypes.data)

    def tensors(self, step: Any) -> list[Any]:
        """The tensors of a step's first pipeline."""
        return list(step[0].values())


class Numpy(Adapter):
    def __init__(self) -> None:
        from stoker.numpy import DALIGenericIterator

        self._make = DALIGenericIterator

    def array(self, tensor: Any) -> Array:
        return np.asarray(tensor)


class Torch(Numpy):
    def __init__(self) -> None:
        from stoker.torch import DALIGenericIterator

        self._make = DALIGenericIterator


class Jax(Adapter):
    types = tuple(t for t in TYPES if t not in ("int64", "uint64", "float64"))

    def open(
        self, pipelines: Pipeline | Sequence[Pipeline], names: Sequence[str], **arguments: Any
    ) -> Any:
        from stoker.jax import DALIGenericIterator, DataIterator

        if isinstance(pipelines, Pipeline):
            return DALIGenericIterator(pipelines, names, **arguments)
        return DataIterator(pipelines, names, **{"auto_reset": False, **arguments})

    def read(self, step: Any) -> Step:
        return super().read([step] if isinstance(step, dict) else step)

    def array(self, tensor: Any) -> Array:
        return np.asarray(tensor)

    def address(self, tensor: Any) -> int:
        return int(tensor.unsafe_buffer_pointer())

    def tensors(self, step: Any) -> list[Any]:
        return super().tensors([step] if isinstance(step, dict) else step)


class Tensorflow(Adapter):
    takes_many = False

    def open(
        self, pipelines: Pipeline | Sequence[Pipeline], names: Sequence[str], **arguments: Any
    ) -> Any:
        return _Loops(pipelines, names, arguments)

    def array(self, tensor: Any) -> Array:
        return np.asarray(memoryview(tensor))


class _Loops:
    """A dataset used like an iterator, one loop after the other."""

    def __init__(self, pipeline: Any, names: Sequence[str], arguments: dict[str, Any]) -> None:
        from stoker.tensorflow import Dataset

        self._resets = arguments.pop("auto_reset", False)
        self._dataset = Dataset(pipeline, names, **arguments)
        self._loop: Any = None

    def __len__(self) -> int:
        return self._dataset.steps_per_epoch

    def __iter__(self) -> Iterator[Any]:
        self._loop = None
        return self

    def __next__(self) -> Any:
        if self._loop is None:
            self._loop = iter(self._dataset)
        try:
            return [next(self._loop)]
        except StopIteration:
            self._loop = iter(()) if not self._resets else None
            raise

    def reset(self) -> None:
        self._loop = None

    def __getattr__(self, name: str) -> Any:
        if name == "load_state_dict":
            self._loop = None
        return getattr(self._dataset, name)


class Mxnet(Adapter):
    types = ("bool", "uint8", "int8", "int32", "int64", "float16", "float32", "float64")

    def __init__(self) -> None:
        from stoker.mxnet import DALIGenericIterator

        self._make = DALIGenericIterator

    def open(
        self, pipelines: Pipeline | Sequence[Pipeline], names: Sequence[str], **arguments: Any
    ) -> Any:
        self._names = list(names)
        return super().open(pipelines, [(name, "data") for name in names], **arguments)

    def read(self, step: Any) -> Step:
        return [
            {
                name: self.array(array)[: len(array) - one.pad]
                for name, array in zip(self._names, one.data, strict=True)
            }
            for one in step
        ]

    def array(self, tensor: Any) -> Array:
        """A copy, because MXNet has no views."""
        copy: Array = tensor.asnumpy()
        return copy

    def address(self, tensor: Any) -> int:
        import ctypes

        import mxnet as mx

        pointer = ctypes.c_void_p()
        mx.base.check_call(mx.base._LIB.MXNDArrayGetData(tensor.handle, ctypes.byref(pointer)))
        assert pointer.value is not None
        return pointer.value

    def tensors(self, step: Any) -> list[Any]:
        return list(step[0].data)


ADAPTERS: dict[str, type[Adapter]] = {
    "numpy": Numpy,
    "torch": Torch,
    "jax": Jax,
    "tensorflow": Tensorflow,
    "mxnet": Mxnet,
}
