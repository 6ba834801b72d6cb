# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Readers beside each other that a person may take for being in step."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

from helpers import make
from stoker import Pipeline, fn
from stoker.errors import EpochWarning


def two(files: list[str], a: dict[str, Any], b: dict[str, Any]) -> Callable[[], Any]:
    """Readers of the first files and of the others; ``count`` says how many."""

    def reader(name: str, count: int = 6, skip: int = 0, **how: Any) -> Any:
        return fn.readers.file(files=files[skip : skip + count], name=name, **how)[1]

    return lambda: [reader("a", **a), reader("b", **{"skip": 6, **b})]


def built(define: Callable[[], Any]) -> Pipeline:
    pipe = make(define, batch_size=2)
    pipe.build()
    return pipe


SHUFFLED: dict[str, Any] = {"random_shuffle": True, "seed": 5}


@pytest.mark.parametrize(
    "a, b, what",
    [
        ({}, {"count": 5}, r"'a' has 6 samples and reader 'b' has 5: from the first one"),
        (SHUFFLED, {"count": 7, **SHUFFLED}, r"'a' has 6 .* 'b' has 7: shuffled sets of"),
        (SHUFFLED, {}, r"6 samples each, and differ in their .*shuffling \(True and False\)"),
        (SHUFFLED, {**SHUFFLED, "seed": 6}, r"order's key \(seed=\) \(5 and 6\)"),
        ({}, {"num_shards": 2, "shard_id": 0}, r"num_shards \(1 and 2\)"),
        ({}, {"pad_last_batch": True}, r"end of the epoch \(continue and pad\)"),
    ],
    ids=["size", "shuffled sizes", "shuffling", "key", "shards", "end"],
)
def test_it_is_said(files: list[str], a: dict[str, Any], b: dict[str, Any], what: str) -> None:
    with pytest.warns(EpochWarning, match=what) as told:
        pipe = built(two(files, a, b))
    assert len(told) == 1
    assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pipe.run()


def test_it_names_all_in_one_warning(files: list[str]) -> None:
    def define() -> Any:
        counts = {"a": 6, "b": 5, "c": 4}
        return [fn.readers.file(files=files[:n], name=name)[1] for name, n in counts.items()]

    with pytest.warns(
        EpochWarning, match=r"'a' has 6 .* 'b' has 5.* 'a' has 6 .* 'c' has 4"
    ) as told:
        built(define)
    assert len(told) == 1


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "a, b",
    [
        ({}, {}),
        (SHUFFLED, SHUFFLED),
        ({"random_shuffle": True}, {"random_shuffle": True}),
        ({}, {"seed": 7}),  # it decides nothing
        (SHUFFLED, {**SHUFFLED, "seed": 6, "skip": 0}),  # one set twice, to mix its samples
    ],
    ids=["in order", "shuffled", "default", "seed", "one set"],
)
def test_readers_in_step(files: list[str], a: dict[str, Any], b: dict[str, Any]) -> None:
    built(two(files, a, b)).run()


@pytest.mark.filterwarnings("error")
def test_a_reader_that_feeds_no_output_does_not_count(files: list[str]) -> None:
    define = two(files, {}, {"count": 5})
    built(lambda: define()[:1]).run()


def test_a_filter_silences_it(files: list[str]) -> None:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", category=EpochWarning)
        built(two(files, {}, {"count": 5}))
    assert not told
