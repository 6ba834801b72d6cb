# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The thread of a pipeline that runs the user's sources, ahead and in order."""

from __future__ import annotations

import atexit
import multiprocessing.util
import os
import threading
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

from stoker import _core
from stoker._sources.arrays import to_fed
from stoker._sources.runner import Position, Product, Runner, StoppedError
from stoker.errors import SourceError, StateError

_WAIT_MS = 50  # between looks at whether to stop
_WAIT_SECONDS = 0.05
_END_SECONDS = 1.0  # for a source that is being called when the pipeline goes


class Outcome(NamedTuple):
    """What one turn of all sources gave: a batch for each node, a failure, or an epoch's end."""

    fed: list[tuple[str, _core.Fed, bool]]  # node, batch, whether to copy
    failure: BaseException | None
    is_end: bool
    goes_on: bool  # after the end, without a reset
    positions: list[Position]  # of the sources after it
    done: list[Callable[[], None]]


class FailedStepError(Exception):
    """What the engine raises for a step that failed; the feeder knows why.

    An engine that held the reason itself would hold its frames, and so itself.
    """


class _Record(NamedTuple):
    """Of an outcome on its way to the user. ``step`` -1: the end of an epoch."""

    step: int
    goes_on: bool
    positions: list[Position]
    done: list[Callable[[], None]]


