# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Which sample comes when: the same bytes under any topology, epochs, shards, resume, readers."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers import SIMPLE, Sample, assert_same, epoch, make, samples_of, take
from stoker import Pipeline, fn, types
from stoker.errors import GraphError, StateError


def training(files: Sequence[str], **reader: Any) -> Callable[[], Any]:
    """Label (the number of the file), a fixed output, a ragged one, and a plain draw."""

    def define() -> list[Any]:
        encoded, label = fn.readers.file(files=list(files), name="reader", **reader)
        image = fn.decoders.image(encoded)
        image = fn.random_resized_crop(image, size=[16, 20])
        mirror = fn.random.coin_flip()
        image = fn.crop_mirror_normalize(
            image, mirror=mirror, mean=[120.0], std=[60.0], dtype=types.FLOAT16
        )
        return [label, image, fn.decoders.image_random_crop(encoded), fn.random.uniform()]

    return define


def labels_only(files: Sequence[str], **reader: Any) -> Callable[[], Any]:
    def define() -> Any:
        _, label = fn.readers.file(files=list(files), name="reader", **reader)
        return label

    return define


def label_of(sample: Sample) -> int:
    return int(sample[0][0])


def labels(samples: Sequence[Sample]) -> list[int]:
    return [label_of(s) for s in samples]


def merged(pipes: Sequence[Pipeline], steps: int) -> list[Sample]:
    """The stream as the shards share it: of each step, batch after batch."""
    return [s for _ in range(steps) for pipe in pipes for s in samples_of(pipe.run())]


