# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The program that every rank of test_torchrun.py runs: ranks.py FOLDER.

It writes what it saw to FOLDER/of_<world size>/<rank>.json. If FOLDER/state.json is there, it goes
on from that state, else it writes one.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import torch.distributed

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from numbered import Numbers

from stoker import Pipeline
from stoker.errors import GraphError
from stoker.torch import DALIGenericIterator, DataIterator, LastBatchPolicy

N, BATCH, EPOCHS = 37, 4, 3
SHARDS: dict[str, Any] = {"shard": "auto", "shards": "auto"}


def steps_of(iterator: Any) -> list[list[int]]:
    return [[int(x) for x in step["label"].flatten()] for step in iterator]


def epochs(numbers: Numbers, seed: int) -> dict[str, Any]:
    """The labels for each policy, order and end of the epoch: a list of steps for each epoch."""
    seen = {}
    for policy in LastBatchPolicy:
        for shuffle in (False, True):
            for pad in (False, True):
                pipe = numbers(
                    N, BATCH, **SHARDS, seed=seed, random_shuffle=shuffle, pad_last_batch=pad
                )
                iterator = DataIterator(pipe, ["label"], last_batch_policy=policy)
                name = f"{policy.name} {shuffle} {pad}"
                seen[name] = [steps_of(iterator) for _ in range(EPOCHS)]
    return seen


def refusals(numbers: Numbers, rank: int, size: int) -> dict[str, str]:
    """The error for ranks whose settings do not fit together; "" if there is none."""

    def message(pipe: Pipeline, **arguments: Any) -> str:
        try:
            DALIGenericIterator([pipe], ["label"], reader_name="reader", **arguments)
        except GraphError as e:
            return str(e)
        return ""

    keyed = {**SHARDS, "random_shuffle": True}
    refused = {
        "key": message(numbers(N, BATCH, **keyed, key=5 if rank == 0 else 6)),
        "size": message(numbers(N - rank, BATCH, **keyed)),
        "batch": message(numbers(N, BATCH + rank, **keyed)),
        "shard": message(numbers(N, BATCH, 0, size)),
        "uncompared": message(numbers(N, BATCH, 0, size), compare_ranks=False),
        "fewer shards": message(numbers(N, BATCH, 0, 5)),
    }
    if rank == 0:  # a rank that reads the whole set needs no others
        refused["alone"] = message(numbers(N, BATCH))
    return refused


def saved(numbers: Numbers, file: Path, rank: int) -> dict[str, list[int]]:
    """For every end of the epoch: the labels of some steps. Rank 0 writes the states after them."""
    seen, states = {}, {}
    for end in ("continue", "pad"):
        pipe = numbers(N, BATCH, **SHARDS, random_shuffle=True, epoch_end=end)
        policy = LastBatchPolicy.PARTIAL
        iterator = DataIterator(pipe, ["label"], last_batch_policy=policy)
        seen[end] = [int(x) for _ in range(2) for x in next(iterator)["label"].flatten()]
        states[end] = iterator.state_dict()
    if rank == 0:  # the ranks were dealt one prefix of the order, so one state serves them all
        file.write_text(json.dumps(states))
    return seen


def resumed(numbers: Numbers, states: dict[str, Any]) -> dict[str, list[int]]:
    seen = {}
    for end, state in states.items():
        pipe = numbers(N, BATCH, **SHARDS, random_shuffle=True, epoch_end=end)
        policy = LastBatchPolicy.PARTIAL
        iterator = DataIterator(pipe, ["label"], last_batch_policy=policy)
        iterator.load_state_dict(state)
        seen[end] = [x for step in steps_of(iterator) for x in step]
    return seen


def main(folder: Path) -> None:
    torch.distributed.init_process_group("gloo")
    rank, size = torch.distributed.get_rank(), torch.distributed.get_world_size()
    numbers = Numbers(folder)
    torch.distributed.barrier()
    file = folder / "state.json"
    result: dict[str, Any] = {"epochs": epochs(numbers, 12 + rank)}
    result["refusals"] = refusals(numbers, rank, size)
    if file.exists():
        result["resumed"] = resumed(numbers, json.loads(file.read_text()))
    else:
        torch.distributed.barrier()
        result["saved"] = saved(numbers, file, rank)
    out = folder / f"of_{size}"
    out.mkdir(exist_ok=True)
    (out / f"{rank}.json").write_text(json.dumps(result))
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
