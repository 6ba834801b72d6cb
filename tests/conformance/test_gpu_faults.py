# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Every operator that runs on a device, on a simulated one that delays, refuses and fails.

A batch is right to the byte, or running or reading it raises an error that says what failed.
Nothing hangs, and no memory stays on the device. src/run/device/fault_test.cc does the same with a
whole graph.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest
from calls import Call
from test_gpu import MIXED, ON_GPU, calls_of, place_on

from helpers import Sample, assert_same, make, samples_of
from stoker import _core, devices
from stoker.errors import BudgetError, DeviceError

# Their bytes are copied or stay where they are.
LAUNCHING_NONE = {"as_classes", "copy", "expand_dims", "reinterpret", "reshape", "squeeze"}
STEPS = 2


@pytest.fixture(autouse=True)
def _simulated_device(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("STOKER_SIMULATED_DEVICES", "1")
    yield
    _core.simulated_forget(0)


def steps_on(call: Call, place: str, steps: int, **settings: int) -> list[list[Sample]]:
    """Runs steps of three samples. A step that fails is asked for again, at most three times."""
    pipe = make(lambda: place_on(call, place), batch_size=3, device_id=0, **settings)
    got: list[list[Sample]] = []
    failed = 0
    while len(got) < steps:
        try:
            batches = pipe.run()
        except (BudgetError, DeviceError) as e:
            failed = check_clear(e, failed)
            continue
        while True:
            try:
                got.append(samples_of([b.as_cpu() for b in batches]))
                break
            except DeviceError as e:
                failed = check_clear(e, failed)
                if "copy of a batch" not in str(e):  # this batch is lost
                    got.append([])
                    break
    pipe.close()
    del pipe, batches
    assert devices()[0].in_use == 0
    assert devices()[0].pinned == 0
    return got


def check_clear(error: Exception, failed: int) -> int:
    """The error names an operator, its work or the memory, and the pipeline goes on after it."""
    said = ("'", "of host memory failed", "the system has no memory for")
    assert any(text in str(error) for text in said), error
    assert failed < 3, error
    return failed + 1


def placed(name: str) -> str:
    return "mixed" if name in MIXED else "gpu"


@pytest.mark.one_of_many
@pytest.mark.parametrize("name", [*ON_GPU, *MIXED])
def test_delays_change_no_byte(name: str) -> None:
    for call in calls_of(name, 2):
        right = steps_on(call, placed(name), 5)
        for seed in (1, 2, 3):
            _core.simulated_delay(0, seed, 300)
            got = steps_on(call, placed(name), 5, prefetch_queue_depth=4)
            for step in range(5):
                assert_same(got[step], right[step], f"{call}, seed {seed}, step {step}")


@pytest.mark.one_of_many
@pytest.mark.parametrize("name", [*ON_GPU, *MIXED])
def test_each_fault_is_an_error_or_changes_nothing(name: str) -> None:
    """Each allocation, copy and launch of a run fails in turn: at the request, or later on the
    stream.
    """
    call = calls_of(name, 1)[0]
    right = steps_on(call, placed(name), STEPS)
    for work in ("allocate", "pin", "copy", "launch"):
        for at_once in (False, True):
            for nth in count(1):
                _core.simulated_fail(0, work, nth, at_once)
                got = steps_on(call, placed(name), STEPS)
                for a, b in zip(got, right, strict=True):
                    if a:
                        assert_same(a, b, f"{call}, {work} {nth}")
                if _core.simulated_forget(0):
                    break
            launches = work != "launch" or placed(name) == "gpu"
            assert nth > 1 or not launches or name in LAUNCHING_NONE, f"{name} has no {work}"
