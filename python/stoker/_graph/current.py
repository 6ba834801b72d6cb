# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The current pipeline, to which operator calls add nodes. Each thread has a stack of them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from stoker._graph.definition import Definition, Manner
from stoker.errors import GraphError


class Current(NamedTuple):
    """A pipeline, and the definition that operator calls add to."""

    pipeline: Any
    definition: Definition


class _Stack(threading.local):
    def __init__(self) -> None:
        self.entries: list[Current] = []


_stack = _Stack()


def current() -> Current | None:
    return _stack.entries[-1] if _stack.entries else None


def manner() -> Manner:
    """How the current definition treats the script."""
    return _stack.entries[-1].definition.manner if _stack.entries else Manner()


def push(pipeline: Any, definition: Definition) -> None:
    definition.scopes.enter()
    _stack.entries.append(Current(pipeline, definition))


@contextmanager
def inside(definition: Definition, anew: bool = False) -> Iterator[None]:
    """Operator calls add to this definition; with ``anew`` they are in no conditional's branch."""
    definition.scopes.enter(anew)
    _stack.entries.append(Current(None, definition))
    try:
        yield
    finally:
        pop()


def pop() -> None:
    if not _stack.entries:
        raise GraphError("there is no current pipeline to leave")
    _stack.entries.pop().definition.scopes.leave()
