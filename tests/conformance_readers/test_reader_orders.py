# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The contract of every reader's order: each sample once an epoch, under any shards and resumes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from reader_stores import ALL, COUNT, FOLDER, SHUFFLES, Known, each_store, pipe_of, store_of

from helpers import SIMPLE, dealt, samples_of, take
from stoker import Pipeline
from stoker.errors import StateError


def test_every_module_is_of_a_reader() -> None:
    names = {p.stem for p in FOLDER.glob("readers_*.py")}
    assert names == {n.replace(".", "_") for n in ALL}


@pytest.fixture(params=list(SHUFFLES))
def shuffle(request: pytest.FixtureRequest) -> dict[str, Any]:
    return SHUFFLES[request.param]


@each_store
def test_samples_are_what_was_stored(reader: str, variant: str, tmp_path: Path) -> None:
    store = store_of(reader, variant, tmp_path)
    for settings in ({"batch_size": 4}, {"batch_size": 1, **SIMPLE}, {"read_ahead_limit": 1}):
        got = take(pipe_of(reader, store, settings), COUNT)
        assert Known(store.samples).indices(got) == list(range(COUNT))


@each_store
def test_each_sample_once_an_epoch(
    reader: str, variant: str, tmp_path: Path, shuffle: dict[str, Any]
) -> None:
    store = store_of(reader, variant, tmp_path)
    known = Known(store.samples)
    orders = set()
    for shards in (1, 2, 3, 7):
        pipes = [
            pipe_of(reader, store, {"num_threads": 1}, shard_id=s, num_shards=shards, **shuffle)
            for s in range(shards)
        ]
        epochs = _epochs(pipes, known, 3, is_dealt=bool(shuffle))
        for epoch in epochs:
            assert sorted(epoch) == list(range(COUNT)), f"{shards} shards"
        if shuffle:
            assert len({tuple(e) for e in epochs}) == 3, "epochs have the same order"
            orders.add(tuple(map(tuple, epochs)))
    assert len(orders) == bool(shuffle), "the order depends on the shards"


