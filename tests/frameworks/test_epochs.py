# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Where epochs end under every policy, compared with the documented tables and the counts."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from numbered import Numbers

from stoker.errors import GraphError, StateError
from stoker.frameworks._epochs import Counted, Epochs, LastBatchPolicy, counted_of_reader
from stoker.frameworks._iterator_kinds import Established

Steps = list[list[int]]


class Labels(Established):
    """A framework for these tests, whose tensors are lists of labels."""

    def to_tensor(self, batch: Any, count: int) -> list[int]:
        return [int(x) for x in batch.as_array().ravel()[:count]]


def epochs_of(iterator: Labels, count: int, name: str = "label") -> list[Steps]:
    """The labels of one pipeline's next epochs, a list for each step."""
    got = []
    for _ in range(count):
        length = len(iterator)
        steps = [step[0][name] for step in iterator]
        assert len(steps) == length, "len() tells the steps of every epoch"
        got.append(steps)
        iterator.reset()
    return got


# The rows of the established library's documentation, for samples 1 .. 7 in batches of 2.
TABLE = [
    ("PARTIAL", True, [7], [1, 2]),
    ("PARTIAL", False, [7], [2, 3]),
    ("FILL", True, [7, 7], [1, 2]),
    ("FILL", False, [7, 1], [2, 3]),
    ("DROP", True, [5, 6], [1, 2]),
    ("DROP", False, [5, 6], [2, 3]),
]


@pytest.mark.parametrize("by", ["reader_name", "size"])
@pytest.mark.parametrize("policy, padded, last, following", TABLE)
def test_the_table(
    numbers: Numbers, policy: str, padded: bool, last: list[int], following: list[int], by: str
) -> None:
    epoch: dict[str, Any] = {"reader_name": "reader"}
    if by == "size":
        epoch = {"size": 7, "last_batch_padded": padded}
    iterator = Labels(
        numbers(7, 2, pad_last_batch=padded),
        ["label"],
        last_batch_policy=LastBatchPolicy[policy],
        **epoch,
    )
    first, second, third = epochs_of(iterator, 3)
    assert first[-1] == last
    assert second[0] == following
    if padded:
        assert first == second == third


@pytest.mark.parametrize("shuffle", [False, True], ids=["in order", "shuffled"])
@pytest.mark.parametrize("shards", [1, 2, 3])
@pytest.mark.parametrize("n, batch", [(7, 2), (8, 2), (20, 3), (5, 2)])
def test_partial_and_padded_gives_every_sample_once(
    numbers: Numbers, n: int, batch: int, shards: int, shuffle: bool
) -> None:
    iterators = [
        Labels(
            numbers(n, batch, s, shards, random_shuffle=shuffle, pad_last_batch=True),
            ["label"],
            reader_name="reader",
            last_batch_policy=LastBatchPolicy.PARTIAL,
        )
        for s in range(shards)
    ]
    for epoch in zip(*(epochs_of(it, 4) for it in iterators), strict=True):
        assert len({len(steps) for steps in epoch}) == 1, "equally many steps on all shards"
        labels = itertools.chain.from_iterable(itertools.chain.from_iterable(epoch))
        assert sorted(labels) == list(range(1, n + 1))


@pytest.mark.parametrize("policy", LastBatchPolicy)
@pytest.mark.parametrize("end", ["continue", "pad", "drop"])
@pytest.mark.parametrize("stick", [False, True])
@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("shards", [2, 3])
def test_all_shards_make_equally_many_steps(
    numbers: Numbers, policy: LastBatchPolicy, end: str, stick: bool, shuffle: bool, shards: int
) -> None:
    lengths = []
    for s in range(shards):
        pipe = numbers(
            20, 3, s, shards, epoch_end=end, stick_to_shard=stick, random_shuffle=shuffle
        )
        iterator = Labels(pipe, ["label"], reader_name="reader", last_batch_policy=policy)
        lengths.append([len(steps) for steps in epochs_of(iterator, 7)])
    assert all(one == lengths[0] for one in lengths)


def test_filling_loses_nothing(numbers: Numbers) -> None:
    """FILL without padding cuts the stream into epochs and changes nothing else."""
    iterator = Labels(numbers(7, 2, random_shuffle=True), ["label"], reader_name="reader")
    got = [x for steps in epochs_of(iterator, 8) for step in steps for x in step]
    for epoch in range(7):
        assert sorted(got[7 * epoch : 7 * epoch + 7]) == list(range(1, 8))


def test_readers_that_drop_are_left_alone(numbers: Numbers) -> None:
    for policy in LastBatchPolicy:
        pipe = numbers(7, 2, epoch_end="drop")
        iterator = Labels(pipe, ["label"], reader_name="reader", last_batch_policy=policy)
        assert epochs_of(iterator, 3) == [[[1, 2], [3, 4], [5, 6]]] * 3


def test_a_batch_larger_than_the_set(numbers: Numbers) -> None:
    iterator = Labels(numbers(3, 8), ["label"], reader_name="reader")
    stream = [(i % 3) + 1 for i in range(40)]
    assert epochs_of(iterator, 4) == [[stream[8 * i : 8 * i + 8]] for i in range(4)]
    with pytest.raises(GraphError, match=r"no batch: last_batch_policy=DROP .* of 8.* 3 samples"):
        Labels(
            numbers(3, 8),
            ["label"],
            reader_name="reader",
            last_batch_policy=LastBatchPolicy.DROP,
        )


def order(size: int, end: str, shards: int = 1, stick: bool = False) -> Counted:
    described: dict[str, Any] = {"size": size, "epoch_end": end}
    if shards > 1:
        described |= {"num_shards": shards, "stick_to_shard": stick}
    return counted_of_reader(described, shards, 3, stick)


def stands(epochs: Epochs, shards: int) -> tuple[Any, ...]:
    return epochs.number, epochs.steps_left, [epochs.keep(s) for s in range(shards)]


@pytest.mark.parametrize("policy", LastBatchPolicy)
@pytest.mark.parametrize("end", ["continue", "pad"])
@pytest.mark.parametrize("shards, stick", [(1, False), (2, False), (2, True), (3, False)])
def test_the_cursor_tells_where_an_iterator_stands(
    policy: LastBatchPolicy, end: str, shards: int, stick: bool
) -> None:
    counted = order(20, end, shards, stick)
    epochs, cursor = Epochs(counted, policy), 0
    length = max(counted.sizes)  # for a padded epoch
    for _ in range(60):
        if not epochs.steps_left:
            cursor += epochs.steps_to_drop() * counted.stride
            if end == "pad":
                cursor = (epochs.number) * length
            epochs.begin_next()
        there = Epochs(counted, policy)
        there.go_to(cursor)
        assert stands(there, shards) == stands(epochs, shards), f"at {cursor}"
        epochs.step()
        cursor += counted.stride


def test_the_state_of_counts() -> None:
    epochs = Epochs(order(20, "continue", 3), LastBatchPolicy.FILL)
    for _ in range(9):
        epochs.step()
        if not epochs.steps_left:
            epochs.begin_next()
    again = Epochs(order(20, "continue", 3), LastBatchPolicy.FILL)
    again.restore(json.loads(json.dumps(epochs.state())))
    assert again.state() == epochs.state()
    assert stands(again, 3) == stands(epochs, 3)
    with pytest.raises(StateError, match="3 contiguous shards, this iterator those of 1"):
        Epochs(order(20, "continue"), LastBatchPolicy.FILL).restore(epochs.state())
    with pytest.raises(StateError, match="damaged"):
        again.restore({"epoch": 1})
