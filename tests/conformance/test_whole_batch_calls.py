# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Operators that see whole batches, on batches whose samples differ, give what their oracles say.

The device is the simulated one, or a GPU with STOKER_REQUIRE_GPU=1.
"""

from __future__ import annotations

import os
from functools import partial
from typing import Any

import numpy as np
import pytest
from calls import Call, batch_calls, expected_by_oracle, names, oracle, refused_batches
from test_values import assert_close

from helpers import SIMPLE, Array, Sample, assert_same, make, outputs_of, samples_of
from oracles.chance import Chance
from stoker import DataNode, Pipeline, fn
from stoker._describe.registry import operators, ports
from stoker._graph.functions import call as call_operator
from stoker.errors import GraphError, SampleError

OF_BATCHES = [n for n in names() if operators()[n]["sees_batch"] != "never"]
STEPS = 2
SETTINGS: tuple[dict[str, Any], ...] = (
    SIMPLE,
    {},
    {"num_threads": 4, "prefetch_queue_depth": 3},
    {"fuse": False, "demand": False, "num_threads": 1},
)


@pytest.fixture(autouse=True)
def device(monkeypatch: pytest.MonkeyPatch) -> None:
    if os.environ.get("STOKER_REQUIRE_GPU") != "1":
        monkeypatch.setenv("STOKER_SIMULATED_DEVICES", "1")


def on_batch(call: Call, batch: list[list[Array]], place: str, **settings: Any) -> Pipeline:
    """A pipeline that makes the call of this batch in every step."""

    def column(k: int) -> list[Array]:
        return [sample[k] for sample in batch]

    def define() -> list[DataNode]:
        inputs = []
        given = zip(ports(operators()[call.op]), call.inputs, strict=False)
        for k, (port, (_, layout)) in enumerate(given):
            node = fn.external_source(partial(column, k), layout=layout or None)
            inputs.append(node.gpu() if place == "gpu" and not port["is_value"] else node)
        arguments = {**call.arguments, "device": place}
        return outputs_of(call_operator(operators()[call.op], inputs, arguments))

    return make(define, **{"batch_size": len(batch), "device_id": 0, **settings})


def steps(pipe: Pipeline) -> list[Sample]:
    return [s for _ in range(STEPS) for s in samples_of([b.as_cpu() for b in pipe.run()])]


@pytest.mark.parametrize("name", OF_BATCHES)
def test_batches_are_what_the_oracle_says(name: str) -> None:
    calls = batch_calls(name)
    assert calls, f"the oracle of {name} has no generate_batches()"
    for call, batch in calls:
        judge = steps(on_batch(call, batch, "cpu", **SIMPLE))
        for step in range(STEPS):
            first = step * len(batch)
            chances = [Chance(7, f"{name}#0", position=first + i) for i in range(len(batch))]
            got = judge[first : first + len(batch)]
            for sample, answers in zip(got, expected_by_oracle(call, batch, chances), strict=True):
                for a, right in zip(sample, answers, strict=True):
                    assert_close(
                        call, a, np.asarray(right), getattr(oracle(name), "TOLERANCE", None)
                    )
        for settings in SETTINGS:
            assert_same(
                steps(on_batch(call, batch, "cpu", **settings)), judge, f"{call}, {settings}"
            )


@pytest.mark.parametrize("name", [n for n in OF_BATCHES if "gpu" in operators()[n]["devices"]])
def test_a_device_makes_what_the_cpu_makes(name: str) -> None:
    from test_gpu import EXACT, assert_agree

    for call, batch in batch_calls(name):
        right = steps(on_batch(call, batch, "cpu"))
        judge = steps(on_batch(call, batch, "gpu", **SIMPLE))
        for got, want in zip(judge, right, strict=True):
            for a, b in zip(got, want, strict=True):
                assert_agree(a, b, str(call))
        if name in EXACT:
            assert_same(judge, right, str(call))
        for settings in SETTINGS[1:]:
            assert_same(
                steps(on_batch(call, batch, "gpu", **settings)), judge, f"{call}, {settings}"
            )


@pytest.mark.parametrize("name", [n for n in OF_BATCHES if refused_batches(n)])
def test_wrong_batches_are_refused(name: str) -> None:
    for call, batch, words in refused_batches(name):
        for place in operators()[name]["devices"]:
            for executor in ("simple", "pipelined"):
                with pytest.raises((SampleError, GraphError)) as refusal:
                    on_batch(call, batch, place, executor=executor).run()
                assert words in str(refusal.value), str(call)
                assert name in str(refusal.value), str(call)


@pytest.mark.parametrize("name", OF_BATCHES)
def test_docs_say_that_the_batch_matters(name: str) -> None:
    function: Any = fn
    for part in name.split("."):
        function = getattr(function, part)
    assert "depend on the whole batch" in " ".join(function.__doc__.split())
