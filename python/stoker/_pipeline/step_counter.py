# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Counts the steps of a pipeline, and checks that a script runs it in one way only."""

from __future__ import annotations

from collections.abc import Callable

from stoker.errors import GraphError

BASIC = "run(), loops and iterators"
SCHEDULED = "schedule_run(), outputs(), share_outputs() and release_outputs()"


class StepCounter:
    """Counts steps, ``depth`` of which are begun ahead. Not thread-safe.

    The epoch counted here ends when ``iter_setup()`` raises ``StopIteration``. The end of a
    reader's or source's epoch does not end it.
    """

    def __init__(self, depth: int) -> None:
        self.steps = 0  # all steps that were handed out or failed
        self.checks_style = True
        self._depth = depth
        self._style = ""
        self._begun = 0  # in this epoch
        self._taken = 0
        self._is_last = False  # no further step begins in this epoch
        self._is_over = False  # a loop met the epoch's end, so the next use begins the next epoch

    def use(self, style: str) -> bool:
        """Notes a way of running. Returns whether the epoch is over and must be reset first.

        Raises ``GraphError`` if another way was used before and ``checks_style`` is on.
        """
        if self._style and self._style != style and self.checks_style:
            raise GraphError(
                f"Mixing pipeline API type: this pipeline was used by {self._style}, and now by "
                f"{style}; enable_api_check(False) allows it"
            )
        self._style = style
        return self._is_over

    def begin_ahead(self, setup: Callable[[], None]) -> None:
        """Begins steps until ``depth`` of them are ahead of those that were handed out."""
        self._begin(self._taken + self._depth - self._begun, setup)

    def begin_scheduled(self, setup: Callable[[], None]) -> None:
        """Begins the next step; at the first call of an epoch, ``depth`` of them."""
        self._begin(1 if self._begun else self._depth, setup)

    def _begin(self, count: int, setup: Callable[[], None]) -> None:
        for _ in range(count):
            if self._is_last:
                return
            try:
                setup()
            except StopIteration:
                self._is_last = True
                return
            self._begun += 1

    def count(self) -> None:
        """Counts one step that was handed out or failed."""
        self._taken += 1
        self.steps += 1

    @property
    def all_are_taken(self) -> bool:
        """Whether every step that was begun has been handed out."""
        return self._begun <= self._taken

    @property
    def is_at_end(self) -> bool:
        """Whether no step of this epoch is left."""
        return self._is_last and self.all_are_taken

    def end_loop(self) -> None:
        """Notes that a loop met the end of the epoch."""
        self._is_over = True

    def reset(self) -> None:
        """Begins the next epoch if one has ended."""
        self._is_over = False
        if self._is_last:
            self._is_last = False
            self._begun = self._taken = 0
