# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Features of TFRecord files: what ``fn.readers.tfrecord`` is to read of each record."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

from stoker.errors import GraphError

__all__ = [
    "BytesListFeature",
    "Feature",
    "FixedLenFeature",
    "FixedLenSequenceFeature",
    "VarLenFeature",
    "float32",
    "int64",
    "string",
]

string = "bytes"
float32 = "float32"
int64 = "int64"

_FORMATS = {float32: "<f", int64: "<q"}


class Feature:
    """The base of all features. Use one of the classes below."""

    _form = "fixed"
    _many = False

    def __init__(self, shape: Sequence[int] | int, dtype: Any, default_value: Any = None) -> None:
        self.shape = _shape(shape)
        self.dtype = _type(dtype)
        self.default_value = default_value

    def __repr__(self) -> str:
        return f"{type(self).__name__}({list(self.shape)}, {self.dtype!r}, {self.default_value!r})"

    def _text(self, name: str) -> str:
        """As the engine takes it: ``parse_feature_spec`` of ``stores/records/example.h``."""
        shape = ",".join(map(str, self.shape)) or "-"
        number = "many" if self._many else "one"
        return f"{self._form} {self.dtype} {shape} {number} {self._default(name)} {name}"

    def _outputs(self, name: str) -> list[str]:
        """The names of the outputs."""
        return [name, f"{name}.sizes"] if self._many else [name]

    def _default(self, name: str) -> str:
        value = self.default_value
        if value is None:
            return "-"
        try:
            if self.dtype == string:
                data = value.encode() if isinstance(value, str) else bytes(value)
            else:
                values = _flat(value)
                data = b"".join(struct.pack(_FORMATS[self.dtype], v) for v in values)
        except (struct.error, TypeError, OverflowError) as e:
            raise GraphError(
                f"the default of feature {name!r} expects values of {self.dtype}, got {value!r}"
            ) from e
        return f"x{data.hex()}"


class FixedLenFeature(Feature):
    """Values of one shape, or one byte string.

    - ``shape``: of the values; ``[]`` gives one number of shape (). Byte strings take ``[]``.
    - ``dtype``: ``string``, ``int64`` or ``float32``.
    - ``default_value``: for records without the feature, one value or as many as the shape has.
      Without it, such a record is a bad sample.
    """


class VarLenFeature(Feature):
    """Any number of values, also none: an array of them, or of rows of them.

    Called as ``VarLenFeature(dtype, default_value)`` or as
    ``VarLenFeature(partial_shape, dtype, default_value)``, where the shape is that of a row. A
    record without the feature has no values, so the default has no effect. A byte string has one
    value at most: several are a :class:`BytesListFeature`.
    """

    _form = "varying"

    def _default(self, name: str) -> str:
        return "-"

    def __init__(self, *arguments: Any, **named: Any) -> None:
        names = ["partial_shape", "dtype", "default_value"]
        if "partial_shape" not in named and (not arguments or _is_type(arguments[0])):
            names = names[1:]
        if len(arguments) > len(names):
            raise GraphError(f"VarLenFeature takes {len(names)} arguments, got {len(arguments)}")
        given = {**dict(zip(names, arguments, strict=False)), **named}
        if unknown := given.keys() - {"partial_shape", "dtype", "default_value"}:
            raise GraphError(f"VarLenFeature has no argument {sorted(unknown)[0]!r}")
        if "dtype" not in given:
            raise GraphError("VarLenFeature needs a dtype")
        super().__init__(given.get("partial_shape", ()), given["dtype"], given.get("default_value"))


class BytesListFeature(Feature):
    """Any number of byte strings.

    The result is a pair of nodes: the strings' bytes one behind the other, and their sizes, int64.
    """

    _many = True

    def __init__(self) -> None:
        super().__init__((), string)


class FixedLenSequenceFeature(Feature):
    """A feature list of a ``SequenceExample``, with values of one shape in each step.

    The result has the steps as its first axis. Of ``string``, it is a pair of nodes: the bytes of
    all steps one behind the other, and their sizes, int64.
    """

    _form = "sequence"

    def __init__(self, shape: Sequence[int] | int, dtype: Any) -> None:
        super().__init__(shape, dtype)
        self._many = self.dtype == string


def _is_type(value: Any) -> bool:
    return isinstance(value, str) and value in (string, float32, int64)


def _type(dtype: Any) -> str:
    if not _is_type(dtype):
        raise GraphError(
            f"the type of a feature is stoker.tfrecord.string, int64 or float32, got {dtype!r}"
        )
    return str(dtype)


def _shape(shape: Any) -> tuple[int, ...]:
    extents = (shape,) if isinstance(shape, int) else tuple(shape)
    if any(not isinstance(e, int) or e < 0 for e in extents):
        raise GraphError(f"the shape of a feature has whole numbers from 0 on, got {shape!r}")
    return extents


def _flat(value: Any) -> list[Any]:
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [v for part in value for v in _flat(part)]
    return [value]
