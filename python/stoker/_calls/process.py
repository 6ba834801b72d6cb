# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""What all calls of a process share: their memory, and the threads that make batches.

A forked child begins anew. Threads of its parent may have held locks of what it inherits, so it
keeps that for ever without touching it.
"""

from __future__ import annotations

import os
import threading
from typing import Any

from stoker import _core


class Process:
    """The memory and the threads of calls in one process."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self._lock = threading.Lock()
        self._memory: _core.CallMemory | None = None
        self._crews: dict[int, _core.Crew] = {}

    def memory(self) -> _core.CallMemory:
        """The memory of all calls, made when it is first asked for."""
        if self._memory is None:
            with self._lock:
                self._memory = self._memory or _core.CallMemory()
        return self._memory

    def crew(self, threads: int) -> _core.Crew:
        """So many threads, which are started when they are first asked for."""
        with self._lock:
            if threads not in self._crews:
                self._crews[threads] = _core.Crew(threads)
            return self._crews[threads]

    def parts(self) -> list[Any]:
        """What was made."""
        return [self._memory, *self._crews.values()]


_now = Process()
_of_parents: list[Any] = []


def process() -> Process:
    """Of this process. Another one is another object, also behind a fork."""
    return _now


def keep_from_parent(part: object) -> None:
    """Keeps for ever what a parent made."""
    _of_parents.append(part)


def _begin_anew() -> None:
    global _now
    keep_from_parent(_now.parts())
    _core.keep_for_ever(_of_parents)
    _now = Process()


os.register_at_fork(after_in_child=_begin_anew)
