# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Every operator gives what its cases say, and what its oracle says."""

from __future__ import annotations

import numpy as np
import pytest
from calls import (
    Array,
    Call,
    case_calls,
    expected_by_oracle,
    names,
    oracle,
    oracle_calls,
    pipeline,
    refused_calls,
    run_calls,
    run_with_inputs,
)

from helpers import difference, max_difference, same
from oracles.chance import Chance
from oracles.common import Tolerance
from stoker._describe.registry import operators
from stoker.errors import Error

SEEDS = (7, 0, 2**62 + 12345)


@pytest.mark.parametrize("executor", ["simple", "pipelined"])
@pytest.mark.parametrize("name", names())
def test_cases(name: str, executor: str) -> None:
    for call in case_calls(name):
        (sample,) = run_calls([call], executor=executor, vary=False)
        assert len(sample) == len(call.expected), str(call)
        for got, expected in zip(sample, call.expected, strict=True):
            assert same(got, expected) or equal_values(got, expected), (
                f"{call}: {difference(got, expected)}\n{got!r}"
            )


def equal_values(got: Array, expected: Array) -> bool:
    """Equal but for the sign of zero and the bits of NaN."""
    return (
        got.dtype == expected.dtype
        and got.shape == expected.shape
        and np.array_equal(got, expected, equal_nan=got.dtype.kind == "f")
    )


@pytest.mark.parametrize("name", names())
def test_oracle_agrees(name: str) -> None:
    """For random operators this includes the draws, for several samples and seeds.

    Operators that see whole batches get samples that differ.
    """
    module = oracle(name)
    assert module is not None, f"there is no tests/oracles/{name.replace('.', '_')}.py"
    calls = oracle_calls(name, seed=1)
    assert calls, "the oracle generates no calls"
    is_random = operators()[name]["is_random"]
    size = 5 if is_random or operators()[name]["sees_batch"] != "never" else 1
    for call in calls:
        for seed in SEEDS if is_random else SEEDS[:1]:
            samples = run_with_inputs(call, batch_size=size, seed=seed)
            chances = [Chance(seed, f"{name}#0", position=i) for i in range(size)]
            expected = expected_by_oracle(call, [inputs for inputs, _ in samples], chances)
            for (_, sample), answers in zip(samples, expected, strict=True):
                assert len(sample) == len(answers), str(call)
                for got, right in zip(sample, answers, strict=True):
                    assert_close(call, got, np.asarray(right), getattr(module, "TOLERANCE", None))


def assert_close(call: Call, got: Array, right: Array, tolerance: Tolerance | None) -> None:
    assert got.shape == right.shape, f"{call}: {got.shape} instead of {right.shape}"
    assert got.dtype == right.dtype, f"{call}: {got.dtype} instead of {right.dtype}"
    if tolerance is not None and right.dtype.kind == "f":
        is_number = np.isfinite(right)
        assert equal_values(got[~is_number], right[~is_number]), f"{call}: {difference(got, right)}"
        got, right = got[is_number], right[is_number]
    if tolerance is None or got.dtype.kind == "b":
        assert equal_values(got, right), f"{call}: {difference(got, right)}"
    else:
        assert max_difference(got, right) <= tolerance.of(right), (
            f"{call}: {difference(got, right)}"
        )


@pytest.mark.parametrize("name", [n for n in names() if refused_calls(n)])
def test_wrong_calls_are_refused(name: str) -> None:
    """By the rules of its own; test_describe.py tests the schema's."""
    for call, words in refused_calls(name):
        with pytest.raises(Error) as refusal:
            pipeline([call], vary=False).run()
        assert words in str(refusal.value), str(call)
        assert name in str(refusal.value), str(call)


@pytest.mark.parametrize("name", names())
def test_checked_types_are_those_that_come(name: str) -> None:
    """The type that the graph promises for an output is the type that comes."""
    for call in case_calls(name) + oracle_calls(name):
        pipe = pipeline([call])
        promised = pipe._definition.output_types()
        for batch, types in zip(pipe.run(), promised, strict=True):
            ((dtype, layout, shape),) = types
            got = np.array(batch[0])
            assert str(got.dtype) == dtype == batch.dtype, str(call)
            assert batch.layout == layout, str(call)
            if shape or got.ndim == 0:
                assert len(shape) == got.ndim, str(call)
            for known, extent in zip(shape, got.shape, strict=False):
                assert known in (-1, extent), f"{call}: {shape} promised, {got.shape} came"
