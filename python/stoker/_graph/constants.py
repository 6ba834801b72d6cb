# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Converts constant arguments into the few plain types that a graph holds."""

from __future__ import annotations

import operator
import os
from collections.abc import Sequence
from enum import Enum
from typing import Any

from stoker._describe.registry import Plain
from stoker._messages import shown

_PLAIN = (bool, int, float, str)


class Computed:
    """The base class of what other operators compute: a node."""

    __slots__ = ()


class NotAConstantError(Exception):
    """A value cannot be an argument; the text says what was expected and what was given."""


def plain(value: Any) -> Plain:
    """Converts a value to None, a bool, int, float or str, or a flat list of numbers or texts.

    Takes these, enumerations, paths, and the scalars, arrays and dtypes of NumPy and PyTorch.
    Arrays and nested lists are flattened, with the last axis fastest. Raises
    ``NotAConstantError`` for anything else.
    """
    data = _flat(value)
    if isinstance(data, list) and all(isinstance(x, bool) for x in data):
        return [int(x) for x in data]
    return data


def _flat(value: Any) -> Plain:
    """As ``plain()``, but a list of bools stays one."""
    try:
        return _plain(value)
    except NotAConstantError:
        raise
    except RecursionError:
        raise NotAConstantError("expects a flat list, got one that is nested too deep") from None
    except Exception as e:  # what the value's own methods raise
        raise _refusal(value) from e


def _plain(value: Any) -> Plain:
    if value is None or type(value) in _PLAIN:
        return value  # type: ignore[no-any-return]
    if isinstance(value, (list, tuple, range)):
        return _list(value)
    if (text := _text(value)) is not None:
        return text
    if hasattr(value, "tolist") and not isinstance(value, type):
        return _plain(value.tolist())
    return _number(value)


def dtype_text(value: Any) -> str | None:
    """The name of an element type of Stoker's, NumPy's or PyTorch's; None for anything else."""
    if isinstance(value, Enum) and isinstance(value.value, str):
        return value.value
    if isinstance(value, type):
        return value.__name__.rstrip("_") if value.__module__ == "numpy" else None
    for base in type(value).__mro__:
        if base.__name__ == "dtype" and base.__module__ == "numpy":
            return str(value.name)
        if base.__name__ == "dtype" and base.__module__ == "torch":
            return str(value).removeprefix("torch.")
    return None


def _text(value: Any) -> str | None:
    if isinstance(value, Enum) and isinstance(value.value, str):
        return value.value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    return dtype_text(value)


def _number(value: Any) -> Plain:
    for number in (operator.index, _float):
        try:
            return number(value)
        except Exception:  # also what the value's own methods raise
            continue
    raise _refusal(value)


def _refusal(value: Any) -> NotAConstantError:
    if isinstance(value, type):
        return NotAConstantError(
            f"expects a dtype such as types.FLOAT or 'float32', got {shown(value)}"
        )
    return NotAConstantError(
        "expects a number, a text, a list of them, a dtype or the output of an operator, "
        f"got {shown(value)}"
    )


def _float(value: Any) -> float:
    return float(type(value).__float__(value))  # float() alone would take bytes


def _list(values: Any) -> Plain:
    kinds = set(map(type, values))
    if kinds in ({int}, {float}, {str}):  # the common case, fast for lists of thousands
        return list(values)
    flat: list[Any] = []
    for value in values:
        if isinstance(value, Computed):
            raise NotAConstantError(
                f"is a list that holds {value!r}; "
                "the output of an operator must be the whole argument"
            )
        element = _plain(value)
        flat.extend(element if isinstance(element, list) else [element])
    if any(isinstance(x, str) for x in flat):
        if not all(isinstance(x, str) for x in flat):
            raise NotAConstantError(f"expects a list of one type, got {shown(flat)}")
        return flat
    if any(x is None for x in flat):
        raise NotAConstantError(f"expects a list without None, got {shown(flat)}")
    if any(isinstance(x, float) for x in flat):
        return [float(x) for x in flat]
    return flat if all(isinstance(x, bool) for x in flat) else [int(x) for x in flat]


