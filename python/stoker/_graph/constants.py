# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Converts constant arguments into the few plain types that a graph holds."""

from __future__ import annotations

import operator
import os
from enum import Enum
from typing import Any

from stoker._describe.registry import Plain
from stoker._graph.node import DataNode
from stoker._messages import shown

_PLAIN = (bool, int, float, str)


class NotAConstantError(Exception):
    """A value cannot be an argument; the text says what was expected and what was given."""


def plain(value: Any) -> Plain:
    """Converts a value to None, a bool, int, float or str, or a flat list of numbers or texts.

    Takes these, enumerations, paths, and the scalars, arrays and dtypes of NumPy and PyTorch.
    Arrays and nested lists are flattened, with the last axis fastest. Raises
    ``NotAConstantError`` for anything else.
    """
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
    """The name of a NumPy or PyTorch dtype; None for anything else."""
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
        if isinstance(value, DataNode):
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
    return (
        [float(x) for x in flat]
        if any(isinstance(x, float) for x in flat)
        else [int(x) for x in flat]
    )
