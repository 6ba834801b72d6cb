# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""What a dataset's iterators draw from: one pipeline, one iterator at a time."""

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
    """Gives a pipeline's steps to whichever iterator was begun last. May be used by any thread.

    - ``epochs``: how many epochs an iterator lasts; None: without end. One that begins in the
      middle of an epoch counts the rest of it as its first.
    - ``arranged``: makes a dataset's element of a step.
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
        """The elements of one iterator."""
        return _Drawing(self._elements())

    def _elements(self) -> Iterator[Any]:
        with self._lock:
            self._turn += 1
            turn = self._turn
        epoch = 0
        while not self._is_closed and (self._epochs is None or epoch < self._epochs):
            with self._lock:
                self._check(turn)
                iter(self._steps)  # the next epoch, if one has ended
            while (element := self._next(turn)) is not None:
                yield element
            epoch += 1

    def close(self) -> None:
        """Waits for the step that is being made, and ends all iterators without an error."""
        self._is_closed = True
        with self._lock:
            pass

    def _next(self, turn: int) -> Any:
        with self._lock:
            if self._is_closed:
                return None
            self._check(turn)
            step = next(self._steps, None)
        return None if step is None else self._arranged(step)

    def _check(self, turn: int) -> None:
        if turn != self._turn:
            raise StateError(
                "another iterator over this dataset was begun, and both would draw from one "
                "pipeline: use one at a time, or a dataset with a pipeline of its own"
            )

    @property
    def steps_per_epoch(self) -> int:
        """Steps of the epoch that the next step belongs to.

        Raises ``TypeError`` where only the pipeline knows its end.
        """
        with self._lock:
            return len(iter(self._steps))

    @property
    def epoch(self) -> int:
        """The epoch that the next step belongs to, from 0."""
        with self._lock:
            return self._steps.epoch

    def state_dict(self) -> dict[str, Any]:
        """Where the pipeline stands after what was drawn."""
        with self._lock:
            return self._steps.state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on after a state; iterators that were begun before end with an error."""
        with self._lock:
            self._turn += 1
            self._steps.load_state_dict(state)


class _Drawing:
    """What one iterator draws. TensorFlow lets go of it when it has dealt with the end.

    ``left``: when the last element, or the end, was given, in seconds of ``time.monotonic()``.
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
    """Ends what TensorFlow's threads draw ahead: a thread that is in Python when the interpreter
    ends, or comes there, takes the process down or is waited for without end.

    So they are waited for until they have heard of the end and TensorFlow has dealt with it. Those
    that wait to give what they have drawn do not come back: these left Python a while ago.
    """
    for feed in list(_feeds):
        feed.close()
    while any(time.monotonic() - one.left < _PATIENCE_S for one in list(_drawings)):
        time.sleep(0.005)
    if _feeds:
        time.sleep(0.01)  # the last of them are on their way out
