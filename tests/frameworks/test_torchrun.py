# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Trainings of two and three processes under torchrun, which share one set."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from ranks import BATCH, EPOCHS, N

ALL = list(range(1, N + 1))
Results = dict[int, list[dict[str, Any]]]


def torchrun(processes: int, folder: Path) -> list[dict[str, Any]]:
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    command += ["--nproc-per-node", str(processes), str(Path(__file__).with_name("ranks.py"))]
    done = subprocess.run(
        [*command, str(folder)], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return [json.loads((folder / f"of_{processes}/{r}.json").read_text()) for r in range(processes)]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """What the ranks saw, by world size and rank. Three ranks go on where two stopped."""
    folder = tmp_path_factory.mktemp("ranks")
    return {processes: torchrun(processes, folder) for processes in (2, 3)}


def flat(lists: Any) -> list[int]:
    return list(itertools.chain.from_iterable(lists))


@pytest.mark.parametrize("size", [2, 3])
def test_all_ranks_make_equally_many_steps(results: Results, size: int) -> None:
    for name in results[size][0]["epochs"]:
        lengths = [[len(e) for e in rank["epochs"][name]] for rank in results[size]]
        assert all(one == lengths[0] for one in lengths), name


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("size", [2, 3])
def test_every_sample_once_per_epoch(results: Results, size: int, shuffle: bool) -> None:
    """The ranks' pipelines have seeds of their own, which change the draws but not the order."""
    ranks = [rank["epochs"][f"PARTIAL {shuffle} True"] for rank in results[size]]
    orders = []
    for epoch in range(EPOCHS):
        seen = flat(flat(rank[epoch]) for rank in ranks)
        assert sorted(seen) == ALL
        orders.append(seen)
    assert (orders[0] != orders[1]) or not shuffle


@pytest.mark.parametrize("size", [2, 3])
def test_filling_loses_nothing(results: Results, size: int) -> None:
    """With shuffling, the steps of the ranks are one stream of permutations.

    The ranks share what is left of an epoch, so within a step its samples mix with the next one's.
    """
    ranks = [flat(rank["epochs"]["FILL True False"]) for rank in results[size]]
    stream = flat(flat(step) for step in zip(*ranks, strict=True))
    of_step = BATCH * size
    for epochs in range(1, EPOCHS + 1):
        whole = N * epochs // of_step * of_step
        assert max(Counter(stream[:whole]).values()) <= epochs
        begun = stream[: -(-N * epochs // of_step) * of_step]
        assert min(Counter(begun)[sample] for sample in ALL) >= epochs


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("size", [2, 3])
def test_dropping_repeats_nothing(results: Results, size: int, shuffle: bool) -> None:
    ranks = [rank["epochs"][f"DROP {shuffle} True"] for rank in results[size]]
    for epoch in range(EPOCHS):
        seen = flat(flat(rank[epoch]) for rank in ranks)
        assert len(seen) == len(set(seen)) == N // (BATCH * size) * BATCH * size


@pytest.mark.parametrize("size", [2, 3])
def test_ranks_that_do_not_fit_are_refused_on_all(results: Results, size: int) -> None:
    said = [rank["refusals"] for rank in results[size]]
    for one in said:
        assert "order's key: rank 0 has 5, rank 1 has 6" in one["key"]
        assert f"order's size: rank 0 has {N}, rank 1 has {N - 1}" in one["size"]
        assert f"batch_size: rank 0 has {BATCH}, rank 1 has {BATCH + 1}" in one["batch"]
        assert f"rank 0 and rank 1 both read shard 0 of {size}" in one["shard"]
        assert one["uncompared"] == ""
        assert one["fewer shards"] == "", "several ranks may share a shard of their own grouping"
    assert said[0]["alone"] == ""


@pytest.mark.parametrize("end", ["continue", "pad"])
def test_three_ranks_go_on_where_two_stood(results: Results, end: str) -> None:
    before = flat(rank["saved"][end] for rank in results[2])
    after = flat(rank["resumed"][end] for rank in results[3])
    assert len(before) == 2 * 2 * BATCH
    assert sorted(before + after) == ALL
