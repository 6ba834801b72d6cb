# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""An operator gives the same bytes whatever piece of its input it gets, and wherever that lies.

An input covers the window that was asked for or more, and there may be gaps between its rows, as
`origin`, `shape` and `strides` of its view say. An output covers the window that is wanted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from calls import Call, feed, names, picture_calls, place, some_calls, texture, works

import jpegs
from helpers import SIMPLE, Array, assert_same, make, outputs_of, take
from stoker import DataNode, fn
from stoker._describe.registry import operators, ports
from stoker._graph.functions import call as call_operator

# The part of each output that is read, as shares of every axis.
WINDOWS = {"first corner": (0.0, 0.4), "last corner": (0.55, 1.0), "empty": (0.5, 0.5)}
# The part of each shared input that others read, which is more than the operator asks for.
OTHERS = (0.2, 1.0)
# The dtypes that a decoder gives.
DECODED = ("uint8", "int8", "uint16", "int16", "float16", "float32")

# Makes the node for an input.
Source = Callable[[Array, str], DataNode]


def calls_of(name: str) -> tuple[Call, ...]:
    return (*some_calls(name), *picture_calls(name))


@cache
def decodable_calls(name: str) -> tuple[Call, ...]:
    """The calls that take pictures, with pictures of the same shape from a decoder."""
    found = []
    for call in calls_of(name):
        given = enumerate(zip(ports(operators()[name]), call.inputs, strict=False))
        own = [i for i, (port, x) in given if is_picture(*x) and not port["is_value"]]
        if own:
            inputs = tuple(
                (pixels_of(a), x) if i in own else (a, x) for i, (a, x) in enumerate(call.inputs)
            )
            found.append(replace(call, inputs=inputs, source=f"{call.source}, decoded"))
    return tuple(c for c in found if works(c))


def is_picture(array: Array, layout: str) -> bool:
    return (
        layout == "HWC"
        and array.shape[2] in (1, 3)
        and array.size > 0
        and str(array.dtype) in DECODED
    )


def copied(array: Array, layout: str) -> DataNode:
    """A node whose buffer holds just the window that is wanted, as a copy that is not fused."""
    return fn.copy(feed(array, layout))


@cache
def encoded(shape: tuple[int, ...]) -> Array:
    pixels = texture(shape)
    kind = "444"
    if shape[2] == 1:
        kind, pixels = "gray", pixels.repeat(3, 2)
    return np.frombuffer(jpegs.encode(pixels, kind, quality=95), np.uint8)


def decoded(array: Array, layout: str) -> DataNode:
    """For an array that is_picture, one of its shape and dtype that a decoder writes: its rows
    have room between them.
    """
    if not is_picture(array, layout):
        return copied(array, layout)
    output_type = "GRAY" if array.shape[2] == 1 else "RGB"
    data = feed(encoded(array.shape))
    return fn.decoders.image(data, output_type=output_type, dtype=str(array.dtype))


def pixels_of(array: Array) -> Array:
    """The picture that decoded() gives for the array."""
    return np.array(make(lambda: decoded(array, "HWC")).run()[0][0])


def ranks_of(call: Call) -> list[int]:
    return [np.array(b[0]).ndim for b in make(lambda: place(call)).run()]


def window(node: DataNode, rank: int, start: float, end: float) -> DataNode:
    """The window between these shares of every axis."""
    return fn.slice(node, axes=list(range(rank)), rel_start=[start] * rank, rel_end=[end] * rank)


def corner_of(
    call: Call, ranks: list[int], share: tuple[float, float], source: Source, shared: bool
) -> list[DataNode]:
    """A corner of each output. With shared inputs, also the parts of these that others read."""
    inputs, others = [], []
    for port, (array, layout) in zip(ports(operators()[call.op]), call.inputs, strict=False):
        node = feed(array, layout) if port["is_value"] else source(array, layout)
        inputs.append(node)
        if shared and array.ndim and not port["is_value"]:
            others.append(window(node, array.ndim, *OTHERS))
    outputs = outputs_of(call_operator(operators()[call.op], inputs, call.arguments))
    return [*(window(n, r, *share) for n, r in zip(outputs, ranks, strict=True) if r), *others]


def assert_alike(name: str, calls: tuple[Call, ...], source: Source, shared: bool) -> None:
    """Compares corners of the calls on the source's nodes with those on constants."""
    cut = [(c, r) for c in calls for r in [ranks_of(c)] if any(r)]
    if not cut:
        return
    for what, share in WINDOWS.items():

        def define(given: Source, share: tuple[float, float] = share) -> list[DataNode]:
            return [n for c, r in cut for n in corner_of(c, r, share, given, shared)]

        judge = take(make(lambda define=define: define(feed), **SIMPLE), 2)
        settings: dict[str, dict[str, Any]] = {"separate": {"fuse": False}, "fused": {}}
        for how, rewrites in settings.items():
            got = take(make(lambda define=define: define(source), **rewrites), 2)
            assert_same(got, judge, f"{name}, {what}, {how}, calls: {[str(c) for c, _ in cut]}")


@pytest.mark.one_of_many
@pytest.mark.parametrize("name", names())
def test_on_a_buffer_that_holds_only_the_demanded_window(name: str) -> None:
    """Behind a copy that is not fused, an operator gets just the window that it asked for."""
    assert_alike(name, calls_of(name), copied, shared=False)


@pytest.mark.one_of_many
@pytest.mark.parametrize("name", names())
def test_on_a_buffer_that_holds_more_than_the_demanded_window(name: str) -> None:
    """Others read the input too, so an operator gets more of it than it asked for."""
    assert_alike(name, calls_of(name), copied, shared=True)


@pytest.mark.one_of_many
@pytest.mark.parametrize("shared", [False, True], ids=["alone", "shared"])
@pytest.mark.parametrize("name", names())
def test_on_rows_with_room_between_them(name: str, shared: bool) -> None:
    """Directly behind a decoder, whose rows have gaps between them."""
    assert_alike(name, decodable_calls(name), decoded, shared)


def test_several_consumers_get_all_they_want() -> None:
    """A node's demand is the bounding box of what its consumers ask for."""
    array = texture((40, 50, 3))

    def define() -> list[DataNode]:
        source = fn.copy(feed(array, "HWC"))
        return [
            fn.slice(source, axes=[0, 1], start=[2, 3], shape=[5, 6]),
            fn.slice(source, axes=[0, 1], start=[30, 1], shape=[7, 4]),
            source,
        ]

    (got,) = take(make(define, fuse=False), 1)
    assert np.array_equal(got[0], array[2:7, 3:9])
    assert np.array_equal(got[1], array[30:37, 1:5])
    assert np.array_equal(got[2], array)
