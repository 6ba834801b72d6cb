# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""What the suites share: running a graph, and comparing its outputs to the last byte."""

from __future__ import annotations

import importlib.util
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from stoker import DataNode, Pipeline, pipeline_def

__stoker_scopes__ = False  # keys do not depend on how tests are written

Array = np.ndarray[Any, Any]
Sample = tuple[Array, ...]

# The settings that judge all others: nothing is rewritten, overlapped or shared.
SIMPLE: dict[str, Any] = {"executor": "simple", "fuse": False, "demand": False, "num_threads": 1}

WORKER = "stoker-worker"  # a worker's thread has this name once it runs on its CPU


def needs(package: str) -> pytest.MarkDecorator:
    """Skips the tests of a framework that is not installed."""
    is_missing = importlib.util.find_spec(package) is None
    return pytest.mark.skipif(
        is_missing, reason=f"{package} is missing: tools/install.sh frameworks"
    )


def load_tool(repository: Path, name: str) -> ModuleType:
    """A program of tools/ as a module."""
    spec = importlib.util.spec_from_file_location(name, repository / "tools" / f"{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def warning_of(old: str, today: str) -> AbstractContextManager[Any]:
    """Expects the warning of an old spelling. Names in `experimental` that are else the same give
    none.
    """
    if old.replace("experimental.", "") == today:
        return nullcontext()
    return pytest.warns(DeprecationWarning, match=rf"{re.escape(old)} is now spelled {today}$")


def make(define: Callable[[], Any], **settings: Any) -> Pipeline:
    """A pipeline whose outputs are what `define` returns."""
    return pipeline_def(**{"batch_size": 1, "num_threads": 2, "seed": 7, **settings})(define)()


def text_of(kind: type[Exception], define: Callable[[], Any], **settings: Any) -> str:
    """What the error says that the definition or the first step raises."""
    with pytest.raises(kind) as raised:
        make(define, **settings).run()
    return str(raised.value)


def samples_of(batches: Sequence[Any]) -> list[Sample]:
    """The samples of a step, each a tuple of its outputs, as copies."""
    columns = [[np.array(b[i]) for i in range(len(b))] for b in batches]
    return list(zip(*columns, strict=True))


def take(pipe: Pipeline, count: int) -> list[Sample]:
    """The next `count` samples. It runs whole steps and drops what is over."""
    got: list[Sample] = []
    while len(got) < count:
        got += samples_of(pipe.run())
    return got[:count]


def epoch(pipe: Pipeline) -> list[Sample]:
    """The samples of one epoch."""
    return [s for batches in pipe for s in samples_of(batches)]


def same(a: Array, b: Array) -> bool:
    """Whether type, shape and bytes are equal."""
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def dealt(at: int, size: int, shards: int, batch: int, pads: bool = False) -> list[int]:
    """Which places of the stream a step at a place deals, by shard; -1 is a repeat.

    What is left of an epoch of ``size`` samples is cut evenly, as are all samples for contiguous
    shards. Without ``pads`` the next epochs fill the batches up.
    """
    end = at + shards * batch
    hands: list[list[int]] = [[] for _ in range(shards)]
    place = at
    for cut in range((at // size + 1) * size, end + 1, size) if size >= shards else ():
        for s, hand in enumerate(hands):
            more = (s + 1) * (cut - at) // shards - s * (cut - at) // shards - len(hand)
            hand += range(place, place + more)
            place += more
    if pads and place > at:
        return [x for hand in hands for x in hand + [-1] * (batch - len(hand))]
    for hand in hands:
        more = batch - len(hand)
        hand += range(place, place + more)
        place += more
    return [x for hand in hands for x in hand]


def assert_same(got: Sequence[Sample], expected: Sequence[Sample], what: str) -> None:
    """Asserts that the samples are equal. The message names the first output that differs."""
    assert len(got) == len(expected), f"{what}: {len(got)} samples instead of {len(expected)}"
    for i, (g, e) in enumerate(zip(got, expected, strict=True)):
        assert len(g) == len(e), f"{what}: sample {i} has {len(g)} outputs instead of {len(e)}"
        for k, (x, y) in enumerate(zip(g, e, strict=True)):
            assert same(x, y), f"{what}: sample {i}, output {k}: {difference(x, y)}"


def difference(a: Array, b: Array) -> str:
    """Says where two arrays differ."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return f"{a.dtype}{a.shape} instead of {b.dtype}{b.shape}"
    wrong = np.argwhere(~((a == b) | ((a != a) & (b != b))))
    if not len(wrong):
        return "equal values, other bytes"
    at = tuple(int(x) for x in wrong[0])
    return f"{len(wrong)} of {a.size} values differ, first at {at}: {a[at]} instead of {b[at]}"


def max_difference(a: Array, b: Array) -> float:
    """The largest absolute difference of two arrays of one shape."""
    assert a.shape == b.shape, f"{a.shape} instead of {b.shape}"
    return float(np.max(np.abs(a.astype(np.float64) - b.astype(np.float64)), initial=0))


def outputs_of(result: Any) -> list[DataNode]:
    """What an operator returned, as a list."""
    if result is None:
        return []
    return list(result) if isinstance(result, tuple) else [result]


def run_script(
    text: str, *arguments: str, timeout: float = 120, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Runs Python code in a process of its own. `timeout` only bounds a hang."""
    return subprocess.run(
        [sys.executable, "-c", text, *arguments],
        capture_output=True,
        text=True,
        timeout=timeout,
        env={**os.environ, **environment},
        check=False,
    )


def interrupt_script(text: str) -> str:
    """Sends Ctrl-C to Python code that has printed "waiting", and returns its standard error.

    The code has to print "interrupted" then, and to end well. The minute only bounds a hang.
    """
    process = subprocess.Popen(
        [sys.executable, "-c", text],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "waiting\n"
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert out == "interrupted\n", err
    assert process.returncode == 0, err
    return err


def cpus_of_workers(count: int) -> list[set[int]]:
    """The CPUs that each worker may use, once all `count` of them have begun.

    The minute only bounds a hang.
    """
    end = time.monotonic() + 60
    while time.monotonic() < end:
        tasks = [task for task in Path("/proc/self/task").iterdir() if name_of(task) == WORKER]
        if len(tasks) == count:
            return [os.sched_getaffinity(int(task.name)) for task in tasks]
        time.sleep(0.001)
    raise AssertionError(f"{len(tasks)} threads are called {WORKER}, not {count}")


def name_of(task: Path) -> str | None:
    """A thread's name; None if it has ended."""
    try:
        return (task / "comm").read_text().strip()
    except (FileNotFoundError, ProcessLookupError):
        return None
