# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Parts of messages: the nearest right name, the user's own line, values, and the operator call."""

from __future__ import annotations

import functools
import os
import reprlib
import sys
import threading
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NamedTuple, NoReturn

from stoker import _core
from stoker.errors import EpochWarning, GraphError

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


def did_you_mean(wrong: str, names: Iterable[str]) -> str:
    """The text " Did you mean 'x'?" with the name nearest to ``wrong``; "" if none is near."""
    return _core.did_you_mean(wrong.encode(errors="replace").decode(), list(names))


def near_or_all(wrong: str, names: Iterable[str], what: str) -> str:
    """As ``did_you_mean``; if none is near, ``what`` and all of the names."""
    names = sorted(set(names))
    return did_you_mean(wrong, names) or f" {what} {', '.join(names)}."


def shown(value: object) -> str:
    """The value as Python writes it, but short; its type if the value itself fails at that."""
    try:
        return _short.repr(value)
    except Exception:
        return f"<{type(value).__name__} instance>"


_short = reprlib.Repr()
_short.maxstring = _short.maxother = _short.maxlong = 60


def told(failure: BaseException) -> str:
    """What an exception says, or its type; if its ``__str__`` fails, that is said."""
    try:
        return str(failure) or type(failure).__name__
    except Exception as e:
        return f"(it has no text: its __str__ raised {type(e).__name__})"


def raised(failure: BaseException) -> str:
    """What another's code raised: the type, as texts alone may say little, and what it says."""
    return f"{type(failure).__name__}: {told(failure)}"


def user_level() -> int:
    """The ``stacklevel`` that makes a warning of the caller point at the user's line."""
    level = 1
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and is_ours(frame):
        frame = frame.f_back
        level += 1
    return level


def warn_of_epoch(text: str) -> None:
    """Warns of an epoch that is not whole, at the user's line."""
    warnings.warn(text, EpochWarning, stacklevel=user_level())


def is_ours(frame: FrameType) -> bool:
    """Whether it runs code of this package."""
    return _is_our_file(frame.f_code.co_filename)


@functools.cache
def _is_our_file(name: str) -> bool:
    return os.path.abspath(name).startswith(_PACKAGE)


class _Said(threading.local):
    line: str | None = None  # what user_line() says


_said = _Said()


@contextmanager
def at_line(line: str | None) -> Iterator[None]:
    """Until it is left, ``user_line()`` is this in the calling thread; None is the user's line."""
    before, _said.line = _said.line, line
    try:
        yield
    finally:
        _said.line = before


def user_line() -> str:
    """The "file:line" of the innermost frame outside this package, or "" if there is none.

    The path of a file in the working folder is relative to that folder. In a path that is not
    UTF-8, other bytes are escaped.
    """
    if _said.line is not None:
        return _said.line
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and is_ours(frame):
        frame = frame.f_back
    if frame is None:
        return ""
    return line_in_words(frame.f_code.co_filename, frame.f_lineno)


def line_in_words(path: str, line: int) -> str:
    """The "file:line", as ``user_line()`` has it."""
    try:
        here = os.getcwd() + os.sep
    except FileNotFoundError:  # the working folder was deleted: paths stay absolute
        here = os.sep + os.sep
    name = path.removeprefix(here).encode(errors="surrogateescape")
    return f"{name.decode(errors='backslashreplace')}:{line}"


class Place(NamedTuple):
    """A call of an operator, as messages name it.

    ``op`` is the operator, ``name`` the name of the instance if it has one, and ``where`` the
    user's line.
    """

    op: str
    name: Any
    where: str

    def __str__(self) -> str:
        instance = f"{self.op} '{self.name}'" if self.name else self.op
        return f"{instance} ({self.where})"

    def refuse(self, problem: str, error: type[GraphError] = GraphError) -> NoReturn:
        """Raises a ``GraphError`` that names this call.

        An exception that is being handled only says the same; what it came from says more.
        """
        handled = sys.exc_info()[1]
        raise error(f"{self}: {problem}") from (handled and handled.__cause__)
