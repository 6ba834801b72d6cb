# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""What ``nvidia.dali.types`` has besides ``stoker.types``."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Sequence
from enum import Enum
from typing import Any

from stoker import types
from stoker._graph.constants import NotAConstantError, dtype_text, natural_dtype, numbers
from stoker._graph.definition import Definition
from stoker._graph.edge import edge
from stoker._graph.node import DataNode
from stoker.types import DType, ImageType, InterpType

__all__ = [
    "DATA_TYPE",
    "FEATURE",
    "IMAGE_TYPE",
    "INTERP_TYPE",
    "PYTHON_OBJECT",
    "SAME",
    "STRING",
    "TENSOR_LAYOUT",
    "CUDAStream",
    "Constant",
    "ConstantNode",
    "PipelineAPIType",
    "ScalarConstant",
    "TensorLayout",
    "_all_types",
    "to_dali_type",
]


class NotATensors(str):
    """A type that no tensor has. Scripts name it; operators refuse it."""

    def __new__(cls, text: str, number: int) -> NotATensors:
        made = super().__new__(cls, text)
        made._number = number
        return made

    _number: int

    def __int__(self) -> int:
        return self._number


STRING = NotATensors("string", 12)
FEATURE = NotATensors("feature", 17)
IMAGE_TYPE = NotATensors("image type", 20)
DATA_TYPE = NotATensors("data type", 21)
INTERP_TYPE = NotATensors("interp type", 22)
TENSOR_LAYOUT = NotATensors("tensor layout", 23)
PYTHON_OBJECT = NotATensors("python object", 24)

# What the constants of this module are as tensors: numbers, and these instead of their type.
_OF_CONSTANTS: dict[type, NotATensors] = {
    DType: DATA_TYPE,
    ImageType: IMAGE_TYPE,
    InterpType: INTERP_TYPE,
}

SAME = ""  # the layout of the input

_all_types = [
    DType.BOOL,
    *(DType.INT8, DType.INT16, DType.INT32, DType.INT64),
    *(DType.UINT8, DType.UINT16, DType.UINT32, DType.UINT64),
    *(DType.FLOAT16, DType.FLOAT, DType.FLOAT64),
]

_OTHER_NAMES = {
    "boolean": "bool",
    "bool_": "bool",
    "byte": "uint8",
    "ubyte": "uint8",
    "sbyte": "int8",
    "short": "int16",
    "ushort": "uint16",
    "long": "int64",
    "ulong": "uint64",
    "half": "float16",
    "float": "float32",
    "double": "float64",
}


class PipelineAPIType(Enum):
    """The ways of running a pipeline, of which one pipeline uses one."""

    BASIC = 0
    ITERATOR = 1
    SCHEDULED = 2


class TensorLayout(str):
    """A layout, which is a text with a letter for each axis."""

    def __repr__(self) -> str:
        return f"TensorLayout({str(self)!r})"


class CUDAStream:
    """The address of a stream of CUDA."""

    def __init__(self, ptr: int | ctypes.c_void_p = 0) -> None:
        self._address = int(getattr(ptr, "value", ptr) or 0)

    @property
    def ptr(self) -> ctypes.c_void_p:
        """The address as a pointer."""
        return ctypes.c_void_p(self._address)


class ScalarConstant:
    """A number with an element type, for expressions.

    ``uint8()``, ``float32()`` and so on give the same number with another type. Raises
    ``TypeError`` for anything but a number.
    """

    shape: tuple[int, ...] = ()

    def __init__(self, value: Any, dtype: Any = None) -> None:
        try:
            data = numbers(value)
        except NotAConstantError as e:
            raise TypeError(f"ScalarConstant {e}") from None
        if isinstance(data, list):
            raise TypeError(f"ScalarConstant expects one number, got {value!r}")
        self.dtype = to_dali_type(dtype or natural_dtype([data]))
        kind = self.dtype.value.rstrip("0123456789")
        self.value = float(data) if kind == "float" else bool(data) if kind == "bool" else int(data)

    def __getattr__(self, name: str) -> Any:
        if name in {t.value for t in DType if t is not DType.NO_TYPE}:
            return lambda: ScalarConstant(self.value, name)
        raise AttributeError(f"'ScalarConstant' object has no attribute '{name}'", name=name)

    def tolist(self) -> bool | int | float:
        """The number."""
        return self.value

    def __eq__(self, other: object) -> Any:
        if isinstance(other, DataNode):
            return NotImplemented
        return bool(self.value == (other.value if isinstance(other, ScalarConstant) else other))

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        return bool(self.value)

    def __int__(self) -> int:
        return int(self.value)

    def __float__(self) -> float:
        return float(self.value)

    def __repr__(self) -> str:
        return f"ScalarConstant({self.value!r}, dtype={self.dtype!r})"


def to_dali_type(framework_type: Any) -> DType:
    """The element type for one of NumPy, PyTorch or Python, or for its name.

    Raises ``TypeError`` if there is none.
    """
    is_type = isinstance(framework_type, type)
    given = framework_type.__qualname__ if is_type else str(framework_type)
    name = dtype_text(framework_type) or given.removeprefix("torch.")
    name = _OTHER_NAMES.get(name, name)
    found = next((t for t in DType if t.value == name and t is not DType.NO_TYPE), None)
    if found is None:
        raise TypeError(f"{framework_type!r} is no type of a tensor's elements")
    return found


def ConstantNode(  # noqa: N802 - the established name
    device: str | None,
    value: Any,
    dtype: Any = None,
    shape: Any = None,
    layout: str | None = None,
    name: str | None = None,
    **ignored: Any,
) -> DataNode:
    """A node that gives this value for every sample.

    A constant of this module, or a list of them, is numbers, and its batches say that they are of
    ``DATA_TYPE``, ``IMAGE_TYPE`` or ``INTERP_TYPE``.
    """
    _report_ignored(ignored)
    node = types.Constant(value, dtype, shape, layout, device, name)
    first = value[0] if isinstance(value, (list, tuple)) and value else value
    kind = _OF_CONSTANTS.get(type(first))
    if kind is not None and dtype is None:
        _typed.setdefault(edge(node).definition, {})[edge(node).node] = kind
    return node


# By the number of a node: what its batches say of their type.
_typed: weakref.WeakKeyDictionary[Definition, dict[int, NotATensors]] = weakref.WeakKeyDictionary()


def types_of_outputs(definition: Definition) -> Sequence[NotATensors | None]:
    """For each output of a pipeline the type that its batches claim, other than their own."""
    typed = _typed.get(definition, {})
    return [typed.get(node) for node, _ in definition.outputs]


def Constant(  # noqa: N802 - the established name
    value: Any,
    dtype: Any = None,
    shape: Any = None,
    layout: str | None = None,
    device: str | None = None,
    **ignored: Any,
) -> ScalarConstant | DataNode:
    """A single number for expressions; a node for a list, an array or a constant of this module,
    and for a number with any other argument."""
    is_single = not hasattr(value, "shape") and not isinstance(value, (list, tuple, Enum))
    if is_single and shape is None and not layout and device is None and not ignored:
        return ScalarConstant(value, dtype)
    return ConstantNode(device, value, dtype, shape, layout, **ignored)


def _report_ignored(arguments: dict[str, Any]) -> None:
    from stoker.compat._report import report

    for name in arguments:
        report.ignore(f"types.Constant({name}=)")
