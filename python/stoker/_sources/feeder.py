# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a pipeline's sources on a thread, in order and some steps ahead."""

from __future__ import annotations

import atexit
import contextlib
import multiprocessing.util
import os
import queue
import threading
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

from stoker import _core
from stoker._messages import told
from stoker._sources.arrays import to_fed
from stoker._sources.runner import Flag, Position, Product, Runner, StoppedError
from stoker.errors import BudgetError, SourceError, StateError

_WAIT_MS = 50  # how often a wait checks whether to stop
_WAIT_SECONDS = 0.05
_END_SECONDS = 1.0  # how long the end of a pipeline waits for a running call of a source


class Outcome(NamedTuple):
    """The result of asking every source once: a batch per node, a failure, or an epoch's end."""

    fed: list[tuple[str, _core.Fed, bool]]  # the node, its batch, whether to copy it
    failure: BaseException | None
    is_end: bool
    continues: bool  # the next epoch begins without a reset
    notes: list[str]  # what is to be said of the epoch that ends here
    positions: list[Position]  # where each source stands afterwards
    done: list[Callable[[], None]]  # called once the batches are not needed any more


class FailedStepError(Exception):
    """The exception that the engine raises for a failed step; the feeder keeps the real one.

    The real exception refers to the frames of its traceback and through them to the engine, so an
    engine that held it would never be freed.
    """


class _Record(NamedTuple):
    """What to do when the user receives an outcome. ``step`` is -1 for the end of an epoch."""

    step: int
    continues: bool
    notes: list[str]
    positions: list[Position]
    done: list[Callable[[], None]]