# Numbers that become nodes, and numbers in expressions.


def numbers(value: Any) -> bool | int | float | list[Any]:
    """As ``plain()``, but raises ``NotAConstantError`` for texts and None; bools stay bools."""
    data = _flat(value)
    if (
        data is None
        or isinstance(data, str)
        or (isinstance(data, list) and any(isinstance(x, str) for x in data[:1]))
    ):
        raise NotAConstantError(f"expects numbers, got {shown(value)}")
    return data


def with_numbers(value: Any) -> Any:
    """The value; the numbers of members of an enumeration of ``stoker.types``, one or a list."""
    members: Any = value if isinstance(value, (list, tuple)) else [value]
    kinds = set(map(type, members))
    if len(kinds) != 1 or not all(map(_has_numbers, kinds)):
        return value
    made = [int(m) for m in members]
    return made if members is value else made[0]


def _has_numbers(kind: type) -> bool:
    return issubclass(kind, Enum) and issubclass(kind, str) and hasattr(kind, "__int__")


def shape_of(value: Any) -> list[int]:
    if hasattr(value, "shape"):
        return [int(n) for n in value.shape]
    shape = []
    while isinstance(value, (list, tuple)):
        shape.append(len(value))
        value = value[0] if value else None
    return shape


def natural_dtype(elements: Sequence[Any]) -> str:
    """The dtype of numbers that do not say one."""
    if not elements:
        return "float32"
    if all(isinstance(x, bool) for x in elements):
        return "bool"
    return "int32" if all(isinstance(x, int) for x in elements) else "float32"


def constant_arguments(value: Any, dtype: Any = None, shape: Any = None) -> dict[str, Any]:
    """The arguments of the operator ``constant`` for this value."""
    value = with_numbers(value)
    data = numbers(value)
    elements = data if isinstance(data, list) else [data]
    if shape is None:
        shape = shape_of(value)
    if dtype is None:
        dtype = array_dtype(value)
    if elements and all(isinstance(x, int) for x in elements):
        return {"idata": [int(x) for x in elements], "dtype": dtype, "shape": shape}
    return {"fdata": elements, "dtype": dtype, "shape": shape}


def number_text(value: Any, reflected: bool) -> str | None:
    """A number as expressions write it; None for a list or an array of any shape.

    NumPy's scalars keep their dtype, but not at the left of a node (``reflected``), where they
    count as numbers of Python. What has an element type of Stoker's keeps it everywhere. Raises
    ``NotAConstantError``.
    """
    data = numbers(value)
    if isinstance(data, list) or shape_of(value):
        return None
    dtype = getattr(value, "dtype", None)
    own = dtype_text(dtype)
    if own is not None and not (reflected and not isinstance(dtype, Enum)):
        return f"{own}({int(data) if isinstance(data, bool) else data!r})"
    if isinstance(data, int) and not -(2**63) <= data < 2**63:
        raise NotAConstantError(f"expects a whole number of 64 bits, got {shown(value)}")
    if isinstance(data, bool):
        return f"bool({int(data)})" if own is None else f"{int(data)}"
    return repr(data)


def array_dtype(value: Any) -> str:
    """The dtype of a list or an array that becomes a node.

    Arrays keep theirs, but for those of 64 bits, as NumPy gives most arrays these: they have 32
    bits, unless whole numbers do not fit.
    """
    data = numbers(value)
    elements = data if isinstance(data, list) else [data]
    dtype = dtype_text(getattr(value, "dtype", None)) or natural_dtype(elements)
    narrow = {"int64": "int32", "uint64": "uint32", "float64": "float32"}.get(dtype, dtype)
    if narrow in ("int32", "uint32"):
        low, high = (-(2**31), 2**31) if narrow == "int32" else (0, 2**32)
        if any(not low <= x < high for x in elements):
            return narrow.replace("32", "64")
    return narrow
