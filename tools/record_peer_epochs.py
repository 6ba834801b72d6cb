#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Records the epochs of the established library's PyTorch iterator: record_peer_epochs.py FILE.

It needs nvidia-dali and torch in one environment, but no GPU. A case is a set of samples 1..n with
their numbers as labels. For each epoch the file holds the labels by step and pipeline, and the
iterator's length before it. tests/frameworks/test_peer_epochs.py compares Stoker's iterators.
"""

from __future__ import annotations

import itertools
import json
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

EPOCHS = 4
POLICIES = ("FILL", "DROP", "PARTIAL")


def cases() -> Iterator[dict[str, Any]]:
    """The cases: the arguments of a reader, and of an iterator over some of its shards."""
    sets = ((7, 2), (8, 2), (10, 3), (5, 2))
    flags = itertools.product(
        sets, (1, 2, 3), POLICIES, (False, True), (False, True), (False, True)
    )
    for (samples, batch), shards, policy, pad, stick, shuffle in flags:
        if shards == 1 and stick:
            continue
        case = {
            "samples": samples,
            "batch_size": batch,
            "num_shards": shards,
            "policy": policy,
            "pad_last_batch": pad,
            "stick_to_shard": stick,
            "random_shuffle": shuffle,
        }
        for shard in range(shards):
            yield {**case, "shards": [shard], "by": "reader_name"}
        if shards == 2 and not shuffle:
            yield {**case, "shards": [0, 1], "by": "reader_name"}
        if shards <= 2 and not stick and not shuffle:
            yield {**case, "shards": list(range(shards)), "by": "size"}


def run(case: dict[str, Any], folder: Path) -> dict[str, Any]:
    from nvidia.dali import fn, pipeline_def
    from nvidia.dali.plugin.pytorch import DALIGenericIterator, LastBatchPolicy

    numbers = range(1, case["samples"] + 1)
    flags = {k: case[k] for k in ("pad_last_batch", "stick_to_shard", "random_shuffle")}

    @pipeline_def(batch_size=case["batch_size"], num_threads=1, device_id=None, seed=1)
    def labels(shard: int) -> Any:
        return fn.readers.file(
            files=[str(folder / f"{i}") for i in numbers],
            labels=list(numbers),
            shard_id=shard,
            num_shards=case["num_shards"],
            name="reader",
            **flags,
        )[1]

    if case["by"] == "size":
        epoch = {"size": case["samples"], "last_batch_padded": case["pad_last_batch"]}
    else:
        epoch = {"reader_name": "reader"}
    iterator = DALIGenericIterator(
        [labels(shard) for shard in case["shards"]],
        ["label"],
        last_batch_policy=LastBatchPolicy[case["policy"]],
        **epoch,
    )
    epochs, lengths = [], []
    for _ in range(EPOCHS):
        lengths.append(len(iterator))
        epochs.append(
            [[one["label"].flatten().tolist() for one in step] for step in _rest_of(iterator)]
        )
        iterator.reset()
    return {"lengths": lengths, "epochs": epochs}


def run_or_refusal(case: dict[str, Any], folder: Path) -> dict[str, Any]:
    try:
        return run(case, folder)
    except RuntimeError as e:
        return {"refused": str(e)}


def _rest_of(iterator: Any) -> Iterator[Any]:
    """The steps up to the end of the epoch. A for loop would call reset() by itself."""
    while True:
        try:
            yield next(iterator)
        except StopIteration:
            return


def main(out: Path) -> None:
    import nvidia.dali

    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        for i in range(1, 11):
            Path(folder, f"{i}").write_bytes(b"sample")
        recorded = [{**case, **run_or_refusal(case, Path(folder))} for case in cases()]
    lines = ",\n".join(json.dumps(one, separators=(",", ":")) for one in recorded)
    out.write_text(f'{{"version": "{nvidia.dali.__version__}", "cases": [\n{lines}\n]}}\n')
    print(f"{len(recorded)} cases of {nvidia.dali.__version__}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
