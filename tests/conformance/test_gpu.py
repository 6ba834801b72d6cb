# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Every operator that lowers, and every mixed one, gives on a device what it gives on the CPU.

Runs on the simulated device, which is asked for here and never chosen silently.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from calls import Call, all_calls, feed, names, picture_calls, some_calls, works

from helpers import Array, Sample, assert_same, difference, make, outputs_of
from stoker import DataNode
from stoker._operator import call as call_operator
from stoker._registry import operators

LOWERED = names("lower")
MIXED = [n for n in names() if operators()[n]["is_mixed"]]


@pytest.fixture(autouse=True)
def simulated_device(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("STOKER_SIMULATED_DEVICES", "1")
    yield


def place_on(call: Call, device: str) -> list[DataNode]:
    ports = operators()[call.op]["inputs"]
    inputs = [
        feed(a, layout).gpu() if device == "gpu" and not ports[i]["is_value"] else feed(a, layout)
        for i, (a, layout) in enumerate(call.inputs)
    ]
    arguments = {**call.arguments, "device": device}
    return outputs_of(call_operator(operators()[call.op], inputs, arguments))


def run_on(call: Call, device: str, **settings: Any) -> list[Sample]:
    pipe = make(
        lambda: place_on(call, device),
        batch_size=3,
        device_id=None if device == "cpu" else 0,
        **settings,
    )
    batches = pipe.run()
    place = "cpu" if device == "cpu" else "simulated:0"
    assert [b.device for b in batches] == [place] * len(batches)
    columns = [[np.array(b.as_cpu()[i]) for i in range(len(b))] for b in batches]
    return list(zip(*columns, strict=True))


def assert_agree(got: Array, right: Array, what: str) -> None:
    """Exact for integers but for one level of uint8; floats within their last places."""
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


@pytest.mark.parametrize("name", LOWERED)
def test_device_agrees_with_cpu(name: str) -> None:
    for call in (*some_calls(name), *picture_calls(name)):
        for got, right in zip(run_on(call, "gpu"), run_on(call, "cpu"), strict=True):
            for a, b in zip(got, right, strict=True):
                assert_agree(a, b, str(call))


@pytest.mark.parametrize("name", LOWERED)
def test_device_gives_the_same_bytes_however_it_is_run(name: str) -> None:
    calls = [*some_calls(name), *picture_calls(name)][:6]
    for call in calls:
        judge = run_on(call, "gpu", executor="simple")
        for settings in ({}, {"num_threads": 7}, {"fuse": False}, {"prefetch_queue_depth": 5}):
            for got, right in zip(run_on(call, "gpu", **settings), judge, strict=True):
                for a, b in zip(got, right, strict=True):
                    assert a.tobytes() == b.tobytes(), f"{call}, {settings}: {difference(a, b)}"


@pytest.mark.parametrize("name", MIXED)
def test_mixed_gives_the_bytes_of_the_cpu(name: str) -> None:
    """The simulated device has a stand-in: the codec of the CPU, so not a byte differs."""
    calls = [c for c in (*some_calls(name), *picture_calls(name)) if works(c)]
    assert len(calls) > 8
    for call in calls:
        right = run_on(call, "cpu")
        for settings in ({}, {"executor": "simple"}, {"demand": False, "num_threads": 7}):
            assert_same(run_on(call, "mixed", **settings), right, f"{call}, {settings}")


@pytest.mark.parametrize("name", LOWERED)
def test_what_only_lowers_has_no_mixed_form(name: str) -> None:
    with pytest.raises(ValueError, match="no mixed form") as raised:
        make(lambda: place_on(all_calls(name)[0], "mixed"), device_id=0).build()
    assert name in str(raised.value)


@pytest.mark.parametrize("name", sorted(set(names()) - set(LOWERED)))
def test_what_has_no_device_form_says_so(name: str) -> None:
    call = all_calls(name)[0]
    with pytest.raises(ValueError, match="GPU") as raised:
        make(lambda: place_on(call, "gpu"), device_id=0).build()
    assert name in str(raised.value)
