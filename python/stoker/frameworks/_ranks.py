# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Checks before the first step that the ranks of a training share one set of samples."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

from stoker import Pipeline, launcher
from stoker._messages import warn_of_epoch
from stoker._pipeline.internals import internals
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
    sticks: bool


def facts_of(pipe: Pipeline, reader: str) -> Facts:
    """The facts of the named reader. Raises ``GraphError`` if it feeds no output."""
    meta = pipe.reader_meta(reader)
    orders = internals(pipe).orders
    if reader not in orders:
        raise GraphError(f"reader '{reader}' feeds no output, so it ends no epoch")
    return Facts(
        orders[reader]["order"],
        orders[reader]["files"],
        meta["number_of_shards"],
        meta["shard_id"],
        pipe.max_batch_size or 0,
        orders[reader]["cursor"],
        meta["stick_to_shard"],
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


def warn_of_steps(pipelines: Sequence[Pipeline], ends_itself: bool) -> None:
    """Warns if the ranks of a training may make unequally many steps in an epoch.

    ``ends_itself``: the sources of the pipelines end the epochs, and nobody counts.
    """
    pipe = pipelines[0]
    ranks = max(_world_size() // len(pipelines), *_shards(pipe))
    if ranks <= 1:
        return
    if pipe.error_policy.drops_empty_steps:
        warn_of_epoch(
            "on_error='drop' leaves out each step of which no sample is good, so the "
            f"{ranks} ranks may make unequally many steps in an epoch. {_WAITING} Take "
            "on_error='replace', under which every batch is full, or 'skip', under which the steps "
            "stay as many and a batch may have fewer samples"
        )
    if ends_itself:
        warn_of_epoch(
            f"there are {ranks} ranks, and the epochs of this iterator end where a source ends its "
            f"own, which may be at another step on each rank. {_WAITING} Give size=, with one "
            "value for all ranks that every source has samples for"
        )


def check_size(pipe: Pipeline, size: int, count: int) -> None:
    """Warns if ``size=`` of an iterator is not that of its ``count`` shards of the lead reader.

    Readers go on in their own epochs, whatever the iterator counts.
    """
    name = internals(pipe).engine.lead_reader
    if name is None or internals(pipe).ends_itself:
        return
    meta = pipe.reader_meta(name)
    samples, shards = meta["epoch_size"], max(meta["number_of_shards"], 1)
    least, most = count * (samples // shards), count * -(-samples // shards)
    if shards == 1 and size == samples:
        return
    if not least <= size <= most:
        has = f"{least}" if least == most else f"{least} or {most}"
        share = f", {has} of them in {count} of its {shards} shards" if shards > 1 else ""
        warn_of_epoch(
            f"size={size}, but an epoch of the reader '{name}' has {samples} samples{share}. So "
            "this iterator's epochs begin and end in the midst of the reader's: give "
            f"reader_name='{name}' in the place of size="
        )
    elif shards > count and _steps(least, pipe, count) != _steps(most, pipe, count):
        warn_of_epoch(
            f"size={size}: the shards of the reader '{name}' have {samples // shards} or "
            f"{-(-samples // shards)} samples, and ranks with another size may make another number "
            f"of steps. {_WAITING} Give reader_name='{name}' in the place of size=, which makes "
            "all ranks take as many steps, or one size for all ranks"
        )


_WAITING = "Ranks that wait for each other in every step, as in DDP, would then wait for ever."


def _steps(size: int, pipe: Pipeline, count: int) -> tuple[int, int]:
    """How many steps so many samples have, without and with a last one that they do not fill."""
    stride = count * (pipe.max_batch_size or 1)
    return size // stride, -(-size // stride)


def _shards(pipe: Pipeline) -> list[int]:
    """The numbers of shards that the pipeline or its readers know of; at least one number."""
    own = cast(int, pipe.num_shards)
    if internals(pipe).engine.lead_reader is None:
        return [own]
    return [own, *(meta["number_of_shards"] for meta in pipe.reader_meta().values())]


def _world_size() -> int:
    """How many ranks there are, as far as a launcher tells."""
    try:
        return launcher.find().world_size
    except GraphError:  # who asks for "auto" is told
        return 1


def _differences(a: Facts, b: Facts) -> list[tuple[str, Any, Any]]:
    pairs = [(f"order's {k}", a.order.get(k), b.order.get(k)) for k in {**a.order, **b.order}]
    pairs += [
        ("files", a.files, b.files),
        ("num_shards", a.num_shards, b.num_shards),
        ("batch_size", a.batch_size, b.batch_size),
        ("position (cursor)", a.cursor, b.cursor),
        ("stick_to_shard", a.sticks, b.sticks),
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
