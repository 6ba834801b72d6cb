# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""A PyTorch iterator's place in the data: epochs, resets and states."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest
from numbered import Numbers
from torch_steps import all_labels, flat, labels, training

from stoker import Pipeline
from stoker.errors import StateError
from stoker.torch import DALIGenericIterator, DataIterator, LastBatchPolicy


def test_without_auto_reset(numbers: Numbers) -> None:
    for no in (False, "no", None):
        iterator = DALIGenericIterator(
            numbers(4, 2), ["label"], reader_name="reader", auto_reset=no
        )
        assert all_labels(iterator) == [[1, 2], [3, 4]]
        for _ in range(2):
            with pytest.raises(StopIteration):
                next(iterator)
        iterator.reset()
        assert labels(next(iterator)) == [1, 2]
        assert labels(iterator.next()) == [3, 4]
        assert len(list(iterator)) == 2, "a loop begins the next epoch as well"


def test_with_auto_reset(numbers: Numbers) -> None:
    for yes in (True, "yes"):
        iterator = DALIGenericIterator(
            numbers(4, 2), ["label"], reader_name="reader", auto_reset=yes
        )
        for epoch in range(3):
            assert iterator.epoch == epoch
            assert all_labels(iterator) == [[1, 2], [3, 4]]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            iterator.reset()  # scripts call this out of habit
        assert labels(next(iterator)) == [1, 2]


def test_reset_in_the_middle_begins_the_next_epoch(numbers: Numbers) -> None:
    iterator = DataIterator(numbers(7, 2), ["label"])
    next(iterator)
    iterator.reset()
    assert labels(next(iterator)) == [2, 3]


def test_a_loop_that_was_left_ends_its_epoch(numbers: Numbers) -> None:
    iterator = DataIterator(numbers(7, 2), ["label"])
    for _ in iterator:
        break
    assert all_labels(iterator) == [[2, 3], [4, 5], [6, 7]]


def test_an_iterator_goes_on_where_its_pipeline_stands(numbers: Numbers) -> None:
    pipe = numbers(6, 2)
    pipe.run()
    assert all_labels(DataIterator(pipe, ["label"])) == [[3, 4], [5, 6]]


def test_loops_that_count_to_the_length(numbers: Numbers) -> None:
    """Some trainers never ask for the step after the last one, or stop before the last one."""
    iterator = DataIterator(numbers(7, 2), ["label"], last_batch_policy=LastBatchPolicy.PARTIAL)
    seen = []
    for _ in range(3):
        steps = iter(iterator)
        seen.append([labels(next(steps)) for _ in range(len(iterator))])
    assert [len(steps) for steps in seen] == [4, 4, 4]
    assert [sorted(flat(steps)) for steps in seen] == [list(range(1, 8))] * 3


def test_loops_that_look_one_step_ahead(numbers: Numbers) -> None:
    iterator = DataIterator(numbers(7, 2, pad_last_batch=True), ["label"])
    for _ in range(2):
        steps, seen = iter(iterator), []
        current: Any = next(steps)
        while current is not None:
            following = next(steps, None)
            seen.append((labels(current), following is None))
            current = following
        assert [x for x, _ in seen] == [[1, 2], [3, 4], [5, 6], [7, 7]]
        assert [is_last for _, is_last in seen] == [False, False, False, True]


class Countdown(Pipeline):
    """A pipeline that ends its epochs itself, as one with an external source does."""

    STEPS = 3
    left = STEPS

    def run(self) -> Any:
        if self.left == 0:
            raise StopIteration
        self.left -= 1
        return super().run()

    def reset(self) -> None:
        self.left = self.STEPS


def countdown(numbers: Numbers) -> Countdown:
    return Countdown.deserialize(numbers(40, 2).serialize())  # type: ignore[return-value]


def test_a_pipeline_that_ends_its_epochs_itself(numbers: Numbers) -> None:
    iterator = DALIGenericIterator(countdown(numbers), ["label"])
    assert iterator.size == -1
    with pytest.raises(TypeError, match="the number of steps is not known"):
        len(iterator)
    for epoch in range(3):
        assert iterator.epoch == epoch
        assert [x[0] for x in all_labels(iterator)] == [6 * epoch + 1, 6 * epoch + 3, 6 * epoch + 5]
        with pytest.raises(StopIteration):
            next(iterator)
        iterator.reset()
    longer = DALIGenericIterator(countdown(numbers), ["label"], size=10, auto_reset=True)
    assert [len(list(longer)) for _ in range(3)] == [3, 3, 3], "the pipeline ends it earlier"


def every_state(numbers: Numbers, arguments: dict[str, Any], **settings: Any) -> None:
    """An iterator that is restored after any step goes on as the first one does."""

    def make_one(**more: Any) -> Any:
        return DALIGenericIterator(
            numbers(7, 2, **{**settings, **more}), ["label"], auto_reset=True, **arguments
        )

    def rest(iterator: Any, count: int) -> list[Any]:
        return [all_labels(iterator) for _ in range(count)]

    whole = rest(make_one(), 5)
    first = make_one()
    for epoch in range(3):
        for step in range(len(whole[epoch])):
            state = json.loads(json.dumps(first.state_dict()))
            again = make_one()
            again.load_state_dict(state)
            assert (again.epoch, len(again)) == (epoch, len(whole[epoch]))
            assert rest(again, 2) == [whole[epoch][step:], whole[epoch + 1]]
            text = first.checkpoints()[0]
            restored = make_one(checkpoint=text)
            assert rest(restored, 2) == [whole[epoch][step:], whole[epoch + 1]]
            next(first)
        with pytest.raises(StopIteration):
            next(first)


