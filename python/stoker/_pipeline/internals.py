# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""What other folders use of a pipeline besides what users do with it.

Attributes of a pipeline itself may be those of the user's own subclass, so these are apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker._graph.definition import Definition
from stoker._pipeline.engine import Batches, Engine
from stoker._pipeline.pipeline import Pipeline


class Internals:
    """The internals of one pipeline."""

    def __init__(self, pipe: Pipeline) -> None:
        self._pipe = pipe

    @property
    def definition(self) -> Definition:
        """The graph, with its sources and functions."""
        return self._pipe._definition

    @property
    def engine(self) -> Engine:
        """What runs the graph."""
        return self._pipe._engine

    @property
    def checkpoint(self) -> str | Mapping[str, Any] | None:
        """The state that the pipeline was told to begin from."""
        given: str | Mapping[str, Any] | None = self._pipe._settings["checkpoint"]
        return given

    @property
    def orders(self) -> dict[str, Any]:
        """The entries of the readers in the pipeline's state."""
        return self._pipe._orders()

    @property
    def steps(self) -> int:
        """How many steps were handed out or failed."""
        return self._pipe._counter.steps

    @property
    def ends_itself(self) -> bool:
        """Whether a source or ``iter_setup()`` may end epochs."""
        return self._pipe._ends_itself()

    @property
    def who_goes_on(self) -> str:
        """Who cannot begin its next epoch before this one has ended, in words; "" for no one."""
        return self._pipe._who_goes_on()

    def prepare(self) -> None:
        """Begins preparing batches for ``take()``; nothing where nothing is made ahead."""
        self._pipe._prepare()

    def take(self) -> Batches:
        """What ``run()`` gives of the next step: no batches if it was dropped."""
        if not self._pipe.error_policy.drops_empty_steps:
            return self._pipe.run()  # which may be the user's own
        step = self._pipe._next_step()
        return self._pipe._handed_out(step.batches) if step.batches else ()

    def begin_loop(self) -> None:
        """Begins the next epoch if a loop, or an iterator's, was left in this one."""
        self._pipe._begin_loop()

    def note_left(self, is_left: bool) -> None:
        """Tells loops that follow whether the epoch was left in its middle."""
        self._pipe._is_left = is_left

    def begin_next_epoch(self, steps: int) -> None:
        """Begins the next epoch, which is so many steps behind. Requires: no one goes on."""
        self._pipe._begin_next_epoch(steps)


def internals(pipe: Pipeline) -> Internals:
    """The internals of a pipeline."""
    return Internals(pipe)
