# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Draws and bad samples in the branches of conditionals."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conditional_pipes import STEPS, flips, picture, pipe_of, runs

import jpegs
from helpers import samples_of
from stoker import DataNode, Pipeline, fn, types


def keys_of(define: Callable[[], Any], **settings: Any) -> dict[str, str]:
    nodes = json.loads(pipe_of(define, **settings).serialize())["nodes"]
    return {n["name"]: n["key"] for n in nodes if n["op"].startswith("random.")}


def test_a_draw_in_a_branch_or_a_helper_moves_no_other() -> None:
    def before() -> Any:
        a = fn.random.coin_flip()
        y = 1.0
        if a:
            y = fn.random.uniform()
        return a, y, helper(1), fn.random.uniform(), fn.random.coin_flip()

    def helper(draws: int) -> Any:
        return [fn.random.uniform() for _ in range(draws)][-1]

    def after() -> Any:
        a = fn.random.coin_flip()
        y = 1.0
        if a:
            fn.random.coin_flip()
            y = fn.random.uniform()
            fn.random.uniform()
        return a, y, [helper(3), helper(2)][1], fn.random.uniform(), fn.random.coin_flip()

    old, new = runs(before), runs(after)
    for k in (0, 1, 3, 4):
        for x, y in zip(old, new, strict=True):
            np.testing.assert_array_equal(x[k], y[k])
    keys = set(keys_of(after).values())
    assert {
        "random.coin_flip#0",
        "if#0.true/random.uniform#0",
        "helper#0/random.uniform#2",
        "helper#1/random.uniform#0",
        "random.uniform#0",
    } <= keys
    assert len(keys) == len(keys_of(after))


def test_scopes_do_not_depend_on_conditionals() -> None:
    def define() -> Any:
        return [fn.random.uniform() for _ in range(2)] + [turned_by_chance()]

    def turned_by_chance() -> DataNode:
        return fn.random.uniform()

    expected = ["random.uniform#0", "random.uniform#1", "turned_by_chance#0/random.uniform#0"]
    for enabled in (True, False):
        assert list(keys_of(define, enable_conditionals=enabled).values()) == expected
    pipe = Pipeline(batch_size=1, num_threads=1)
    with pipe:
        pipe.set_outputs(*define())
    nodes = json.loads(pipe.serialize())["nodes"]
    assert [n["key"].removeprefix("define#0/") for n in nodes] == expected


def test_scopes_of_all_kinds_of_functions() -> None:
    class Kind:
        def __init__(self) -> None:
            self.start = fn.random.uniform()

        def __call__(self) -> Any:
            return self.method()

        def method(self) -> Any:
            return fn.random.uniform()

    def recursive(depth: int) -> Any:
        return [fn.random.uniform(), *(recursive(depth - 1) if depth else [])]

    def generator() -> Any:
        yield fn.random.uniform()
        yield fn.random.uniform()

    def wrapped(function: Callable[[], Any]) -> Callable[[], Any]:
        @functools.wraps(function)
        def wrapper() -> Any:
            return fn.random.uniform(), function()

        return wrapper

    @wrapped
    def decorated() -> Any:
        return fn.random.uniform()

    def define() -> Any:
        kind = Kind()
        made = [kind.start, kind(), *recursive(1), *generator(), *decorated()]
        names: dict[str, Any] = {"fn": fn}
        exec("def made_of_text():\n return fn.random.uniform()", names)
        made += [names["made_of_text"](), (lambda: fn.random.uniform())()]
        return [*made, *map(lambda _: fn.random.uniform(), range(1))]  # noqa: C417

    expected = [
        "__init__#0/random.uniform#0",
        "__call__#0/method#0/random.uniform#0",
        "recursive#0/random.uniform#0",
        "recursive#0/recursive#0/random.uniform#0",
        "generator#0/random.uniform#0",
        "generator#0/random.uniform#1",
        "wrapper#0/random.uniform#0",
        "wrapper#0/decorated#0/random.uniform#0",
        "made_of_text#0/random.uniform#0",
        "random.uniform#0",
        "random.uniform#1",
    ]
    for enabled in (True, False):
        assert list(keys_of(define, enable_conditionals=enabled).values()) == expected


@pytest.mark.parametrize("on_error", ["skip", "replace"])
def test_a_damaged_file_is_bad_only_where_it_is_decoded(on_error: str, tmp_path: Path) -> None:
    files = {f"a/{k}.jpg": jpegs.encode(jpegs.picture(8, 8, k), "420") for k in range(8)}
    files["a/5.jpg"] = b"no picture"
    folder = str(jpegs.write_folder(tmp_path / "pictures", files))

    def define() -> Any:
        encoded, _ = fn.readers.file(file_root=folder)
        (a,) = flips(1)
        if a:
            picture = fn.decoders.image(encoded)
        else:
            picture = fn.constant(idata=[0], shape=[8, 8, 3], dtype=types.UINT8, layout="HWC")
        return a, picture, fn.copy(encoded)

    pipe = pipe_of(define, on_error=on_error, batch_size=8)
    bad = b"no picture"
    fates = set()
    for _ in range(12):
        made = samples_of(pipe.run())
        kept = [bool(a) for a, _, encoded in made if encoded.tobytes() == bad]
        assert not any(kept)
        fates.add(len(kept))
        assert len(made) == 8 or on_error == "skip"
    assert fates == {0, 1}  # lost where it was to be decoded, kept where it was not


def test_a_sample_that_fails_in_its_branch_is_bad_only_there() -> None:
    sizes = [np.array([4 + k % 4] * 2, np.float32) for k in range(12)]

    def define() -> Any:
        size = fn.external_source(source=lambda _: sizes, batch=True)
        x = picture()
        (a,) = flips(1)
        y = fn.crop(x, crop=size) if a else x
        return a, y, size

    pipe = pipe_of(define, on_error="skip")
    made = [sample for _ in range(STEPS) for sample in samples_of(pipe.run())]
    assert len(made) < 12 * STEPS  # a crop of 7 rows reaches outside
    assert {bool(a) for a, _, size in made if size[0] < 7} == {True, False}
    assert {bool(a) for a, _, size in made if size[0] == 7} == {False}
