# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Random chains of operators that lower give the same bytes fused as separate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from calls import Call, feed, names, picture_calls, some_calls, texture

from helpers import SIMPLE, Sample, assert_same, make, outputs_of, take
from stoker import DataNode, Pipeline, fn
from stoker._describe.registry import operators
from stoker._graph.functions import call as call_operator
from stoker.errors import GraphError, SampleError


def chain_calls() -> dict[str, list[Call]]:
    """The calls of the operators that lower and take one input, by operator."""
    return {
        name: [c for c in [*some_calls(name), *picture_calls(name)] if len(c.inputs) == 1]
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
def test_fused_as_separate(seed: int) -> None:
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
