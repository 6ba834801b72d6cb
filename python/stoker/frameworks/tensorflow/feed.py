# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Gives the steps of one pipeline to a dataset's iterators, one iterator at a time."""

from __future__ import annotations

import atexit
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from stoker.errors import StateError
from stoker.frameworks.numpy import DataIterator


class Feed:
    """Gives a pipeline's steps to the iterator that was begun last. Thread-safe.

    - ``epochs``: how many epochs an iterator lasts; None: it never ends, and the next one goes on
      where it was left. Otherwise the next one begins the next epoch. Where a state was loaded, the
      rest of that epoch counts as the first.
    - ``arranged``: turns a step into an element of the dataset.
    """

    def __init__(
        self, steps: DataIterator, epochs: int | None, arranged: Callable[[dict[str, Any]], Any]
    ) -> None:
        self._steps = steps
        self._epochs = epochs
        self._arranged = arranged
        self._lock = threading.Lock()
        self._turn = 0
        self._is_closed = False
        _feeds.add(self)

    def __call__(self) -> Iterator[Any]:
        """Begins an iterator over the elements."""
        return _Drawing(self._elements())

    def _elements(self) -> Iterator[Any]:
        with self._lock:
            self._turn += 1
            turn = self._turn
        epoch = 0
        while not self._is_closed and (self._epochs is None or epoch < self._epochs):
            with self._lock:
                self._check(turn)
                loop = iter(self._steps)  # begins the next epoch, if one has ended or was left
                steps = self._steps if self._epochs is None else loop
            while (element := self._next(turn, steps)) is not None:
                yield element
            epoch += 1

    def close(self) -> None:
        """Waits for the step that is being made, and ends all iterators without an error."""
        self._is_closed = True
        with self._lock:
            pass

    def _next(self, turn: int, steps: Iterator[Any]) -> Any:
        with self._lock:
            if self._is_closed:
                return None
            self._check(turn)
            step = next(steps, None)
        return None if step is None else self._arranged(step)

    def _check(self, turn: int) -> None:
        if turn != self._turn:
            raise StateError(
                "another iterator over this dataset was begun, and both would draw from one "
                "pipeline: use one at a time, or a dataset with a pipeline of its own"
            )

    @property
    def steps_per_epoch(self) -> int:
        """How many steps the epoch of the next step has.

        Raises ``TypeError`` if only the pipeline knows where its epoch ends.
        """
        with self._lock:
            return len(iter(self._steps))

    @property
    def epoch(self) -> int:
        """The epoch that the next step belongs to, counted from 0."""
        with self._lock:
            return self._steps.epoch

    def state_dict(self) -> dict[str, Any]:
        """The state after the steps drawn so far."""
        with self._lock:
            return self._steps.state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continues after a state. Iterators that were begun before end with an error."""
        with self._lock:
            self._turn += 1
            self._steps.load_state_dict(state)


class _Drawing:
    """The elements that one iterator draws. TensorFlow drops this object after its end.

    ``left`` is when the last element or the end was given, in seconds of ``time.monotonic()``.
    """

    def __init__(self, elements: Iterator[Any]) -> None:
        self._elements = elements
        self.left = time.monotonic()
        _drawings.add(self)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        try:
            return next(self._elements)
        finally:
            self.left = time.monotonic()


_feeds: weakref.WeakSet[Feed] = weakref.WeakSet()
_drawings: weakref.WeakSet[_Drawing] = weakref.WeakSet()
_PATIENCE_S = 1.0


@atexit.register
def _close_all() -> None:
    """Ends the feeds before the interpreter ends, and waits until TensorFlow's threads have left.

    A thread of TensorFlow that runs Python code, or begins to, while the interpreter ends would
    crash the process or block it for ever. So this waits until each thread that draws has met the
    end and TensorFlow has dropped its iterator. A thread that left Python more than
    ``_PATIENCE_S`` ago waits to deliver an element and does not come back, so it does not count.
    """
    for feed in list(_feeds):
        feed.close()
    while any(time.monotonic() - one.left < _PATIENCE_S for one in list(_drawings)):
        time.sleep(0.005)
    if _feeds:
        time.sleep(0.01)  # the last threads may still be leaving Python
