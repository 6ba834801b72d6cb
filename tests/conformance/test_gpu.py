# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Every operator that runs on a device gives the same there as on the CPU.

The device is the simulated one, or a GPU with STOKER_REQUIRE_GPU=1.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np
import pytest
from calls import (
    Call,
    accepted_layouts,
    all_calls,
    feed,
    inputs_of,
    names,
    picture_calls,
    shape_of,
    some_calls,
    texture,
    works,
)
from golden_draws import GOLDEN, call_of, values_or_sum

from helpers import Array, Sample, assert_same, difference, make, outputs_of, same, samples_of
from stoker import DataNode, fn
from stoker._describe.registry import Argument, operators, ports
from stoker._graph.functions import call as call_operator
from stoker.errors import GraphError, SampleError

ON_GPU = [n for n in names() if "gpu" in operators()[n]["devices"]]
MIXED = [n for n in names() if "mixed" in operators()[n]["devices"]]
# Integers are the same on both sides, draws as well. These operators give the same floats too.
EXACT = {n for n in ON_GPU if operators()[n]["is_random"] and operators()[n]["kind"] == "sample"}
EXACT |= {"cat", "constant", "copy", "cutmix", "mixup", "pad", "per_frame", "permute_batch"}
EXACT |= {"arithmetic", "cast_like", "full", "full_like", "ones", "ones_like", "shapes", "stack"}
EXACT |= {"subscript", "zeros", "zeros_like", "one_hot", "paste", "transpose"}
EXACT |= {"as_classes", "reshape", "reinterpret", "squeeze", "expand_dims"}
EXACT |= {"sequence_rearrange", "element_extract", "reductions.min", "reductions.max"}


ON_A_GPU = os.environ.get("STOKER_REQUIRE_GPU") == "1"
DEVICE = "cuda:0" if ON_A_GPU else "simulated:0"


