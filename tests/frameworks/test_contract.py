# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""What the iterators of all frameworks have in common."""

from __future__ import annotations

import gc
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from adapters import ADAPTERS, AVAILABLE, TYPES, Adapter
from numbered import Numbers

from helpers import make
from stoker import Pipeline, fn
from stoker.errors import GraphError, SampleError, StateError
from stoker.frameworks._epochs import LastBatchPolicy


@pytest.fixture(params=[pytest.param(n, marks=pytest.mark.xdist_group(n)) for n in AVAILABLE])
def framework(request: pytest.FixtureRequest) -> Adapter:
    return ADAPTERS[request.param]()


def training(pictures: Path, size: int = 16, **settings: Any) -> Pipeline:
    def define() -> Any:
        encoded, label = fn.readers.file(file_root=pictures, random_shuffle=True, name="reader")
        image = fn.random_resized_crop(fn.decoders.image(encoded), size=[size, size])
        return fn.crop_mirror_normalize(image, mirror=fn.random.coin_flip()), label

    return make(define, **{"batch_size": 4, **settings})


def labels(framework: Adapter, step: Any) -> list[int]:
    (one,) = framework.read(step)
    return [int(x) for x in one["label"].ravel()]


def epoch(framework: Adapter, iterator: Any) -> list[list[int]]:
    return [labels(framework, step) for step in iterator]


def test_values_and_names(framework: Adapter, pictures: Path) -> None:
    iterator = framework.open(training(pictures), ["image", "label"], reader_name="reader")
    assert len(iterator) == 6
    judge = training(pictures)
    for _ in range(2):
        for step, batches in zip(iterator, judge, strict=True):
            (one,) = framework.read(step)
            assert sorted(one) == ["image", "label"]
            for name, batch in zip(["image", "label"], batches, strict=True):
                assert one[name].dtype == batch.dtype
                assert np.array_equal(one[name], batch.as_array())


def test_every_type(framework: Adapter) -> None:
    for dtype in TYPES:
        pipe = make(lambda t=dtype: fn.constant(idata=[0, 1, 1], shape=[3], dtype=t), batch_size=2)
        iterator = framework.open(pipe, ["x"], size=8)
        if dtype in framework.types:
            (one,) = framework.read(next(iterator))
            assert one["x"].dtype == dtype
            assert one["x"].tolist() == [[0, 1, 1]] * 2
        else:
            with pytest.raises(GraphError, match=f"{dtype}.*fn.cast"):
                next(iterator)


@pytest.mark.parametrize("by", ["reader_name", "size"])
@pytest.mark.parametrize(
    "policy, padded, last, following",
    [
        ("PARTIAL", True, [7], [1, 2]),
        ("PARTIAL", False, [7], [2, 3]),
        ("FILL", True, [7, 7], [1, 2]),
        ("FILL", False, [7, 1], [2, 3]),
        ("DROP", True, [5, 6], [1, 2]),
        ("DROP", False, [5, 6], [2, 3]),
    ],
)
def test_the_table_of_policies(
    framework: Adapter,
    numbers: Numbers,
    policy: str,
    padded: bool,
    last: list[int],
    following: list[int],
    by: str,
) -> None:
    given: dict[str, Any] = {"reader_name": "reader"}
    if by == "size":
        given = {"size": 7, **({"last_batch_padded": True} if padded else {})}
    given["last_batch_policy"] = LastBatchPolicy[policy]
    pipe = numbers(7, 2, pad_last_batch=padded)
    if by == "size" and padded and not framework.takes_many:
        with pytest.raises(TypeError, match="last_batch_padded"):  # the reader says it
            framework.open(pipe, ["label"], **given)
        return
    iterator = framework.open(pipe, ["label"], **given)
    for expected in ([1, 2], following):
        length = len(iterator)
        steps = epoch(framework, iterator)
        assert len(steps) == length
        assert steps[0] == expected
        if expected == [1, 2]:
            assert steps[-1] == last
        iterator.reset()


