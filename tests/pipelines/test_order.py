# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The order of samples: the same bytes under any topology, shards, and the ends of epochs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from graphs import label_of, labels, labels_only, merged, training

from helpers import SIMPLE, Sample, assert_same, epoch, make, take
from stoker import Pipeline, fn
from stoker.errors import GraphError
from stoker.numpy import DataIterator, LastBatchPolicy


@pytest.mark.parametrize("shuffle", [False, True], ids=["in order", "shuffled"])
def test_the_same_bytes_however_it_is_run(files: list[str], shuffle: bool) -> None:
    define = training(files, random_shuffle=shuffle)
    count = len(files) + 11
    judge = take(make(define, **{"batch_size": 5, **SIMPLE}), count)
    variants: dict[str, dict[str, Any]] = {
        **{f"{n} threads": {"num_threads": n} for n in (1, 2, 7)},
        **{f"depth {n}": {"prefetch_queue_depth": n} for n in (1, 2, 5)},
        **{f"batch {n}": {"batch_size": n} for n in (1, 7, 64)},
        "nothing fused": {"fuse": False},
        "no demand": {"demand": False},
        "no rewrites": {"fuse": False, "demand": False},
        "one read ahead": {"io_threads": 1, "read_ahead_limit": 1},
        "simple, batch 7": {**SIMPLE, "batch_size": 7},
    }
    for what, settings in variants.items():
        pipe = make(define, **{"batch_size": 5, **settings})
        assert_same(take(pipe, count), judge, what)
        text = pipe.serialize()
        loaded = Pipeline.deserialize(text, batch_size=3)
        assert_same(take(loaded, 12), judge[:12], f"{what}, saved and loaded")


@pytest.mark.parametrize("shards", [1, 2, 5])
@pytest.mark.parametrize("batch", [1, 7])
def test_shuffled_shards_share_one_stream(files: list[str], shards: int, batch: int) -> None:
    steps = 2 * len(files) // (shards * batch) + 2
    pipes = [
        make(
            training(files, random_shuffle=True, num_shards=shards, shard_id=s),
            batch_size=batch,
            num_threads=1,
        )
        for s in range(shards)
    ]
    got = merged(pipes, steps, len(files))
    judge = take(make(training(files, random_shuffle=True), batch_size=4), len(got))
    assert_same(got, judge, f"{shards} shards of batches of {batch}")


@pytest.mark.parametrize("shards", [2, 5])
def test_contiguous_shards_share_each_epoch(files: list[str], shards: int) -> None:
    n = len(files)
    whole = take(make(training(files), batch_size=4), 2 * n)
    first: list[Sample] = []
    second: dict[int, Sample] = {}
    for s in range(shards):
        pipe = make(training(files, num_shards=shards, shard_id=s), batch_size=3, num_threads=1)
        size = (s + 1) * n // shards - s * n // shards
        t = (s + 1) % shards
        size_after = (t + 1) * n // shards - t * n // shards
        got = take(pipe, size + size_after)
        first += got[:size]
        second.update({label_of(x): x for x in got[size:]})
    assert_same(first, whole[:n], "first epoch")
    assert_same([second[i] for i in range(n)], whole[n:], "second epoch, shards moved on")


def test_sticking_shards_keep_their_part(files: list[str]) -> None:
    n = len(files)
    parts = []
    for s in range(2):
        define = labels_only(files, num_shards=2, shard_id=s, stick_to_shard=True)
        pipe = make(define, batch_size=1)
        size = (s + 1) * n // 2 - s * n // 2
        epochs = [labels(take(pipe, size)) for _ in range(3)]
        assert epochs[0] == epochs[1] == epochs[2]
        parts += epochs[0]
    assert parts == list(range(n))