@pytest.fixture(autouse=True)
def device(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    if not ON_A_GPU:
        monkeypatch.setenv("STOKER_SIMULATED_DEVICES", "1")
    yield


def place_on(
    call: Call, device: str, first: DataNode | None = None, **changed: Any
) -> list[DataNode]:
    """Adds the call, on a device, to the current pipeline. `first` replaces its first input."""
    given = inputs_of(call)
    if first is not None:
        given[0] = first
    inputs = [
        x.gpu() if device == "gpu" and not port["is_value"] else x
        for port, x in zip(ports(operators()[call.op]), given, strict=False)
    ]
    arguments = {**call.arguments, **changed, "device": device}
    return outputs_of(call_operator(operators()[call.op], inputs, arguments))


def run_on(call: Call, device: str, **settings: Any) -> list[Sample]:
    pipe = make(
        lambda: place_on(call, device),
        batch_size=3,
        device_id=None if device == "cpu" else 0,
        **settings,
    )
    batches = pipe.run()
    place = "cpu" if device == "cpu" else DEVICE
    assert [b.device for b in batches] == [place] * len(batches)
    columns = [[np.array(b.as_cpu()[i]) for i in range(len(b))] for b in batches]
    return list(zip(*columns, strict=True))


def assert_agree(got: Array, right: Array, what: str) -> None:
    """Integers must be equal, uint8 within one level, and floats equal up to their last places."""
    assert got.dtype == right.dtype and got.shape == right.shape, (
        f"{what}: {difference(got, right)}"
    )
    if got.dtype.kind in "iub":
        levels = np.abs(got.astype(np.int64) - right.astype(np.int64)).max(initial=0)
        assert levels <= (1 if got.dtype == np.uint8 else 0), f"{what}: {difference(got, right)}"
        return
    relative = 1e-3 if got.dtype == np.float16 else 1e-5
    wide_got, wide_right = got.astype(np.float64), right.astype(np.float64)
    scale = np.maximum(np.abs(wide_right), 1)
    close = np.abs(wide_got - wide_right) <= relative * scale
    assert (close | (got == right) | (np.isnan(got) & np.isnan(right))).all(), (
        f"{what}: {difference(got, right)}"
    )


@pytest.mark.parametrize("name", ON_GPU)
def test_device_agrees_with_cpu(name: str) -> None:
    for call in (*some_calls(name), *picture_calls(name)):
        for got, right in zip(run_on(call, "gpu"), run_on(call, "cpu"), strict=True):
            for a, b in zip(got, right, strict=True):
                if name in EXACT:
                    assert same(a, b), f"{call}: {difference(a, b)}"
                else:
                    assert_agree(a, b, str(call))


def read(batches: Sequence[Any]) -> list[Sample]:
    """The samples of a step, whether its batches are on the host or on the device."""
    return samples_of([b if b.device == "cpu" else b.as_cpu() for b in batches])


def calls_of(name: str, most: int) -> list[Call]:
    """The first calls with different arguments that work. They are on pictures where possible."""
    found = [c for c in (*picture_calls(name), *some_calls(name)) if works(c)]
    apart = {str(sorted(c.arguments.items(), key=str)): c for c in reversed(found)}
    return list(reversed(apart.values()))[:most]


# Heights and widths: odd ones and the smallest.
SIZES = ((13, 18), (1, 1), (7, 31), (65, 3), (29, 33), (1, 40))


def ragged(layout: str, size: int) -> list[Array]:
    """Pictures of this layout, most of different shapes."""
    extents = [{"H": h, "W": w} for h, w in SIZES]
    return [
        texture([extents[i % len(SIZES)].get(c, 1 + i % 2 if c in "FD" else 3) for c in layout], i)
        for i in range(size)
    ]


def ragged_lists(own: Array, size: int) -> list[Array]:
    """For an input that is no picture: lists of different lengths with the values of `own`."""
    return [np.resize(own, (i % 5, *own.shape[1:])) if own.ndim > 1 else own for i in range(size)]


def on_ragged(call: Call, place: str, size: int) -> list[Sample]:
    """Five steps of the call on ragged pictures or lists, without samples that cannot be made."""
    layout = call.inputs[0][1] or accepted_layouts(operators()[call.op])[0]
    own = call.inputs[0][0]
    takes_bytes = "uint8" in (operators()[call.op]["inputs"][0]["dtypes"] or "uint8")
    is_picture = takes_bytes and own.ndim == len(layout)
    batch = ragged(layout, 5 * size) if is_picture else ragged_lists(own, 5 * size)
    steps = [batch[k * size : (k + 1) * size] for k in range(5)]
    if operators()[call.op]["sees_batch"] == "always" and is_picture:
        # Its outputs for samples of one shape; test_batches.py has ragged ones for those that take
        # them.
        shapes = [a.shape for a in ragged(layout, 5)]
        steps = [[texture(s, i) for i in range(size)] for s in shapes]

    def define() -> list[DataNode]:
        letters = layout if is_picture else None
        first = fn.external_source(source=steps, layout=letters, cycle=True)
        return place_on(call, place, first)

    pipe = make(define, batch_size=size, device_id=0, prefetch_queue_depth=3, on_error="skip")
    got: list[Sample] = []
    for _ in steps:
        with suppress(SampleError):  # no sample of this step could be made
            got += read(pipe.run())
    return got


@pytest.mark.one_of_many
@pytest.mark.parametrize("name", ON_GPU)
def test_device_agrees_with_cpu_on_ragged_batches(name: str) -> None:
    """Batches have one sample, two or many. Each step in flight has a stream of its own."""
    calls = [c for c in calls_of(name, 99) if c.inputs][:4]
    made = 0
    for call in calls:
        for size in (1, 2, 19):
            both = [on_ragged(call, place, size) for place in ("gpu", "cpu")]
            for got, right in zip(*both, strict=True):
                for a, b in zip(got, right, strict=True):
                    made += 1
                    assert name not in EXACT or same(a, b), f"{call}: {difference(a, b)}"
                    assert_agree(a, b, f"{call}, {size} samples")
    assert made > 100 or not calls, f"{name}: hardly a sample could be made of these pictures"


def on_sequences(name: str) -> list[Call]:
    """The first calls, each on a sequence of three pictures."""
    op = operators()[name]
    letters = [x for x in accepted_layouts(op) if not set(x) & set("DF")] if op["inputs"] else []
    calls = [
        replace(c, inputs=((texture([3, *shape_of(x)]), "F" + x), *c.inputs[1:]), expected=())
        for c in all_calls(name)
        for x in letters[:1]
    ]
    return [c for c in calls if works(c)][:3]


def drawn(a: Argument, shape: list[int]) -> DataNode:
    """Values that may be drawn for an argument of one number."""
    tries = [0, 1, 2, 3, 5, 0.25, 0.5, 0.9] if a["type"] == "float" else [0, 1, 2, 3, 5]
    values = [x for x in tries if a["low"] <= x <= a["high"]]
    if a["names"] or a["type"] == "bool":
        values = list(range(len(a["names"]) or 2))
    return fn.random.uniform(values=values, shape=shape, seed=5)


def with_drawn(call: Call, a: Argument, device: str, shape: list[int]) -> list[Sample]:
    """What the call gives with this argument drawn. There are no samples where all of them fail."""

    def define() -> list[DataNode]:
        draw = drawn(a, shape)
        return place_on(call, device, **{a["name"]: fn.per_frame(draw) if shape else draw})

    pipe = make(define, batch_size=9, device_id=0, on_error="skip")
    try:
        pipe.build()
        return samples_of([b.as_cpu() for b in pipe.run()])
    except (GraphError, SampleError):
        return []  # another argument of the call excludes this one


def assert_agree_with_drawn(calls: Sequence[Call], a: Argument, shape: list[int]) -> bool:
    made = False
    for call in calls:
        both = [with_drawn(call, a, device, shape) for device in ("gpu", "cpu")]
        for got, right in zip(*both, strict=True):
            for x, y in zip(got, right, strict=True):
                assert_agree(x, y, f"{call} with {a['name']} drawn")
                made = True
    return made


def of_one_number(name: str, varies: Literal["per_sample", "per_frame"]) -> list[Argument]:
    arguments = operators()[name]["arguments"]
    return [a for a in arguments if a[varies] and not a["type"].startswith("Sequence[")]


@pytest.mark.parametrize("name", ON_GPU)
def test_device_agrees_with_cpu_by_sample(name: str) -> None:
    """On a device, too, samples have arguments of their own."""
    calls = [*some_calls(name)[:6], *picture_calls(name)[:3]]
    arguments = of_one_number(name, "per_sample")
    made = [assert_agree_with_drawn(calls, a, []) for a in arguments]
    assert any(made) or not made, f"{name}: no sample with a drawn argument is known"


@pytest.mark.parametrize("name", ON_GPU)
def test_device_agrees_with_cpu_by_frame(name: str) -> None:
    """On a device, too, an argument may have a value for each frame."""
    arguments = of_one_number(name, "per_frame")
    made = [assert_agree_with_drawn(on_sequences(name), a, [3]) for a in arguments]
    assert any(made) or not made, f"{name}: no sequence with a drawn argument is known"


@pytest.mark.parametrize("name", ON_GPU)
def test_device_gives_the_same_bytes_however_it_is_run(name: str) -> None:
    calls = [*some_calls(name), *picture_calls(name)][:6]
    for call in calls:
        judge = run_on(call, "gpu", executor="simple")
        for settings in ({}, {"num_threads": 7}, {"fuse": False}, {"prefetch_queue_depth": 5}):
            for got, right in zip(run_on(call, "gpu", **settings), judge, strict=True):
                for a, b in zip(got, right, strict=True):
                    assert a.tobytes() == b.tobytes(), f"{call}, {settings}: {difference(a, b)}"


@pytest.mark.parametrize("name", [n for n in names() if operators()[n]["inputs"]])
@pytest.mark.parametrize("executor", ["simple", "pipelined"])
def test_operators_on_the_cpu_take_what_was_on_the_device(name: str, executor: str) -> None:
    calls = [c for c in (*some_calls(name)[:4], *picture_calls(name)[:2]) if works(c)]
    for call in calls:

        def define(call: Call = call) -> list[DataNode]:
            inputs = [node.gpu().cpu() for node in inputs_of(call)]
            return outputs_of(call_operator(operators()[name], inputs, call.arguments))

        got = make(define, batch_size=3, device_id=0, executor=executor).run()
        for sample, right in zip(samples_of(got), run_on(call, "cpu"), strict=True):
            for a, b in zip(sample, right, strict=True):
                assert same(a, b), f"{call}: {difference(a, b)}"


@pytest.mark.parametrize("name", MIXED)
def test_mixed_gives_the_bytes_of_the_cpu(name: str) -> None:
    """The simulated device has the CPU's codec as a stand-in, so no byte differs.

    nvJPEG decodes to slightly different pixels, which tests/gpu/test_nvjpeg.py compares with the
    CPU's. Here they must be the same in every graph.
    """
    calls = [c for c in (*some_calls(name), *picture_calls(name)) if works(c)]
    assert len(calls) > 8
    for call in calls:
        right = run_on(call, "cpu")
        if ON_A_GPU:
            there = run_on(call, "mixed")
            assert [[a.shape for a in s] for s in there] == [[a.shape for a in s] for s in right]
            right = there
        for settings in ({}, {"executor": "simple"}, {"demand": False, "num_threads": 7}):
            assert_same(run_on(call, "mixed", **settings), right, f"{call}, {settings}")


@pytest.mark.parametrize("name", ON_GPU)
def test_what_runs_on_a_gpu_has_no_mixed_form(name: str) -> None:
    with pytest.raises(ValueError, match="no mixed form") as raised:
        make(lambda: place_on(all_calls(name)[0], "mixed"), device_id=0).build()
    assert name in str(raised.value)


@pytest.mark.parametrize("name", sorted(set(names()) - set(ON_GPU)))
def test_what_has_no_device_form_says_so(name: str) -> None:
    call = all_calls(name)[0]
    with pytest.raises(ValueError, match="GPU") as raised:
        make(lambda: place_on(call, "gpu"), device_id=0).build()
    assert name in str(raised.value)


def golden() -> list[dict[str, Any]]:
    entries = json.loads((GOLDEN / "draws.json").read_text())
    return [e for e in entries if e["op"] in EXACT and not e["inputs"]]


@pytest.mark.parametrize("entry", golden(), ids=lambda e: f"{e['op']}-{e['seed']}")
def test_a_device_draws_the_golden_draws(entry: dict[str, Any]) -> None:
    call = call_of(entry)
    pipe = make(lambda: place_on(call, "gpu"), batch_size=6, seed=entry["seed"], device_id=0)
    (batch,) = pipe.run()
    assert [values_or_sum(np.array(batch.as_cpu()[i])) for i in range(6)] == entry["first"]


def test_there_are_golden_draws_for_a_device() -> None:
    alone = {n for n in EXACT if all(p["is_optional"] for p in operators()[n]["inputs"])}
    assert {e["op"] for e in golden()} == {n for n in alone if operators()[n]["is_random"]}


def test_a_value_of_the_device_serves_as_an_argument() -> None:
    """The CPU makes the early value with the same draws, and the output comes from the device."""

    def define(device: str) -> list[DataNode]:
        angle = fn.random.uniform(range=[0.0, 1.0], device=device, name="place")
        mirror = fn.cast(fn.random.coin_flip(device=device, name="flip"), dtype="int32")
        picture = feed(texture([13, 18, 3]), "HWC")
        cut = fn.crop(picture, crop=[5, 7], crop_pos_x=angle, crop_pos_y=angle)
        cut_there = fn.flip(cut.gpu() if device == "gpu" else cut, horizontal=mirror)
        start = fn.cast(fn.random.uniform(range=[0, 4], shape=[1], device=device), dtype="int32")
        row = fn.slice(picture, start, fn.constant(idata=[3], device=device), axes=[0])
        return [cut, cut_there, angle, row]

    settings: dict[str, Any] = {"batch_size": 5, "seed": 3, "device_id": 0}
    there, here = (make(lambda d=d: define(d), **settings) for d in ("gpu", "cpu"))
    got, right = there.run(), here.run()
    assert [b.device for b in got] == ["cpu", DEVICE, DEVICE, "cpu"]
    assert_same(samples_of([b.as_cpu() for b in got]), samples_of(right), "arguments")
    assert "on the CPU first, it decides shapes or arguments; again on the GPU" in there.plan()


@pytest.mark.parametrize("executor", ["simple", "pipelined"])
def test_what_a_device_decodes_may_be_an_argument(executor: str) -> None:
    def define(device: str) -> tuple[DataNode, DataNode]:
        encoded = feed(np.fromfile(GOLDEN / "picture.jpg", np.uint8))
        picture = fn.decoders.image(encoded, device=device)
        first = fn.slice(picture, start=[0, 0, 0], end=[1, 1, 1], axes=[0, 1, 2])
        chance = fn.crop_mirror_normalize(first, std=[255.0], dtype="float32")
        flips = fn.random.coin_flip(probability=chance, shape=[100], device="cpu")
        return flips, chance

    settings: dict[str, Any] = {"device_id": 0, "executor": executor, "batch_size": 3}
    pipes = [make(partial(define, d), **settings) for d in ("cpu", "mixed")]
    assert "stages: chain, gpu, chain, gpu;" in pipes[1].plan()
    for _ in range(4):
        (want, _), (got, chance) = (p.run() for p in pipes)
        assert got.device == "cpu" and chance.device == DEVICE
        # nvJPEG's pixels differ from the CPU's
        if not ON_A_GPU:
            np.testing.assert_array_equal(got.as_array(), want.as_array())
