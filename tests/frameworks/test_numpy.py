# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""NumPy's iterators: whose memory it is, ragged outputs, devices."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numbered import Numbers

from helpers import make
from stoker import Pipeline, fn
from stoker.errors import BudgetError, DeviceError, GraphError, StateError
from stoker.numpy import (
    DALIClassificationIterator,
    DALIGenericIterator,
    DataIterator,
    LastBatchPolicy,
    feed_ndarray,
)


def ragged(pictures: Path) -> Pipeline:
    def define() -> Any:
        encoded, label = fn.readers.file(file_root=pictures, name="reader")
        return fn.decoders.image(encoded), label

    return make(define, batch_size=4)


def test_a_loop_gives_dicts_that_may_be_written(numbers: Numbers) -> None:
    seen = []
    iterator = DataIterator(numbers(7, 2), ["label"])
    for _ in range(2):
        for step in iterator:
            seen += step["label"].ravel().tolist()
            step["label"][:] = -1
    assert seen == [1, 2, 3, 4, 5, 6, 7, 1, 2, 3, 4, 5, 6, 7]
    several = DataIterator([numbers(8, 2, s, 2) for s in range(2)], ["label"])
    assert [one["label"].ravel().tolist() for one in next(several)] == [[1, 2], [5, 6]]


def test_the_established_names(pictures: Path, numbers: Numbers) -> None:
    def define() -> Any:
        encoded, label = fn.readers.file(file_root=pictures, name="reader")
        return fn.resize(fn.decoders.image(encoded), size=[8, 8]), label

    iterator = DALIClassificationIterator(make(define, batch_size=4), reader_name="reader")
    ((step),) = next(iterator)
    assert {name: (a.shape, a.dtype) for name, a in step.items()} == {
        "data": ((4, 8, 8, 3), np.uint8),
        "label": ((4, 1), np.int32),
    }
    with pytest.warns(DeprecationWarning, match="LastBatchPolicy.PARTIAL"):
        generic = DALIGenericIterator(numbers(3, 2), ["x"], size=3, fill_last_batch=False)
    assert [len(step[0]["x"]) for step in generic] == [2, 1]


def test_samples_of_different_shapes(pictures: Path) -> None:
    with pytest.raises(GraphError, match=r"output 'image': the samples differ .* ragged="):
        next(DataIterator(ragged(pictures), ["image", "label"]))
    iterator = DataIterator(
        ragged(pictures),
        ["image", "label"],
        ragged=["image"],
        size=6,
        last_batch_policy=LastBatchPolicy.PARTIAL,
    )
    steps = list(iterator)
    assert [len(step["image"]) for step in steps] == [4, 2]
    for step, (image, _) in zip(steps, ragged(pictures), strict=False):
        for i, sample in enumerate(step["image"]):
            assert np.array_equal(sample, image.at(i))
    with pytest.raises(GraphError, match="ragged names"):
        DataIterator(ragged(pictures), ["image", "label"], ragged=["picture"])


def test_batches_on_a_device_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STOKER_SIMULATED_DEVICES", "1")

    def define() -> Any:
        return fn.constant(idata=[1, 2], shape=[2], dtype="int32").gpu()

    with pytest.raises(DeviceError, match=r"memory of simulated:0, which NumPy cannot see"):
        next(DataIterator(make(define, device_id=0), ["x"]))


@pytest.mark.parametrize("policy", [LastBatchPolicy.FILL, LastBatchPolicy.DROP])
def test_want_of_memory_in_one_pipeline_loses_nothing(
    pictures: Path, policy: LastBatchPolicy
) -> None:
    """The others' batches are kept until the step's next try, also between two epochs."""

    def opened(limit: int) -> DALIGenericIterator:
        def define(shard: int) -> Any:
            encoded, label = fn.readers.file(
                file_root=pictures, name="reader", shard_id=shard, num_shards=3, pad_last_batch=True
            )
            return fn.resize(fn.decoders.image(encoded), size=[256, 256]), label

        pipes = [
            make(lambda i=i: define(i), batch_size=3, prefetch_queue_depth=1, memory_limit=m)
            for i, m in enumerate((1 << 30, limit, 1 << 30))
        ]
        return DALIGenericIterator(
            pipes,
            ["image", "label"],
            reader_name="reader",
            last_batch_policy=policy,
            auto_reset=True,
        )

    def shown(step: Any) -> list[list[int]]:
        return [[int(x) for x in one["label"].ravel()] for one in step]

    def several(iterator: Any, count: int) -> list[Any]:
        got: list[Any] = []
        while len(got) < count:
            try:
                held.append(next(iterator))
                got.append(shown(held[-1]))
            except StopIteration:
                got.append("end")
            except BudgetError:
                nonlocal tries
                with pytest.raises(StateError, match="only 1 of 3 pipelines have given"):
                    iterator.state_dict()
                held.clear()
                tries += 1
        return got

    held: list[Any] = []
    tries = 0
    expected = several(opened(1 << 30), 24)
    assert tries == 0 and "end" in expected
    iterator = opened(6 << 20)
    assert several(iterator, 24) == expected
    assert tries > 3
    iterator.state_dict()


def test_feed_ndarray(numbers: Numbers) -> None:
    (batch,) = numbers(3, 3).run()
    target = np.zeros((3, 1), np.int32)
    assert feed_ndarray(batch, target) is target
    assert target.ravel().tolist() == [1, 2, 3]
    one = np.zeros(1, np.int32)
    assert feed_ndarray(batch[1], one).tolist() == [2]
    with pytest.raises(GraphError, match=r"an array of int32 \(3, 1\), got float32 \(2,\)"):
        feed_ndarray(batch, np.zeros(2, np.float32))


@pytest.mark.parametrize("batches", [2, 3])
def test_a_size_that_ends_with_the_source_loses_no_epoch(batches: int) -> None:
    def source(index: int) -> Any:
        if index == batches:
            raise StopIteration
        return np.full((10, 1), index)

    for auto_reset in (True, False):
        pipe = make(lambda: fn.external_source(source), batch_size=10)
        iterator = DALIGenericIterator(pipe, ["a"], size=20, auto_reset=auto_reset)
        seen = []
        for _ in range(3):
            seen.append([int(step[0]["a"][0, 0]) for step in iterator])
            if not auto_reset:
                iterator.reset()
        # A source that is longer than size goes on where it was, to its own end.
        assert seen == ([[0, 1]] * 3 if batches == 2 else [[0, 1], [2], [0, 1]])


def test_a_source_that_gives_nothing_ends_every_epoch() -> None:
    pipe = make(lambda: fn.external_source(iter([np.ones((10, 1))])), batch_size=10)
    iterator = DALIGenericIterator(pipe, ["a"], size=10, auto_reset=True)
    assert [len(list(iterator)) for _ in range(3)] == [1, 0, 0]
