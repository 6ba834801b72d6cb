# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Lets users look at the next step without taking it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from stoker.errors import StateError
from stoker.frameworks._iterator import BaseIterator


class _Waiting(NamedTuple):
    """A step that was made but not given, and the iterator's state before it.

    If a pipeline cannot tell its state, ``refusal`` is its error and the state is empty.
    """

    step: Any
    epoch: int
    is_begun: bool
    state: dict[str, Any]
    checkpoints: list[str]
    refusal: StateError | None


class Peekable(BaseIterator):
    """An iterator with ``peek()``. A step that was only looked at does not count as given."""

    _waiting: _Waiting | None = None

    def peek(self) -> Any:
        """The next step; ``next()`` still gives it. Raises ``StopIteration`` at the end."""
        if self._waiting is None:
            state, checkpoints, refusal = {}, [], None
            try:
                state, checkpoints = super().state_dict(), super().checkpoints()
            except StateError as e:
                refusal = e
            before = super().epoch, super()._is_begun()
            self._waiting = _Waiting(super()._next_step(), *before, state, checkpoints, refusal)
        return self._waiting.step

    def _next_step(self) -> Any:
        if self._waiting is None:
            return super()._next_step()
        step, self._waiting = self._waiting.step, None
        return step

    @property
    def epoch(self) -> int:
        """The epoch that the next step belongs to, counted from 0. It is part of the state."""
        return super().epoch if self._waiting is None else self._waiting.epoch

    def state_dict(self) -> dict[str, Any]:
        """The state after the steps given so far, as a small dict that JSON can hold."""
        before = self._before()
        return super().state_dict() if before is None else before.state

    def load_state_dict(self, state: Mapping[str, Any], force: bool = False) -> None:
        """Continues after a state; see ``BaseIterator``."""
        super().load_state_dict(state, force)
        self._waiting = None

    def checkpoints(self) -> list[str]:
        """A text for each pipeline, for ``Pipeline(checkpoint=)``; see ``BaseIterator``."""
        before = self._before()
        return super().checkpoints() if before is None else before.checkpoints

    def _before(self) -> _Waiting | None:
        if self._waiting is not None and self._waiting.refusal is not None:
            raise self._waiting.refusal
        return self._waiting

    def _is_finished(self) -> bool:
        return self._waiting is None and super()._is_finished()

    def _is_begun(self) -> bool:
        return super()._is_begun() if self._waiting is None else self._waiting.is_begun

    def _steps_left(self) -> int:
        return super()._steps_left() + (self._waiting is not None)

    def _end_early(self) -> None:
        self._waiting = None  # it is of the epoch that ends
        super()._end_early()
