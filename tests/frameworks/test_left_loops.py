# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Loops that are left before the end of their epoch, and what the next loop gives."""

from __future__ import annotations

import contextlib
import itertools
import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from numbered import Numbers

from helpers import make
from stoker import Pipeline, fn
from stoker.errors import EpochWarning, SampleError, StateError
from stoker.numpy import DALIGenericIterator, DataIterator, LastBatchPolicy

pytestmark = pytest.mark.filterwarnings("error")


def labels(data: Any) -> list[list[int]]:
    return [step["label"].ravel().tolist() for step in data]


def breaks(data: Any, steps: int) -> None:
    for k, _ in enumerate(data, 1):
        if k == steps:
            break


def raises(data: Any, steps: int) -> None:
    with contextlib.suppress(ZeroDivisionError):
        for k, _ in enumerate(data, 1):
            1 / (steps - k)


def slices(data: Any, steps: int) -> None:
    assert len(list(itertools.islice(data, steps))) == steps


def zips(data: Any, steps: int) -> None:
    """A zip takes a step more than the shorter list has, and drops it."""
    assert len(list(zip(data, range(steps - 1), strict=False))) == steps - 1


def draws(data: Any, steps: int) -> None:
    loop = iter(data)
    for _ in range(steps):
        next(loop)


WAYS = [breaks, raises, slices, zips, draws]


@pytest.mark.parametrize("leave", WAYS)
def test_the_next_loop_is_the_next_epoch(
    leave: Callable[[Any, int], None], numbers: Numbers
) -> None:
    data = DataIterator(numbers(9, 2, pad_last_batch=True), ["label"])
    for number in range(3):
        leave(data, 1 + number)
        assert data.epoch == number, "a new loop begins the next one"
    assert labels(data) == [[1, 2], [3, 4], [5, 6], [7, 8], [9, 9]]
    assert data.epoch == 4


@pytest.mark.parametrize("policy", LastBatchPolicy)
@pytest.mark.parametrize("end", ["continue", "pad", "drop"])
@pytest.mark.parametrize("left", [1, 3])
def test_what_comes_is_what_would_have_come(
    policy: LastBatchPolicy, end: str, left: int, numbers: Numbers
) -> None:
    def opened(shard: int) -> DataIterator:
        pipe = numbers(27, 2, shard, 3, random_shuffle=True, epoch_end=end)
        return DataIterator(pipe, ["label"], last_batch_policy=policy)

    for shard in range(3):
        whole, data = opened(shard), opened(shard)
        expected = [labels(whole) for _ in range(4)]
        breaks(data, left)
        assert labels(data) == expected[1]
        breaks(data, left)
        assert labels(data) == expected[3]
        assert data.state_dict() == whole.state_dict()


def test_contiguous_shards(numbers: Numbers) -> None:
    """All ranks that leave at one step go on alike."""
    for stick in (False, True):
        seen: list[int] = []
        for shard in range(2):
            pipe = numbers(11, 2, shard, 2, stick_to_shard=stick, pad_last_batch=True)
            data = DataIterator(pipe, ["label"], last_batch_policy=LastBatchPolicy.PARTIAL)
            breaks(data, 2)
            steps = labels(data)
            assert len(steps) == 3
            seen += itertools.chain(*steps)
        assert sorted(seen) == list(range(1, 12))


def test_several_pipelines(numbers: Numbers) -> None:
    def opened() -> DataIterator:
        return DataIterator(
            [numbers(12, 2, s, 2, random_shuffle=True) for s in range(2)], ["label"]
        )

    def given(data: DataIterator) -> list[Any]:
        return [[one["label"].tolist() for one in step] for step in data]

    whole, data = opened(), opened()
    expected = [given(whole) for _ in range(2)]
    breaks(data, 1)
    assert given(data) == expected[1]


def test_a_state_in_the_middle_goes_on(numbers: Numbers) -> None:
    data = DataIterator(numbers(9, 2), ["label"])
    breaks(data, 2)
    state = json.loads(json.dumps(data.state_dict()))
    text = data.checkpoints()[0]
    again = DataIterator(numbers(9, 2), ["label"])
    again.load_state_dict(state)
    assert labels(again) == [[5, 6], [7, 8], [9, 1]]
    data.load_state_dict(state)
    assert labels(data) == [[5, 6], [7, 8], [9, 1]]
    for kind in (DataIterator, DALIGenericIterator):
        other = kind(numbers(9, 2, checkpoint=text), ["label"], reader_name="reader")
        assert len(list(other)) == 3


