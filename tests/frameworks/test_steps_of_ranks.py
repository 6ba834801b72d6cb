# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Ranks that may make unequally many steps, and sizes that are not a reader's."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from numbered import Numbers

from helpers import make
from stoker import fn
from stoker.errors import EpochWarning
from stoker.numpy import DALIGenericIterator, DataIterator


def told(act: Any) -> str:
    """What is said of epochs while the function runs."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        act()
    return "\n".join(str(w.message) for w in caught if w.category is EpochWarning)


def test_steps_that_one_rank_may_drop(numbers: Numbers) -> None:
    def opened(policy: str, **how: Any) -> str:
        return told(lambda: DataIterator(numbers(8, 2, on_error=policy, **how), ["label"]))

    said = opened("drop", shard=1, shards=2)
    assert "on_error='drop'" in said and "the 2 ranks may make unequally many steps" in said
    assert "on_error='replace'" in said
    assert opened("drop") == ""
    for policy in ("raise", "skip", "replace"):
        assert opened(policy, shard=1, shards=2) == ""


def test_skipping_keeps_the_steps(numbers: Numbers) -> None:
    """So that policy needs no warning: only batches differ in size."""
    lengths = set()
    for shard in range(2):
        pipe = numbers(16, 2, shard, 2, bad=(2, 5, 6) if shard else (1,), on_error="replace")
        lengths.add(len(list(DataIterator(pipe, ["label"]))))
        pipe = numbers(16, 2, shard, 2, bad=(2, 5), on_error="skip")
        lengths.add(len(list(DataIterator(pipe, ["label"]))))
    assert lengths == {4}


def test_sources_that_end_by_themselves_on_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    def opened(**by: Any) -> str:
        pipe = make(lambda: fn.external_source([np.ones((2, 1))]), batch_size=2)
        return told(lambda: DALIGenericIterator(pipe, ["x"], **by))

    assert opened() == ""
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "4")
    said = opened()
    assert "there are 4 ranks" in said and "Give size=" in said
    assert opened(size=2) == ""


def test_loops_over_pipelines_of_unequal_shards(numbers: Numbers) -> None:
    def looped(n: int, **how: Any) -> str:
        pipe = numbers(n, 4, 0, 2, **how)
        return told(lambda: [list(pipe), list(pipe)])

    said = looped(9)
    assert said.count("shards of the reader 'reader' differ by a sample") == 1
    assert "DataIterator" in said
    assert [len(list(numbers(9, 4, s, 2))) for s in range(2)] == [1, 2]
    assert looped(8) == looped(9, pad_last_batch=True) == looped(9, random_shuffle=True) == ""
    assert told(lambda: list(numbers(9, 4))) == ""
    assert told(lambda: list(DataIterator(numbers(9, 4, 0, 2), ["label"]))) == ""


def test_sizes_that_are_not_the_readers(numbers: Numbers) -> None:
    def opened(size: int, *shards: int, n: int = 25, of: int = 1) -> str:
        pipes = [numbers(n, 2, s, of) for s in shards]
        return told(lambda: DALIGenericIterator(pipes, ["label"], size=size))

    for size in (24, 26, 50):
        said = opened(size, 0)
        assert f"size={size}, but an epoch of the reader 'reader' has 25 samples" in said
        assert "give reader_name='reader'" in said
    assert opened(25, 0) == ""
    assert opened(25, 0, 1, of=2) == ""
    assert "has 24 samples, 12 of them in 1 of its 2 shards" in opened(24, 0, n=24, of=2)
    assert opened(12, 0, n=24, of=2) == ""
    assert "ranks with another size may make another number of steps" in opened(13, 1, of=2)
    assert "another number of steps" in opened(14, 1, n=27, of=2)
    assert opened(13, 0, n=26, of=2) == ""


@pytest.mark.filterwarnings("error")
def test_sizes_without_a_reader() -> None:
    pipe = make(lambda: fn.random.uniform(), batch_size=2)
    assert len(list(DataIterator(pipe, ["x"], size=7))) == 4
