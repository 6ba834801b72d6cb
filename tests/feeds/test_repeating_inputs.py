# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Operators that take one or more inputs, in all forms of a call."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

from helpers import make
from stoker import Pipeline, fn, ops
from stoker.errors import GraphError, SampleError


def row(*numbers: int) -> Any:
    return fn.constant(idata=list(numbers), shape=[len(numbers)], dtype="int32")


def results(define: Any) -> list[list[int]]:
    return [np.array(b[0]).tolist() for b in make(define, batch_size=1).run()]


def test_function_and_class() -> None:
    assert results(lambda: fn.cat(row(1), row(2, 3), [4], axis=0)) == [[1, 2, 3, 4]]
    assert results(lambda: ops.Cat(axis=-1)(row(1), row(2))) == [[1, 2]]
    parameters = inspect.signature(fn.cat).parameters
    assert parameters["inputs"].kind is inspect.Parameter.VAR_POSITIONAL
    assert list(parameters)[:3] == ["inputs", "axis", "axis_name"]
    assert "*inputs: " in str(fn.cat.__doc__)


def test_lists_call_it_for_each_element() -> None:
    assert results(lambda: fn.cat([row(1), row(2)], row(3), [row(4), row(5)])) == [
        [1, 3, 4],
        [2, 3, 5],
    ]
    assert results(lambda: fn.cat([row(1), row(2)])) == [[1], [2]]


def test_saved() -> None:
    pipe = make(lambda: fn.stack(row(1), row(2), row(3)), batch_size=1)
    (again,) = Pipeline.deserialize(pipe.serialize()).run()
    assert np.array(again[0]).tolist() == [[1], [2], [3]]


@pytest.mark.parametrize(
    ("define", "words"),
    [
        (lambda: fn.cat(), r"cat.*takes 1 to 999 inputs, got 0"),
        (lambda: fn.cat(*[row(1)] * 1000), r"takes 1 to 999 inputs, got 1000"),
        (
            lambda: fn.cat(row(1), None),
            r"input 1 of 'inputs' expects the output of an op.*got None",
        ),
        (
            lambda: fn.cat(row(1), row(2), fn.constant(fdata=[1.0], shape=[1], dtype="float32")),
            r"input 2 is float32 \(1,\), expected int32 \(\?,\) as input 0, where \? may be any",
        ),
        (lambda: fn.cat(row(1), axis=1), r"argument 'axis' names axis 1 of a tensor of 1 axes"),
        (lambda: fn.cat(row(1), axis_name="W"), r"argument 'axis_name' is 'W'"),
        (lambda: fn.stack(row(1), row(2, 3)), r"input 1 is int32 \(2,\), expected int32 \(1,\)"),
        (lambda: fn.stack(row(1), axis_name="HW"), r"'axis_name' is 'HW', expected one letter"),
    ],
)
def test_what_is_wrong_is_named(define: Any, words: str) -> None:
    with pytest.raises(GraphError, match=words):
        make(define, batch_size=1).build()


def test_samples_that_do_not_fit_are_named() -> None:
    def define() -> Any:
        shape = {"dtype": "uint8", "layout": "HW"}
        first = fn.external_source(lambda i: [np.zeros((2, 3), np.uint8)], **shape)
        second = fn.external_source(lambda i: [np.zeros((3, 3), np.uint8)], **shape)
        return fn.cat(first, second, axis_name="W")

    with pytest.raises(SampleError, match=r"input 1 is uint8 HW \(3, 3\), expected uint8 HW \(2, "):
        make(define, batch_size=1).run()
