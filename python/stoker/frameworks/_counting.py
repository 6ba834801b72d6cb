# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Decides what counts as an epoch of an iterator: a reader's samples, or ``size`` of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from stoker import Pipeline
from stoker.errors import GraphError
from stoker.frameworks import _ranks
from stoker.frameworks._epochs import (
    Counted,
    EpochEnd,
    Epochs,
    LastBatchPolicy,
    counted_of_reader,
    shard_sizes,
)


class Counting(NamedTuple):
    """The epochs, if they are counted, how many samples one has, and the shard of each pipeline."""

    epochs: Epochs | None
    size: int
    shards: list[int]


def of_size(
    pipelines: Sequence[Pipeline], size: int, is_padded: bool, policy: LastBatchPolicy
) -> Counting:
    """Epochs of so many samples; with -1 only the pipeline knows where its epoch ends."""
    shards = list(range(len(pipelines)))
    if size == -1:
        if len(pipelines) > 1:
            raise GraphError("an iterator over several pipelines needs reader_name or size")
        return Counting(None, size, shards)
    if size < 1:
        raise GraphError(f"size expects a number of samples, or -1, got {size!r}")
    batch_size = pipelines[0].max_batch_size or 0
    for pipe in pipelines:
        _ranks.check_size(pipe, size, len(pipelines))
    stride = batch_size * len(pipelines)
    counted = Counted((size,), stride, batch_size, EpochEnd.PAD if is_padded else EpochEnd.CONTINUE)
    return Counting(Epochs(counted, policy), size, shards)


def of_reader(
    pipelines: Sequence[Pipeline], name: str, compare_ranks: bool, policy: LastBatchPolicy
) -> Counting:
    """Epochs of the named reader. Raises ``GraphError`` if its shards do not fit together."""
    facts = [_ranks.facts_of(pipe, name) for pipe in pipelines]
    if compare_ranks:  # first, so that all ranks raise when one has wrong pipelines
        _ranks.compare(facts)
    _ranks.check({f"pipeline {i}": fact for i, fact in enumerate(facts)})
    shards, order, count = [f.shard_id for f in facts], facts[0].order, facts[0].num_shards
    sizes = shard_sizes(order["size"], count)
    counted = counted_of_reader(order, count, facts[0].batch_size, facts[0].sticks)
    epochs = Epochs(counted, policy)
    epochs.go_to(facts[0].cursor)
    return Counting(epochs, sum(sizes[s] for s in shards), shards)
