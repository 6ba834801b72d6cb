# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Sources of fn.external_source that begin anew: `cycle=`, by batches and by samples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from helpers import take
from sources import BATCH, external, generator, numbers
from stoker import Pipeline, types
from stoker.errors import SourceError


def test_cycles() -> None:
    quiet = external(generator, cycle="quiet")
    assert [int(s[0][0]) for s in take(quiet, 7 * BATCH)][::BATCH] == [0, 1, 2, 0, 1, 2, 0]
    again = external([numbers(i) for i in range(2)], cycle=True)
    assert [int(s[0][0]) for s in take(again, 3 * BATCH)][::BATCH] == [0, 1, 0]
    raising = external(generator, cycle="raise")
    for _ in range(3):
        got = [int(raising.run()[0].as_array()[0][0]) for _ in range(3)]
        assert got == [0, 1, 2]
        with pytest.raises(StopIteration):
            raising.run()
    with pytest.raises(StopIteration):
        external([], cycle="quiet").run()


def test_cycles_of_samples() -> None:
    """No sample is lost where one goes round within a batch."""

    def samples(n: int, **keywords: Any) -> Pipeline:
        return external([np.array([i]) for i in range(n)], batch=False, **keywords)

    def given(pipe: Pipeline, steps: int) -> list[list[int]]:
        return [pipe.run()[0].as_array().ravel().tolist() for _ in range(steps)]

    for cycle in ("quiet", True):
        wanted = [[0, 1, 2, 3], [4, 0, 1, 2], [3, 4, 0, 1], [2, 3, 4, 0]]
        assert given(samples(5, cycle=cycle), 4) == wanted
        assert given(samples(3, cycle=cycle), 2) == [[0, 1, 2, 0], [1, 2, 0, 1]], "short"
        assert given(samples(4, cycle=cycle), 2) == [[0, 1, 2, 3]] * 2
        assert given(samples(5, cycle=cycle, parallel=True), 4) == wanted
        for parallel in (False, True):
            with pytest.raises(StopIteration):
                samples(0, cycle=cycle, parallel=parallel).run()
    # With the others an epoch ends without the samples of an incomplete batch.
    raising = samples(5, cycle="raise")
    for _ in range(2):
        assert given(raising, 1) == [[0, 1, 2, 3]]
        with pytest.raises(StopIteration):
            raising.run()
    with pytest.raises(StopIteration):
        samples(3, cycle="raise").run()


def test_a_cycle_of_samples_after_a_failure() -> None:
    """The samples of the failed batch are lost, as a generator that fails has ended."""
    fails = iter([False, True])

    def source() -> Any:
        yield from map(np.int32, range(3))
        if next(fails, False):
            raise ValueError("bad")

    pipe = external(source, batch=False, cycle="quiet")
    assert pipe.run()[0].as_array().tolist() == [0, 1, 2, 0]
    with pytest.raises(SourceError, match="sample 2: ValueError: bad"):
        pipe.run()
    assert pipe.run()[0].as_array().tolist() == [0, 1, 2, 0]


class Anew:
    """An iterator that begins anew whenever ``iter()`` is called."""

    def __iter__(self) -> Anew:
        self.count = 0
        return self

    def __next__(self) -> Any:
        self.count += 1
        if self.count > 2:
            raise StopIteration
        return numbers(self.count)


@pytest.mark.filterwarnings("error")
def test_iterators_that_begin_anew() -> None:
    quiet = external(Anew(), cycle="quiet")
    assert [int(quiet.run()[0].as_array()[0, 0]) for _ in range(5)] == [1, 2, 1, 2, 1]
    for cycle in ("raise", "no"):
        pipe = external(Anew(), cycle=cycle)
        for _ in range(3):
            assert [int(batch.as_array()[0, 0]) for (batch,) in pipe] == [1, 2]
            pipe.reset()


@pytest.mark.parametrize("cycle", ["quiet", "raise"])
def test_an_empty_source_is_not_asked_on_and_on(cycle: str) -> None:
    asked: list[int] = []

    class Empty:
        def __iter__(self) -> Any:
            asked.append(1)
            return iter([])

    pipe = external(Empty(), cycle=cycle, dtype=types.INT32, ndim=1)
    for _ in range(3):
        with pytest.raises(StopIteration):
            pipe.run()
    pipe.close()
    assert len(asked) < 10
