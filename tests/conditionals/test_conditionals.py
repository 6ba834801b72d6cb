# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Conditionals on nodes: `if`, `a if c else b`, `and`, `or`, `not`, `split` and `merge`.

What each sample should be is worked out by the same statements on its NumPy arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from conditional_pipes import crop, cropped, flips, picture, pipe_of, runs

import jpegs
import stoker
from helpers import Array, assert_same, take
from stoker import DataNode, Pipeline, fn, types

TOPOLOGIES = [
    {"num_threads": threads, "batch_size": size, "prefetch_queue_depth": depth, **executor}
    for threads, size, depth in ((1, 12, 2), (2, 4, 1), (3, 6, 3))
    for executor in ({}, {"exec_pipelined": False, "exec_async": False})
]


def nested() -> Any:
    x = picture()
    a, b = flips(2)
    y = x
    if a:
        y = fn.flip(y, horizontal=1)
        if b:
            y = fn.flip(y, horizontal=0, vertical=1)
    elif b:
        y = fn.flip(y, horizontal=1, vertical=1)
    return x, a, b, y


def nested_expected(x: Array, a: Array, b: Array) -> Array:
    if a:
        return x[::-1, ::-1] if b else x[:, ::-1]
    return x[::-1, ::-1] if b else x


def with_returns() -> Any:
    x = picture()
    a, b = flips(2)
    if a:
        return x, a, b, fn.flip(x, horizontal=1)
    y = fn.flip(x, horizontal=0, vertical=1)
    if not b:
        return x, a, b, y
    return x, a, b, fn.flip(y, horizontal=1)


def with_returns_expected(x: Array, a: Array, b: Array) -> Array:
    if a:
        return x[:, ::-1]
    return x[::-1, ::-1] if b else x[::-1]


def expressions() -> Any:
    x = picture()
    a, b = flips(2)
    return x, a, b, fn.flip(x, horizontal=1) if (a and not b) or (b and not a) else x


def expressions_expected(x: Array, a: Array, b: Array) -> Array:
    return x[:, ::-1] if bool(a) != bool(b) else x


def by_functions() -> Any:
    x = picture()
    a, b = flips(2)
    there, elsewhere = stoker.split(x, a)
    y = fn.flip(there, horizontal=1)
    z = fn.merge(y, elsewhere, a)
    return x, a, b, fn.merge(fn.flip(z, horizontal=1), z, b)


def by_functions_expected(x: Array, a: Array, b: Array) -> Array:
    return x[:, ::-1] if bool(a) != bool(b) else x


def by_helper() -> Any:
    x = picture()
    a, b = flips(2)
    return x, a, b, turned(x, a) if b else x


def turned(x: DataNode, a: DataNode) -> DataNode:
    how = {"horizontal": 1, "vertical": 0}
    if a:
        x = fn.flip(x, **how)
    else:
        how = {"horizontal": 0, "vertical": 1}
        x = fn.flip(x, **how)
    return x


def by_helper_expected(x: Array, a: Array, b: Array) -> Array:
    return (x[:, ::-1] if a else x[::-1]) if b else x


def of_shapes() -> Any:
    x = picture()
    a, b = flips(2)
    y = crop(x, 4) if a else (crop(x, 2) if b else x)
    return x, a, b, y


def of_shapes_expected(x: Array, a: Array, b: Array) -> Array:
    return cropped(x, 4) if a else cropped(x, 2) if b else x


class Meaning(NamedTuple):
    define: Callable[[], Any]
    expected: Callable[[Array, Array, Array], Array]


MEANINGS = [
    Meaning(nested, nested_expected),
    Meaning(with_returns, with_returns_expected),
    Meaning(expressions, expressions_expected),
    Meaning(by_functions, by_functions_expected),
    Meaning(by_helper, by_helper_expected),
    Meaning(of_shapes, of_shapes_expected),
]


@pytest.mark.parametrize("meaning", MEANINGS, ids=lambda m: m.define.__name__)
def test_each_sample_is_what_the_statements_say(meaning: Meaning) -> None:
    seen = set()
    for x, a, b, y in runs(meaning.define):
        np.testing.assert_array_equal(y, meaning.expected(x, a, b))
        seen.add((int(a), int(b)))
    assert len(seen) == 4


@pytest.mark.parametrize("meaning", MEANINGS, ids=lambda m: m.define.__name__)
def test_topologies_agree(meaning: Meaning) -> None:
    expected = take(pipe_of(meaning.define), 24)
    for topology in TOPOLOGIES:
        assert_same(take(pipe_of(meaning.define, **topology), 24), expected, str(topology))


def on_device() -> Any:
    x = picture().gpu()
    a, b = flips(2)
    y = x
    if a:
        y = fn.flip(y, horizontal=1)
        if b:
            y = crop(fn.gaussian_blur(y, window_size=3), 4)
    elif b:
        y = crop(picture(), 3)  # on the CPU: the merge takes it to the device
    return x, a, b, y


def test_a_device_makes_what_the_cpu_makes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STOKER_SIMULATED_DEVICES", "1")
    pipe = pipe_of(on_device, device_id=0)
    assert [batch.device for batch in pipe.run()][3] == "simulated:0"
    seen = set()
    for x, a, b, y in runs(on_device, device_id=0):
        seen.add((int(a), int(b)))
        if a and not b:
            np.testing.assert_array_equal(y, x[:, ::-1])
        assert y.shape == ((4, 4, 3) if a and b else (3, 3, 3) if b else (6, 8, 3))
    assert len(seen) == 4


