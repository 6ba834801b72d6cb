# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Loops over a pipeline: where one begins, and what becomes of an epoch that one has left."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from stoker._messages import warn_of_epoch
from stoker._pipeline.about import About
from stoker._pipeline.drop_counter import DropCounter
from stoker._pipeline.engine import Batches, Step
from stoker._pipeline.in_step import may_differ_between_shards
from stoker._pipeline.step_counter import BASIC, StepCounter
from stoker.errors import StateError

_OLDER = (
    "a newer loop over this pipeline has begun, and both would draw from it: use one loop at a "
    "time, or a pipeline for each"
)


class Loops(About):
    """The part of ``Pipeline`` that loops go through."""

    _counter: StepCounter
    _drops: DropCounter | None  # None: nothing is dropped
    _newest = 0  # the number of the loop that was begun last
    _is_left = False  # a loop gave a step and has not met the end of its epoch
    _said_of_shards = False

    if TYPE_CHECKING:

        def reset(self) -> None: ...
        def _use(self, style: str) -> None: ...
        def _next_step(self) -> Step: ...
        def _handed_out(self, batches: Batches) -> Batches: ...

    def __iter__(self) -> Iterator[Batches]:
        """The steps up to the end of the epoch; the next loop goes on with the next epoch.

        A loop that is left, as by ``break``, ends its epoch: the next loop begins the next one, as
        if the rest had been taken. Where a source cannot begin anew, or inputs are fed by hand, it
        warns and goes on in the same epoch. So it does, without a warning, behind ``run()``,
        ``restore()`` and a step that failed. A loop raises ``StateError`` once a newer one has
        begun. Without a reader there is no end but that of a source, or of ``iter_setup()`` by
        ``StopIteration``. Raises as ``run()``.
        """
        self._use(BASIC)
        self._begin_loop()
        self.reset()
        loop, ends_epoch = self._newest, False
        while not ends_epoch:
            if loop != self._newest:
                raise StateError(_OLDER)
            step = self._step_of_loop()
            if step is None:
                self._counter.end_loop()
                return
            ends_epoch = step.ends_epoch
            self._is_left = not ends_epoch
            if step.batches:
                yield self._handed_out(step.batches)

    def iter_setup(self) -> None:
        """For subclasses: called before each step begins, e.g. to feed inputs.

        The first ``run()`` or ``schedule_run()`` begins ``prefetch_queue_depth`` steps, the
        others one each. ``StopIteration`` ends the epoch: what was begun is still handed out, then
        ``run()`` and ``outputs()`` raise it, until ``reset()``.
        """

    # Inside.

    def _begin_loop(self) -> None:
        """Begins the next epoch if a loop, or an iterator's, was left in this one."""
        self._newest += 1
        is_left, self._is_left = self._is_left, False
        lead = self._engine.lead_reader
        if not is_left or (lead is None and not self._ends_itself()):
            return
        if who := self._who_goes_on():
            warn_of_epoch(
                f"{who} cannot begin anew before its epoch has ended, so this loop goes on in the "
                "epoch that the loop before it left"
            )
        else:
            self._begin_next_epoch(0 if lead is None else self.steps_left())

    def _step_of_loop(self) -> Step | None:
        is_left = self._is_left
        step: Step | None = None
        try:
            self._is_left = False
            step = self._next_step()
        except StopIteration:
            pass
        except KeyboardInterrupt:
            self._is_left = is_left
            raise
        self._warn_of_shards()
        return step

    def _warn_of_shards(self) -> None:
        lead, self._said_of_shards, said = self._engine.lead_reader, True, self._said_of_shards
        if said or lead is None or not may_differ_between_shards(self._orders()[lead]["order"]):
            return
        warn_of_epoch(
            f"the contiguous shards of the reader '{lead}' differ by a sample, so loops over the "
            "pipelines of two shards may have unequally many steps, and ranks that wait for each "
            "other in each step would wait for ever. Take a DataIterator, which makes all ranks "
            "take as many steps, or pad_last_batch=True of the reader"
        )

    def _ends_itself(self) -> bool:
        """Whether a source or ``iter_setup()`` may end epochs."""
        return self._engine.inputs.end_epochs or self._sets_up_steps()

    def _sets_up_steps(self) -> bool:
        return type(self).iter_setup is not Loops.iter_setup

    def _who_goes_on(self) -> str:
        """Who cannot begin its next epoch before this one has ended, in words; "" for no one."""
        if self._sets_up_steps():
            return f"iter_setup() of {type(self).__name__}"
        return self._engine.inputs.who_goes_on()

    def _begin_next_epoch(self, steps: int) -> None:
        """Begins the next epoch, which is so many steps behind. Requires: no one goes on."""
        self._engine.begin_next_epoch(steps)
        self._judge_from_here()

    def _judge_from_here(self) -> None:
        """Judges no epoch of which nobody knows what was given before."""
        self._drops = DropCounter() if self.error_policy.drops_empty_steps else None
