# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Refuses calls of an engine that would disturb another call of it, or wait for themselves."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

from stoker.errors import StateError


class OneCaller:
    """Lets one thread at a time call an engine, and no source that the call would wait for.

    The sources of an engine are called in a thread of their own. A source may use another pipeline,
    and so wait for the thread of that pipeline's sources. ``source_thread`` gives the identifier of
    the engine's own such thread, or None while there is none.
    """

    def __init__(self, source_thread: Callable[[], int | None]) -> None:
        self._source_thread = source_thread
        self._process: int | None = None  # where the first call was; a fork may copy a held lock
        self._lock = threading.Lock()
        self._outer: OneCaller | None = None  # what the calling thread is in the midst of besides

    def __enter__(self) -> None:
        self._process = self._process or os.getpid()
        if self._process != os.getpid():
            raise StateError(
                "this pipeline was built before a fork; build one in the child process instead"
            )
        me = threading.get_ident()
        outer = _calls.get(me)
        _calls[me] = self  # before the check: of two threads that come at once, one sees the other
        if self._waits_for(me):
            problem = (
                "a source cannot run, close or restore a pipeline that waits for that source; "
                "do it in the thread that runs the pipeline"
            )
        elif outer is self:
            problem = "a signal handler cannot use a pipeline in the midst of a call of it"
        elif not self._lock.acquire(blocking=False):
            problem = "two threads use one pipeline at once; give each its own"
        else:
            self._outer = outer
            return
        _note(me, outer)
        raise StateError(problem)

    def __exit__(self, *_: object) -> None:
        _note(threading.get_ident(), self._outer)
        self._lock.release()

    def _waits_for(self, thread: int) -> bool:
        """Whether a call may wait for this thread, by way of any number of pipelines."""
        call: OneCaller | None = self
        while call is not None:
            source_thread = call._source_thread()
            if source_thread == thread:
                return True
            call = None if source_thread is None else _calls.get(source_thread)
        return False


_calls: dict[int, OneCaller] = {}  # by thread, the innermost call that it is in


def _note(thread: int, call: OneCaller | None) -> None:
    if call is None:
        del _calls[thread]
    else:
        _calls[thread] = call
