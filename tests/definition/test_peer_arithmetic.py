# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Arithmetic on nodes: dtypes and values as the established library has them.

tests/golden/peer_arithmetic.json holds that library's answers.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import arithmetic_cases as cases
import numpy as np
import pytest
from arithmetic_nodes import node, result, results

from helpers import Array
from stoker import math, newaxis
from stoker.errors import GraphError, SampleError

RECORDED: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "golden" / "peer_arithmetic.json").read_text()
)


def evaluated(text: str, tensors: dict[str, Array]) -> Any:
    known: dict[str, Any] = {name: node(t) for name, t in tensors.items()}
    return eval(text, {**known, "np": np, "math": math, "newaxis": newaxis})


def is_close(got: Array, right: Array, exact: bool) -> bool:
    if got.dtype != right.dtype or got.shape != right.shape:
        return False
    if exact or got.dtype.kind != "f":
        return np.array_equal(got, right, equal_nan=got.dtype.kind == "f")
    relative = 1e-12 if got.dtype == np.float64 else 5e-7
    return np.allclose(got, right, relative, 1e-30, equal_nan=True)


@pytest.mark.parametrize("group", cases.GROUPS)
def test_results_are_those_of_the_established_library(group: str) -> None:
    both = [
        (text, tensors, recorded)
        for (text, tensors), recorded in zip(cases.cases(group), RECORDED[group], strict=True)
        if recorded is not None
    ]
    assert len(both) > 20
    got = results(lambda: tuple(evaluated(text, tensors) for text, tensors, _ in both))
    exact = group in {*cases.SYMBOLS, *cases.COMPARISONS, "min", "max", "shapes"} - {"**"}
    for value, (text, tensors, recorded) in zip(got, both, strict=True):
        right = cases.read(recorded)
        if differs_on_purpose(text, tensors):
            continue
        assert is_close(value, right, exact), (
            f"{cases.name_of(text, tensors)}: {value!r} instead of {right!r}"
        )


def differs_on_purpose(text: str, tensors: dict[str, Array]) -> bool:
    """Where that library takes -3.0 and -3 for different numbers, or 1 / sqrt(0) for nan."""
    dtypes = [t.dtype.kind for t in tensors.values()]
    number = text.split()[0] == "-3" or text.split()[-1] == "-3"
    has_pair = set(dtypes) == {"f", "i"} or (set(dtypes) == {"f"} and number)
    return (
        has_pair and bool(set(cases.COMPARISONS) & set(text.split()))
    ) or text == "math.rsqrt(x)"


def works(text: str, tensors: dict[str, Array]) -> bool:
    try:
        result(lambda: evaluated(text, tensors))
    except (GraphError, SampleError):
        return False
    return True


def works_only_here(text: str, tensors: dict[str, Array]) -> bool:
    """What the established library refuses for no reason."""
    dtypes = {str(t.dtype) for t in tensors.values()}
    if "float16" in dtypes:
        bits = set(cases.SYMBOLS[7:]) & set(text.split())
        return not bits and text != "~x"
    return text == "x[..., 1]"


@pytest.mark.parametrize("group", cases.GROUPS)
def test_what_that_library_refuses_is_refused_but_for_a_few(group: str) -> None:
    refused = [
        case
        for case, recorded in zip(cases.cases(group), RECORDED[group], strict=True)
        if recorded is None
    ]
    for text, tensors in refused:
        assert works(text, tensors) == works_only_here(text, tensors), cases.name_of(text, tensors)


def test_nothing_recorded_ended_that_library() -> None:
    assert not [g for g in cases.GROUPS if "ends" in RECORDED[g]]


def test_floats_and_negative_whole_numbers_compare_by_value() -> None:
    got = results(
        lambda: (node(np.float32([-3, 2])) == -3, node(np.int8([-3])) < node(np.float64([-3])))
    )
    assert [g.tolist() for g in got] == [[True, False], [False]]
    assert result(lambda: math.rsqrt(node(np.uint8([0, 4])))).tolist() == [np.inf, 0.5]