def _epochs(pipes: list[Pipeline], known: Known, count: int, *, is_dealt: bool) -> list[list[int]]:
    """The indices of the first epochs of all shards."""
    if is_dealt:
        steps = -(-count * COUNT // len(pipes))
        stream: list[int] = []
        for step in range(steps):
            places = dealt(step * len(pipes), COUNT, len(pipes), 1)
            got = [known.index(samples_of(p.run())[0]) for p in pipes]
            stream += [i for _, i in sorted(zip(places, got, strict=True))]
        return [stream[e * COUNT : (e + 1) * COUNT] for e in range(count)]
    bounds = [s * COUNT // len(pipes) for s in range(len(pipes) + 1)]
    epochs: list[list[int]] = [[] for _ in range(count)]
    for s, pipe in enumerate(pipes):
        for e, epoch in enumerate(epochs):
            segment = (s + e) % len(pipes)
            got = known.indices(take(pipe, bounds[segment + 1] - bounds[segment]))
            assert got == list(range(bounds[segment], bounds[segment + 1]))
            epoch += got
    return epochs


@each_store
def test_seeds_make_other_orders(reader: str, variant: str, tmp_path: Path) -> None:
    store = store_of(reader, variant, tmp_path)
    known = Known(store.samples)

    def order(**arguments: Any) -> list[int]:
        return known.indices(take(pipe_of(reader, store, {"batch_size": 5}, **arguments), COUNT))

    seen = [
        order(**{**SHUFFLES[name], "seed": seed})
        for name in ("shuffled", "by blocks")
        for seed in (1, 2)
    ]
    assert len({tuple(o) for o in seen}) == 4
    assert order(random_shuffle=True, seed=1) in seen[::2] or len(store.files) == COUNT


@each_store
def test_resumes_at_every_position(
    reader: str, variant: str, tmp_path: Path, shuffle: dict[str, Any]
) -> None:
    store = store_of(reader, variant, tmp_path)
    known = Known(store.samples)
    whole = known.indices(take(pipe_of(reader, store, {"batch_size": 1}, **shuffle), 3 * COUNT))
    first = pipe_of(reader, store, {"batch_size": 1}, **shuffle)
    for k in range(COUNT + 3):
        state = json.loads(json.dumps(first.state()))
        resumed = pipe_of(reader, store, {"batch_size": 1 + k % 5, "num_threads": 1}, **shuffle)
        resumed.restore(state)
        assert known.indices(take(resumed, 9)) == whole[k : k + 9], f"resumed after {k} samples"
        if shuffle:
            shards = (2, 3, 7)[k % 3]
            pipes = [
                pipe_of(
                    reader,
                    store,
                    {"batch_size": 2, **SIMPLE},
                    **{**shuffle, "shard_id": s, "num_shards": shards},
                )
                for s in range(shards)
            ]
            for pipe in pipes:
                pipe.restore(state)
            got = [known.index(x) for p in pipes for x in samples_of(p.run())]
            expected = [whole[at] for at in dealt(k, COUNT, shards, 2)]
            assert got == expected, f"resumed on {shards} shards after {k}"
        first.run()


@each_store
def test_last_batches(reader: str, variant: str, tmp_path: Path, shuffle: dict[str, Any]) -> None:
    store = store_of(reader, variant, tmp_path)
    known = Known(store.samples)
    stream = known.indices(take(pipe_of(reader, store, {"batch_size": 1}, **shuffle), 2 * COUNT))
    for end in ("continue", "pad", "drop"):
        pipe = pipe_of(reader, store, {"batch_size": 4}, epoch_end=end, **shuffle)
        steps = [known.indices(samples_of(b)) for b in pipe]
        again = [known.indices(samples_of(b)) for b in pipe]
        got = [i for s in steps for i in s]
        full = COUNT // 4 * 4
        if end == "drop":
            assert got == stream[:full]
            assert [i for s in again for i in s] == stream[COUNT : COUNT + full]
        elif end == "pad":
            assert got == stream[:COUNT] + [stream[COUNT - 1]] * (full + 4 - COUNT)
            assert [i for s in again for i in s][:COUNT] == stream[COUNT:]
        else:
            assert got == stream[: full + 4]
            assert again[0] == stream[full + 4 : full + 8]


@each_store
def test_last_batches_of_shards(
    reader: str, variant: str, tmp_path: Path, shuffle: dict[str, Any]
) -> None:
    store = store_of(reader, variant, tmp_path)
    known = Known(store.samples)
    for shards in (2, 3):
        for end in ("pad", "drop"):
            epochs = [
                [
                    known.indices(samples_of(b))
                    for b in pipe_of(
                        reader,
                        store,
                        {"batch_size": 4, "num_threads": 1},
                        epoch_end=end,
                        shard_id=s,
                        num_shards=shards,
                        **shuffle,
                    )
                ]
                for s in range(shards)
            ]
            steps = {len(epoch) for epoch in epochs}
            got = [i for epoch in epochs for step in epoch for i in step]
            assert all(len(step) == 4 for epoch in epochs for step in epoch)
            if end == "pad":
                assert len(steps) == 1, "the shards have different numbers of steps"
                assert set(got) == set(range(COUNT))
            else:
                assert len(set(got)) == len(got)
                assert len(got) > COUNT - 4 * shards


@each_store
def test_states_of_other_stores_are_refused(reader: str, variant: str, tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    one = store_of(reader, variant, tmp_path / "one")
    two = store_of(reader, variant, tmp_path / "two", COUNT - 1)
    state = pipe_of(reader, one, {"batch_size": 2}, random_shuffle=True).state()
    with pytest.raises(StateError, match="size"):
        pipe_of(reader, two, {"batch_size": 2}, random_shuffle=True).restore(state)
    by_block = pipe_of(reader, one, {}, **SHUFFLES["by blocks"]).state()
    other = pipe_of(reader, one, {}, **{**SHUFFLES["by blocks"], "initial_fill": 6})
    with pytest.raises(StateError, match="initial_fill"):
        other.restore(by_block)


@each_store
def test_a_store_may_move(reader: str, variant: str, tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    one = store_of(reader, variant, tmp_path / "one")
    two = store_of(reader, variant, tmp_path / "two")
    first = pipe_of(reader, one, {"batch_size": 2}, random_shuffle=True)
    first.run()
    second = pipe_of(reader, two, {"batch_size": 2}, random_shuffle=True)
    if "files" in one.arguments:
        return  # their names, which moved as well, tell the samples apart
    second.restore(first.state())
    known = Known(one.samples)
    assert known.indices(take(first, 8)) == known.indices(take(second, 8))
