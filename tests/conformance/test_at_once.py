# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Operators called at once give the bytes that a pipeline gives with the same key as its seed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from calls import Call, depends_on_batch, names, picture_calls, place_all, some_calls

from helpers import SIMPLE, Array, assert_same, make, outputs_of, samples_of, take
from stoker import DataNode
from stoker._calls.compiled import CompiledCall, Input, compiled
from stoker._describe.registry import operators
from stoker._graph.functions import call as call_operator

COUNT = 6
KEY = 7


def _one_by_one(call: CompiledCall, *inputs: Any) -> list[tuple[Array, ...]]:
    return [tuple(np.array(x) for x in call(*inputs, key=KEY, position=i)) for i in range(COUNT)]


@pytest.mark.one_of_many
@pytest.mark.parametrize("name", names())
def test_as_in_a_pipeline(name: str) -> None:
    """One sample at a time, and as batches in one thread and in three.

    Calls whose results depend on the batch are compared where the batches are the same.
    """
    calls = [c for c in (*some_calls(name), *picture_calls(name)) if _has_types(c)]
    assert calls
    for of_batches in (False, True):
        some = [c for c in calls if depends_on_batch(c) == of_batches]
        if not some:
            continue

        def define(some: list[Call] = some) -> list[DataNode]:
            return place_all(some)

        judge = take(make(define, **{**SIMPLE, "batch_size": COUNT, "seed": KEY}), COUNT)
        at_once = compiled(define)
        if not of_batches:
            assert_same(_one_by_one(at_once), judge, f"{name}, one by one")
        for threads in (1, 3):
            batches = at_once.batch(size=COUNT, key=KEY, threads=threads)
            assert_same(samples_of(batches), judge, f"{name}, {threads} threads")


@pytest.mark.parametrize("name", names())
def test_given_as_well_as_constant(name: str) -> None:
    """What a call is given is as good as a constant of the graph, also with gaps."""
    for call in some_calls(name):
        if not call.inputs or depends_on_batch(call) or not _has_types(call):
            continue
        judge = take(make(lambda call=call: place_all([call], vary=False), seed=KEY), COUNT)
        given = [_with_gaps(array) for array, _ in call.inputs]
        types = [Input(str(a.dtype), a.ndim, layout) for a, layout in call.inputs]

        def define(*nodes: DataNode, call: Call = call) -> list[DataNode]:
            return outputs_of(call_operator(operators()[call.op], nodes, call.arguments))

        assert_same(_one_by_one(compiled(define, types), *given), judge, str(call))


def _has_types(call: Call) -> bool:
    """Whether the graph says all types. Else a pipeline finds them in its first batch."""
    return call.op != "decoders.numpy" or "dtype" in call.arguments


def _with_gaps(array: Array) -> Array:
    if array.ndim == 0:
        return array
    wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)
    wide[..., ::2] = array
    return wide[..., ::2]
