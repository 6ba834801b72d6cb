# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""What ``nvidia.dali.types`` has besides ``stoker.types``."""

from __future__ import annotations

import ctypes
from enum import Enum
from typing import Any

from stoker import types
from stoker._graph.constants import NotAConstantError, dtype_text, natural_dtype, numbers
from stoker._graph.node import DataNode
from stoker.compat._enumerations import DATA_TYPE, IMAGE_TYPE, INTERP_TYPE, NotATensors, mark
from stoker.types import DType

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
    "DALIDataType",
    "PipelineAPIType",
    "ScalarConstant",
    "TensorLayout",
    "_all_types",
    "to_dali_type",
]


STRING = NotATensors("string", 12)
FEATURE = NotATensors("feature", 17)
TENSOR_LAYOUT = NotATensors("tensor layout", 23)
PYTHON_OBJECT = NotATensors("python object", 24)


class _DataTypes(type):
    """Shows the members of ``DType`` beside the types that no tensor has."""

    def __getattr__(cls, name: str) -> Any:
        return getattr(DType, name)

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, (DType, NotATensors))

    def __call__(cls, value: Any) -> Any:
        known = {int(t): t for t in (*DType, *_NO_TENSORS)}
        return known[value] if value in known else DType(value)

    def __iter__(cls) -> Any:
        return iter((*DType, *_NO_TENSORS))

    def __len__(cls) -> int:
        return len(DType) + len(_NO_TENSORS)


class DALIDataType(metaclass=_DataTypes):
    """All types that scripts name: those of tensors' elements, and what constants are."""

    STRING = STRING
    FEATURE = FEATURE
    IMAGE_TYPE = IMAGE_TYPE
    DATA_TYPE = DATA_TYPE
    INTERP_TYPE = INTERP_TYPE
    TENSOR_LAYOUT = TENSOR_LAYOUT
    PYTHON_OBJECT = PYTHON_OBJECT
    _BOOL_VEC = NotATensors(" bool vec", 13)
    _INT32_VEC = NotATensors(" int32 vec", 14)
    _STRING_VEC = NotATensors(" string vec", 15)
    _FLOAT_VEC = NotATensors(" float vec", 16)
    _FEATURE_VEC = NotATensors(" feature vec", 18)
    _FEATURE_DICT = NotATensors(" feature dict", 19)
    _TENSOR_LAYOUT_VEC = NotATensors(" tensor layout vec", 25)
    _DATA_TYPE_VEC = NotATensors(" data type vec", 26)
    _INT64_VEC = NotATensors(" int64 vec", 27)


_NO_TENSORS = tuple(v for v in vars(DALIDataType).values() if isinstance(v, NotATensors))

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
        return f"nvidia.dali.types.TensorLayout({str(self)!r})"


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

    def __index__(self) -> int:
        if isinstance(self.value, float):
            raise TypeError(f"an index is a whole number, got {self.value!r}")
        return int(self.value)

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

    def __str__(self) -> str:
        return f"{self.value}:DALIDataType.{self.dtype.name}"

    def __repr__(self) -> str:
        return repr(self.value)


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

    Numbers may be given with one of the types that members of enumerations have.
    """
    _report_ignored(ignored)
    kind = dtype if isinstance(dtype, NotATensors) else None
    node = types.Constant(
        value, dtype if kind is None else DType.INT32, shape, layout, device, name
    )
    if kind is not None:
        mark([node], {"dtype": kind})
    return node


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
    is_single = not (
        hasattr(value, "shape")
        or isinstance(value, (list, tuple, Enum))
        or isinstance(dtype, NotATensors)
    )
    if is_single and shape is None and not layout and device is None and not ignored:
        return ScalarConstant(value, dtype)
    return ConstantNode(device, value, dtype, shape, layout, **ignored)


def _report_ignored(arguments: dict[str, Any]) -> None:
    from stoker.compat._report import report

    for name in arguments:
        report.ignore(f"types.Constant({name}=)")