def test_a_state_may_be_loaded_in_a_loop(numbers: Numbers) -> None:
    data = DataIterator(numbers(8, 2), ["label"])
    start, seen = data.state_dict(), []
    for step in data:
        seen.append(int(step["label"][0, 0]))
        if seen == [1, 3]:
            data.load_state_dict(start)
    assert seen == [1, 3, 1, 3, 5, 7]


def test_a_look_at_one_batch(numbers: Numbers) -> None:
    data = DataIterator(numbers(6, 2, pad_last_batch=True), ["label"])
    assert [next(iter(data))["label"].ravel().tolist() for _ in range(3)] == [[1, 2]] * 3
    assert len(labels(data)) == 3
    assert data.epoch == 4


def test_steps_that_are_taken_by_hand(numbers: Numbers) -> None:
    """A loop goes on behind them, as with any iterator of Python."""
    data = DataIterator(numbers(6, 2), ["label"])
    next(data)
    assert labels(data) == [[3, 4], [5, 6]]
    loop = iter(data)
    next(loop)
    assert labels(loop) == [[3, 4], [5, 6]]
    assert list(loop) == []
    next(data)
    assert labels(data) == [[3, 4], [5, 6]]


def test_iter_alone_changes_nothing(numbers: Numbers) -> None:
    data = DataIterator(numbers(6, 2), ["label"])
    loop = iter(data)
    next(loop)
    assert np.iterable(data)
    assert labels(loop) == [[3, 4], [5, 6]]


def test_a_loop_that_met_its_last_step_is_whole(numbers: Numbers) -> None:
    for auto_reset in (True, False):
        data = DataIterator(numbers(6, 2), ["label"], auto_reset=auto_reset)
        for number in range(3):
            assert data.epoch == number
            breaks(data, 3)


def test_two_loops_at_once(numbers: Numbers) -> None:
    data = DataIterator(numbers(8, 2), ["label"])
    older = iter(data)
    next(older)
    newer = iter(data)
    next(newer)
    with pytest.raises(StateError, match="a newer loop over this iterator has begun"):
        next(older)
    assert labels(newer) == [[3, 4], [5, 6], [7, 8]]
    with pytest.raises(StateError, match="a newer loop"):
        list(zip(data, data, strict=True))


def test_a_step_that_failed_leaves_no_loop(numbers: Numbers) -> None:
    """Whoever was told by an error goes on behind it."""
    data = DataIterator(numbers(8, 2, bad=(3, 4)), ["label"])
    with pytest.raises(SampleError):
        labels(data)
    assert labels(data) == [[5, 6], [7, 8]]


def test_the_established_iterator_goes_on_and_warns(numbers: Numbers) -> None:
    data = DALIGenericIterator(numbers(8, 2), ["label"], reader_name="reader", auto_reset=True)
    breaks(data, 1)
    with pytest.warns(EpochWarning, match=r"of which 3 of 4 steps are left; reset\(\) before"):
        assert len(list(data)) == 3
    assert len(list(data)) == 4
    first = next(iter(data))
    with pytest.warns(EpochWarning, match="3 of 4 steps"):
        second = next(iter(data))
    assert [x[0]["label"].ravel().tolist() for x in (first, second)] == [[1, 2], [3, 4]]


@pytest.mark.parametrize("kind", [DALIGenericIterator, DataIterator])
@pytest.mark.parametrize("by", [{"reader_name": "reader"}, {"size": 7}])
def test_reset_begins_the_next_epoch(kind: Any, by: dict[str, Any], numbers: Numbers) -> None:
    def opened() -> Any:
        return kind(numbers(7, 2, random_shuffle=True), ["label"], auto_reset=True, **by)

    def given(data: Any) -> list[Any]:
        return [str(step) for step in data]

    whole, data = opened(), opened()
    expected = [given(whole) for _ in range(3)]
    data.reset()  # at the beginning it does nothing
    next(data)
    data.reset()
    data.reset()
    assert data.epoch == 1
    assert given(data) == expected[1]
    data.reset()
    assert given(data) == expected[2]


def batch(i: int) -> Any:
    return np.full((2, 1), i)


