# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Sources that have nothing to give in an epoch, or end theirs before others do."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from helpers import make
from sources import BATCH, external, generator, numbers, up_to
from stoker import Pipeline, fn
from stoker.errors import EpochWarning, SourceError
from stoker.numpy import DALIGenericIterator, DataIterator


class Once:
    """An iterator of one's own whose ``iter()`` does not begin anew."""

    def __init__(self, count: int = 3) -> None:
        self.left = count

    def __iter__(self) -> Once:
        return self

    def __next__(self) -> Any:
        if self.left == 0:
            raise StopIteration
        self.left -= 1
        return numbers(self.left)


class OnceBySamples(Once):
    def __next__(self) -> Any:
        return super().__next__()[0]


class Counting(Once):
    """A callable that counts by itself."""

    __iter__ = None  # type: ignore[assignment]

    def __call__(self) -> Any:
        return self.__next__()


def counting(count: int) -> Any:
    one = Once(count)
    return lambda: next(one)


SPENT: dict[str, tuple[Any, dict[str, Any]]] = {
    "iterator of one's own": (Once, {}),
    "callable that counts": (lambda: counting(3), {}),
    "callable of an index that counts": (lambda: (lambda one: lambda i: next(one))(Once()), {}),
    "generator": (generator, {}),
    "iterator": (lambda: iter([numbers(0)]), {}),
    "map": (lambda: map(numbers, range(2)), {}),
    "samples": (lambda: OnceBySamples(9), {"batch": False}),
    "in a process": (Once, {"parallel": True}),
    "cycle": (Once, {"cycle": "raise"}),
}


@pytest.mark.parametrize("name", SPENT)
def test_an_empty_epoch_is_told(name: str) -> None:
    make_source, how = SPENT[name]
    pipe = external(make_source(), **how)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(list(pipe)) > 0
    for number in (1, 2):
        said = f"no (whole )?batch.* in epoch {number}, so that epoch is empty.*must begin anew"
        with pytest.warns(EpochWarning, match=said):
            assert list(pipe) == []
    pipe.close()


def test_run_tells_as_well() -> None:
    pipe = external(Once(1))
    pipe.run()
    with pytest.raises(StopIteration):
        pipe.run()
    pipe.reset()
    with pytest.warns(EpochWarning, match="in epoch 1"), pytest.raises(StopIteration):
        pipe.run()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("source", [generator, up_to(3), [numbers(0)]], ids=["g", "index", "list"])
def test_sources_that_begin_anew_are_not_told_of(source: Any) -> None:
    pipe = external(source)
    assert len({len(list(pipe)) for _ in range(3)}) == 1
    for _ in range(2):
        data = DataIterator(external(source), ["x"])
        assert len({len(list(data)) for _ in range(3)}) == 1


EMPTY: dict[str, tuple[Any, dict[str, Any]]] = {
    "list": ([], {}),
    "declared": ([], {"dtype": "int32", "ndim": 1}),
    "generator": ((x for x in [0] if x), {}),
    "index": (up_to(0), {}),
    "fewer samples than a batch": ([np.array([i]) for i in range(BATCH - 1)], {"batch": False}),
}


@pytest.mark.parametrize("size", [-1, 8])
@pytest.mark.parametrize("name", EMPTY)
def test_an_iterator_without_any_step_is_an_error(size: int, name: str) -> None:
    source, how = EMPTY[name]
    data = DALIGenericIterator(external(source, **how), ["x"], size=size)
    with (
        pytest.warns(EpochWarning, match="in epoch 0"),
        pytest.raises(SourceError, match=r"gives no step at all: the source .*used up before"),
    ):
        list(data)


@pytest.mark.parametrize("name", EMPTY)
def test_so_is_one_that_wants_to_know_the_readers(name: str) -> None:
    source, how = EMPTY[name]
    said = "gives no step at all|ended before its first batch"
    with warnings.catch_warnings(), pytest.raises(SourceError, match=said):
        warnings.simplefilter("ignore", EpochWarning)
        list(DataIterator(external(source, **how), ["x"]))


def test_a_loop_without_any_step_is_told() -> None:
    with pytest.warns(EpochWarning, match="Was the source used up before"):
        assert list(external([])) == []


def two(a: Any, b: Any, **of_b: Any) -> Pipeline:
    return make(
        lambda: [fn.external_source(a, name="a"), fn.external_source(b, name="b", **of_b)],
        batch_size=BATCH,
    )


@pytest.mark.parametrize(
    "a, b",
    [(up_to(2), up_to(3)), ([numbers(0)], generator), (generator, map(numbers, range(9)))],
    ids=["index", "list", "map"],
)
def test_sources_that_end_at_different_steps(a: Any, b: Any) -> None:
    for one, other in ((a, b), (b, a)):
        if isinstance(b, Iterator) and one is b:
            continue
        pipe = two(one, other)
        with pytest.warns(EpochWarning, match=r"ended its epoch after \d batches, where .* more"):
            list(pipe)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            list(two(up_to(2), up_to(2)))
            list(pipe)  # it is said once


@pytest.mark.filterwarnings("error")
def test_a_source_that_goes_round_is_in_step_with_all() -> None:
    assert len(list(two(up_to(5), [numbers(0)], cycle="quiet"))) == 5


def test_a_source_that_ends_in_the_midst_of_a_readers_epoch(files: list[str]) -> None:
    def define() -> Any:
        return fn.readers.file(files=files, name="reader")[1], fn.external_source(up_to(3))

    pipe = make(define, batch_size=BATCH)
    with pytest.warns(EpochWarning, match=r"in the midst of an epoch of the reader 'reader', of"):
        assert len(list(pipe)) == 3


def test_a_source_that_ends_before_size() -> None:
    data = DataIterator(external(up_to(3)), ["x"], size=5 * BATCH)
    with pytest.warns(EpochWarning, match=r"ended this epoch, of which 2 of 5 steps are left"):
        assert len(list(data)) == 3
