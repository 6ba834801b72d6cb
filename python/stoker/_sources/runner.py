# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Goes through a source batch by batch, and counts its epochs and iterations."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from stoker._graph.source_group import SourceGroup
from stoker._messages import raised
from stoker._sources.caller import Caller, CallError, Data, Spec, in_words
from stoker.errors import SourceError, StateError


class Product(NamedTuple):
    """One batch of a source. ``done`` is called once its memory is not needed any more."""

    data: Data
    is_shared: bool = False  # the memory is lent until `done` is called
    done: Callable[[], None] = lambda: None


class Position(NamedTuple):
    """Where a source stands: its epoch, the next iteration in it, and the source's own state."""

    epoch: int
    iteration: int
    state: str | None


class StoppedError(Exception):
    """The pipeline is being closed, so the source was not asked."""


class Flag:
    """Whether something shall end. Unlike an event it has no lock that Ctrl-C could leave held."""

    is_set = False


class Runner:
    """Goes through one source in order. Used by one thread at a time."""

    def __init__(self, group: SourceGroup, batch_size: int) -> None:
        self.group = group
        self.batch_size = batch_size
        self._caller = Caller(group.source, Spec.of(group, batch_size))
        self.halt = Flag()  # set: `next` shall not wait any longer
        self._epoch = 0
        self._iteration = 0

    def next(self) -> Product:
        """The next batch. Raises StopIteration at an epoch's end, and SourceError on a failure."""
        try:
            product = self._produce()
        except StopIteration:
            if self.group.cycle != "quiet" or self._iteration == 0:
                raise
            self.begin_next_epoch()
            product = self._produce()
        self._iteration += 1
        return product

    def _produce(self) -> Product:
        try:
            data = self._caller.batch(self._epoch, self._iteration, 0, self.batch_size)
        except CallError as e:
            cause = e.__cause__
            assert cause is not None
            raise self._failure(str(e), in_words(cause)) from cause
        return Product(data)

    def _failure(self, where: str, what: str) -> SourceError:
        """The error for a failed call. The iteration counts as made."""
        at = f"iteration {self._iteration} of epoch {self._epoch}{where}"
        return self._failed(f"failed in {at}: {what}")

    def _failed(self, how: str) -> SourceError:
        self._iteration += 1
        return SourceError(f"{self.group.place()} {how}")

    def take_back(self) -> None:
        """Makes the next call the same as the last one, which failed."""
        self._iteration -= 1

    @property
    def iteration(self) -> int:
        """How many batches of this epoch the source was asked for."""
        return self._iteration

    def emptiness(self) -> str:
        """Why the epoch that ends here has no batch of this source, in words; "" if it has one."""
        if self._iteration > 0:
            return ""
        what = "no batch" if self.group.batch else f"no whole batch of {self.batch_size} samples"
        text = f"{self.group.place()} gave {what} in epoch {self._epoch}, so that epoch is empty"
        if self._epoch == 0:
            return f"{text}. Was the source used up before, or is there nothing behind it?"
        kind = type(self.group.source).__name__
        way = "an iterable that begins anew with each iter(), or a callable of the iteration"
        if self._caller.is_one_pass:
            way = f"the generator function itself, or {way}: a {kind} gives one epoch only"
        return f"{text}. A source must begin anew behind its StopIteration: give {way}"

    @property
    def begins_anew(self) -> bool:
        """Whether the next epoch can be had before this one has ended."""
        can_rewind = self._caller.is_iterable and not self._caller.is_one_pass
        return self._caller.takes_index or can_rewind

    def begin_next_epoch(self) -> None:
        self._epoch += 1
        self._iteration = 0
        self._caller.begin_epoch()

    @property
    def is_ready(self) -> bool:
        """Whether ``next`` has all that it needs, which ``start`` provides."""
        return True

    def start(self) -> None:
        """Makes the runner ready; ``next`` continues where it was."""

    def stop(self) -> None:
        """Stops whatever runs."""

    # State.

    def next_epoch(self, position: Position) -> Position:
        """The beginning of the epoch behind that of ``position``.

        A callable keeps its own state there, an iterable has none before its ``iter()``.
        """
        state = None if self._caller.is_iterable else position.state
        return Position(position.epoch + 1, 0, state)

    @property
    def is_resumable(self) -> bool:
        return self._caller.takes_index or self._caller.has_state

    def position(self) -> Position:
        try:
            state = self._caller.state()
        except Exception as e:
            raise SourceError(f"{self.group.place()} failed to give its state: {raised(e)}") from e
        return Position(self._epoch, self._iteration, state)

    def restore(self, position: Position) -> None:
        self._epoch, self._iteration = position.epoch, position.iteration
        try:
            self._caller.restore(position.state)
        except Exception as e:
            raise SourceError(f"{self.group.place()} failed to take its state: {raised(e)}") from e

    def require_resumable(self) -> None:
        if not self.is_resumable:
            raise StateError(
                f"{self.group.place()} cannot say where it stands: make it a callable of an index "
                "or SampleInfo, or give it state() and restore(), or state_dict() and "
                f"load_state_dict(); it is a {type(self.group.source).__name__}"
            )