def test_steps_that_are_dropped(framework: Adapter, numbers: Numbers) -> None:
    """An epoch ends at the same sample as ever, and an iterator goes on with ``state_dict()``."""
    names = {"reader_name": "reader", "auto_reset": True}
    bad = (3, 4, 6, 9, 10)

    def opened() -> Any:
        return framework.open(numbers(10, 2, bad=bad, on_error="drop"), ["label"], **names)

    iterator, given = opened(), [[1, 2], [5], [7, 8]]
    assert len(iterator) == 5
    for number in range(3):
        assert iterator.epoch == number
        assert epoch(framework, iterator) == given
    for k in range(4):
        other = opened()
        other.load_state_dict(json.loads(json.dumps(iterator.state_dict())))
        assert epoch(framework, other) == given[k:]
        if k < 3:
            assert labels(framework, next(iterator)) == given[k]
    with pytest.raises(StopIteration):
        next(iterator)


def test_an_epoch_of_dropped_steps_is_an_error(framework: Adapter, numbers: Numbers) -> None:
    pipe = numbers(4, 2, bad=range(1, 5), on_error="drop")
    iterator = framework.open(pipe, ["label"], reader_name="reader", auto_reset=True)
    for _ in range(2):
        # TensorFlow raises an error of its own that has this text.
        with pytest.raises(Exception, match="dropped every batch of this epoch, 2 in all"):
            next(iterator)
        with pytest.raises(StopIteration):
            next(iterator)


def test_the_end_of_an_epoch(framework: Adapter, numbers: Numbers) -> None:
    """An epoch that ended stays ended until the reset, which auto_reset does by itself."""
    iterator = framework.open(numbers(4, 2), ["label"], reader_name="reader")
    assert [labels(framework, next(iterator)) for _ in range(2)] == [[1, 2], [3, 4]]
    for _ in range(2):
        with pytest.raises(StopIteration):
            next(iterator)
    assert iterator.epoch == 1
    iterator.reset()
    assert labels(framework, next(iterator)) == [1, 2]
    again = framework.open(numbers(4, 2), ["label"], reader_name="reader", auto_reset=True)
    for _ in range(2):
        assert [labels(framework, next(again)) for _ in range(2)] == [[1, 2], [3, 4]]
        with pytest.raises(StopIteration):
            next(again)


def test_a_reset_in_the_middle_of_an_epoch(framework: Adapter, numbers: Numbers) -> None:
    """What comes is what would have come if the rest had been taken."""

    def opened() -> Any:
        pipe = numbers(9, 2, random_shuffle=True)
        return framework.open(pipe, ["label"], reader_name="reader", auto_reset=True)

    whole, iterator = opened(), opened()
    expected = [epoch(framework, whole) for _ in range(3)]
    assert labels(framework, next(iterator)) == expected[0][0]
    iterator.reset()
    assert epoch(framework, iterator) == expected[1]
    assert epoch(framework, iterator) == expected[2]


def test_several_pipelines(framework: Adapter, numbers: Numbers) -> None:
    pipes = [numbers(8, 2, s, 2, random_shuffle=True) for s in range(2)]
    if not framework.takes_many:
        with pytest.raises(GraphError, match="one pipeline"):
            framework.open(pipes, ["label"], reader_name="reader")
        return
    iterator = framework.open(pipes, ["label"], reader_name="reader")
    assert (len(iterator), iterator.size, iterator.batch_size) == (2, 8, 2)
    steps = [framework.read(step) for step in iterator]
    assert [[one["label"].shape for one in step] for step in steps] == [[(2, 1)] * 2] * 2
    seen = [int(x) for step in steps for one in step for x in one["label"].ravel()]
    assert sorted(seen) == list(range(1, 9))


