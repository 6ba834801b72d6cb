# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Inputs that have no values: every way of running gives the same fill, nothing, or an error."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from calls import Call, names, picture_calls, some_calls

from helpers import SIMPLE, Sample, assert_same, make, outputs_of, samples_of
from stoker import DataNode, fn
from stoker._describe.registry import operators, ports
from stoker._graph.functions import call as call_operator
from stoker.errors import GraphError, SampleError

PADDED = {"out_of_bounds_policy": "pad"}
WITH_INPUTS = [n for n in names() if operators()[n]["inputs"]]


def without_values(name: str) -> Iterator[Call]:
    """The calls of an operator, with each axis of the first input emptied in turn."""
    for call in (*some_calls(name), *picture_calls(name)):
        if not call.inputs:
            continue
        (array, layout), *others = call.inputs
        for axis in range(array.ndim):
            empty = np.take(array, [], axis)
            yield replace(call, inputs=((empty, layout), *others))


def outcome(call: Call, device: str, **settings: object) -> list[Sample] | type[Exception]:
    """The samples of a step, or the error that came in their place."""

    def define() -> list[DataNode]:
        inputs = []
        for port, (array, layout) in zip(ports(operators()[call.op]), call.inputs, strict=False):
            node = fn.external_source(source=lambda a=array: [a, a], batch=True, layout=layout)
            inputs.append(node.gpu() if device == "gpu" and not port["is_value"] else node)
        arguments = {**call.arguments, "device": device}
        return outputs_of(call_operator(operators()[call.op], inputs, arguments))

    try:
        batches = make(define, batch_size=2, **settings).run()
    except (GraphError, SampleError) as e:
        return type(e)
    return samples_of([b.as_cpu() for b in batches])


@pytest.mark.one_of_many
@pytest.mark.parametrize("name", WITH_INPUTS)
def test_inputs_without_values(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STOKER_SIMULATED_DEVICES", "1")
    runs = {"fused": ("cpu", {}), "separate": ("cpu", {"fuse": False})}
    if "gpu" in operators()[name]["devices"]:
        runs["device"] = ("gpu", {"device_id": 0})
    for call in without_values(name):
        judge = outcome(call, "cpu", **SIMPLE)
        for how, (device, settings) in runs.items():
            got = outcome(call, device, **settings)
            if isinstance(judge, type) or isinstance(got, type):
                assert got == judge, f"{call}, {how}"
            else:
                assert_same(got, judge, f"{call}, {how}")


def test_a_batch_without_frames_on_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STOKER_SIMULATED_DEVICES", "1")
    video = np.zeros((0, 1, 1, 1), np.uint16)

    def define() -> DataNode:
        node = fn.external_source(source=lambda: [video], batch=True, layout="FCHW")
        return fn.crop_mirror_normalize(node, device="gpu")

    (batch,) = make(define, device_id=0).run()
    assert [s[0].shape for s in samples_of([batch.as_cpu()])] == [(0, 1, 1, 1)]


@pytest.mark.parametrize("settings", [SIMPLE, {}, {"fuse": False}])
def test_windows_far_outside(settings: dict[str, object]) -> None:
    """Starts that cancel out when several slices become one pass still leave the fill."""
    far = 1 << 52

    def define() -> DataNode:
        node = fn.external_source(source=lambda: [np.ones(4, np.uint8)], batch=True)
        for start, fill in ((far, 7), (far, 8), (-far, 9), (-far, 10)):
            node = fn.slice(node, start=[start], shape=[2], axes=[0], **PADDED, fill_values=fill)
        return node

    assert [s[0].tolist() for s in samples_of(make(define, **settings).run())] == [[10, 10]]


@pytest.mark.parametrize("far", [1 << 53, -(1 << 53)])
def test_windows_too_far_outside(far: int) -> None:
    def define() -> DataNode:
        node = fn.external_source(source=lambda: [np.ones(4, np.uint8)], batch=True)
        return fn.slice(node, start=[far], shape=[2], axes=[0], **PADDED)

    expected = r"a window position is -?9007.*, expected between -2\^53 and 2\^53"
    with pytest.raises(SampleError, match=expected):
        make(define).run()