@pytest.mark.parametrize("policy", LastBatchPolicy)
@pytest.mark.parametrize("padded", [False, True])
def test_state_after_every_step(numbers: Numbers, policy: LastBatchPolicy, padded: bool) -> None:
    arguments: dict[str, Any] = {"reader_name": "reader", "last_batch_policy": policy}
    every_state(numbers, arguments, random_shuffle=True, pad_last_batch=padded)


def test_state_by_size(numbers: Numbers) -> None:
    arguments = {"size": 7, "last_batch_policy": LastBatchPolicy.PARTIAL}
    every_state(numbers, arguments, random_shuffle=True)


def test_preparing_the_first_batch_is_not_part_of_the_state(pictures: Path) -> None:
    states = []
    for prepare in (True, False):
        iterator = DALIGenericIterator(
            training(pictures),
            ["image", "label"],
            reader_name="reader",
            prepare_first_batch=prepare,
        )
        states.append(iterator.state_dict())
    bare = training(pictures)
    assert states[0] == states[1]
    assert states[0]["pipelines"] == [bare.state()]


def test_the_first_batch_is_prepared_at_construction(pictures: Path) -> None:
    """The engine's counts show it: otherwise nothing would run before the first step."""
    lazy, eager = training(pictures), training(pictures)
    DataIterator(lazy, ["image", "label"], prepare_first_batch=False)
    keep = DataIterator(eager, ["image", "label"])
    step = next(keep)
    assert lazy.stats()["samples"] == 0
    assert eager.stats()["samples"] >= len(step["label"])


def test_state_of_several_pipelines(numbers: Numbers) -> None:
    def make_one() -> Any:
        pipes = [numbers(7, 2, s, 2) for s in range(2)]
        return DALIGenericIterator(pipes, ["label"], reader_name="reader", auto_reset=True)

    def take(iterator: Any, count: int) -> list[Any]:
        got: list[Any] = []
        while len(got) < count:
            got += [[one["label"].flatten().tolist() for one in step] for step in iterator]
        return got[:count]

    whole = take(make_one(), 14)
    first = make_one()
    for done in range(5):
        again = make_one()
        again.load_state_dict(json.loads(json.dumps(first.state_dict())))
        assert take(again, 6) == whole[done : done + 6]
        try:
            next(first)
        except StopIteration:
            next(first)
    with pytest.raises(StateError, match="of 2 pipelines, this iterator has 1"):
        DataIterator(numbers(7, 2), ["label"]).load_state_dict(first.state_dict())


def test_a_state_at_the_end_of_an_epoch(numbers: Numbers) -> None:
    """The next epoch follows and is counted, whether or not the loop has seen the end."""
    iterator = DataIterator(numbers(7, 2, pad_last_batch=True), ["label"], auto_reset=False)
    for _ in range(4):
        next(iterator)
    for _ in range(2):
        again = DataIterator(numbers(7, 2, pad_last_batch=True), ["label"])
        again.load_state_dict(iterator.state_dict())
        assert again.epoch == 1
        assert all_labels(again) == [[1, 2], [3, 4], [5, 6], [7, 7]]
        assert again.epoch == 2
        assert next(iterator, None) is None


def test_pipelines_without_a_state(numbers: Numbers, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such pipelines are iterated like others. Only asking for the state raises."""

    def no_state(self: Pipeline) -> Any:
        raise StateError("the source 'x' cannot say where it stands")

    monkeypatch.setattr(Pipeline, "state", no_state)
    iterator = DataIterator(numbers(7, 2), ["label"])
    assert all_labels(iterator)[-1] == [7, 1]
    for ask in (iterator.state_dict, iterator.checkpoints):
        with pytest.raises(StateError, match="source 'x'"):
            ask()


def test_states_that_do_not_fit(numbers: Numbers) -> None:
    iterator = DataIterator(numbers(7, 2), ["label"])
    state = iterator.state_dict()
    for wrong in ({}, [], state["pipelines"][0]):
        with pytest.raises(StateError, match="an iterator's state"):
            iterator.load_state_dict(wrong)
    with pytest.raises(StateError, match="version 9"):
        iterator.load_state_dict({**state, "version": 9})
    with pytest.raises(StateError, match="known size"):
        DALIGenericIterator(numbers(7, 2), ["label"]).load_state_dict(state)
    with pytest.raises(StateError, match="other files"):
        relabelled = DataIterator(numbers(7, 2), ["label"])
        state["pipelines"][0]["orders"]["reader"]["files"] = "0" * 16
        relabelled.load_state_dict(state)
    assert labels(next(iterator)) == [1, 2]
