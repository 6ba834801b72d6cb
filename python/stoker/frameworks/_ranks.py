# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Checks before the first step that the ranks of a training share one set of samples."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from stoker import Pipeline
from stoker.errors import GraphError


class Facts(NamedTuple):
    """The facts about a shard of a reader that must fit those of the other shards.

    ``order`` is the entry in a pipeline's state.
    """

    order: dict[str, Any]
    files: str
    num_shards: int
    shard_id: int
    batch_size: int
    cursor: int


def facts_of(pipe: Pipeline, reader: str) -> Facts:
    """The facts of the named reader. Raises ``GraphError`` if it feeds no output."""
    meta = pipe.reader_meta(reader)
    orders = pipe._orders()
    if reader not in orders:
        raise GraphError(f"reader '{reader}' feeds no output, so it ends no epoch")
    return Facts(
        orders[reader]["order"],
        orders[reader]["files"],
        meta["number_of_shards"],
        meta["shard_id"],
        pipe.max_batch_size or 0,
        orders[reader]["cursor"],
    )


def check(facts: Mapping[str, Facts]) -> None:
    """Raises a ``GraphError`` that names both sides if their facts do not fit together."""
    first, one = next(iter(facts.items()))
    for other, two in facts.items():
        for what, a, b in _differences(one, two):
            raise GraphError(
                f"the shards of one reader must agree in their {what}: {first} has {a!r}, "
                f"{other} has {b!r}. The order's key is the reader's seed="
            )
    if one.num_shards == len(facts) > 1:
        owner: dict[int, str] = {}
        for name, fact in facts.items():
            if fact.shard_id in owner:
                raise GraphError(
                    f"{owner[fact.shard_id]} and {name} both read shard {fact.shard_id} "
                    f"of {fact.num_shards}: give each shard_id once"
                )
            owner[fact.shard_id] = name


def compare(own: Sequence[Facts]) -> None:
    """Compares with the other ranks of the process group, if there is one and the set is sharded.

    This is a collective call: all ranks must make it, or none. Every rank raises the same
    ``GraphError``.
    """
    if own[0].num_shards == 1:
        return
    everyone = _exchanged(list(own))
    if everyone is None:
        return
    named = {
        f"rank {rank}" + (f", pipeline {i}" if len(ranks_own) > 1 else ""): Facts(*fact)
        for rank, ranks_own in enumerate(everyone)
        for i, fact in enumerate(ranks_own)
    }
    check(named)


def _differences(a: Facts, b: Facts) -> list[tuple[str, Any, Any]]:
    pairs = [(f"order's {k}", a.order.get(k), b.order.get(k)) for k in {**a.order, **b.order}]
    pairs += [
        ("files", a.files, b.files),
        ("num_shards", a.num_shards, b.num_shards),
        ("batch_size", a.batch_size, b.batch_size),
        ("position (cursor)", a.cursor, b.cursor),
    ]
    return [pair for pair in pairs if pair[1] != pair[2]]


def _exchanged(own: list[Facts]) -> list[list[Facts]] | None:
    """The facts of every rank; None if no process group is initialised."""
    distributed = getattr(sys.modules.get("torch"), "distributed", None)
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return None
    everyone: list[Any] = [None] * distributed.get_world_size()
    distributed.all_gather_object(everyone, own)
    return everyone
