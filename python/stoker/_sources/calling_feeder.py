# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Calls a pipeline's sources in the thread that runs the pipeline, as scripts of DALI expect."""

from __future__ import annotations

from stoker._sources.feeder import Feeder
from stoker._sources.runner import Runner


class CallingFeeder(Feeder):
    """Has no thread. Asks its sources whenever the pipeline is run.

    The first run asks each source ``depth`` times, every further one once.
    """

    def start(self) -> None:
        self._start_runners()
        self._halt.is_set = False
        while self._can_go_on():
            self.take_turn()
            if self._to_feed:  # there is no room for it
                return

    @property
    def is_halted(self) -> bool:
        return False

    def _passes_on(self, runner: Runner, failure: BaseException) -> bool:
        if isinstance(failure.__cause__, Exception) or isinstance(failure, StopIteration):
            return False
        if failure.__cause__ is None:
            return not isinstance(failure, Exception)
        runner.take_back()  # Ctrl-C, or the end of the program
        raise failure.__cause__

    def _may_leave(self) -> bool:
        """Whether a step is complete that was not received yet."""
        return self._produced - 1 > self._received
