# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Finds readers and ranks that a person may take for being in step, and that are not."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from stoker import _core
from stoker._pipeline import readers

# Arguments of readers that say which sample comes when, and not where samples are.
_OF_ORDER = frozenset(
    (
        *("epoch_end", "initial_fill", "num_shards", "pad_last_batch", "random_shuffle", "seed"),
        *("shard_id", "shuffle_after_epoch", "shuffle_after_epoch_seed", "shuffle_by"),
        "stick_to_shard",
    )
)
_SILENCE = (
    "If they are not meant to go together, warnings.filterwarnings('ignore', "
    "category=stoker.errors.EpochWarning) silences this"
)


def notes(graph: _core.Graph, engine: _core.Pipeline, lead: str | None) -> list[str]:
    """Says which readers give their samples in another order than the lead reader does.

    Readers of one and the same set are left out: whoever reads a set twice wants two orders of it.
    """
    orders = readers.orders(engine)
    if lead is None or len(orders) < 2:
        return []
    facts = {name: _facts(engine, name, entry["order"]) for name, entry in orders.items()}
    sets = _sets(graph)
    others = [n for n in facts if facts[n] != facts[lead] and sets[n] != sets[lead]]
    if not others:
        return []
    found = " ".join(_difference(lead, facts[lead], name, facts[name]) for name in others)
    return [f"{found} {_SILENCE}"]


def may_differ_between_shards(order: Mapping[str, Any]) -> bool:
    """Whether loops over the pipelines of a reader's shards may have unequally many steps.

    ``order`` is the reader's entry in a state. Only contiguous shards tell their number there.
    """
    shards = int(order.get("num_shards", 1))
    return order["epoch_end"] == "continue" and int(order["size"]) % shards != 0


def _facts(engine: _core.Pipeline, name: str, order: Mapping[str, Any]) -> dict[str, Any]:
    """What decides which sample of a reader comes when."""
    meta = engine.reader_meta(name)
    facts = {**order, "num_shards": meta["number_of_shards"], "shard_id": meta["shard_id"]}
    if not order["shuffle"]:
        del facts["key"]  # it decides nothing
    return facts


def _sets(graph: _core.Graph) -> dict[str, Any]:
    """For each node, by name, what decides the set of samples that it reads."""
    return {
        node["name"]: (
            node["op"],
            {k: v for k, v in node["arguments"].items() if k not in _OF_ORDER},
        )
        for node in json.loads(graph.save("{}"))["nodes"]
    }


def _difference(lead: str, a: Mapping[str, Any], name: str, b: Mapping[str, Any]) -> str:
    both = f"readers '{lead}' and '{name}'"
    if a["size"] == b["size"]:
        keys = [k for k in {**a, **b} if a.get(k) != b.get(k)]
        shown = ", ".join(f"{_WORDS.get(k, k)} ({a.get(k)} and {b.get(k)})" for k in keys)
        return (
            f"{both} have {a['size']} samples each, and differ in their {shown}: what comes from "
            "both in one step does not stand at the same place of the two sets. For pairs, give "
            "both the same random_shuffle=, seed=, shards and end of the epoch."
        )
    sizes = f"reader '{lead}' has {a['size']} samples and reader '{name}' has {b['size']}"
    what = "from the first one that is missing on, what comes from both is no pair"
    if a["shuffle"] or b["shuffle"]:
        what = "shuffled sets of different sizes have different orders, so nothing is paired"
    return (
        f"{sizes}: {what}, and each begins again behind its own last sample. The epoch is that of "
        f"'{lead}'. For pairs, give both readers as many samples, e.g. by files=."
    )


_WORDS = {"key": "order's key (seed=)", "shuffle": "shuffling", "epoch_end": "end of the epoch"}
