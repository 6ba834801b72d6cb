# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Keeps the compiled calls that were used last."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable

from stoker._calls.compiled import CompiledCall


class Kept:
    """At most so many compiled calls, by what they were compiled for. Thread-safe."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._calls: OrderedDict[Hashable, CompiledCall] = OrderedDict()

    def __len__(self) -> int:
        return len(self._calls)

    def begin_anew(self) -> None:
        """For a forked child: another thread of its parent may have held the lock."""
        self._lock = threading.Lock()

    def get(self, what: Hashable, make: Callable[[], CompiledCall]) -> CompiledCall:
        """The call for this, made if none is kept. The one unused for longest makes room."""
        with self._lock:
            found = self._calls.get(what)
            if found is not None:
                self._calls.move_to_end(what)
                return found
        made = make()  # perhaps by several threads at once: each is as good
        with self._lock:
            self._calls[what] = made
            while len(self._calls) > self._most:
                self._calls.popitem(last=False)
        return made


kept = Kept(128)
os.register_at_fork(after_in_child=kept.begin_anew)
