# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The ways to run a pipeline that the field knows: ``run()``, and the scheduled one in parts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from stoker.errors import GraphError, SampleError

if TYPE_CHECKING:
    from stoker import _core

BASIC = "run(), loops and iterators"
SCHEDULED = "schedule_run(), outputs(), share_outputs() and release_outputs()"


class Styles(ABC):
    """What ``Pipeline`` inherits: the scheduled way, and what is called before each iteration.

    Requires: ``_step()`` gives the next batches, or None where a source ended its epoch;
    ``_schedule()`` begins preparing them, ``prefetch_queue_depth`` iterations ahead. Not
    thread-safe.
    """

    def __init__(self) -> None:
        self._style = ""
        self._checks_style = True
        self._begun = 0  # iterations that iter_setup() was called for
        self._taken = 0
        self._steps = 0  # received or failed, ever
        self._is_last = False
        self._is_over = False  # a loop ended with the epoch: the next use begins the next one

    def iter_setup(self) -> None:  # noqa: B027 - a hook that may stay empty
        """For subclasses: called before each iteration begins, e.g. to feed inputs.

        The first ``run()`` or ``schedule_run()`` begins ``prefetch_queue_depth`` iterations, the
        others one each. ``StopIteration`` ends the epoch: what was begun is still handed out, then
        ``run()`` and ``outputs()`` raise it, until ``reset()``.
        """

    def run(self) -> tuple[_core.Batch, ...]:
        """The next batch of every output.

        Raises ``StopIteration`` where the source of an ``fn.external_source``, or ``iter_setup()``,
        ended its epoch, until ``reset()`` begins the next one; ``SampleError`` for damaged samples
        and ``SourceError`` where a source failed, which take their step; ``SourceError`` where
        nothing was fed; ``BudgetError`` and ``DeviceError``.
        """
        self._use(BASIC)
        self._begin_ahead()
        return self._handed_out(self._take())

    def schedule_run(self) -> None:
        """Begins preparing batches without waiting for one."""
        self._use(SCHEDULED)
        self._begin(1 if self._begun else self.prefetch_queue_depth)
        self._schedule()

    def outputs(self) -> tuple[_core.Batch, ...]:
        """The batches of the oldest iteration that ``schedule_run`` began. Raises as ``run()``."""
        self._use(SCHEDULED)
        return self._handed_out(self._take())

    def share_outputs(self) -> tuple[_core.Batch, ...]:
        """The same as ``outputs()``: batches always belong to whoever holds them."""
        return self.outputs()

    def release_outputs(self) -> None:
        """Nothing: batches free themselves when no one holds them."""
        self._use(SCHEDULED)

    def reset(self) -> None:
        """After ``StopIteration`` from ``iter_setup()``: begins again. Otherwise nothing to do, as
        the end of a reader's epoch needs no reset.
        """
        self._is_over = False
        if self._is_last:
            self._is_last = False
            self._begun = self._taken = 0

    def empty(self) -> bool:
        """Whether everything that was begun has been handed out."""
        return self._begun <= self._taken

    def enable_api_check(self, enable: bool) -> None:
        """Whether mixing ``run()`` with the scheduled way is an error, which it is at first."""
        self._checks_style = bool(enable)

    def executor_statistics(self) -> dict[str, Any]:
        """Nothing, as in the established library unless ``exec_dynamic=False``: operators have no
        buffers of their own here. ``stats()`` has the memory of the whole and everyone's time.
        """
        return {}

    def _use(self, style: str) -> None:
        if self._style and self._style != style and self._checks_style:
            raise GraphError(
                f"Mixing pipeline API type: this pipeline was used by {self._style}, and now by "
                f"{style}; enable_api_check(False) allows it"
            )
        self._style = style
        if self._is_over:
            self.reset()

    def _prepare(self) -> None:
        """Begins preparing batches for whoever takes them with ``run()``, as iterators do."""
        self._use(BASIC)
        self._begin_ahead()
        self._schedule()

    def _begin_ahead(self) -> None:
        self._begin(self._taken + self.prefetch_queue_depth - self._begun)

    def _begin(self, count: int) -> None:
        """Lets ``iter_setup()`` know of the iterations that begin, of the graph that is defined."""
        self.build()
        for _ in range(count):
            if self._is_last:
                return
            try:
                self.iter_setup()
            except StopIteration:
                self._is_last = True
                return
            self._begun += 1

    def _is_at_end(self) -> bool:
        return self._is_last and self._begun <= self._taken

    def _take(self) -> tuple[_core.Batch, ...]:
        if self._is_at_end():
            raise StopIteration
        step = self._counted_step()
        if step is None:
            raise StopIteration
        return step[0]

    def _counted_step(self) -> tuple[tuple[_core.Batch, ...], bool] | None:
        try:
            step = self._step()
        except SampleError:  # counts as handed out
            self._count_step()
            raise
        if step is not None:
            self._count_step()
        return step

    def _count_step(self) -> None:
        self._taken += 1
        self._steps += 1

    def _handed_out(self, batches: tuple[_core.Batch, ...]) -> tuple[_core.Batch, ...]:
        """What the caller gets for batches: themselves."""
        return batches

    @property
    def exec_separated(self) -> bool:
        """Whether the CPU and the GPU have queues of their own: never."""
        return False

    @property
    def cpu_queue_size(self) -> int:
        """The one queue's depth."""
        return self.prefetch_queue_depth

    @property
    def gpu_queue_size(self) -> int:
        """The one queue's depth."""
        return self.prefetch_queue_depth

    # Of Pipeline.

    prefetch_queue_depth: int

    @abstractmethod
    def build(self) -> None:
        """Defines the graph and opens what is read."""

    @abstractmethod
    def _step(self) -> tuple[tuple[_core.Batch, ...], bool] | None:
        """The next batches and whether they end the epoch; None where a source ended it."""

    @abstractmethod
    def _schedule(self) -> None:
        """Begins preparing batches."""
