# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""``on_error="drop"`` where sources, ``feed_input`` or ``iter_setup()`` feed the batches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from dropping import BATCH, EXECUTORS, epoch, labels, runs, sliced, steps_of

from helpers import make
from stoker import Pipeline, fn
from stoker.errors import SampleError, SourceError
from stoker.frameworks.numpy import DataIterator


class Rows:
    """A source of batches of numbers; samples that are negative are bad."""

    def __init__(self, *batches: list[int]) -> None:
        self.batches = batches

    def __iter__(self) -> Any:
        return iter([[np.array([x], np.int32) for x in b] for b in self.batches])

    def pipe(self, cycle: str | None = None, **settings: Any) -> Pipeline:
        def define() -> Any:
            row = fn.external_source(self, dtype="int32", ndim=1, cycle=cycle)
            return row, sliced(row)

        return make(define, **{"batch_size": BATCH, "on_error": "drop", **settings})


@pytest.mark.parametrize("settings", EXECUTORS)
def test_the_end_of_a_source(settings: Any) -> None:
    pipe = Rows([1, 2], [-1, -2], [3, -3], [-4, -5]).pipe(**settings)
    assert [epoch(pipe) for _ in range(3)] == [[[1, 2], [3]]] * 3
    assert runs(pipe, 2) == [[1, 2], [3]]
    with pytest.raises(StopIteration):
        pipe.run()
    pipe.reset()
    assert runs(pipe, 2) == [[1, 2], [3]]
    iterator = DataIterator(Rows([-1, -2], [3, -3], [-4, -5]).pipe(**settings), ["label", "part"])
    assert [steps_of(iterator) for _ in range(3)] == [[[3]]] * 3


@pytest.mark.parametrize("settings", EXECUTORS)
def test_a_source_of_bad_batches(settings: Any) -> None:
    pipe = Rows([-1, -2], [-4, -5]).pipe(**settings)
    for _ in range(2):
        with pytest.raises(SampleError, match="dropped every batch of this epoch, 2 in all"):
            epoch(pipe)
        with pytest.raises(StopIteration):
            pipe.run()
    pipe = Rows([-1, -2]).pipe("raise", **settings)  # its next epoch begins by itself
    for _ in range(3):
        with pytest.raises(SampleError, match="1 in all"):
            pipe.run()


@pytest.mark.parametrize("cycle", [None, "raise"])
def test_iterators_over_a_source_of_bad_batches(cycle: str | None) -> None:
    iterator = DataIterator(Rows([-1, -2]).pipe(cycle), ["label", "part"])
    for number in range(3):
        assert iterator.epoch == number
        with pytest.raises(SampleError, match="1 in all"):
            steps_of(iterator)
        assert iterator.epoch == number + 1
    # The end of the source comes behind that of size=, so it is met in the next epoch.
    iterator = DataIterator(Rows([-1, -2], [-3, -4]).pipe(cycle), ["label", "part"], size=4)
    assert steps_of(iterator) == []
    for number in range(1, 4):
        assert iterator.epoch == number
        with pytest.raises(SampleError, match="2 in all"):
            steps_of(iterator)
        assert steps_of(iterator) == []


def test_feeding_by_hand() -> None:
    """A run takes a batch more than was fed for it, and says so where there is none."""
    pipe = make(
        lambda: sliced(fn.external_source(name="row", dtype="int32", ndim=1)),
        batch_size=BATCH,
        on_error="drop",
    )

    def feed(x: int) -> None:
        pipe.feed_input("row", np.full((BATCH, 1), x, np.int32))

    for x in (-1, 4, -1):
        feed(x)
    assert labels(pipe.run()) == [4, 4]
    with pytest.raises(SourceError, match="nothing was fed"):
        pipe.run()
    feed(5)
    assert labels(pipe.run()) == [5, 5]
    assert pipe.stats()["steps_dropped"] == 2


class BySetup(Pipeline):
    """Feeds six batches an epoch, every other one without a good sample."""

    def define_graph(self) -> Any:
        self.count = 0
        self.row = fn.external_source(dtype="int32", ndim=1)
        return sliced(self.row)

    def iter_setup(self) -> None:
        if self.count == 6:
            self.count = 0
            raise StopIteration
        x = self.count if self.count % 2 == 0 else -1
        self.feed_input(self.row, np.full((BATCH, 1), x, np.int32))
        self.count += 1


def test_iter_setup_begins_a_step_for_each_that_is_dropped() -> None:
    pipe = BySetup(batch_size=BATCH, num_threads=1, on_error="drop")
    for _ in range(2):
        assert epoch(pipe) == [[0, 0], [2, 2], [4, 4]]
    pipe = BySetup(batch_size=BATCH, num_threads=1, on_error="drop")
    for _ in range(2):
        got = []
        while True:
            pipe.schedule_run()
            try:
                got.append(labels(pipe.outputs()))
            except StopIteration:
                break
        assert got == [[0, 0], [2, 2], [4, 4]]
        assert pipe.empty()
        pipe.reset()