@pytest.mark.parametrize("policy", LastBatchPolicy)
@pytest.mark.parametrize("before", [0, 1, 3, 4, 6])
def test_state(framework: Adapter, numbers: Numbers, policy: LastBatchPolicy, before: int) -> None:
    def opened() -> Any:
        return framework.open(
            numbers(9, 2, random_shuffle=True),
            ["label"],
            reader_name="reader",
            last_batch_policy=policy,
            auto_reset=True,
        )

    def several(iterator: Any, count: int) -> list[Any]:
        got: list[Any] = []
        while len(got) < count:
            try:
                got.append(labels(framework, next(iterator)))
            except StopIteration:
                got.append("end")
        return got

    iterator, again = opened(), opened()
    several(iterator, before)
    state = json.loads(json.dumps(iterator.state_dict()))
    number = iterator.epoch
    expected = several(iterator, 14)
    assert "end" in expected
    if expected[0] == "end" and not framework.takes_many:  # a new loop is the next epoch
        expected = [*expected[1:], *several(iterator, 1)]
    several(again, 5)
    again.load_state_dict(state)
    assert again.epoch == number
    assert several(again, 14) == expected
    with pytest.raises(StateError, match="an iterator's state is damaged: it has no 'version'"):
        again.load_state_dict({"pipelines": []})
    with pytest.raises(
        StateError, match="not an iterator's state, but a dict with the keys 'epoch'"
    ):
        again.load_state_dict({"epoch": 1})


def test_no_copy(framework: Adapter, pictures: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Any] = []
    run = Pipeline.run
    monkeypatch.setattr(Pipeline, "run", lambda self: given.append(run(self)) or given[-1])
    steps = 0
    for policy in (LastBatchPolicy.FILL, LastBatchPolicy.PARTIAL):
        pipe = training(pictures, batch_size=5)
        arguments = {"reader_name": "reader", "last_batch_policy": policy}
        for step in framework.open(pipe, ["image", "label"], **arguments):
            for tensor, batch in zip(framework.tensors(step), given[-1], strict=True):
                assert framework.address(tensor) == batch.as_tensor().data_ptr
            steps += 1
    assert steps == 10


def test_tensors_outlive_everything(framework: Adapter, pictures: Path) -> None:
    pipe = training(pictures)
    iterator = framework.open(pipe, ["image", "label"], reader_name="reader")
    kept = [next(iterator) for _ in range(3)]
    copies = [framework.read(step) for step in kept]
    for _ in range(2):
        for _ in iterator:
            pass
    del iterator, pipe
    gc.collect()
    for step in framework.open(training(pictures, seed=9), ["image", "label"], size=24):
        assert not np.array_equal(framework.read(step)[0]["image"], copies[0][0]["image"])
    for step, copy in zip(kept, copies, strict=True):
        (one,), (expected,) = framework.read(step), copy
        assert np.array_equal(one["image"], expected["image"])
        assert np.array_equal(one["label"], expected["label"])


def test_memory_is_given_back(framework: Adapter, pictures: Path) -> None:
    """A batch that no one holds is freed. Of the 60 batches here, 20 would not fit at once."""
    pipe = training(pictures, size=64)
    iterator = framework.open(pipe, ["image", "label"], reader_name="reader", auto_reset=True)
    assert sum(1 for _ in range(10) for _ in iterator) == 60
    assert pipe.stats()["memory"]["batches"]["high_water"] < 20 * 4 * 3 * 64 * 64 * 4


def test_damaged_samples_are_named(framework: Adapter, damaged: Path) -> None:
    def define() -> Any:
        encoded, label = fn.readers.file(file_root=damaged, name="reader")
        return fn.resize(fn.decoders.image(encoded), size=[16, 16]), label

    pipe = make(define, batch_size=4)
    iterator = framework.open(pipe, ["image", "label"], reader_name="reader")
    with pytest.raises(Exception, match=r"0004\.jpg") as caught:
        for _ in iterator:
            pass
    assert isinstance(caught.value, SampleError) or "SampleError" in str(caught.value)


def test_wrong_arguments(framework: Adapter, numbers: Numbers) -> None:
    with pytest.raises(GraphError, match=r"names 2 outputs .image, label., pipeline 0 has 1"):
        framework.open(numbers(7, 2), ["image", "label"], size=7)
    with pytest.raises(GraphError, match=r"no reader is named 'raeder'. Did you mean 'reader'"):
        framework.open(numbers(7, 2), ["label"], reader_name="raeder")
    with pytest.raises(GraphError, match="last_batch_policy expects"):
        framework.open(numbers(7, 2), ["label"], size=7, last_batch_policy="fill")
    with pytest.raises(GraphError, match=r"reader_name tells .* leave size= out"):
        framework.open(numbers(7, 2), ["label"], size=7, reader_name="reader")
