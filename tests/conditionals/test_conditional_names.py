# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""What conditionals do with names, what they refuse, and Python's own, which stay as they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from conditional_pipes import crop, flips, picture, pipe_of, runs

import stoker
from stoker import DataNode, fn, pipeline_def, types
from stoker.errors import GraphError, SampleError


def test_several_names_and_lists_are_merged() -> None:
    def define() -> Any:
        x = picture()
        (a,) = flips(1)
        n, pair, table = 1, [x, x], {"k": x}
        if a:
            n, pair = 2, [fn.flip(x, horizontal=1), x]
            table = {"k": pair[0]}
        return x, a, n, *pair, table["k"]

    for x, a, n, first, second, third in runs(define):
        assert n == (2 if a else 1) and n.dtype == np.int32
        np.testing.assert_array_equal(first, x[:, ::-1] if a else x)
        np.testing.assert_array_equal(second, x)
        np.testing.assert_array_equal(third, first)


def test_a_merge_that_is_returned_twice_is_copied() -> None:
    def define() -> Any:
        x = picture()
        (a,) = flips(1)
        y = fn.flip(x, horizontal=1) if a else x
        return x, y, y

    batches = pipe_of(define).run()
    for k in range(12):
        parts = [np.asarray(batch[k]) for batch in batches]
        assert not any(np.shares_memory(p, q) for i, p in enumerate(parts) for q in parts[i + 1 :])


def test_a_name_without_a_value_fails_where_it_is_used() -> None:
    def unused() -> Any:
        (a,) = flips(1)
        if a:
            y = picture()
            del y
        return a

    assert len(runs(unused)) == 36

    def used() -> Any:
        (a,) = flips(1)
        if a:
            y = picture()
        return fn.flip(y)

    with pytest.raises(GraphError, match=r"'y' has no value on one side.*_names.py:"):
        pipe_of(used)

    def returned() -> Any:
        (a,) = flips(1)
        if a:
            y = picture()
        return a, y

    with pytest.raises(GraphError, match="'y' has no value on one side"):
        pipe_of(returned)


def test_names_that_are_not_used_afterwards_may_differ() -> None:
    def define() -> Any:
        x = picture()
        (a,) = flips(1)
        if a:
            part, y = fn.cast(x, dtype=types.UINT8), fn.copy(x)
        else:
            part, y = crop(x, 3), fn.random.uniform(shape=[6, 8, 3])
        part = fn.cast(part, dtype=types.INT32)
        return a, x, y, fn.copy(a)

    for a, x, y, _ in runs(define):
        assert np.array_equal(x, y) == bool(a)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (lambda x: fn.cast(x, dtype=types.UINT8), "same dtype.*uint8.*float32"),
        (
            lambda x: fn.random.uniform(shape=[4]),
            r"same dtype.*float32 \(4,\).*float32 \(6, 8, 3\)",
        ),
        (lambda x: "text", "two values.*type str and one of type DataNode"),
    ],
)
def test_sides_that_differ_are_refused(other: Callable[[DataNode], Any], message: str) -> None:
    def define() -> Any:
        x = picture()
        (a,) = flips(1)
        y = other(x) if a else x
        return fn.copy(y)

    with pytest.raises((GraphError, SampleError), match=message):
        pipe_of(define).run()


def test_what_cannot_be_on_a_node_is_refused() -> None:
    def in_a_loop() -> Any:
        (a,) = flips(1)
        for _ in range(3):
            if a:
                break
        return a

    with pytest.raises(GraphError, match="takes no `break` or `continue`"):
        pipe_of(in_a_loop)

    def out_of_a_loop() -> Any:
        (a,) = flips(1)
        for _ in range(3):
            if a:
                return a
        return a

    with pytest.raises(GraphError, match="takes no `return` out of a loop"):
        pipe_of(out_of_a_loop)

    def a_while() -> Any:
        (a,) = flips(1)
        while a:
            pass
        return a

    with pytest.raises(GraphError, match="nothing lets it decide a `while`"):
        pipe_of(a_while)

    def pictures() -> Any:
        return picture() if fn.random.coin_flip(shape=[2]) else fn.copy(picture())

    with pytest.raises(GraphError, match="enable_conditionals=True"):
        pipe_of(pictures, enable_conditionals=False)
    with pytest.raises(GraphError, match="a condition expects one number"):
        pipe_of(pictures).build()

    def both_sides() -> Any:
        (a,) = flips(1)
        return fn.cat(*stoker.split(picture(), a))

    with pytest.raises(GraphError, match="both sides of the condition"):
        pipe_of(both_sides)

    def one_side() -> Any:
        (a,) = flips(1)
        return stoker.split(picture(), a)[0]

    with pytest.raises(GraphError, match="is made only where 'random_coin_flip_0' is true"):
        pipe_of(one_side).build()


class Counted:
    def __init__(self, truth: bool) -> None:
        self.truth, self.asked = truth, 0

    def __bool__(self) -> bool:
        self.asked += 1
        return self.truth

    def __private(self, x: int) -> int:
        return x + 1 if self else x

    def total(self, values: list[int]) -> int:
        result = 0
        for value in values:
            if value < 0:
                continue
            if value > 90:
                return self.__private(result)
            result += value if value % 2 or not value else 0
        else:
            result += 1000
        return result


def python_conditionals(log: list[Any], *, flag: bool = True) -> Any:
    def inner(x: int) -> Any:
        nonlocal count
        if x:
            count += 1
            return [y for y in range(x) if y and y % 2]
        return None

    count = 0
    counted = Counted(flag)
    if counted:
        only = "here"
        log.append(only)
    log += [inner(4), inner(0), count, counted.asked, counted and 1, (not counted) or "x"]
    log += [counted.total([1, 2, 3]), counted.total([1, 2, 95])]
    if (found := len(log)) > 3 and flag:
        log.append(found)
    return fn.constant(fdata=[1.0])


@pytest.mark.parametrize("flag", [True, False])
def test_conditionals_on_python_values_mean_what_they_mean(flag: bool) -> None:
    plain: list[Any] = []
    rewritten: list[Any] = []
    settings = {"batch_size": 1, "num_threads": 1}
    pipeline_def(**settings)(python_conditionals)(plain, flag=flag)
    pipeline_def(**settings, enable_conditionals=True)(python_conditionals)(rewritten, flag=flag)
    assert [repr(x) for x in plain if not isinstance(x, Counted)] == [
        repr(x) for x in rewritten if not isinstance(x, Counted)
    ]


def test_a_pipeline_s_function_cannot_stay_as_it_is() -> None:
    def constant() -> Any:
        return 1

    with pytest.raises(GraphError, match=r"^pipeline_def: constant cannot be a pipeline and have"):
        stoker.pipeline_def(stoker.do_not_convert(constant), batch_size=1)

    def other() -> Any:
        return 1

    factory = stoker.pipeline_def(other, batch_size=1)
    with pytest.raises(ValueError, match=r"^do_not_convert: other cannot be a pipeline and have"):
        stoker.do_not_convert(factory)
    assert factory._is_pipeline_def is True
    assert len(factory().run()) == 1


def test_functions_can_stay_as_they_are() -> None:
    @stoker.do_not_convert
    def helper(a: DataNode) -> Any:
        return 1 if a else 2

    def define() -> Any:
        return helper(fn.random.coin_flip())

    with pytest.raises(GraphError, match="has no value while the pipeline is being defined"):
        pipe_of(define)
