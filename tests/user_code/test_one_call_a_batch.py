# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""A function is called once for each batch, in order, although its types are unknown at first."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from calling import EXECUTORS, SIMPLE, arrays, script

from helpers import make
from stoker import Pipeline, fn
from stoker.errors import SampleError, StateError

Array = np.ndarray[Any, Any]
NOTHING_AHEAD = {"exec_pipelined": False}
WAYS: list[dict[str, Any]] = [*EXECUTORS, {"prefetch_queue_depth": 4}, NOTHING_AHEAD]


class Recorder:
    """Gives its input, and keeps the first value of each batch that it was called with."""

    def __init__(self) -> None:
        self.seen: list[float] = []

    def __call__(self, samples: list[Array]) -> list[Array]:
        self.seen.append(float(samples[0].ravel()[0]))
        return samples


def numbered(root: Path, count: int = 20) -> Path:
    """A folder of arrays that hold their own numbers."""
    root.mkdir(exist_ok=True)
    for i in range(count):
        np.save(root / f"{i:03}.npy", np.array([i], np.int64))
    return root


def reading(root: Path, function: Any, settings: Any = None, **reader: Any) -> Pipeline:
    def define() -> Any:
        x = fn.readers.numpy(file_root=str(root), name="reader", **reader)
        return x, fn.python_function(x, function=function, batch_processing=True)

    return make(define, **{"batch_size": 3, **(settings or {})})


def firsts(pipe: Pipeline, steps: int, output: int = 0) -> list[float]:
    return [float(arrays(pipe.run()[output])[0].ravel()[0]) for _ in range(steps)]


@pytest.mark.parametrize("settings", WAYS)
@pytest.mark.parametrize("by_batch", [False, True])
def test_a_counter_begins_at_one(settings: dict[str, Any], by_batch: bool) -> None:
    calls = 0

    def count(*_: Any) -> Any:
        nonlocal calls
        calls += 1
        return [np.int64(calls)] * 4 if by_batch else np.int64(calls)

    def define() -> Any:
        x = fn.random.uniform(range=(0.0, 1.0))
        return fn.python_function(x, function=count, batch_processing=by_batch)

    pipe = make(define, **{"batch_size": 4, "seed": None, **settings})
    first, second = (pipe.run()[0].as_array().tolist() for _ in range(2))
    assert first == ([1] * 4 if by_batch else [1, 2, 3, 4])
    assert second == ([2] * 4 if by_batch else [5, 6, 7, 8])


@pytest.mark.parametrize("settings", EXECUTORS)
def test_functions_without_inputs_and_behind_each_other(settings: dict[str, Any]) -> None:
    calls: list[str] = []

    def noting(name: str) -> Callable[..., Any]:
        def function(*inputs: Array) -> Any:
            calls.append(name)
            return np.float32(sum(map(float, inputs)) + 1)

        return function

    def define() -> Any:
        a = fn.python_function(function=noting("a"))
        b = fn.python_function(a, function=noting("b"))
        return fn.python_function(a, b, function=noting("c"))

    pipe = make(define, **{"batch_size": 1, **settings, **NOTHING_AHEAD})
    assert [float(arrays(pipe.run()[0])[0]) for _ in range(3)] == [4, 4, 4]
    assert calls == ["a", "b", "c"] * 3


@pytest.mark.parametrize("settings", WAYS)
@pytest.mark.parametrize("begins", ["restore", "checkpoint"])
@pytest.mark.parametrize(
    "reader", [{}, {"random_shuffle": True, "shard_id": 1, "num_shards": 2, "seed": 5}]
)
def test_resuming_calls_for_no_other_batch(
    tmp_path: Path, settings: dict[str, Any], begins: str, reader: dict[str, Any]
) -> None:
    root = numbered(tmp_path / "arrays")
    whole = firsts(reading(root, Recorder(), **reader), 12)
    first = reading(root, Recorder(), **reader)
    firsts(first, 5)
    function, state = Recorder(), json.dumps(first.state())
    if begins == "restore":
        resumed = reading(root, function, settings, **reader)
        resumed.restore(state)
    else:
        resumed = reading(root, function, {**settings, "checkpoint": state}, **reader)
    assert firsts(resumed, 7, output=1) == whole[5:]
    assert function.seen[:7] == whole[5:]
    resumed.close()
    function.seen.clear()
    resumed.restore(state)
    assert firsts(resumed, 7) == function.seen[:7] == whole[5:]


def test_a_state_that_does_not_fit_takes_no_call_back(tmp_path: Path) -> None:
    root, function = numbered(tmp_path / "arrays"), Recorder()
    state = reading(numbered(tmp_path / "others", 7), Recorder()).state()
    pipe = reading(root, function, NOTHING_AHEAD)
    with pytest.raises(StateError, match="size was 7"):
        pipe.restore(state)
    function.seen.clear()
    assert firsts(pipe, 3) == function.seen == [0, 3, 6]


def test_a_lead_reader_behind_the_function_and_one_beside_it(tmp_path: Path) -> None:
    root, shard = numbered(tmp_path / "arrays"), {"shard_id": 1, "num_shards": 2}

    def define_before(function: Any) -> Any:
        x = fn.readers.numpy(file_root=str(root), **shard)
        y = fn.random.uniform(range=(0.0, 1.0))
        return fn.python_function(y, function=function, batch_processing=True), x

    def define_behind(function: Any) -> Any:
        y = fn.random.uniform(range=(0.0, 1.0))
        made = fn.python_function(y, function=function, batch_processing=True)
        return made, fn.readers.numpy(file_root=str(root), **shard)

    for define in (define_before, define_behind):
        function = Recorder()
        pipe = make(lambda d=define, f=function: d(f), batch_size=3, **NOTHING_AHEAD)
        assert firsts(pipe, 4) == function.seen


