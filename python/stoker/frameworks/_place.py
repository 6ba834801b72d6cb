# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Where an iterator stands in its epochs, and how that is written into a state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any

from stoker import _state_entries
from stoker.errors import StateError
from stoker.frameworks._epochs import ITERATORS, Epochs


class Place:
    """Where an iterator stands: in counted epochs, or in those that its pipelines end themselves.

    ``epochs`` is None where only the pipelines know their end. A source may also end an epoch
    before its counted end.
    """

    def __init__(self, epochs: Epochs | None) -> None:
        self.epochs = epochs
        self.is_exhausted = False  # a pipeline itself ended the epoch
        self._exhausted_times = 0  # how many epochs before this one

    @property
    def is_finished(self) -> bool:
        """Whether no step of this epoch is left."""
        return self.is_exhausted or (self.epochs is not None and self.epochs.steps_left == 0)

    @property
    def epoch(self) -> int:
        """The epoch that the next step belongs to, counted from 0."""
        number = self._exhausted_times if self.epochs is None else self.epochs.number
        return number + self.is_exhausted

    @property
    def is_end_behind(self) -> bool:
        """Whether a source's end that is met now is that of the epoch that ``size=`` has ended."""
        return self.epochs is not None and not self.epochs.is_begun and self.epochs.number > 0

    def keep(self, shards: Sequence[int], batch_size: int) -> list[int]:
        """How many samples of each shard's next batch belong to the epoch."""
        if self.epochs is None:
            return [batch_size] * len(shards)
        return [self.epochs.keep(shard) for shard in shards]

    def count_step(self) -> None:
        """Counts one step, unless a pipeline ended the epoch in its place."""
        if self.epochs is not None and not self.is_exhausted:
            self.epochs.step()

    def begin_next_after_end(self) -> None:
        """Begins the next epoch after a pipeline itself ended this one."""
        self.is_exhausted = False
        self._exhausted_times += 1
        if self.epochs is not None:
            self.epochs.end_early()

    def leave(self, sources_begin_anew: bool) -> None:
        """Begins the next epoch. Requires: the pipelines are at its beginning."""
        if self.epochs is None:
            self._exhausted_times += 1
        elif sources_begin_anew:
            self.epochs.end_early()
        else:
            self.epochs.begin_next()

    def left_in_words(self, steps_left: int) -> str:
        """How many steps of this epoch are left; "" where nobody knows."""
        if self.epochs is None:
            return ""
        return f", of which {steps_left} of {self.epochs.steps} steps are left"

    def state(self) -> dict[str, Any]:
        """The state, as a small dict that JSON can hold."""
        return {
            "epochs": None if self.epochs is None else self.epochs.state(),
            "exhausted": self.is_exhausted,
            "exhausted_times": self._exhausted_times,
        }

    def of_state(self, state: Mapping[str, Any]) -> Place:
        """The place where ``state()`` was taken. Raises ``StateError`` if it does not fit."""
        own = _state_entries.entry(state, "iterator", dict, ITERATORS)
        place = Place(copy(self.epochs))
        place.is_exhausted = _state_entries.flag(own, "exhausted", ITERATORS)
        place._exhausted_times = _state_entries.count(own, "exhausted_times", ITERATORS)
        epochs: Any = _state_entries.entry(own, "epochs", object, ITERATORS)
        if (epochs is None) != (self.epochs is None):
            raise StateError(
                "the state is of an iterator of a known size, this one goes on until its pipeline "
                "ends (give reader_name or size), or the other way round"
            )
        if place.epochs is not None:
            place.epochs.restore(epochs)
        return place
