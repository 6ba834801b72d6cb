# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Random operators draw other values for each sample, and the same ones for the same seed."""

from __future__ import annotations

import json
import math
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from calls import Call, all_calls, names, picture_calls, place, place_all, run_calls, some_calls
from golden_draws import GOLDEN, draws

from helpers import assert_same, make, same, take
from stoker import fn
from stoker._describe.registry import operators

RANDOM = [n for n in names() if operators()[n]["is_random"]]
BATCH = 64


def calls_of(name: str) -> list[Call]:
    return [*some_calls(name), *picture_calls(name)]


def column(call: Call, batch_size: int = BATCH, **settings: Any) -> list[bytes]:
    return [s[0].tobytes() for s in run_calls([call], batch_size=batch_size, **settings)]


@cache
def varying(name: str) -> tuple[Call, ...]:
    """The calls whose outputs differ between samples by chance."""
    return tuple(c for c in calls_of(name) if len(set(column(c))) > 1 and hears_chance(c))


def hears_chance(call: Call) -> bool:
    """Whether draws decide the outputs.

    Operators that see whole batches are given other inputs for some samples, so their outputs would
    differ without that. Tiny pictures may look alike after other draws.
    """
    if operators()[call.op]["sees_batch"] == "never":
        return True
    is_tiny = bool(call.inputs) and call.inputs[0][0].size < 50
    one, other = (column(call.with_arguments(seed=s), 16) for s in (901, 902))
    return not is_tiny and one != other


@pytest.mark.parametrize("name", RANDOM)
def test_samples_differ(name: str) -> None:
    found = varying(name)
    assert found, f"{name}: every call gives all samples of a batch the same output"
    for call in found:
        drawn = column(call)
        assert len({*drawn[:32]}) > 1 and len({*drawn[32:]}) > 1, str(call)


@pytest.mark.parametrize("name", RANDOM)
def test_the_seed_decides(name: str) -> None:
    for call in varying(name):
        first, again, other = (column(call, 16, seed=s) for s in (5, 5, 6))
        assert again == first, f"{call}: the same seed, other outputs"
        assert other != first, f"{call}: another seed, the same outputs"
        own, own_again, own_other, shared = (
            column(call.with_arguments(seed=s), 16, seed=5) for s in (1, 1, 2, 5)
        )
        assert shared != first, f"{call}: seed= is not heard"
        assert own_again == own and own_other != own, str(call)


def halves(sample: Any) -> tuple[Any, Any]:
    """The outputs of two calls in a row."""
    return sample[: len(sample) // 2], sample[len(sample) // 2 :]


@pytest.mark.parametrize("name", RANDOM)
def test_two_of_one_kind_draw_apart(name: str) -> None:
    call = varying(name)[0]
    pipe = make(lambda: [*place(call), *place(call)], batch_size=BATCH)
    assert any(not same(x, y) for s in take(pipe, BATCH) for x, y in zip(*halves(s), strict=True))


@pytest.mark.parametrize("name", RANDOM)
def test_equal_seeds_draw_alike(name: str) -> None:
    call = varying(name)[0].with_arguments(seed=3)
    pipe = make(lambda: [*place(call), *place(call)], batch_size=BATCH)
    one, other = zip(*map(halves, take(pipe, BATCH)), strict=True)
    assert_same(list(one), list(other), str(call))


@pytest.mark.parametrize("name", RANDOM)
def test_other_nodes_do_not_disturb(name: str) -> None:
    """Draws depend on the operator's own key, not on the rest of the graph."""
    calls = varying(name)
    others = [c for n in names() if n != name for c in all_calls(n)[:2]]
    alone = take(make(lambda: place_all(calls), batch_size=4), 4)
    crowd = take(make(lambda: [*place_all(others), *place_all(calls)], batch_size=4), 4)
    assert_same([s[-len(alone[0]) :] for s in crowd], alone, name)


def test_draws_follow_a_name_not_a_place() -> None:
    def one() -> Any:
        return fn.random.uniform(name="mine")

    def two() -> Any:
        fn.random.uniform()
        return fn.random.uniform(name="mine")

    assert_same(take(make(one), 5), take(make(two), 5), "a named node")


def test_chance_is_fair() -> None:
    """The bounds are coarse: a right generator misses them for about one seed in a billion."""
    pipe = make(
        lambda: [
            fn.random.uniform(range=[0.0, 1.0], shape=[1000]),
            fn.random.coin_flip(probability=0.3, shape=[1000]),
        ],
        batch_size=20,
    )
    got = take(pipe, 20)
    draws = np.concatenate([s[0] for s in got])
    flips = np.concatenate([s[1] for s in got])
    assert abs(draws.mean() - 0.5) < 6 * math.sqrt(1 / 12 / draws.size)
    assert abs(flips.mean() - 0.3) < 6 * math.sqrt(0.21 / flips.size)
    counts, _ = np.histogram(draws, 64, (0, 1))
    assert ((counts - draws.size / 64) ** 2 / (draws.size / 64)).sum() < 63 + 6 * math.sqrt(126)
    for a, b in pairwise(got):
        assert abs(np.corrcoef(a[0], b[0])[0, 1]) < 6 / math.sqrt(1000)


# Golden draws: later versions draw what a released version drew.


def golden() -> list[dict[str, Any]]:
    return list(json.loads((GOLDEN / "draws.json").read_text()))


@pytest.mark.parametrize("entry", golden(), ids=lambda e: f"{e['op']}-{e['seed']}")
def test_golden_draws(entry: dict[str, Any]) -> None:
    assert draws(entry) == entry["first"]
