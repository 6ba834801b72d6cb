# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Goes through a source batch by batch, in the processes of a pool."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Sequence

from stoker._graph.source_group import SourceGroup
from stoker._sources.runner import Position, Product, Runner, StoppedError
from stoker._sources.shared import Slot, Table
from stoker._sources.worker import Reply, Task
from stoker._sources.worker_pool import WorkerPool
from stoker.errors import SourceError


class WorkerError(Exception):
    """The traceback of an exception in a worker process, as text."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


class ParallelRunner(Runner):
    """Goes through a source that runs in worker processes.

    The samples of a callable, or in batch mode its batches, are dealt to all processes. An iterable
    runs in one of them.
    """

    def __init__(self, group: SourceGroup, batch_size: int, pool: WorkerPool) -> None:
        super().__init__(group, batch_size)
        self._pool = pool
        self._number = pool.source_number(group)
        self._generation = 0  # the pool's generation that `_ahead` and `_begins` belong to
        self._ahead: deque[list[int]] = deque()  # tasks of each batch, from this iteration on
        self._begins = True  # the next task is an iterable's first in its process or epoch
        self._state: str | None = None  # the state of an iterable after the last batch produced

    @property
    def is_ready(self) -> bool:
        return self._pool.is_running

    def start(self) -> None:
        self._pool.start()

    def stop(self) -> None:
        self._pool.stop()

    def position(self) -> Position:
        return Position(self._epoch, self._iteration, self._state)

    @property
    def is_resumable(self) -> bool:
        return self._caller.takes_index or (self._caller.is_iterable and self._caller.has_state)

    def restore(self, position: Position) -> None:
        self._forget_ahead()
        self._epoch, self._iteration, self._state = position
        self._begins = True

    def begin_next_epoch(self) -> None:
        self._forget_ahead()
        self._epoch += 1
        self._iteration = 0
        self._begins, self._state = True, None

    def _forget_ahead(self) -> None:
        if self._generation == self._pool.generation:
            for number in itertools.chain(*self._ahead):
                self._pool.forget(number)
        self._ahead.clear()

    def _produce(self) -> Product:
        self._meet_new_workers()
        try:
            while not self._has_all_replies():
                self._schedule(self._iteration)
                if self.halt.is_set:
                    raise StoppedError
                self._pool.receive()
            replies = [self._pool.replies.pop(number) for number in self._ahead.popleft()]
            self._schedule(self._iteration + 1)
        except SourceError as e:
            raise self._failure("", str(e)) from None
        return self._product(replies)

    def _has_all_replies(self) -> bool:
        return bool(self._ahead) and all(n in self._pool.replies for n in self._ahead[0])

    def _meet_new_workers(self) -> None:
        """Begins anew after the workers were restarted.

        A callable is asked again. An iterable is lost with its worker, which is a failure unless
        its state is known.
        """
        if self._generation == self._pool.generation:
            return
        is_first = self._generation == 0
        self._generation = self._pool.generation
        self._ahead.clear()
        if self._caller.is_iterable and not is_first and not self._begins and self._state is None:
            self._begins = True
            raise self._failure(
                "", "its iterator ended with the worker process that it was in; it begins anew"
            )
        self._begins = True

    def _schedule(self, next_iteration: int) -> None:
        """Gives the workers the batch that is waited for and ``prefetch_queue_depth`` more.

        So no worker is idle while another finishes a batch.
        """
        while len(self._ahead) < 1 + self.group.depth:
            chunks = self._chunks()
            if len(self._pool.free) < len(chunks):
                return
            iteration = next_iteration + len(self._ahead)
            self._ahead.append([self._submit(iteration, *chunk) for chunk in chunks])

    def _chunks(self) -> list[tuple[int, int]]:
        """Splits a batch into tasks: the first sample and the count of each."""
        parts = 1
        if not self.group.batch and not self._caller.is_iterable:
            parts = min(self._pool.size, self.batch_size)
        bounds = [self.batch_size * k // parts for k in range(parts + 1)]
        return [(a, b - a) for a, b in itertools.pairwise(bounds)]

    def _submit(self, iteration: int, first: int, count: int) -> int:
        task = Task(0, self._number, 0, self._epoch, iteration, first, count)
        if not self._caller.is_iterable:
            return self._pool.submit(task)
        task = task._replace(begins=self._begins, state=self._state if self._begins else None)
        number = self._pool.submit(task, self._number % self._pool.size)
        self._begins = False
        return number

    def _product(self, replies: Sequence[tuple[Reply, Slot, int]]) -> Product:
        pool, generation = self._pool, self._pool.generation
        slots = [slot for _, _, slot in replies]

        def done() -> None:
            if pool.generation == generation:
                pool.free.extend(slots)

        for reply, _, _ in replies:
            if reply.table is None:
                done()
                if reply.is_end:
                    raise StopIteration
                assert reply.error is not None
                raise self._failure_of(reply) from WorkerError(reply.error.traceback)
        self._state = replies[-1][0].state
        parts = [slot.read(_table(reply)) for reply, slot, _ in replies]
        if len(parts) == 1:
            return Product(parts[0], True, done)
        return Product(
            [list(itertools.chain(*column)) for column in zip(*parts, strict=True)], True, done
        )

    def _failure_of(self, reply: Reply) -> SourceError:
        assert reply.error is not None
        where, what, _ = reply.error
        if not reply.is_unloaded:
            return self._failure(f"{where}, in a worker process", what)
        return self._failed(
            f"cannot be loaded in a worker process: {what}. Such a process has only what modules "
            "have: put the source, and what it uses, into a module that can be imported there, or "
            "let the processes inherit it with py_start_method='fork'"
        )


def _table(reply: Reply) -> Table:
    assert reply.table is not None
    return reply.table