class Feeder:
    """Runs sources on a thread of its own, at most ``depth`` steps ahead of what was received.

    The thread uses what stands below "The thread's side"; all else belongs to the thread that
    runs the pipeline.
    """

    def __init__(self, runners: Sequence[Runner], depth: int) -> None:
        self.runners = list(runners)
        self.is_ended = False  # the user met the end of an epoch and has to reset
        self._depth = depth
        self._changed = threading.Condition()
        self._engine: _core.Pipeline | None = None
        self._used: list[str] = []  # nodes that an output needs
        self._thread: threading.Thread | None = None
        self._halt = threading.Event()  # the thread is to end
        self._stands_at_end = False  # the thread has ended an epoch and waits for a reset
        self._turn: list[Product | BaseException] = []  # by runner, of the turn that goes on
        self._first: Outcome | None = None  # waits for the engine to be built
        self._to_feed: deque[tuple[str, _core.Fed, bool]] = deque()
        self._produced = 0  # steps, as the engine counts them
        self._received = 0
        self._records: deque[_Record] = deque()
        self._failures: dict[int, BaseException] = {}  # by step
        self._process = os.getpid()
        self._positions = [r.position() for r in self.runners]
        self._last_positions = self._positions
        for runner in self.runners:
            runner.halt = self._halt
        _all.add(self)

    # The pipeline's side.

    def start(self) -> None:
        """Lets the thread run, if it does not, with all that sources need."""
        self._check_process()
        with self._changed:
            if not self._waits_for_failure():
                for runner in self.runners:
                    runner.start()
                self._changed.notify_all()
        if self._thread is not None:
            return
        self._halt.clear()
        self._thread = threading.Thread(
            target=_work, args=(self,), name="stoker-source", daemon=True
        )
        self._thread.start()

    def start_workers(self) -> None:
        """Starts the worker processes alone."""
        self._check_process()
        for runner in self.runners:
            runner.start()

    def stop(self, timeout: float | None = None) -> None:
        """Joins the thread after the call that it is in, and ends worker processes."""
        self._check_process()
        with self._changed:
            self._halt.set()
            self._changed.notify_all()
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(timeout)
            self._thread = thread if thread.is_alive() else None
        for runner in self.runners:
            runner.stop()

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            raise StateError(
                "this pipeline was built before a fork; build one in the child process instead"
            )

    def attach(self, engine: _core.Pipeline) -> None:
        """What is produced goes there from now on."""
        names = [name for runner in self.runners for name in runner.group.names]
        with self._changed:
            self._used = [name for name in names if engine.is_used(name)]
            self._engine = engine
            self._changed.notify_all()
        for name in self._used:
            engine.set_awaited(name, True)

    def wait_for_first(self) -> Outcome:
        """The first outcome, before there is an engine."""
        self.start()
        with self._changed:
            while self._first is None:
                self._changed.wait(_WAIT_SECONDS)  # and hear Ctrl-C
            return self._first

    def drop_first(self) -> None:
        """The first outcome was no batch, and the user was told."""
        with self._changed:
            outcome, self._first = self._first, None
            assert outcome is not None
            self._positions = outcome.positions
            self.is_ended = self._stands_at_end = outcome.is_end and not outcome.goes_on
            self._changed.notify_all()
        _call_all(outcome.done)

    def received(self, count: int) -> BaseException | None:
        """The engine has handed out so many steps; why the last one failed, if it did."""
        failure = None
        with self._changed:
            self._received = count
            while self._records and 0 <= self._records[0].step < count:
                record = self._records.popleft()
                failure = self._failures.pop(record.step, None)
                self._meet(record)
            self._changed.notify_all()
        return failure

    def meet_end(self) -> None:
        """The engine has met the end of an epoch."""
        with self._changed:
            record = self._records.popleft()
            assert record.step < 0
            self._meet(record)
            self.is_ended = not record.goes_on
            self._changed.notify_all()

    def _meet(self, record: _Record) -> None:
        self._positions = record.positions
        _call_all(record.done)

    def reset(self) -> None:
        """Begins the next epoch, where one has ended."""
        if not self.is_ended:
            return
        with self._changed:
            for runner in self.runners:
                runner.begin_next_epoch()
            self._positions = self._last_positions = [r.position() for r in self.runners]
            self.is_ended = self._stands_at_end = False
            self._changed.notify_all()

    def positions(self) -> list[Position]:
        """Of each source, as of what was received. Raises StateError where one cannot say."""
        for runner in self.runners:
            runner.require_resumable()
        return self._positions

    def restore(self, positions: list[Position], is_ended: bool) -> None:
        """Forgets everything that is ahead; the sources go on there.

        Requires: stopped, and the engine holds nothing that was fed.
        """
        for done in [r.done for r in self._records] + ([self._first.done] if self._first else []):
            _call_all(done)
        _call_all([result.done for result in self._turn if isinstance(result, Product)])
        self._forget()
        for runner, position in zip(self.runners, positions, strict=True):
            runner.restore(position)
        self._positions = self._last_positions = list(positions)
        self.is_ended = self._stands_at_end = is_ended
        self._produced = self._received = self._engine.received if self._engine else 0

    def _forget(self) -> None:
        self._records.clear()
        self._failures.clear()
        self._to_feed.clear()
        self._turn = []
        self._first = None

    def end(self) -> None:
        """The pipeline goes, or the interpreter. Waits only a little for a source's call."""
        if os.getpid() == self._process:
            self.stop(_END_SECONDS)
        self._engine = None  # a thread that is not joined, or not there after a fork, keeps this
        self._forget()

    @property
    def is_joined(self) -> bool:
        """Whether its thread has ended, so that nothing of it is left."""
        return self._thread is None

    # The thread's side.

    def _can_go_on(self) -> bool:
        if self._first is not None:
            return self._engine is not None
        if self._to_feed:
            return True
        if self._stands_at_end or self._waits_for_failure():
            return False
        if not all(runner.is_ready for runner in self.runners):
            return False
        # A source whose epochs are empty gives ends alone, which take no step.
        has_room = len(self._records) < 2 * self._depth
        return has_room and self._produced - self._received < self._depth

    def _waits_for_failure(self) -> bool:
        """The user is still to meet one: he may not want to go on."""
        return bool(self._failures)

    def wait_for_turn(self) -> bool:
        """False when the thread is to end."""
        with self._changed:
            self._changed.wait_for(lambda: self._halt.is_set() or self._can_go_on())
            return not self._halt.is_set()

    def take_turn(self) -> None:
        """Goes on with what was begun, else asks every source once."""
        if self._to_feed:
            return self._feed_batches()
        outcome = self._first or self._produce()
        if outcome is None:
            return None
        with self._changed:
            self._first = outcome if self._engine is None else None
            self._changed.notify_all()
            if self._engine is None:
                return None
            self._record(outcome)
        return self._feed(outcome)

    def _produce(self) -> Outcome | None:
        """A batch of every source; None when stopped, then the next turn goes on.

        All are asked whatever happens, so that they stay in step.
        """
        while len(self._turn) < len(self.runners):
            try:
                self._turn.append(self.runners[len(self._turn)].next())
            except StoppedError:
                return None
            except BaseException as e:
                self._turn.append(e)
        results, self._turn = self._turn, []
        products = [r for r in results if isinstance(r, Product)]
        errors = [
            r for r in results if not isinstance(r, Product) and not isinstance(r, StopIteration)
        ]
        ended = [
            runner
            for runner, result in zip(self.runners, results, strict=True)
            if isinstance(result, StopIteration)
        ]
        goes_on = bool(ended) and not errors and all(r.group.cycle != "no" for r in ended)
        if goes_on:
            for runner in self.runners:
                runner.begin_next_epoch()
        fed: list[tuple[str, _core.Fed, bool]] = []
        try:
            self._last_positions = [r.position() for r in self.runners]
            if not errors and not ended:
                fed = self._to_fed(products)
        except Exception as e:
            errors.append(e)
        done = [p.done for p in products]
        is_end = bool(ended) and not errors
        failure = errors[0] if errors else None
        return Outcome(fed, failure, is_end, goes_on, self._last_positions, done)

    def _to_fed(self, products: list[Product]) -> list[tuple[str, _core.Fed, bool]]:
        fed = []
        for runner, product in zip(self.runners, products, strict=True):
            group = runner.group
            for name, layout, data in zip(group.names, group.layouts, product.data, strict=True):
                try:
                    one = to_fed(data, layout)
                except Exception as e:
                    raise SourceError(f"{group.place()} gave for '{name}': {e}") from e
                fed.append((name, one, not (group.no_copy or product.is_shared)))
        return fed

    def _record(self, outcome: Outcome) -> None:
        step = -1 if outcome.is_end else self._produced
        self._records.append(_Record(step, outcome.goes_on, outcome.positions, outcome.done))
        if outcome.failure is not None:
            self._failures[step] = outcome.failure
        self._produced += not outcome.is_end
        self._stands_at_end = outcome.is_end and not outcome.goes_on

    def _feed(self, outcome: Outcome) -> None:
        assert self._engine is not None
        if outcome.is_end:
            if self._used:  # else nobody meets it
                self._engine.end_epoch(self._used[0])
        elif outcome.failure is not None:
            self._fail(self._used)
        else:
            self._to_feed.extend(f for f in outcome.fed if f[0] in self._used)
            self._feed_batches()

    def _feed_batches(self) -> None:
        assert self._engine is not None
        while self._to_feed and not self._halt.is_set():
            try:
                if self._engine.feed(*self._to_feed[0], _WAIT_MS):
                    self._to_feed.popleft()
            except Exception as e:
                names = [name for name, _, _ in self._to_feed]
                self._to_feed.clear()
                with self._changed:
                    self._failures[self._produced - 1] = e
                self._fail(names)

    def _fail(self, names: Sequence[str]) -> None:
        """The step of all these nodes, so that they stay in step."""
        assert self._engine is not None
        self._engine.fail(names, FailedStepError())


def _work(feeder: Feeder) -> None:
    while feeder.wait_for_turn():
        feeder.take_turn()


def _call_all(functions: Sequence[Callable[[], None]]) -> None:
    for function in functions:
        function()


def _end_all() -> None:
    feeders = list(_all)
    for feeder in feeders:
        feeder.end()
    if not all(feeder.is_joined for feeder in feeders):
        _core.expect_leaks()  # what such a thread's frames hold stays until the process ends


_all: weakref.WeakSet[Feeder] = weakref.WeakSet()
# Before the interpreter takes threads and modules apart; and before multiprocessing ends workers
# that a source's thread waits for: what is registered last is called first.
assert multiprocessing.util
atexit.register(_end_all)