# The same bytes.


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
    got = merged(pipes, steps)
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
    """Scripts give each rank a seed of its own; every sample must come once all the same."""
    ranks = 3
    pipes = [
        make(
            training(files, random_shuffle=True, num_shards=ranks, shard_id=rank),
            batch_size=4,
            seed=12 + rank,
        )
        for rank in range(ranks)
    ]
    seen = labels(merged(pipes, 2 * len(files) // 12 + 1))
    assert sorted(seen[: len(files)]) == list(range(len(files)))
    assert sorted(seen[len(files) : 2 * len(files)]) == list(range(len(files)))


# Epochs.


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


def test_a_loop_goes_on_where_it_was_left(files: list[str]) -> None:
    pipe = make(labels_only(files), batch_size=5)
    got = []
    for (batch,) in pipe:
        got += [int(np.array(batch[i])[0]) for i in range(len(batch))]
        if len(got) == 15:
            break
    got += labels(epoch(pipe))
    assert got[: len(files)] == list(range(len(files)))


# Resume.


@pytest.mark.parametrize("batch_after", [5, 4])
@pytest.mark.parametrize("shuffle", [False, True], ids=["in order", "shuffled"])
def test_resume_from_every_position(files: list[str], batch_after: int, shuffle: bool) -> None:
    some = files[:23]
    define = training(some, random_shuffle=shuffle)
    whole = take(make(define, batch_size=5), 3 * len(some))
    first = make(define, batch_size=5)
    for k in range(len(some) // 5 + 3):
        resumed = make(define, batch_size=batch_after, num_threads=1)
        resumed.restore(json.loads(json.dumps(first.state())))
        assert_same(take(resumed, 20), whole[5 * k : 5 * k + 20], f"resumed after {k} steps")
        first.run()


@pytest.mark.parametrize("batch_after", [5, 4])
def test_resume_padded_epochs_from_every_position(files: list[str], batch_after: int) -> None:
    some = files[:23]
    define = training(some, random_shuffle=True, pad_last_batch=True)
    stream = take(make(training(some, random_shuffle=True), batch_size=1), 3 * len(some))
    first = make(define, batch_size=5)
    for k in range(2 * (-(-len(some) // 5))):
        e, step = divmod(k, -(-len(some) // 5))
        resumed = make(define, batch_size=batch_after, num_threads=1)
        resumed.restore(first.state())
        got = epoch(resumed)
        rest = stream[e * len(some) + 5 * step : (e + 1) * len(some)]
        fill = -len(rest) % batch_after
        assert_same(got, rest + [rest[-1]] * fill, f"resumed after {k} steps")
        first.run()


@pytest.mark.parametrize("pad", [False, True], ids=["continue", "padded"])
def test_resume_on_another_number_of_shards(files: list[str], pad: bool) -> None:
    some = files[:31]
    n = len(some)
    stream = take(make(training(some, random_shuffle=True), batch_size=1), 3 * n)

    def shard(s: int, count: int, batch: int) -> Pipeline:
        return make(
            training(some, random_shuffle=True, num_shards=count, shard_id=s, pad_last_batch=pad),
            batch_size=batch,
            num_threads=1,
        )

    before = [shard(s, 2, 4) for s in range(2)]
    for k in range(4):
        states = [p.state() for p in before]
        assert states[0] == states[1], "what was dealt is one prefix: one state serves all shards"
        after = [shard(s, 3, 3) for s in range(3)]
        for pipe in after:
            pipe.restore(states[0])
        rest = stream[8 * k : n] if pad else stream[8 * k : 8 * k + 27]
        got = merged(after, -(-len(rest) // 9))
        assert_same(got[: len(rest)], rest, f"2 shards became 3 after {k} steps")
        for pipe in before:
            pipe.run()


def test_a_state_counts_what_was_received(files: list[str]) -> None:
    """What is prepared ahead is no part of it."""
    states = []
    for depth in (1, 5):
        pipe = make(training(files), batch_size=4, prefetch_queue_depth=depth)
        pipe.run()
        pipe.run()
        pipe.schedule_run()
        states.append(pipe.state())
    assert states[0] == states[1]
    assert len(json.dumps(states[0])) < 2000


def test_a_drawn_seed_is_part_of_the_state(files: list[str]) -> None:
    first = make(training(files), batch_size=4, seed=None)
    other = make(training(files), batch_size=4, seed=None)
    first.build()
    other.build()
    assert first.seed != other.seed
    first.run()
    other.restore(first.state())
    assert other.seed == first.seed
    assert_same(take(other, 8), take(first, 8), "a drawn seed")


def test_contiguous_shards_go_to_no_other_number(files: list[str]) -> None:
    state = make(training(files, num_shards=2), batch_size=4).state()
    pipe = make(training(files, num_shards=3), batch_size=4)
    with pytest.raises(StateError, match="shards"):
        pipe.restore(state)
    pipe.run()


def test_a_state_of_another_order_is_refused(files: list[str]) -> None:
    state = make(training(files, random_shuffle=True), batch_size=4).state()
    other = make(training(files, random_shuffle=True, seed=9), batch_size=4)
    with pytest.raises(StateError, match="key"):
        other.restore(state)
    with pytest.warns(UserWarning, match="key"):
        other.restore(state, force=True)
    fewer = make(training(files[:-1], random_shuffle=True), batch_size=4)
    with pytest.raises(StateError, match="size"):
        fewer.restore(state)


def test_a_state_of_other_chance_is_refused(files: list[str]) -> None:
    state = make(training(files), batch_size=4).state()

    def edited() -> Any:
        encoded, label = fn.readers.file(files=files, name="reader")
        return [label, fn.random_resized_crop(fn.decoders.image(encoded), size=[8, 8], seed=1)]

    with pytest.raises(StateError):
        make(edited, batch_size=4).restore(state)


def test_other_edits_warn(files: list[str]) -> None:
    def one() -> Any:
        _, label = fn.readers.file(files=files, name="reader")
        return label

    def two() -> Any:
        _, label = fn.readers.file(files=files, name="reader")
        return fn.cast(label, dtype=types.FLOAT)

    state = make(one, batch_size=4).state()
    pipe = make(two, batch_size=4)
    with pytest.warns(UserWarning, match="edited"):
        pipe.restore(state)


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"format": "x"}', "null", "nonsense"])
def test_damaged_states_are_refused(files: list[str], text: str) -> None:
    pipe = make(training(files), batch_size=4)
    with pytest.raises(StateError):
        pipe.restore(text)
    assert len(take(pipe, 4)) == 4


def test_checkpoint_argument(files: list[str], tmp_path: Path) -> None:
    first = make(training(files), batch_size=4)
    first.run()
    text = first.checkpoint(tmp_path / "state.json")
    assert (tmp_path / "state.json").read_text() == text
    second = make(training(files), batch_size=4, checkpoint=text)
    assert_same(take(second, 4), take(first, 4), "checkpoint=")


# Where the samples come from.


def read(**arguments: Any) -> list[tuple[str, int]]:
    """(file name, label) of an epoch."""

    def define() -> Any:
        return fn.readers.file(**arguments)

    got = []
    for encoded, label in make(define, batch_size=1):
        path = Path(encoded.source_info(0))
        assert np.array(encoded[0]).tobytes() == path.read_bytes()
        assert np.array(label[0]).dtype == np.int32 and np.array(label[0]).shape == (1,)
        got.append((path.name, int(np.array(label[0])[0])))
    return got


def test_file_root(folder: Path) -> None:
    expected = [(p.name, k) for k in range(4) for p in sorted((folder / f"class{k}").iterdir())]
    assert read(file_root=folder) == expected


def test_file_list(folder: Path, tmp_path: Path) -> None:
    listed = tmp_path / "list.txt"
    listed.write_text("class1/001.jpg 7\nclass0/000.jpg 3\nclass1/001.jpg 2\n")
    expected = [("001.jpg", 7), ("000.jpg", 3), ("001.jpg", 2)]
    assert read(file_list=listed, file_root=folder) == expected
    (folder.parent / "spaced").mkdir(exist_ok=True)
    (folder.parent / "spaced" / "a b.jpg").write_bytes((folder / "class0/000.jpg").read_bytes())
    beside = folder.parent / "spaced" / "list.txt"
    beside.write_text("a b.jpg 5\n")
    assert read(file_list=beside) == [("a b.jpg", 5)]


def test_files_and_labels(files: list[str], folder: Path) -> None:
    assert read(files=files[:3]) == [(Path(f).name, i) for i, f in enumerate(files[:3])]
    assert read(files=files[:2], labels=[9, -4]) == [("000.jpg", 9), ("001.jpg", -4)]
    assert read(files=["class2/002.jpg"], file_root=folder) == [("002.jpg", 0)]


@pytest.fixture
def mixed(tmp_path: Path, files: list[str]) -> Path:
    data = Path(files[0]).read_bytes()
    for name in (
        "cats/1.jpg",
        "cats/2.JPEG",
        "cats/3.txt",
        "dogs/4.Jpg",
        "dogs/5.png",
        "owls/6.jpg",
    ):
        path = tmp_path / "mixed" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return tmp_path / "mixed"


def test_filters(mixed: Path) -> None:
    def chosen(**arguments: Any) -> list[tuple[str, int]]:
        return read(file_root=mixed, **arguments)

    assert [n for n, _ in chosen()] == ["1.jpg", "2.JPEG", "4.Jpg", "5.png", "6.jpg"]
    assert chosen(file_filters=["*.txt"]) == [("3.txt", 0)]
    assert [n for n, _ in chosen(file_filters=["*.jpg"])] == ["1.jpg", "4.Jpg", "6.jpg"]
    strict = chosen(file_filters=["*.jpg"], case_sensitive_filter=True)
    assert [n for n, _ in strict] == ["1.jpg", "6.jpg"]
    assert [n for n, _ in chosen(dir_filters=["cats", "o*"])] == ["1.jpg", "2.JPEG", "6.jpg"]
    assert chosen(dir_filters=["d*"]) == [("4.Jpg", 0), ("5.png", 0)]


def test_wrong_reader_arguments(files: list[str], folder: Path, tmp_path: Path) -> None:
    def message(**arguments: Any) -> str:
        with pytest.raises(GraphError) as raised:
            make(lambda: fn.readers.file(**arguments)).build()
        assert "readers.file" in str(raised.value)
        assert "test_order.py:" in str(raised.value)
        return str(raised.value)

    assert "file_root" in message()
    assert "exclude" in message(files=files, file_list="x")
    assert "labels" in message(file_root=folder, labels=[1])
    assert "label" in message(files=files[:2], labels=[1])
    assert "nothere" in message(file_root=tmp_path / "nothere")
    assert "nothere" in message(file_list=tmp_path / "nothere")
    assert "shard_id" in message(files=files, num_shards=2, shard_id=2)
    assert "shards" in message(files=files[:2], num_shards=3)
    assert "random_shuffle" in message(files=files, random_shuffle=True, shuffle_after_epoch=True)
    assert "stick_to_shard" in message(files=files, shuffle_after_epoch=True, stick_to_shard=True)
    listed = tmp_path / "bad.txt"
    listed.write_text("one.jpg 1\ntwo.jpg\n")
    assert "2" in message(file_list=listed) and "bad.txt" in message(file_list=listed)


def test_reader_meta(files: list[str]) -> None:
    pipe = make(
        labels_only(files, num_shards=5, shard_id=3, pad_last_batch=True, stick_to_shard=True),
        batch_size=4,
    )
    meta = pipe.reader_meta("reader")
    assert meta == {
        "epoch_size": 37,
        "epoch_size_padded": 40,
        "number_of_shards": 5,
        "shard_id": 3,
        "pad_last_batch": True,
        "stick_to_shard": True,
    }
    assert pipe.reader_meta() == {"reader": meta}
    assert pipe.epoch_size("reader") == 40
    with pytest.raises(GraphError, match="Did you mean 'reader'"):
        pipe.reader_meta("raeder")


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
