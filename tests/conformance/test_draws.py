# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Draws depend on the seed, the epoch, the position and the operator's key: another Philox predicts
them from these.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers import Sample, dealt, make, samples_of
from oracles.chance import Chance, philox
from oracles.random_uniform import expected
from oracles.random_window import random_window, window_arguments
from stoker import DataNode, Pipeline, fn

FILES = 7
SEED = 11

# Counter, key and result of philox4x32 with 10 rounds, as Random123 publishes them.
KNOWN_ANSWERS = [
    (
        [0x00000000] * 4,
        (0x00000000, 0x00000000),
        [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8],
    ),
    (
        [0xFFFFFFFF] * 4,
        (0xFFFFFFFF, 0xFFFFFFFF),
        [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD],
    ),
    (
        [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
        (0xA4093822, 0x299F31D0),
        [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1],
    ),
]


@pytest.mark.parametrize(("counter", "key", "answer"), KNOWN_ANSWERS)
def test_the_oracle_s_philox_is_the_published_one(
    counter: list[int], key: tuple[int, int], answer: list[int]
) -> None:
    assert philox(np.array([counter, [1, 2, 3, 4]]), key)[0].tolist() == answer


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("files")
    for i in range(FILES):
        (folder / f"{i}.bin").write_bytes(bytes([i]))
    return [str(p) for p in sorted(Path(folder).iterdir())]


def reading(files: list[str], **reader: Any) -> list[DataNode]:
    _, label = fn.readers.file(files=files, **reader)
    return [label, fn.random.uniform(shape=[5])]


def predicted(key: str, epoch: int, position: int, shape: tuple[int, ...] = (5,)) -> bytes:
    chance = Chance(SEED, key, epoch, position)
    return np.asarray(expected([], "", chance=chance, shape=list(shape))).tobytes()


def draws(samples: list[Sample], output: int = 1) -> list[bytes]:
    return [s[output].tobytes() for s in samples]


def steps(pipe: Pipeline, count: int) -> list[Sample]:
    return [s for _ in range(count) for s in samples_of(pipe.run())]


@pytest.mark.parametrize("shuffle", [False, True], ids=["in order", "shuffled"])
@pytest.mark.parametrize("batch", [1, 4, 16])
def test_epoch_and_position_decide(files: list[str], shuffle: bool, batch: int) -> None:
    """Draws belong to the position in the epoch, not to the sample there. Batches here cross
    epochs.
    """
    pipe = make(lambda: reading(files, random_shuffle=shuffle), batch_size=batch, seed=SEED)
    got = draws(steps(pipe, -(-3 * FILES // batch)))
    places = [divmod(i, FILES) for i in range(len(got))]
    assert got == [predicted("random.uniform#0", e, p) for e, p in places]


def test_shards_draw_for_their_positions(files: list[str]) -> None:
    for shard in range(2):
        reader = {"random_shuffle": True, "num_shards": 2, "shard_id": shard}
        pipe = make(lambda reader=reader: reading(files, **reader), batch_size=3, seed=SEED)
        got = draws(steps(pipe, 4))
        at = [i for step in range(4) for i in dealt(6 * step, FILES, 2, 3)[3 * shard :][:3]]
        places = [divmod(i, FILES) for i in at]
        assert got == [predicted("random.uniform#0", e, p) for e, p in places]


def test_a_resumed_pipeline_draws_for_its_positions(files: list[str]) -> None:
    first = make(lambda: reading(files), batch_size=4, seed=SEED)
    steps(first, 3)
    other = make(lambda: reading(files), batch_size=5, seed=SEED)
    other.restore(first.state())
    places = [divmod(i, FILES) for i in range(12, 22)]
    assert draws(steps(other, 2)) == [predicted("random.uniform#0", e, p) for e, p in places]


def test_without_a_reader_samples_are_counted() -> None:
    for shard in range(3):
        pipe = make(
            lambda: fn.random.uniform(shape=[5]),
            batch_size=2,
            seed=SEED,
            num_shards=3,
            shard_id=shard,
        )
        at = [6 * step + 2 * shard + i for step in range(5) for i in range(2)]
        want = [predicted("random.uniform#0", 0, p) for p in at]
        assert draws(steps(pipe, 5), 0) == want


def test_the_key_names_the_operator() -> None:
    def define() -> list[DataNode]:
        return [
            fn.random.uniform(shape=[5]),
            fn.random.uniform(shape=[5], seed=3),
            fn.random.uniform(shape=[5], name="mine"),
            fn.random.uniform(shape=[5], seed=3, name="both"),
            fn.random.uniform(shape=[5], name="a name that is longer than two words"),
            fn.random.uniform(shape=[5]),
        ]

    keys = [
        "random.uniform#0",
        "random.uniform/seed:3",
        "name:mine",
        "random.uniform/seed:3",
        "name:a name that is longer than two words",
        "random.uniform#5",
    ]
    (sample,) = steps(make(define, seed=SEED), 1)
    for got, key in zip(sample, keys, strict=True):
        assert got.tobytes() == predicted(key, 0, 0), key


def test_a_seed_of_its_own_decides_alone() -> None:
    def define() -> list[DataNode]:
        return [
            fn.random.uniform(shape=[5], seed=3),
            fn.random.uniform(shape=[5], name="random.uniform/seed:3"),
            fn.batch_permutation(seed=4),
            fn.batch_permutation(),
        ]

    first, other = (make(define, batch_size=30, seed=seed).run() for seed in (SEED, SEED + 1))
    same = [bool((a.as_array() == b.as_array()).all()) for a, b in zip(first, other, strict=True)]
    assert same == [True, False, True, False]


def test_elements_are_counted_in_the_full_shape() -> None:
    """A window of a tensor of draws holds the values that the whole tensor has there."""
    shape = (3, 4, 6, 5)

    def define() -> DataNode:
        whole = fn.random.uniform(shape=list(shape))
        return fn.slice(whole, axes=[0, 1, 2, 3], start=[1, 0, 2, 3], end=[3, 3, 6, 4])

    (sample,) = steps(make(define, seed=SEED), 1)
    drawn = np.frombuffer(predicted("random.uniform#0", 0, 0, shape), np.float32).reshape(shape)
    assert np.array_equal(sample[0], drawn[1:3, 0:3, 2:6, 3:4])


def test_predicted_windows_take_every_way() -> None:
    """The oracle's calls reach the first and later attempts, the fallback, and both early ends."""
    height, width = 43, 59
    ways: Counter[str] = Counter()

    class Counted(Chance):
        """Counts the draws that were taken."""

        def wide(self, first: int) -> int:
            used.append(first)
            return super().wide(first)

    for arguments in window_arguments():
        for position in range(20):
            used: list[int] = []
            chance = Counted(7, "random_resized_crop#0", position=position)
            y, x, h, w = random_window(chance, height, width, **arguments)
            assert 0 <= y <= height - h and 0 <= x <= width - w
            attempts = (max(used) - 2) // 4
            if attempts == 0:
                ways["full height" if h == height else "full width"] += 1
                continue
            low, high = np.float32(arguments.get("random_aspect_ratio", (0.75, 1.333333)))
            if low <= w / h <= high:
                ways["first attempt" if attempts == 1 else "later attempt"] += 1
            else:
                ways["fallback"] += 1
    assert len(ways) == 5 and min(ways.values()) >= 5, ways
