# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Which iterations of a pipeline were begun and handed out, and which way of running began them."""

from __future__ import annotations

from collections.abc import Callable

from stoker.errors import GraphError

BASIC = "run(), loops and iterators"
SCHEDULED = "schedule_run(), outputs(), share_outputs() and release_outputs()"


class Iterations:
    """Counts iterations, ``depth`` of which are begun ahead. Not thread-safe.

    An epoch ends where ``iter_setup()`` raises ``StopIteration``; that of a reader or a source does
    not end this one.
    """

    def __init__(self, depth: int) -> None:
        self.steps = 0  # handed out or failed, ever
        self.checks_style = True
        self._depth = depth
        self._style = ""
        self._begun = 0  # in this epoch
        self._taken = 0
        self._is_last = False  # no further one begins in this epoch
        self._is_over = False  # a loop ended with the epoch: the next use begins the next one

    def use(self, style: str) -> bool:
        """Notes a way of running; returns whether an epoch is over that is to be reset first.

        Raises ``GraphError`` where another way was used before and that is checked.
        """
        if self._style and self._style != style and self.checks_style:
            raise GraphError(
                f"Mixing pipeline API type: this pipeline was used by {self._style}, and now by "
                f"{style}; enable_api_check(False) allows it"
            )
        self._style = style
        return self._is_over

    def begin_ahead(self, setup: Callable[[], None]) -> None:
        """Begins as many as may be ahead of those that were handed out."""
        self._begin(self._taken + self._depth - self._begun, setup)

    def begin_scheduled(self, setup: Callable[[], None]) -> None:
        """Begins the next one; the first time, all that may be ahead."""
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
        """One was handed out, or failed."""
        self._taken += 1
        self.steps += 1

    @property
    def all_are_taken(self) -> bool:
        """Whether everything that was begun has been handed out."""
        return self._begun <= self._taken

    @property
    def is_at_end(self) -> bool:
        """Whether nothing of this epoch is left."""
        return self._is_last and self.all_are_taken

    def end_loop(self) -> None:
        """A loop met the end of the epoch."""
        self._is_over = True

    def reset(self) -> None:
        """Begins the next epoch where one has ended."""
        self._is_over = False
        if self._is_last:
            self._is_last = False
            self._begun = self._taken = 0