def test_a_condition_may_be_made_on_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STOKER_SIMULATED_DEVICES", "1")

    def define() -> Any:
        x = picture()
        a = fn.random.coin_flip(device="gpu")
        return x, a, fn.flip(x, horizontal=1) if a else x

    for x, a, y in runs(define, device_id=0):
        np.testing.assert_array_equal(y, x[:, ::-1] if a else x)
    assert pipe_of(define, device_id=0).run()[2].device == "cpu"


def test_conditions_may_be_merged_themselves() -> None:
    def define() -> Any:
        x = picture()
        a, b = flips(2)
        c = b if a else fn.random.coin_flip(probability=1.0)
        y = x
        if c:
            y = fn.flip(x, horizontal=1)
            if c and not a:
                y = crop(y, 4)
        return x, a, b, y

    for x, a, b, y in runs(define):
        flipped = x[:, ::-1] if b or not a else x
        np.testing.assert_array_equal(y, flipped if a else cropped(flipped, 4))


def test_a_branch_may_ask_for_its_own_condition() -> None:
    def define() -> Any:
        x = picture()
        a, b = flips(2)
        y = z = x
        if a:
            y = turned(x, a)
            there, nowhere = stoker.split(x, a)
            z = fn.merge(fn.flip(there, horizontal=1), crop(nowhere, 2), a)
        return x, a, b, y, z

    for x, a, _, y, z in runs(define):
        np.testing.assert_array_equal(y, x[:, ::-1] if a else x)
        np.testing.assert_array_equal(z, y)


def test_a_decoder_for_a_device_reads_what_was_merged(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("STOKER_SIMULATED_DEVICES", "1")
    sizes = {f"{k % 2}/{k:02}.jpg": (16 + 8 * (k % 3), 24) for k in range(9)}
    pictures = {name: jpegs.encode(jpegs.picture(*s, 1), "420") for name, s in sizes.items()}
    folder = str(jpegs.write_folder(tmp_path / "pictures", pictures))

    def define(device: str = "mixed") -> Any:
        first, label = fn.readers.file(file_root=folder, random_shuffle=True, seed=1)
        (a,) = flips(1)
        if a:
            encoded, other = fn.readers.file(file_root=folder)
        else:
            encoded, other = first, label
        return a, label, other, fn.decoders.image(encoded, device=device)

    made = runs(define, device_id=0)
    assert {bool(a) for a, *_ in made} == {True, False}
    for k, (a, label, other, _) in enumerate(made):
        # The second reader goes on for all samples: nine files, in order.
        assert other == (sorted(int(n[0]) for n in sizes)[k % 9] if a else label)
    for one, two in zip(made, runs(lambda: define("cpu")), strict=True):
        np.testing.assert_array_equal(one[3], two[3])


def test_a_picture_for_a_device_may_be_the_other_side(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("STOKER_SIMULATED_DEVICES", "1")
    files = {f"a/{k}.jpg": jpegs.encode(jpegs.picture(8, 8, k), "420") for k in range(5)}
    folder = str(jpegs.write_folder(tmp_path / "pictures", files))

    def define() -> Any:
        encoded, _ = fn.readers.file(file_root=folder)
        (a,) = flips(1)
        picture = fn.decoders.image(encoded, device="mixed")  # in no branch
        return a, fn.decoders.image(encoded), picture if a else np.zeros((8, 8, 3), np.uint8)

    for a, whole, y in runs(define, device_id=0):
        np.testing.assert_array_equal(y, whole if a else 0 * whole)


def test_frames_of_sequences_have_branches_of_their_sample() -> None:
    frames = [np.arange(3 * 4 * 4, dtype=np.uint8).reshape(3, 4, 4, 1) + k for k in range(12)]
    turns = [np.array([0, 1, k % 2], np.int32) for k in range(12)]

    def define() -> Any:
        x = fn.external_source(source=lambda _: frames, layout="FHWC")
        turn = fn.per_frame(fn.external_source(source=lambda _: turns))
        (a,) = flips(1)
        return x, turn, a, fn.flip(x, horizontal=turn) if a else fn.crop(x, crop=(2, 3))

    for x, turn, a, y in runs(define):
        turned = [f[:, ::-1] if t else f for f, t in zip(x, turn, strict=True)]
        np.testing.assert_array_equal(y, np.stack(turned) if a else x[:, 1:3, 1:4])


def test_a_state_is_taken_up_at_every_step() -> None:
    expected = take(pipe_of(nested), 36)
    for step in range(3):
        pipe = pipe_of(nested)
        for _ in range(step):
            pipe.run()
        other = pipe_of(nested, batch_size=6)
        other.restore(pipe.state())
        assert_same(take(other, 12), expected[12 * step : 12 * step + 12], f"step {step}")


def test_saved_pipelines_have_their_conditions() -> None:
    pipe = pipe_of(nested)
    copy = Pipeline.deserialize(pipe.serialize())
    assert_same(take(copy, 24), take(pipe_of(nested), 24), "saved")


def test_no_pass_reaches_into_a_side() -> None:
    """A pass runs for the samples of its first operator, and those of a side are fewer."""

    def define() -> DataNode:
        (a,) = flips(1)
        x, y = fn.flip(picture(), horizontal=1), picture()
        if a:
            x = fn.brightness(x, brightness=2.0, dtype=types.FLOAT, name="inside")
            y = fn.flip(x, vertical=1, name="behind")
        return y

    plan = pipe_of(define).plan()
    assert "in one pass with behind" in plan
    assert "in one pass with inside" not in plan