def four() -> Iterator[Any]:
    yield from map(batch, range(4))


def by_index(i: int) -> Any:
    if i == 4:
        raise StopIteration
    return batch(i)


def fed(source: Any, **keywords: Any) -> Pipeline:
    return make(lambda: fn.external_source(source, **keywords), batch_size=2, num_threads=1)


@pytest.mark.parametrize("by", [{}, {"size": 8}], ids=["alone", "size"])
@pytest.mark.parametrize(
    "source", [four, by_index, list(four())], ids=["generator", "index", "list"]
)
def test_sources_begin_anew(source: Any, by: dict[str, int]) -> None:
    data = DataIterator(fed(source), ["label"], **by)
    for _ in range(3):
        breaks(data, 2)
    assert [step[0] for step in labels(data)] == [0, 1, 2, 3]
    assert data.epoch == 4
    next(data)
    data.reset()
    assert [step[0] for step in labels(data)] == [0, 1, 2, 3]


def test_sources_in_processes_begin_anew() -> None:
    pipe = make(
        lambda: fn.external_source(by_index, parallel=True), batch_size=2, py_start_method="spawn"
    )
    data = DataIterator(pipe, ["label"])
    breaks(data, 1)
    assert [step[0] for step in labels(data)] == [0, 1, 2, 3]
    pipe.close()


def test_a_source_beside_a_reader_begins_anew(numbers: Numbers) -> None:
    files = numbers._files[:8]

    def define() -> Any:
        _, label = fn.readers.file(files=files, labels=list(range(8)))
        return label, fn.external_source(by_index)

    data = DataIterator(make(define, batch_size=2), ["label", "x"])
    breaks(data, 3)
    assert [(s["label"][0, 0], s["x"][0, 0]) for s in data] == [(0, 0), (2, 1), (4, 2), (6, 3)]


@pytest.mark.parametrize("kind", ["iterator", "nothing"])
def test_sources_that_cannot_begin_anew_go_on(kind: str) -> None:
    """No batch is lost, and a person is told."""
    steps = four()
    data = DataIterator(fed(steps if kind == "iterator" else lambda: next(steps)), ["label"])
    breaks(data, 1)
    with pytest.warns(EpochWarning, match="the source of external_source .* cannot begin anew"):
        assert [step[0] for step in labels(data)] == [1, 2, 3]


def test_inputs_that_are_fed_by_hand_go_on(numbers: Numbers) -> None:
    files = numbers._files[:6]

    def define() -> Any:
        _, label = fn.readers.file(files=files, labels=list(range(6)))
        return label, fn.external_source(name="x")

    pipe = make(define, batch_size=2)
    for i in range(3):
        pipe.feed_input("x", batch(i))
    data = DataIterator(pipe, ["label", "x"])
    breaks(data, 1)
    with pytest.warns(EpochWarning, match="'x', which is fed by hand, cannot begin anew"):
        assert [(s["label"][0, 0], s["x"][0, 0]) for s in data] == [(2, 1), (4, 2)]


def test_endless_streams_go_on() -> None:
    data = DataIterator(fed(four, cycle="quiet"), ["label"])
    assert [int(s["label"][0, 0]) for s in itertools.islice(data, 3)] == [0, 1, 2]
    assert [int(s["label"][0, 0]) for s in itertools.islice(data, 3)] == [3, 0, 1]


def test_an_iterator_behind_a_loop_that_was_left(numbers: Numbers) -> None:
    """A look at the pipeline, or an iterator made anew, takes nothing from the next one."""
    pipe = numbers(6, 2)
    next(iter(pipe))
    for kind in (DataIterator, DALIGenericIterator, DataIterator):
        data = kind(pipe, ["label"], reader_name="reader")
        assert next(iter(data)) is not None
    assert [batch.as_array().ravel().tolist() for (batch,) in pipe] == [[1, 2], [3, 4], [5, 6]]


def test_steps_of_others_are_told(numbers: Numbers) -> None:
    pipe = numbers(8, 2)
    data = DataIterator(pipe, ["label"])
    next(data)
    pipe.run()
    with pytest.warns(EpochWarning, match="1 steps were taken from this iterator's pipeline"):
        next(data)
    other = DataIterator(pipe, ["label"])
    next(other)
    with pytest.warns(EpochWarning, match="another iterator"):
        next(data)
