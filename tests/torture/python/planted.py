# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Defects to put into Stoker, which the torture must find.

Most concern arrays that are fed; the others concern arguments, as all that is wrong with what is
fed is said by an error of Stoker.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from stoker._graph import calls
from stoker._sources import arrays
from stoker.errors import GraphError

_kept: list[Any] = []


def _is_odd(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.size > 0 and not value.flags.c_contiguous


def _crash(value: Any) -> Any:
    os.kill(os.getpid(), signal.SIGSEGV)


def _hang(value: Any) -> Any:
    time.sleep(3600)


def _wrong(value: Any) -> Any:
    return value[::-1].copy()


def _other(value: Any) -> Any:
    _kept.append(None)
    return value + len(_kept)


def _keep(value: Any) -> Any:
    _kept.append(value)
    return value


OF_ARRAYS: dict[str, Callable[[Any], Any]] = {
    "crash": _crash,
    "hang": _hang,
    "wrong": _wrong,
    "other": _other,
    "kept": _keep,
}


OF_ARGUMENTS = {"foreign": ArithmeticError("not of Stoker"), "nameless": GraphError("it is wrong")}
PLANTS = [*OF_ARRAYS, *OF_ARGUMENTS]


def plant(name: str | None) -> None:
    """Puts a defect in, for good."""
    if name in OF_ARGUMENTS:
        calls.plain = _refusing_numpy(calls.plain, OF_ARGUMENTS[name])
    elif name is not None:
        arrays._array = _with_defect(arrays._array, OF_ARRAYS[name])


def _refusing_numpy(real: Callable[[Any], Any], error: Exception) -> Callable[[Any], Any]:
    def plain(value: Any) -> Any:
        if isinstance(value, np.generic):
            raise error
        return real(value)

    return plain


def _with_defect(
    real: Callable[[Any, str], Any], defect: Callable[[Any], Any]
) -> Callable[[Any, str], Any]:
    def array(value: Any, what: str) -> Any:
        return real(defect(value) if _is_odd(value) else value, what)

    return array
