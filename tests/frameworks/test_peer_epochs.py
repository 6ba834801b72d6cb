# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Epochs compared with those of the established library, which tools/record_peer_epochs.py
recorded.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from numbered import Numbers

from stoker.errors import GraphError
from stoker.torch import DALIGenericIterator, LastBatchPolicy

RECORDED = Path(__file__).resolve().parents[1] / "golden" / "peer_epochs.json"
CASES: list[dict[str, Any]] = json.loads(RECORDED.read_text(encoding="utf-8"))["cases"]
FLAGS = ("pad_last_batch", "stick_to_shard", "random_shuffle")


def name(case: dict[str, Any]) -> str:
    flags = [flag.partition("_")[0] for flag in FLAGS if case[flag]]
    shards = "+".join(map(str, case["shards"]))
    what = f"{case['samples']} by {case['batch_size']}, {case['policy']}"
    return " ".join([what, *flags, f"shard {shards} of {case['num_shards']} by {case['by']}"])


def run(case: dict[str, Any], numbers: Numbers) -> tuple[list[int], list[Any]]:
    """The iterator's length before each epoch, and the labels by epoch, step and pipeline."""
    flags = {flag: case[flag] for flag in FLAGS}
    epoch: dict[str, Any] = {"reader_name": "reader"}
    if case["by"] == "size":
        epoch = {"size": case["samples"], "last_batch_padded": case["pad_last_batch"]}
    iterator = DALIGenericIterator(
        [
            numbers(case["samples"], case["batch_size"], s, case["num_shards"], **flags)
            for s in case["shards"]
        ],
        ["label"],
        last_batch_policy=LastBatchPolicy[case["policy"]],
        **epoch,
    )
    lengths, epochs = [], []
    for _ in case["epochs"]:
        lengths.append(len(iterator))
        epochs.append([[one["label"].flatten().tolist() for one in step] for step in iterator])
        iterator.reset()
    return lengths, epochs


def sizes(epochs: list[Any]) -> list[list[list[int]]]:
    """How many samples each pipeline has, by epoch and step."""
    return [[[len(labels) for labels in step] for step in steps] for steps in epochs]


def differs_on_purpose(case: dict[str, Any], lengths: list[int], epochs: list[Any]) -> str:
    """Why Stoker differs here on purpose; "" if it has to give the same."""
    n, batch, shards = case["samples"], case["batch_size"], case["num_shards"]
    if case["by"] == "size" and lengths != case["lengths"]:
        # The peer's length ignores samples that filled the last batch of the epoch before. Stoker's
        # is the number of coming steps.
        assert lengths == [len(steps) for steps in case["epochs"]]
        assert epochs == case["epochs"]
        return "length"
    if case["policy"] == "DROP" and case["pad_last_batch"] and n // shards % batch == 0:
        # The shortest shard fills its batches: the peer drops nothing and hands out whole batches
        # of padding as the next epoch. Stoker begins an epoch with its data.
        assert lengths == case["lengths"]
        first_of_epochs = {steps[0][0][0] for steps in epochs}
        assert first_of_epochs <= {s * n // shards + 1 for s in range(shards)}
        return "padding"
    if case["policy"] == "PARTIAL" and case["by"] == "size" and len(case["shards"]) > 1:
        # The peer's list leaves out a pipeline that has nothing left in the last step. Stoker's has
        # one dict per pipeline, where this one's tensor is empty.
        assert [[[x for x in step if x] for step in steps] for steps in epochs] == case["epochs"]
        return "empty"
    return ""


@pytest.mark.parametrize("case", CASES, ids=name)
def test_epochs_are_the_established_ones(case: dict[str, Any], numbers: Numbers) -> None:
    if "refused" in case:  # no batch can be full
        with pytest.raises(GraphError, match="no batch"):
            run({**case, "epochs": []}, numbers)
        return
    lengths, epochs = run(case, numbers)
    steps, theirs = ([len(e) for e in es] for es in (epochs, case["epochs"]))
    assert steps == theirs
    if case["random_shuffle"]:
        # The order differs, as all shards share one true permutation. The sizes are equal.
        assert lengths == case["lengths"]
        assert sizes(epochs) == sizes(case["epochs"])
    elif not (lengths == case["lengths"] and epochs == case["epochs"]):
        assert differs_on_purpose(case, lengths, epochs)


def test_what_differs_is_little(numbers: Numbers) -> None:
    plain = [c for c in CASES if not c["random_shuffle"] and "refused" not in c]
    same = [run(c, numbers) == (c["lengths"], c["epochs"]) for c in plain]
    assert len(plain) > 300
    assert sum(same) >= len(plain) - 40
