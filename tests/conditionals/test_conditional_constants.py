# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Conditionals of which constants tell that one side is never taken: the sides may differ."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from conditional_pipes import pipe_of, runs

from helpers import make
from stoker import Pipeline, fn, types
from stoker.errors import SampleError

TRUE: dict[str, Callable[[], Any]] = {
    "bool": lambda: types.Constant(True),
    "number": lambda: types.Constant(np.float32(0.25)),
    "node": lambda: fn.constant(idata=-3, shape=[]),
    "draw": lambda: fn.random.coin_flip(probability=1.0),
    "not": lambda: not_(fn.random.coin_flip(probability=0.0)),
    "and": lambda: both(types.Constant(1), types.Constant(2)),
}


def not_(x: Any) -> Any:
    return not x


def both(x: Any, y: Any) -> Any:
    return x and y


def chosen(condition: Any) -> Any:
    if condition:
        x = fn.cast(types.Constant(np.array([[1.5]])), dtype=types.FLOAT16)
    else:
        x = fn.random.uniform(shape=[3])
    return x


@pytest.mark.parametrize("condition", TRUE)
@pytest.mark.parametrize("settings", [{}, {"exec_pipelined": False, "exec_async": False}])
def test_the_type_is_that_of_the_side_that_is_taken(
    condition: str, settings: dict[str, Any]
) -> None:
    define = TRUE[condition]
    for x, y in runs(lambda: (chosen(define()), chosen(not_(define()))), **settings):
        assert (x.dtype, x.tolist()) == (np.float16, [[1.5]])
        assert (y.dtype, y.shape) == (np.float32, (3,))


def test_what_follows_knows_the_type() -> None:
    def define() -> Any:
        c = types.Constant(False)
        if c:
            x = fn.constant(idata=[1, 2], shape=[2])
        else:
            x = fn.random.uniform(shape=[4, 5, 3])
            x = fn.reshape(x, layout="HWC")
        return fn.resize(x, size=[2, 2])

    pipe = pipe_of(define)
    (batch,) = pipe.run()
    assert (batch.layout, batch.dtype, batch[0].shape) == ("HWC", "float32", (2, 2, 3))
    again = Pipeline.deserialize(pipe.serialize())
    assert again.run()[0].as_array().shape == (12, 2, 2, 3)


def test_sides_on_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STOKER_SIMULATED_DEVICES", "1")

    def define() -> Any:
        c = fn.random.coin_flip(probability=0.0)
        x = fn.constant(idata=[7])
        if c:
            x = fn.constant(fdata=[1.0, 2.0], shape=[2, 1]).gpu()
        return x

    (batch,) = pipe_of(define, device_id=0).run()
    assert np.array(batch.as_cpu()[0]).tolist() == [7]


def test_what_may_vary_fails_where_types_meet() -> None:
    def source(i: Any) -> Any:
        return [np.int32(k != 3 or i == 0) for k in range(12)]

    for condition, fails in (
        (lambda: fn.random.coin_flip(), {True}),
        (lambda: fn.random.coin_flip(probability=fn.constant(fdata=1.0, shape=[])), {False}),
        (lambda: fn.external_source(source), {False, True}),
    ):
        pipe = pipe_of(lambda c=condition: chosen(c()), batch_size=12)
        met = set()
        for _ in range(3):
            try:
                (batch,) = pipe.run()
                assert batch.dtype == "float16"
                met.add(False)
            except SampleError as e:
                assert "meet in a batch and expect the same dtype" in str(e)
                met.add(True)
        assert met == fails


def test_merge_without_rewritten_code() -> None:
    def define() -> Any:
        a, b = fn.constant(idata=[1, 2]), fn.random.uniform(shape=[1, 1])
        yes = fn.merge(a, b, types.Constant(1))
        return yes, fn.merge(a, yes, fn.merge(types.Constant(0), types.Constant(5), yes[0]))

    for got in make(define).run():
        assert got.at(0).tolist() == [1, 2]
