# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Only the graph, the seed and the data decide the bytes. How the graph is run does not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from calls import (
    Call,
    depends_on_batch,
    names,
    picture_calls,
    place_all,
    some_calls,
)

from helpers import SIMPLE, assert_same, make, outputs_of, take
from stoker import DataNode, fn
from stoker._describe.registry import operators
from stoker._graph.functions import call as call_operator

COUNT = 14

VARIANTS: dict[str, dict[str, Any]] = {
    "pipelined": {},
    "nothing fused": {"fuse": False},
    "no demand": {"demand": False},
    "no rewrites": {"fuse": False, "demand": False},
    "1 thread": {"num_threads": 1},
    "7 threads": {"num_threads": 7},
    "depth 1": {"prefetch_queue_depth": 1},
    "depth 5": {"prefetch_queue_depth": 5},
    "batch 1": {"batch_size": 1},
    "batch 64": {"batch_size": 64},
    "simple, batch 1": {**SIMPLE, "batch_size": 1},
}


def calls_of(name: str) -> list[Call]:
    return [*some_calls(name), *picture_calls(name)]


# Fusing changes little here, where each operator is alone; test_fused.py has chains.
@pytest.mark.one_of_many
@pytest.mark.parametrize("name", names())
def test_however_it_is_run(name: str) -> None:
    """Calls whose results depend on the batch are compared where the batches are the same."""
    calls = [(c, depends_on_batch(c)) for c in calls_of(name)]
    for of_batches in (False, True):
        some = [c for c, depends in calls if depends == of_batches]
        if not some:
            continue

        def define(some: list[Call] = some) -> list[DataNode]:
            return place_all(some)

        judge = take(make(define, **{"batch_size": 7, **SIMPLE}), COUNT)
        for what, settings in VARIANTS.items():
            if of_batches and "batch_size" in settings:
                continue
            pipe = make(define, **{"batch_size": 7, **settings})
            assert_same(take(pipe, COUNT), judge, f"{name}, {what}")


@pytest.mark.parametrize("name", names())
def test_fed_as_well_as_constant(name: str) -> None:
    """Inputs may come from a source instead of a constant, also as strided arrays."""
    calls = calls_of(name)
    judge = take(make(lambda: place_all(calls, vary=False), batch_size=3), 6)
    for settings in ({}, SIMPLE):
        pipe = make(lambda: [n for c in calls for n in fed(c)], batch_size=3, **settings)
        assert_same(take(pipe, 6), judge, f"{name}, fed")


def fed(call: Call) -> list[DataNode]:
    """The call with its inputs from sources, as arrays with gaps."""

    def node(array: np.ndarray[Any, Any], layout: str) -> DataNode:
        room = np.zeros([3, *(2 * n for n in array.shape)], array.dtype)
        room[(slice(None), *(slice(None, None, 2) for _ in array.shape))] = array
        batch = room[(slice(None), *(slice(None, None, 2) for _ in array.shape))]
        return fn.external_source(lambda i: batch, layout=layout or None)

    inputs = [node(a, layout) for a, layout in call.inputs]
    return outputs_of(call_operator(operators()[call.op], inputs, call.arguments))


@pytest.mark.parametrize("name", names())
def test_shards_deal_the_same_samples(name: str) -> None:
    calls = calls_of(name)[:6]
    judge = take(make(lambda: place_all(calls), batch_size=3), 12)
    shards = [
        take(make(lambda: place_all(calls), batch_size=3, num_shards=2, shard_id=s), 6)
        for s in range(2)
    ]
    dealt = shards[0][:3] + shards[1][:3] + shards[0][3:] + shards[1][3:]
    assert_same(dealt, judge, f"{name}, 2 shards")