class Feeder:
    """Runs sources on its own thread, at most ``depth`` steps ahead of those received.

    That thread calls the methods below "The thread's side". The thread that runs the pipeline calls
    all others.
    """

    def __init__(self, runners: Sequence[Runner], depth: int, caller: _core.OneCaller) -> None:
        self.runners = list(runners)
        self.is_ended = False  # the user met the end of an epoch and has to call reset()
        self.notes: list[str] = []  # what is to be said of the epochs that the user saw end
        self._depth = depth
        self._caller = caller
        # Ctrl-C cannot come in the midst of entering a lock, but of a condition, which is Python.
        self._mutex = threading.RLock()
        self._changed = threading.Condition(self._mutex)  # only the thread waits for it
        self._told: queue.SimpleQueue[None] = queue.SimpleQueue()  # there may be a first outcome
        self._engine: _core.Pipeline | None = None
        self._used: list[str] = []  # nodes that an output needs
        self._thread: threading.Thread | None = None
        self._halt = Flag()  # set: the thread shall end
        self._stands_at_end = False  # the thread has ended an epoch and waits for a reset
        self._turn_mutex = threading.Lock()  # of a thread whose start failed, and the next one
        self._turn: list[Product | BaseException] = []  # what the runners gave for the next step
        self._first: Outcome | None = None  # the first outcome, until there is an engine
        self._to_feed: deque[tuple[str, _core.Fed, bool]] = deque()
        self._produced = 0  # steps, as the engine counts them
        self._received = 0
        self._records: deque[_Record] = deque()
        self._failures: dict[int, BaseException] = {}  # by step
        self._said_lengths = False  # that sources end their epochs at different steps
        self._process = os.getpid()
        self._positions = [r.position() for r in self.runners]
        self._last_positions = self._positions
        for runner in self.runners:
            runner.halt = self._halt
        _all.add(self)

    # The pipeline's side.

    def start(self) -> None:
        """Starts the thread if it does not run, and whatever the sources need."""
        self._start_runners()
        if self._thread is not None:
            return
        self._halt.is_set = False
        try:
            self._thread = threading.Thread(
                target=_work,
                args=(weakref.ref(self), self._changed),
                name="stoker-source",
                daemon=True,
            )
            self._thread.start()
        except BaseException as e:  # a thread that has begun all the same ends
            self._thread = None
            # Ctrl-C may make a lock in start() raise RuntimeError, with Ctrl-C as its context.
            if not isinstance(e, RuntimeError):
                raise
            if e.__context__ is not None:
                raise e.__context__ from None
            raise BudgetError(f"no thread can be started for the sources: {e}") from None

    def _start_runners(self) -> None:
        self._check_process()
        with self._mutex:
            if not self._waits_for_failure():
                for runner in self.runners:
                    runner.start()
                self._changed.notify_all()

    def start_workers(self) -> None:
        """Starts the worker processes but not the thread."""
        self._check_process()
        for runner in self.runners:
            runner.start()

    def stop(self, timeout: float | None = None) -> None:
        """Joins the thread after its current call of a source, and ends worker processes."""
        self._check_process()
        with self._mutex:
            self._halt.is_set = True
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
        """Feeds the batches to this engine from now on."""
        names = [name for runner in self.runners for name in runner.group.names]
        used = [name for name in names if engine.is_used(name)]
        for name in used:
            engine.set_awaited(name, True)
        with self._mutex:
            self._used, self._engine = used, engine
            self._changed.notify_all()

    def wait_for_first(self) -> Outcome:
        """Waits for the first outcome, before there is an engine."""
        self.start()
        while (first := self._first) is None:
            with contextlib.suppress(queue.Empty):
                self._told.get(timeout=_WAIT_SECONDS)  # a short wait, so that Ctrl-C works
        return first

    def drop_first(self) -> None:
        """Drops the first outcome, which was no batch, after the user was told."""
        with self._mutex:
            outcome, self._first = self._first, None
            assert outcome is not None
            self._positions = outcome.positions
            self.is_ended = self._stands_at_end = outcome.is_end and not outcome.continues
            self.notes += outcome.notes
            self._changed.notify_all()
        _call_all(outcome.done)

    def received(self, count: int) -> BaseException | None:
        """Notes that the engine has handed out ``count`` steps.

        Returns why the last of them failed; None if it did not.
        """
        failure = None
        with self._mutex:
            self._received = count
            while self._records and 0 <= self._records[0].step < count:
                record = self._records.popleft()
                failure = self._failures.pop(record.step, None)
                self._meet(record)
            self._changed.notify_all()
        return failure

    def meet_end(self) -> None:
        """Notes that the engine has met the end of an epoch."""
        with self._mutex:
            record = self._records.popleft()
            assert record.step < 0
            self._meet(record)
            self.is_ended = not record.continues
            self.notes += record.notes
            self._changed.notify_all()

    def _meet(self, record: _Record) -> None:
        self._positions = record.positions
        _call_all(record.done)

    def reset(self) -> None:
        """Begins the next epoch if one has ended."""
        if not self.is_ended:
            return
        with self._mutex:
            for runner in self.runners:
                runner.begin_next_epoch()
            self._positions = self._last_positions = [r.position() for r in self.runners]
            self.is_ended = self._stands_at_end = False
            self._changed.notify_all()

    def positions(self) -> list[Position]:
        """Where each source stands after the steps received. Raises StateError if one cannot."""
        for runner in self.runners:
            runner.require_resumable()
        return self._positions

    @property
    def begins_epoch(self) -> bool:
        """Whether the next step to be received is the first of an epoch of all sources."""
        return all(p.iteration == 0 for p in self._positions)

    def restore(self, positions: list[Position], is_ended: bool) -> None:
        """Drops all batches made ahead; the sources continue at these positions.

        Requires: the feeder is stopped and the engine holds no fed batch.
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

    def begin_next_epoch(self) -> None:
        """Drops all batches made ahead; every source begins its next epoch.

        Requires: as for ``restore``.
        """
        positions = zip(self.runners, self._positions, strict=True)
        self.restore([runner.next_epoch(p) for runner, p in positions], is_ended=False)

    def _forget(self) -> None:
        self._records.clear()
        self._failures.clear()
        self._to_feed = deque()
        self._turn = []
        self._first = None

    def end(self) -> None:
        """Ends the thread with the pipeline or the interpreter.

        Waits only a short time for a running call of a source.
        """
        if os.getpid() == self._process:
            self.stop(_END_SECONDS)
        self._engine = None  # an unjoined thread, or one that a fork left behind, keeps `self`
        self._forget()

    @property
    def has_thread(self) -> bool:
        """Whether a thread runs that could not be joined in time."""
        return self._thread is not None

    # The thread's side.

    def _can_go_on(self) -> bool:
        if self._engine is not None and not self._used:
            return False
        if self._first is not None:
            return self._engine is not None
        if self._to_feed:
            return True
        if self._stands_at_end or self._waits_for_failure():
            return False
        if not all(runner.is_ready for runner in self.runners):
            return False
        # Ends of epochs take no step, so a source of empty epochs is bounded by the records.
        has_room = len(self._records) < 2 * self._depth
        return has_room and self._produced - self._received < self._depth

    def _waits_for_failure(self) -> bool:
        """Whether the user has not met a failure yet. Work stops, as the user may not continue."""
        return bool(self._failures)

    @property
    def is_halted(self) -> bool:
        """Whether the calling thread of sources shall end."""
        return self._halt.is_set or self._thread is not threading.current_thread()

    def waits_for_this_thread(self) -> bool:
        """Whether this is the thread, and whoever ends it waits until its source returns."""
        return self._halt.is_set and self._thread is threading.current_thread()

    def has_turn(self) -> bool:
        """Whether the thread has something to do, which may be its end."""
        return self.is_halted or self._can_go_on()

    def take_turn(self) -> None:
        """Continues the work that was begun, else asks every source once."""
        with self._turn_mutex:
            if self.is_halted:
                return
            self._caller.source_thread = threading.get_ident()
            try:
                self._take_turn()
            finally:
                self._caller.source_thread = None

    def _take_turn(self) -> None:
        engine = self._engine
        if engine is not None and self._to_feed:
            return self._feed_batches(engine)
        outcome = self._first or self._produce()
        if outcome is None:
            return None
        with self._mutex:
            engine = self._engine  # `end` may drop it from now on, also in this thread
            self._first = outcome if engine is None else None
            if engine is None:
                self._told.put(None)
                return None
            self._record(outcome)
        return self._feed(engine, outcome)

    def _produce(self) -> Outcome | None:
        """Asks every source for a batch. Returns None when stopped; the next call then continues.

        If one source fails, the others are asked all the same, so that all stay at the same step.
        """
        while len(self._turn) < len(self.runners):
            if self._halt.is_set:  # also where a source dropped the pipeline
                return None
            turn, runner = self._turn, self.runners[len(self._turn)]
            try:
                turn.append(runner.next())
            except StoppedError:
                return None
            except BaseException as e:
                if self._passes_on(runner, e):
                    raise
                turn.append(e)
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
        continues = bool(ended) and not errors and all(r.group.cycle != "no" for r in ended)
        notes = self._notes_of_end(ended) if ended and not errors else []
        if continues:
            for runner in self.runners:
                runner.begin_next_epoch()
        fed: list[tuple[str, _core.Fed, bool]] = []
        try:
            self._last_positions = [r.position() for r in self.runners]
            if not errors and not ended:
                fed = self._to_fed(products)
        except BaseException as e:  # else the thread would end, and the user wait for it
            errors.append(e)
        done = [p.done for p in products]
        is_end = bool(ended) and not errors
        failure = errors[0] if errors else None
        return Outcome(fed, failure, is_end, continues, notes, self._last_positions, done)

    def _notes_of_end(self, ended: Sequence[Runner]) -> list[str]:
        """What is to be said of an epoch that these sources end."""
        if empty := [text for runner in ended if (text := runner.emptiness())]:
            return empty
        others = [r for r in self.runners if r not in ended and r.group.cycle != "quiet"]
        if not others or self._said_lengths:
            return []
        self._said_lengths = True
        return [
            f"{ended[0].group.place()} ended its epoch after {ended[0].iteration} batches, where "
            f"{others[0].group.place()} had more to give. The epoch ends with the shorter source, "
            "and what the other has left of its own is not given: let both end at the same batch, "
            "or give cycle='quiet' to an iterable that shall go round beside the other. This is "
            "said once"
        ]

    def _passes_on(self, runner: Runner, failure: BaseException) -> bool:
        """Whether a failure ends the turn and is raised, instead of being that of its step."""
        return False

    def _may_leave(self) -> bool:
        """Whether what found no room may wait until steps were received."""
        return False

    def _to_fed(self, products: list[Product]) -> list[tuple[str, _core.Fed, bool]]:
        fed = []
        for runner, product in zip(self.runners, products, strict=True):
            group = runner.group
            for name, layout, data in zip(group.names, group.layouts, product.data, strict=True):
                if name in group.unread:
                    continue
                try:
                    one = to_fed(data, runner.batch_size, layout)
                except BaseException as e:
                    raise SourceError(f"{group.place()} gave for '{name}': {told(e)}") from e
                fed.append((name, one, not (group.no_copy or product.is_shared)))
        return fed

    def _record(self, outcome: Outcome) -> None:
        step = -1 if outcome.is_end else self._produced
        self._records.append(
            _Record(step, outcome.continues, outcome.notes, outcome.positions, outcome.done)
        )
        if outcome.failure is not None:
            self._failures[step] = outcome.failure
        self._produced += not outcome.is_end
        self._stands_at_end = outcome.is_end and not outcome.continues

    def _feed(self, engine: _core.Pipeline, outcome: Outcome) -> None:
        if outcome.is_end:
            if self._used:  # else no output meets the end
                engine.end_epoch(self._used[0])
        elif outcome.failure is not None:
            _fail(engine, self._used)
        else:
            self._to_feed.extend(f for f in outcome.fed if f[0] in self._used)
            self._feed_batches(engine)

    def _feed_batches(self, engine: _core.Pipeline) -> None:
        waiting = self._to_feed
        while waiting and not self._halt.is_set:
            try:
                if engine.feed(*waiting[0], _WAIT_MS):
                    waiting.popleft()
                elif self._may_leave():
                    return
            except Exception as e:
                names = [name for name, _, _ in waiting]
                waiting.clear()
                with self._mutex:
                    self._failures[self._produced - 1] = e
                _fail(engine, names)


def _fail(engine: _core.Pipeline, names: Sequence[str]) -> None:
    """Fails the step of all these nodes at once, so that all stay at the same step."""
    engine.fail(names, FailedStepError())


def _work(find: weakref.ref[Feeder], changed: threading.Condition) -> None:
    """Holds no feeder while it waits: a pipeline must be freed although its source refers to it."""

    def has_turn() -> bool:
        feeder = find()
        return feeder is None or feeder.has_turn()

    while True:
        with changed:
            changed.wait_for(has_turn)
        feeder = find()
        if feeder is None or feeder.is_halted:
            return
        feeder.take_turn()
        del feeder


def _call_all(functions: Sequence[Callable[[], None]]) -> None:
    for function in functions:
        function()


def _end_all() -> None:
    feeders = list(_all)
    for feeder in feeders:
        feeder.end()
    if any(feeder.has_thread for feeder in feeders):
        _core.expect_leaks()  # the frames of an unjoined thread keep objects to the process's end


_all: weakref.WeakSet[Feeder] = weakref.WeakSet()
# `_end_all` must run before multiprocessing ends the workers that a source's thread waits for. What
# is registered last runs first, so multiprocessing.util is imported before this line.
assert multiprocessing.util
atexit.register(_end_all)
