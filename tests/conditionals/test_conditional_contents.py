# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Conditionals on nodes whose sides set attributes and items."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from stoker import DataNode, fn, pipeline_def
from stoker.errors import GraphError

NUMBERS = (1, -1, 3)


def made(function: Callable[[DataNode], Any]) -> list[Any]:
    """What the function makes of each of the numbers, the condition of which is a node."""

    @pipeline_def(batch_size=len(NUMBERS), num_threads=1, enable_conditionals=True)
    def pipe() -> Any:
        return function(fn.external_source(lambda: [np.int32(n) for n in NUMBERS]))

    (batch,) = pipe().run()
    return [np.array(sample).tolist() for sample in batch]


def in_python(function: Callable[[Any], Any]) -> list[Any]:
    return [function(n) for n in NUMBERS]


def item(n: Any) -> Any:
    d = {"angle": 0.0}
    if n > 0:
        d["angle"] = 30.0
    return n * d["angle"]


def attribute(n: Any) -> Any:
    x = SimpleNamespace(a=5)
    if n > 0:
        x.a = n + 1
    else:
        x.b = 3
        x.a -= n
    return x.a * 1


def elements(n: Any) -> Any:
    values = [1, 2, 3]
    if n > 0:
        for i in range(3):
            values[i] += n
        values[1:] = [7, n]
    return values[0] + 10 * values[1] + 100 * values[2]


def new_items(n: Any) -> Any:
    d: dict[Any, Any] = {}
    if n > 0:
        d["k"], d[2] = n, 4
    else:
        d[2] = 5
        d["k"] = n * 2
    return d["k"] + d[2]


def nested(n: Any) -> Any:
    x = SimpleNamespace(parts={"first": {"y": 2}})
    if n > 0:
        x.parts["first"]["y"] = n * 7
        if n > 2:
            x.parts["first"]["y"] += 1
        else:
            x.parts["first"]["y"] -= 1
    return x.parts["first"]["y"] + 0 * n


def another_object(n: Any) -> Any:
    x = SimpleNamespace(d={"y": 2})
    kept = x.d
    if n > 0:
        x.d = {"y": 5}
        x.d["y"] += n
    return x.d["y"] + 100 * kept["y"]


def unset(n: Any) -> Any:
    d = {"x": 1, "y": 2}
    if n > 0:
        d["x"] = n
        del d["y"]
    return d["x"] + 0 * n


def made_inside(n: Any) -> Any:
    if n > 0:
        d = {"x": 1}
        d["x"] += 1
    else:
        d = {"x": n}
    return d["x"] + 0


def two_names(n: Any) -> Any:
    x = SimpleNamespace(d={"y": 2})
    same = x.d
    if n > 0:
        same["y"] = n
        x.d["z"] = 5
    else:
        x.d["z"] = 7
    return same["y"] + 10 * x.d["z"]


FUNCTIONS = [
    two_names,
    item,
    attribute,
    elements,
    new_items,
    nested,
    another_object,
    unset,
    made_inside,
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_as_in_python(function: Callable[[Any], Any]) -> None:
    assert made(function) == in_python(function)


class Model:
    __slots__ = ("private",)

    def __init__(self) -> None:
        self.private = 1


class Scaled:
    def __init__(self) -> None:
        self.__factor = 1  # a private name

    def __call__(self, n: Any) -> Any:
        if n > 0:
            self.__factor = 2
        return n * self.__factor


def test_private_attributes_of_an_object_that_is_called() -> None:
    assert made(lambda n: Scaled()(n)) == [2, -1, 6]


def test_a_condition_of_python_sets_what_it_sets() -> None:
    array, model = np.zeros(2), Model()

    def function(n: Any) -> Any:
        if len(array) == 2:
            array[0] = 4
            model.private = 5
        return n * array[0] * model.private

    assert made(function) == [20, -20, 60]


def test_what_cannot_be_set() -> None:
    array, model, lists = np.zeros(2), Model(), [[0], [1]]

    def to_array(n: Any) -> Any:
        if n > 0:
            array[0] = 1
        return n

    def to_slots(n: Any) -> Any:
        if n > 0:
            model.private = 1
        return n

    def to_what_is_called(n: Any) -> Any:
        if n > 0:
            max(lists)[0] = 1
        return n

    def shorter(n: Any) -> Any:
        if n > 0:
            del lists[0]
        return n

    def on_one_side(n: Any) -> Any:
        d: dict[str, Any] = {}
        if n > 0:
            d["k"] = 1
        return n * d["k"]

    for function, words in (
        (to_array, "cannot set items of 'array', which is of type ndarray; set a variable"),
        (to_slots, "cannot set attributes of 'model', which is of type Model"),
        (to_what_is_called, r"takes no attribute or item of `max\(lists\)` to be set"),
        (shorter, "the list 'lists' has 1 elements on one side of an `if` on a node, and 2"),
        (on_one_side, r"'d\['k'\]' has no value on one side of the `if` on a node at"),
    ):
        with pytest.raises(GraphError, match=words):
            made(function)
    assert array[0] == 0 and model.private == 1


def test_a_side_that_returns_nothing() -> None:
    def function(n: Any) -> Any:
        if n > 0:
            return n + 1

    with pytest.raises(GraphError, match=r"one side of the `if` on a node at .* returns nothing"):
        made(function)