def test_other_seeds_on_ranks_still_share_the_samples(files: list[str]) -> None:
    """Scripts give each rank a seed of its own. Still every sample must come once."""
    ranks = 3
    pipes = [
        make(
            training(files, random_shuffle=True, num_shards=ranks, shard_id=rank),
            batch_size=4,
            seed=12 + rank,
        )
        for rank in range(ranks)
    ]
    seen = labels(merged(pipes, 2 * len(files) // 12 + 1, len(files)))
    assert sorted(seen[: len(files)]) == list(range(len(files)))
    assert sorted(seen[len(files) : 2 * len(files)]) == list(range(len(files)))


@pytest.mark.parametrize("shuffle", [False, True], ids=["in order", "shuffled"])
@pytest.mark.parametrize("pad", [False, True], ids=["continue", "padded"])
@pytest.mark.parametrize(
    ("count", "shards", "batch"), [(7, 2, 2), (7, 2, 16), (8, 3, 1), (11, 4, 2)]
)
def test_shards_have_parts_of_one_size(
    files: list[str], shuffle: bool, pad: bool, count: int, shards: int, batch: int
) -> None:
    parts = []
    for s in range(shards):
        reader = {"num_shards": shards, "shard_id": s, "pad_last_batch": pad}
        define = labels_only(files[:count], random_shuffle=shuffle, **reader)
        iterator = DataIterator(
            [make(define, batch_size=batch)],
            ["label"],
            reader_name="reader",
            last_batch_policy=LastBatchPolicy.PARTIAL,
        )
        parts.append([int(x) for step in iterator for x in step[0]["label"].ravel()])
    assert [len(p) for p in parts] == [
        (s + 1) * count // shards - s * count // shards for s in range(shards)
    ]
    assert sorted(x for p in parts for x in p) == list(range(count))


@pytest.mark.parametrize("shards, count, batch", [(2, 7, 1), (2, 7, 2), (3, 10, 2), (5, 7, 1)])
@pytest.mark.parametrize("how", ["", "random_shuffle", "shuffle_after_epoch", "stick_to_shard"])
def test_shards_move_on_to_the_next_part(
    files: list[str], shards: int, count: int, batch: int, how: str
) -> None:
    parts: list[list[list[int]]] = []
    for s in range(shards):
        reader = {"num_shards": shards, "shard_id": s, "pad_last_batch": True}
        define = labels_only(files[:count], **reader, **({how: True} if how else {}))
        iterator = DataIterator(
            [make(define, batch_size=batch)],
            ["label"],
            reader_name="reader",
            last_batch_policy=LastBatchPolicy.PARTIAL,
        )
        parts.append(
            [[int(x) for step in iterator for x in step[0]["label"].ravel()] for _ in range(4)]
        )
    sizes = [(s + 1) * count // shards - s * count // shards for s in range(shards)]
    turns = how in ("", "random_shuffle")
    for number, of_shards in enumerate(zip(*parts, strict=True)):
        turn = number if turns else 0
        assert [len(p) for p in of_shards] == [sizes[(s + turn) % shards] for s in range(shards)]
        assert sorted(x for p in of_shards for x in p) == list(range(count))


@pytest.mark.parametrize("pad", [False, True], ids=["continue", "padded"])
@pytest.mark.parametrize("batch", [1, 2])
def test_more_shards_than_samples(files: list[str], pad: bool, batch: int) -> None:
    seen: list[int] = []
    for s in range(5):
        define = labels_only(
            files[:3], random_shuffle=True, num_shards=5, shard_id=s, pad_last_batch=pad
        )
        pipe = make(define, batch_size=batch)
        policy = LastBatchPolicy.PARTIAL
        iterator = DataIterator([pipe], ["label"], reader_name="reader", last_batch_policy=policy)
        seen += [int(x) for step in iterator for x in step[0]["label"].ravel()]
    assert sorted(seen) == [0, 1, 2]


@pytest.mark.parametrize("order", ["random_shuffle", "shuffle_after_epoch", "stick_to_shard"])
def test_whether_readers_say_that_they_keep_their_part(files: list[str], order: str) -> None:
    pipe = make(labels_only(files, num_shards=2, **{order: True}), batch_size=1)
    assert pipe.reader_meta("reader")["stick_to_shard"] == (order != "random_shuffle")


def test_equal_readers_have_orders_of_their_own(files: list[str]) -> None:
    def define() -> Any:
        plain = {"files": files}
        return (
            fn.readers.file(**plain)[1],
            fn.readers.file(**plain, random_shuffle=True)[1],
            fn.readers.file(**plain, num_shards=2, shard_id=1)[1],
            fn.readers.file(**plain, labels=[5] * len(files))[1],
        )

    n = len(files)
    steps = take(make(define, batch_size=1), n)
    read = [[int(s[k].item()) for s in steps] for k in range(4)]
    assert read[0] == list(range(n)) and sorted(read[1]) == read[0] != read[1]
    assert read[2][0] == n // 2 and read[3] == [5] * n


@pytest.mark.parametrize("shuffle", [False, True], ids=["in order", "shuffled"])
def test_an_epoch_holds_each_sample_once(files: list[str], shuffle: bool) -> None:
    pipe = make(labels_only(files, random_shuffle=shuffle), batch_size=1)
    epochs = [labels(epoch(pipe)) for _ in range(3)]
    for one in epochs:
        assert sorted(one) == list(range(len(files)))
    assert (epochs[0] != epochs[1]) == shuffle
    assert (epochs[0] != list(range(len(files)))) == shuffle


def test_the_readers_seed_is_the_orders_key(files: list[str]) -> None:
    def order(pipeline_seed: int, **reader: Any) -> list[int]:
        pipe = make(labels_only(files, **reader), batch_size=1, seed=pipeline_seed)
        return labels(epoch(pipe))

    plain = order(1, random_shuffle=True)
    assert order(2, random_shuffle=True) == plain
    assert order(1, shuffle_after_epoch=True) == plain
    keyed = order(1, random_shuffle=True, seed=5)
    assert keyed != plain
    assert order(3, random_shuffle=True, seed=5) == keyed
    assert order(3, shuffle_after_epoch=True, shuffle_after_epoch_seed=5) == keyed


@pytest.mark.parametrize("batch", [1, 4, 7, 37, 50])
@pytest.mark.parametrize("end", ["continue", "pad", "drop"])
def test_ends_of_epochs(files: list[str], end: str, batch: int) -> None:
    n = len(files)
    define = labels_only(files, random_shuffle=True, epoch_end=end)
    if end == "drop" and batch > n:
        with pytest.raises(GraphError, match="nothing"):
            make(define, batch_size=batch).build()
        return
    stream = labels(take(make(labels_only(files, random_shuffle=True)), 4 * n + 2 * batch))
    pipe = make(define, batch_size=batch)
    at = 0
    for e in range(3):
        if end != "continue":
            at = e * n
        left = pipe.steps_left()
        got = labels(epoch(pipe))
        assert len(got) == left * batch
        if end == "continue":
            assert got == stream[at : at + len(got)]
            at += len(got)
            assert (e + 1) * n <= at < (e + 1) * n + batch
        elif end == "pad":
            assert len(got) == -(-n // batch) * batch
            assert got == stream[at : at + n] + [stream[at + n - 1]] * (len(got) - n)
        else:
            assert got == stream[at : at + n // batch * batch]


def test_pad_last_batch_is_epoch_end_pad(files: list[str]) -> None:
    flag = make(labels_only(files, pad_last_batch=True), batch_size=8)
    named = make(labels_only(files, epoch_end="pad"), batch_size=8)
    for _ in range(2):
        assert labels(epoch(flag)) == labels(epoch(named))


@pytest.mark.parametrize("shuffle", [False, True], ids=["in order", "shuffled"])
def test_padded_shards_have_equally_many_steps(files: list[str], shuffle: bool) -> None:
    seen: Counter[int] = Counter()
    lengths = set()
    for s in range(5):
        define = labels_only(
            files, random_shuffle=shuffle, pad_last_batch=True, num_shards=5, shard_id=s
        )
        got = labels(epoch(make(define, batch_size=3)))
        lengths.add(len(got))
        seen.update(got)
    assert len(lengths) == 1
    assert sorted(seen) == list(range(len(files)))


def test_two_readers_go_in_step(files: list[str]) -> None:
    def define() -> list[Any]:
        _, a = fn.readers.file(files=files, name="a")
        _, b = fn.readers.file(files=files[:5], name="b")
        return [a, b, fn.random.uniform()]

    got = take(make(define, batch_size=4), 40)
    assert labels(got) == [i % len(files) for i in range(40)]
    assert [int(s[1][0]) for s in got] == [i % 5 for i in range(40)]


def test_the_lead_reader_decides_positions(files: list[str]) -> None:
    def define(lead: str) -> Callable[[], list[Any]]:
        def graph() -> list[Any]:
            _, a = fn.readers.file(files=files[:5], name="a", lead=lead == "a")
            _, b = fn.readers.file(files=files[:7], name="b", lead=lead == "b")
            return [a, b]

        return graph

    assert len(epoch(make(define("a")))) == 5
    assert len(epoch(make(define("b")))) == 7