@pytest.mark.parametrize("settings", [{}, SIMPLE, NOTHING_AHEAD])
@pytest.mark.parametrize("on_error", ["raise", "skip", "replace", "drop"])
def test_a_damaged_sample_in_the_first_batch(
    tmp_path: Path, settings: dict[str, Any], on_error: str
) -> None:
    root, function = numbered(tmp_path / "arrays"), Recorder()
    (root / "001.npy").write_bytes(b"no array")
    pipe = reading(root, function, {**settings, "on_error": on_error})
    if on_error == "raise":
        with pytest.raises(SampleError, match=r"001\.npy"):
            pipe.run()
    else:
        pipe.run()
    pipe.run()
    expected = [3] if on_error == "raise" else [0, 3]  # a lost step calls no function
    assert function.seen[: len(expected)] == expected


@pytest.mark.parametrize("settings", [{}, SIMPLE, NOTHING_AHEAD])
def test_an_error_in_the_first_call_is_one_as_any_other(
    tmp_path: Path, settings: dict[str, Any]
) -> None:
    class Failing(Recorder):
        def __call__(self, samples: list[Array]) -> list[Array]:
            made = super().__call__(samples)
            if len(self.seen) in (1, 4):
                raise ValueError(f"call {len(self.seen)}")
            return made

    function = Failing()
    pipe = reading(numbered(tmp_path / "arrays"), function, settings)
    with pytest.raises(SampleError, match=r"position 0 on\).*\n*.*ValueError: call 1"):
        pipe.run()
    assert firsts(pipe, 2) == [3, 6]
    with pytest.raises(SampleError, match=r"position 9 on\).*\n*.*ValueError: call 4"):
        pipe.run()
    assert firsts(pipe, 1) == [12]
    assert function.seen[:5] == [0, 3, 6, 9, 12]


def test_a_function_that_always_fails_is_called_again() -> None:
    calls: list[float] = []

    def fails_at_first(x: Array) -> Array:
        calls.append(float(x))
        if len(calls) <= 3:
            raise ValueError("not yet")
        return x

    def define() -> Any:
        x = fn.random.uniform(range=(0.0, 1.0))
        return fn.python_function(x, function=fails_at_first)

    pipe = make(define, batch_size=1)
    with pytest.raises(SampleError, match="not yet"):
        pipe.run()
    assert float(arrays(pipe.run()[0])[0]) == calls[0] == calls[3]


def test_functions_that_write_into_their_tensors() -> None:
    pytest.importorskip("torch")
    calls = 0

    def function(x: Any) -> Any:
        nonlocal calls
        calls += 1
        return x.add_(calls)

    def define() -> Any:
        return fn.torch_python_function(fn.random.uniform(range=(0.0, 0.5)), function=function)

    pipe = make(define, batch_size=2)
    made = [int(x) for _ in range(2) for x in arrays(pipe.run()[0])]
    assert made == [1, 2, 3, 4]


def test_a_closed_pipeline_makes_the_first_batch_again_from_the_same_call(tmp_path: Path) -> None:
    function = Recorder()
    pipe = reading(numbered(tmp_path / "arrays"), function, NOTHING_AHEAD)
    pipe.state()  # the types are known now
    pipe.close()
    assert firsts(pipe, 2) == function.seen == [0, 3]


def test_scripts_that_moved_over() -> None:
    done = script(
        """
        import stoker.compat
        stoker.compat.install()
        from nvidia.dali import fn, pipeline_def
        calls = sources = 0
        def count(x):
            global calls
            calls += 1
            return np.int32(calls)
        def source():
            global sources
            sources += 1
            return np.zeros((2, 1), np.float32)
        @pipeline_def(
            batch_size=2, num_threads=1, device_id=None, exec_async=False, exec_pipelined=False
        )
        def counting():
            return fn.python_function(fn.external_source(source), function=count)
        pipe = counting()
        pipe.build()
        for _ in range(3):
            print(pipe.run()[0].as_array().tolist(), calls, sources)
        """
    )
    assert done.stdout == "[1, 2] 2 1\n[3, 4] 4 2\n[5, 6] 6 3\n", done.stderr


@pytest.mark.parametrize("settings", WAYS)
@pytest.mark.parametrize("begins", ["restore", "checkpoint"])
@pytest.mark.parametrize("steps", [1, 3])
def test_resuming_with_a_source_also_at_its_end(
    settings: dict[str, Any], begins: str, steps: int
) -> None:
    def source(i: int) -> Array:
        if i == 3:
            raise StopIteration
        return np.full((2, 1), i)

    def pipeline(function: Any, **more: Any) -> Pipeline:
        def define() -> Any:
            x = fn.external_source(source)
            return x, fn.python_function(x, function=function, batch_processing=True)

        return make(define, **{"batch_size": 2, **settings, **more})

    first = pipeline(Recorder())
    for _ in range(steps):
        first.run()
    if steps == 3:
        with pytest.raises(StopIteration):
            first.run()
    function, state = Recorder(), first.state()
    resumed = pipeline(function, **({"checkpoint": state} if begins == "checkpoint" else {}))
    if begins == "restore":
        resumed.restore(state)
    assert resumed.state() == state
    assert firsts(resumed, 3 - steps) == list(range(steps, 3))
    with pytest.raises(StopIteration):
        resumed.run()
    resumed.reset()
    assert firsts(resumed, 1) == [0]
    if steps < 3:
        assert function.seen[: 4 - steps] == [*range(steps, 3), 0]
