# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Every argument of every operator has an effect, for each sample and frame where it says so."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from calls import (
    Call,
    all_calls,
    damaged_calls,
    default_of,
    names,
    picture_calls,
    place,
    run_calls,
    some_calls,
)

from helpers import assert_same, make, samples_of, take
from stoker import fn
from stoker._describe.registry import Argument, operators
from stoker.errors import GraphError, SampleError

BATCH = 24
DTYPES = ("float32", "uint8", "int16", "float16", "int64", "none")

ARGUMENTS = [
    (name, argument["name"])
    for name in names()
    for argument in operators()[name]["arguments"]
    if argument["name"] not in operators()[name]["of_devices"]
]
OF_DEVICES = [(name, argument) for name in names() for argument in operators()[name]["of_devices"]]


def argument_of(name: str, argument: str) -> Argument:
    return next(a for a in operators()[name]["arguments"] if a["name"] == argument)


def bases(name: str) -> list[Call]:
    return [*picture_calls(name), *some_calls(name)]


def candidates(name: str, argument: str) -> Iterator[Any]:
    """Values to try: those of other calls, then values made from the argument's type and range."""
    seen: list[Any] = []
    for call in all_calls(name):
        if argument in call.arguments and call.arguments[argument] not in seen:
            seen.append(call.arguments[argument])
    yield from seen
    info = argument_of(name, argument)
    if info["names"]:
        yield from info["names"]
        return
    kind = info["type"]
    if kind == "bool":
        yield from (True, False)
    elif kind == "DType":
        yield from DTYPES
    elif kind == "str":
        yield from ("HWC", "CHW", "HW", "W")
    else:
        numbers = numbers_in(info)
        if kind.startswith("Sequence["):
            few = [x for x in numbers if x in (0, 1, 2, 3, 0.5)]
            for n in (2, 1, 3):
                yield from ([x] * n for x in few)
            yield from ([a, b] for a, b in pairwise(few))
        else:
            yield from numbers


def numbers_in(info: Argument) -> list[Any]:
    low, high = info["low"], info["high"]
    tries = [0, 1, 2, 3, 5, 8, -1, -3, 0.25, 0.5, 0.9, low, high]
    inside = [x for x in tries if low <= x <= high and math.isfinite(x)]
    return [int(x) for x in inside if x == int(x)] if "int" in info["type"] else inside


def run_or_none(call: Call) -> list[tuple[Any, ...]] | None:
    try:
        return run_calls([call], batch_size=BATCH, num_threads=1)
    except (RuntimeError, ValueError):
        return None


def fingerprint(samples: list[tuple[Any, ...]] | None) -> list[Any] | None:
    if samples is None:
        return None
    return [(a.dtype.str, a.shape, a.tobytes()) for sample in samples for a in sample]


Result = list[Any] | str | None


def result_of(call: Call, *, corner: bool = False, on_error: str = "raise") -> Result:
    """The bytes, types and layouts that a call gives.

    "failed" where its sample fails, None where the graph is refused.
    """

    def define() -> list[Any]:
        nodes = place(call)
        if not corner:
            return nodes
        return [fn.slice(n, axes=[0], rel_start=[0.0], rel_end=[0.2]) for n in nodes]

    try:
        pipe = make(define, batch_size=BATCH, num_threads=1, on_error=on_error)
        pipe.build()
    except (RuntimeError, ValueError):
        return None
    try:
        batches = pipe.run()
    except RuntimeError:
        return "failed"
    return [b.layout for b in batches] + (fingerprint(samples_of(batches)) or [])


def differ(a: Result, b: Result, is_switch: bool) -> bool:
    """Whether two results show that an argument has an effect. A switch may do so by making a call
    fail.
    """
    if isinstance(a, list) and isinstance(b, list):
        return a != b
    return is_switch and a != b


@pytest.mark.one_of_many
@pytest.mark.parametrize(("name", "argument"), ARGUMENTS)
def test_some_value_changes_some_output(name: str, argument: str) -> None:
    is_switch = argument_of(name, argument)["type"] == "bool"
    ways: list[dict[str, Any]] = [{"corner": c, "on_error": "skip"} for c in (False, True)]
    for how in ways if is_switch else [{}]:
        for base in bases(name) + (damaged_calls(name) if is_switch else []):
            results = [result_of(base, **how)]
            without = base.with_arguments(**{argument: None})
            values = list(candidates(name, argument))
            for changed in (without, *(base.with_arguments(**{argument: v}) for v in values)):
                result = result_of(changed, **how)
                if any(differ(result, other, is_switch) for other in results):
                    return
                results.append(result)
    pytest.fail(f"{name}: no value of '{argument}' changed an output")


@pytest.mark.one_of_many
@pytest.mark.parametrize(("name", "argument"), OF_DEVICES)
def test_arguments_of_devices_change_nothing_elsewhere(name: str, argument: str) -> None:
    base = bases(name)[0]
    values = list(candidates(name, argument))
    assert len(values) > 1
    expected = result_of(base)
    assert isinstance(expected, list)
    for value in values:
        assert result_of(base.with_arguments(**{argument: value})) == expected


def per_sample_uses(name: str, argument: str) -> Iterator[Call]:
    """Calls that give the argument as a constant: as they stand, or with another value put in."""
    yield from (c for c in bases(name) if c.arguments.get(argument) is not None)
    default = default_of(name, argument)
    values = [*([] if default is None else [default]), *candidates(name, argument)]
    for base in bases(name)[:8]:
        yield from (base.with_arguments(**{argument: v}) for v in values[:6])


