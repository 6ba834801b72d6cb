# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The current pipeline, to which operator calls add nodes. Each thread has a stack of them."""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

from stoker._graph.definition import Definition
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


def push(pipeline: Any, definition: Definition) -> None:
    definition.scopes.enter()
    _stack.entries.append(Current(pipeline, definition))


def pop() -> None:
    if not _stack.entries:
        raise GraphError("there is no current pipeline to leave")
    _stack.entries.pop().definition.scopes.leave()
