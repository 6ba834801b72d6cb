# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The pipeline that operator calls belong to: a stack per thread."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from stoker.errors import GraphError

if TYPE_CHECKING:
    from stoker._pipeline.pipeline import Pipeline


class _Stack(threading.local):
    def __init__(self) -> None:
        self.pipelines: list[Pipeline] = []


_stack = _Stack()


def current() -> Pipeline | None:
    return _stack.pipelines[-1] if _stack.pipelines else None


def push(pipeline: Pipeline) -> None:
    _stack.pipelines.append(pipeline)


def pop() -> Pipeline:
    if not _stack.pipelines:
        raise GraphError("there is no current pipeline to leave")
    return _stack.pipelines.pop()
