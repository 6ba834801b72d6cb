# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Only the graph, the seed and the data decide the bytes. How the graph is run does not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from calls import (
    Call,
    depends_on_batch,
    feed,
    names,
    picture_calls,
    place_all,
    some_calls,
    texture,
)

from helpers import SIMPLE, Sample, assert_same, make, outputs_of, take
from stoker import DataNode, Pipeline, fn
from stoker._describe.registry import operators
from stoker._graph.functions import call as call_operator
from stoker.errors import GraphError, SampleError

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


# Here each operator is alone, so fusing changes little. test_chains_fused_as_separate has chains.
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


# Random chains of operators that lower.


def chain_calls() -> dict[str, list[Call]]:
    """The calls of the operators that lower and take one input, by operator."""
    return {
        name: [c for c in calls_of(name) if len(c.inputs) == 1]
        for name in names("lower")
        if not [p for p in operators()[name]["inputs"][1:] if not p["is_optional"]]
    }


def draw_chain(rng: np.random.Generator, pool: dict[str, list[Call]]) -> list[Call]:
    """Two to four calls, of which only the operators and arguments matter."""
    chain = []
    for _ in range(int(rng.integers(2, 5))):
        name = str(rng.choice(sorted(pool)))
        chain.append(pool[name][int(rng.integers(len(pool[name])))])
    return chain


def place_chain(chain: Sequence[Call], source: tuple[Any, str]) -> list[DataNode]:
    """Two outputs that share only the source: the chain's result, and a corner of it."""

    def whole() -> DataNode:
        node = feed(*source)
        for i, call in enumerate(chain):
            # Equal seeds make both copies of the chain draw the same.
            seed = {"seed": i} if operators()[call.op]["is_random"] else {}
            made = call_operator(operators()[call.op], [node], {**call.arguments, **seed})
            node = outputs_of(made)[0]
        return node

    return [whole(), fn.slice(whole(), axes=[0, 1], rel_start=[0.2, 0.3], rel_end=[0.8, 0.6])]


def outcome(
    chain: Sequence[Call], source: tuple[Any, str], **settings: Any
) -> list[Sample] | str | None:
    """The samples, or the message of a bad sample. None where the chain is refused."""
    try:
        pipe: Pipeline = make(lambda: place_chain(chain, source), batch_size=2, **settings)
        pipe.build()
    except GraphError:
        return None
    try:
        return take(pipe, 2)
    except SampleError as e:
        return sorted({s["message"] for s in e.samples})[0]


@pytest.mark.parametrize("seed", range(8))
def test_chains_fused_as_separate(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pool = chain_calls()
    sources = [
        (texture((23, 31, 3)), "HWC"),
        (texture((3, 19, 22)), "CHW"),
        (texture((21, 17, 1)).astype(np.float32) / 7, "HWC"),
        (texture((3, 14, 12, 2)).astype(np.int16) * 5, "FHWC"),
    ]
    ran = 0
    for _ in range(40):
        chain = draw_chain(rng, pool)
        source = sources[int(rng.integers(len(sources)))]
        separate = outcome(chain, source, **SIMPLE)
        if separate is None:
            continue
        what = " -> ".join(map(str, chain)) + f" on {source[0].dtype} {source[1]}"
        for settings in ({}, {"demand": False}, {"fuse": False}):
            got = outcome(chain, source, num_threads=1, **settings)
            if isinstance(separate, str):
                assert isinstance(got, str), f"{what}, {settings}: ran, separate gave {separate}"
            else:
                assert isinstance(got, list), f"{what}, {settings}: {got}"
                assert_same(got, separate, f"{what}, {settings}")
        ran += isinstance(separate, list)
    assert ran >= 10, "too few chains could be run for this test to say anything"
