# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures that need a GPU. Without one they skip their tests.

With STOKER_REQUIRE_GPU=1 the tests fail instead. What can be tested on a simulated device is tested
elsewhere: tests/devices/test_device_batches.py, tests/conformance/test_gpu.py, the C++ tests of
nvJPEG.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from typing import Any

import pytest

import stoker
from helpers import run_script

# Not every GPU has a JPEG engine, and a virtual machine may not know which CPUs are near.
MAY_BE_UNTOLD = ("jpeg_utilization", "near_cpus")


def require(problem: str) -> None:
    """Skips or fails the test if there is a problem. Nothing else in this folder skips."""
    if problem and os.environ.get("STOKER_REQUIRE_GPU") == "1":
        pytest.fail(f"STOKER_REQUIRE_GPU=1, but {problem}")
    if problem:
        pytest.skip(problem)


@pytest.fixture(scope="session")
def missing_gpu() -> str:
    """Says what is missing; "" if there is a GPU.

    Another process asks, because the first question decides which devices a process has, and other
    tests in this one may want simulated devices.
    """
    done = run_script("import stoker; print(stoker.missing_gpu())")
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(autouse=True)
def gpu(missing_gpu: str) -> stoker.Device:
    """The first GPU."""
    require(missing_gpu and f"Stoker has no GPU: {missing_gpu}")
    return stoker.devices()[0]


@pytest.fixture
def told(gpu: stoker.Device) -> stoker.Device:
    """The first GPU, if NVML tells everything about it that is not in `MAY_BE_UNTOLD`."""
    untold = (w for w in gpu.untold.split("; ") if w)
    require("; ".join(w for w in untold if not any(fact in w for fact in MAY_BE_UNTOLD)))
    return gpu


def framework(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as e:
        require(f"{name} cannot be imported: {e}")


@pytest.fixture
def torch(gpu: stoker.Device) -> Any:
    """PyTorch, if it sees the GPU."""
    module = framework("torch")
    require("" if module.cuda.is_available() else f"torch {module.__version__} sees no GPU")
    return module


@pytest.fixture
def spin(torch: Any) -> Callable[[], None]:
    """Keeps PyTorch's current stream busy for some milliseconds."""
    return lambda: torch.cuda._sleep(20_000_000)  # cycles


@pytest.fixture
def jax(gpu: stoker.Device) -> Any:
    """JAX, if it sees the GPU."""
    module = framework("jax")
    try:
        module.local_devices(backend="gpu")
    except RuntimeError as e:
        require(f"JAX has no GPU: {e}")
    return module