def as_numbers(name: str, argument: str, value: Any) -> Any:
    """The value as a tensor holds it. A value of an enum is its number."""
    info = argument_of(name, argument)
    if info["names"]:
        return info["names"].index(str(value))
    return value


def constant(value: Any) -> Any:
    array = np.asarray(value)
    shape = list(array.shape)
    flat = [float(x) for x in array.reshape(-1)]
    if array.dtype.kind in "iub":
        return fn.constant(idata=[int(x) for x in flat], shape=shape)
    return fn.constant(fdata=flat, shape=shape)


PER_SAMPLE = [
    (name, argument["name"])
    for name in names()
    for argument in operators()[name]["arguments"]
    if argument["per_sample"]
]


@pytest.mark.parametrize(("name", "argument"), PER_SAMPLE)
def test_computed_equals_constant(name: str, argument: str) -> None:
    compared = 0
    for call in per_sample_uses(name, argument):
        value = as_numbers(name, argument, call.arguments[argument])
        expected = run_or_none(call)
        if expected is None:
            continue
        try:
            pipe = make(
                lambda call=call, value=value: place(call, **{argument: constant(value)}),
                batch_size=BATCH,
            )
            pipe.build()
        except GraphError:
            continue  # other arguments exclude a computed value, but not a constant default
        assert_same(take(pipe, BATCH), expected, f"{call}, '{argument}' computed")
        compared += 1
    assert compared, f"{name}: no call with a valid value of '{argument}' is known"


@pytest.mark.one_of_many
@pytest.mark.parametrize(("name", "argument"), PER_SAMPLE)
def test_computed_differs_by_sample(name: str, argument: str) -> None:
    """The samples of a batch get values of their own, which may lead to different shapes."""
    info = argument_of(name, argument)
    if info["type"].startswith("Sequence["):
        return  # the numbers of such a list depend on each other
    for base in bases(name):
        by_value: dict[float, list[tuple[Any, ...]]] = {}
        for value in candidates(name, argument):
            number = float(np.float32(as_numbers(name, argument, value)))
            samples = run_or_none(base.with_arguments(**{argument: value}))
            if samples is not None:
                by_value[number] = samples
        if len({str(fingerprint(s)) for s in by_value.values()}) < 2:
            continue

        def define(base: Call = base, values: tuple[float, ...] = tuple(by_value)) -> list[Any]:
            drawn = fn.random.uniform(values=list(values), seed=11)
            return [drawn, *place(base, **{argument: drawn})]

        got = take(make(define, batch_size=BATCH), BATCH)
        drawn = [float(sample[0]) for sample in got]
        assert len(set(drawn)) > 1
        expected = [by_value[v][i] for i, v in enumerate(drawn)]
        assert_same([s[1:] for s in got], expected, f"{base}, '{argument}' drawn")
        return
    pytest.fail(f"{name}: no two values of '{argument}' with different outputs are known")


def good_values(call: Call, argument: str) -> list[Any]:
    """The values with which the call works, of the shape that most of them have."""
    values = list(candidates(call.op, argument))
    good = [v for v in values if run_or_none(call.with_arguments(**{argument: v}))]
    shapes = [np.shape(v) for v in good]
    return [v for v in good if np.shape(v) == max(shapes, key=shapes.count)]


def has_frames(call: Call) -> bool:
    return bool(call.inputs) and call.inputs[0][1].startswith("F")


def frames_of(call: Call) -> int:
    """How many frames the call is tested with; 0 if its input has none, and arguments make none."""
    if has_frames(call):
        return int(call.inputs[0][0].shape[0])
    return 3 if operators()[call.op]["inputs"][0]["makes_frames"] else 0


def test_computed_by_frame() -> None:
    """A frame is what the whole sequence would be with that frame's value of the argument."""
    for name in names():
        for argument in operators()[name]["arguments"]:
            if not argument["per_frame"]:
                continue
            call, values = next(
                (c, good)
                for c in bases(name)
                if 0 < frames_of(c) <= len(good := good_values(c, argument["name"]))
            )
            del values[frames_of(call) :]
            numbers = [as_numbers(name, argument["name"], v) for v in values]
            (got,) = take(
                make(
                    lambda call=call, numbers=numbers, argument=argument: place(
                        call, **{argument["name"]: fn.per_frame(constant(numbers))}
                    )
                ),
                1,
            )
            for f, value in enumerate(values):
                (whole,) = run_calls([call.with_arguments(**{argument["name"]: value})])
                right = whole[0][f] if has_frames(call) else whole[0]
                assert np.array_equal(got[0][f], right), f"{call}, frame {f}"


@pytest.mark.parametrize(("name", "argument"), PER_SAMPLE)
def test_computed_out_of_range_is_a_bad_sample(name: str, argument: str) -> None:
    info = argument_of(name, argument)
    outside = [b for b in (info["low"] - 1, info["high"] + 1) if math.isfinite(b)]
    call = next(c for c in bases(name) if run_or_none(c) is not None)
    others = {a: None for a in call.arguments if a != argument}
    for value in outside:
        numbers = [value] if info["type"].startswith("Sequence[") else value
        if "int" in info["type"]:
            numbers = [int(value)] if isinstance(numbers, list) else int(value)
        for base in (call, call.with_arguments(**others)):
            try:
                pipe = make(lambda base=base, n=numbers: place(base, **{argument: constant(n)}))
                pipe.build()
            except ValueError:
                continue  # another argument of this call excludes it
            with pytest.raises(SampleError) as raised:
                pipe.run()
            assert f"'{argument}'" in str(raised.value)
            assert name in str(raised.value)
