# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Pickles functions that worker processes cannot import: with their code and what it refers to.

These are lambdas, functions that are defined within others, and those that ``pickle_by_value``
marks. All else is pickled as usual.
"""

from __future__ import annotations

import dis
import importlib
import io
import marshal
import pickle
from collections.abc import Callable
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

_MARK = "__stoker_by_value__"
_LOOKS_UP = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS")


def pickle_by_value(function: Function) -> Function:
    """Marks a function to be sent to worker processes as its code, not by its name.

    Raises ``TypeError`` for anything but a function that is written in Python.
    """
    if not isinstance(function, FunctionType):
        raise TypeError(f"pickle_by_value expects a function, got a {type(function).__name__}")
    setattr(function, _MARK, True)
    return function


def dumps(value: Any) -> bytes:
    """What ``pickle.loads`` makes the value of."""
    file = io.BytesIO()
    _Pickler(file).dump(value)
    return file.getvalue()


class _Pickler(pickle.Pickler):
    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, ModuleType):
            return importlib.import_module, (obj.__name__,)
        if not isinstance(obj, FunctionType) or not _goes_by_value(obj):
            return NotImplemented
        code = obj.__code__
        names = _names_in(code)
        state = {
            "globals": {n: v for n, v in obj.__globals__.items() if n in names},
            "cells": [_content(cell) for cell in obj.__closure__ or ()],
            "defaults": (obj.__defaults__, obj.__kwdefaults__),
            "attributes": obj.__dict__,
        }
        made_of = (marshal.dumps(code), obj.__module__, obj.__qualname__, len(code.co_freevars))
        return _empty, made_of, state, None, None, _fill


def _goes_by_value(function: FunctionType) -> bool:
    is_inner = "<lambda>" in function.__qualname__ or "<locals>" in function.__qualname__
    return is_inner or hasattr(function, _MARK)


def _names_in(code: CodeType) -> set[str]:
    """The names that the code, and code within it, looks up in its module."""
    own = {i.argval for i in dis.get_instructions(code) if i.opname in _LOOKS_UP}
    inner = [c for c in code.co_consts if isinstance(c, CodeType)]
    return own.union(*map(_names_in, inner))


def _content(cell: CellType) -> tuple[Any, ...]:
    try:
        return (cell.cell_contents,)
    except ValueError:  # of a variable that has no value yet
        return ()


def _empty(code: bytes, module: str, qualname: str, cells: int) -> FunctionType:
    """The function without what its code refers to, so that this may refer to the function."""
    scope = {"__name__": module, "__builtins__": __builtins__}
    closure = tuple(CellType() for _ in range(cells))
    made = FunctionType(marshal.loads(code), scope, closure=closure)
    made.__qualname__ = qualname
    return made


def _fill(function: FunctionType, state: dict[str, Any]) -> None:
    function.__globals__.update(state["globals"])
    function.__defaults__, function.__kwdefaults__ = state["defaults"]
    function.__dict__.update(state["attributes"])
    for cell, content in zip(function.__closure__ or (), state["cells"], strict=True):
        if content:
            cell.cell_contents = content[0]
