# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""What a dataset's iterators draw from: one pipeline, one iterator at a time."""

from __future__ import annotations

import atexit
import contextlib
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
        self._unfinished = 0
        _feeds.add(self)

    def __call__(self) -> Iterator[Any]:
        """The elements of one iterator."""
        with self._lock:
            self._turn += 1
            turn = self._turn
        epoch = 0
        with self._counted():
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

    @property
    def has_unfinished(self) -> bool:
        """Whether there are iterators that have begun and not ended."""
        return self._unfinished > 0

    @contextlib.contextmanager
    def _counted(self) -> Iterator[None]:
        self._unfinished += 1
        try:
            yield
        finally:
            self._unfinished -= 1

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


_feeds: weakref.WeakSet[Feed] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    """Ends what TensorFlow's threads draw ahead: a thread that is in Python when the interpreter
    ends, as one that waits for a batch is, takes the process down.
    """
    feeds = list(_feeds)
    for feed in feeds:
        feed.close()
    for _ in range(10):  # until the threads have seen it; one that waits to give does not come back
        if any(feed.has_unfinished for feed in feeds):
            time.sleep(0.005)
