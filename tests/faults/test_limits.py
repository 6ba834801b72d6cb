# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Folders without pictures, wrong calls, and too little memory."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import jpegs
from helpers import assert_same, make, run_script, samples_of, take
from stoker import Pipeline, fn
from stoker.errors import BudgetError, GraphError, SampleError


def refused(define: Any, error: type[Exception] = GraphError, **settings: Any) -> str:
    with pytest.raises(error) as raised:
        make(define, **settings).build()
    return str(raised.value)


def assert_user_line(message: str) -> None:
    assert "test_limits.py:" in message, message


def test_no_pictures(tmp_path: Path) -> None:
    (tmp_path / "class").mkdir()
    (tmp_path / "class" / "notes.txt").write_text("no picture")
    message = refused(lambda: fn.readers.file(file_root=tmp_path))
    assert_user_line(message)
    assert str(tmp_path) in message and "readers.file" in message


def test_an_empty_list() -> None:
    message = refused(lambda: fn.readers.file(files=[]))
    assert_user_line(message)
    assert "readers.file" in message


def test_an_empty_file_list(tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("\n")
    message = refused(lambda: fn.readers.file(file_list=tmp_path / "list.txt"))
    assert_user_line(message)
    assert "list.txt" in message


def test_a_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "root").write_text("a file")
    message = refused(lambda: fn.readers.file(file_root=tmp_path / "root"))
    assert_user_line(message)
    assert str(tmp_path / "root") in message


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    message = refused(lambda: fn.readers.file(file_root=tmp_path / "nothere"))
    assert_user_line(message)
    assert "nothere" in message and "No such file" in message


def test_a_folder_that_is_a_dangling_link(tmp_path: Path) -> None:
    (tmp_path / "root").symlink_to(tmp_path / "nothere")
    message = refused(lambda: fn.readers.file(file_root=tmp_path / "root"))
    assert_user_line(message)
    assert str(tmp_path / "root") in message


def test_a_folder_that_links_to_itself(tmp_path: Path) -> None:
    (tmp_path / "root").symlink_to(tmp_path / "root")
    message = refused(lambda: fn.readers.file(file_root=tmp_path / "root"))
    assert str(tmp_path / "root") in message


def test_a_missing_gpu_is_said(pictures: Path) -> None:
    """Runs in a process of its own, which has no simulated device."""
    script = f"""
from stoker import Pipeline, errors, fn
pipe = Pipeline(batch_size=2, num_threads=1)
with pipe:
    encoded, _ = fn.readers.file(file_root={str(pictures)!r})
    pipe.set_outputs(fn.resize(fn.decoders.image(encoded).gpu(), size=[8, 8]))
try:
    pipe.run()
except errors.DeviceError as e:
    print(e)
"""
    environment = {k: v for k, v in os.environ.items() if k != "STOKER_SIMULATED_DEVICES"}
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert "GPU" in done.stdout and "there is no device 0" in done.stdout
    assert "copy 'copy_0'" in done.stdout


def test_wrong_argument_name() -> None:
    message = refused(lambda: fn.resize(fn.constant(idata=[1], shape=[1, 1, 1]), sise=[4, 4]))
    assert_user_line(message)
    assert "'sise'" in message and "Did you mean 'size'?" in message and "resize" in message


def test_wrong_argument_type() -> None:
    message = refused(lambda: fn.resize(fn.constant(idata=[1], shape=[1, 1, 1]), size="large"))
    assert_user_line(message)
    assert "'size'" in message and "'large'" in message


def test_wrong_operator_name() -> None:
    with pytest.raises(AttributeError, match="Did you mean 'random_resized_crop'"):
        fn.random_resize_crop  # noqa: B018
    with pytest.raises(AttributeError, match=r"decoders\.image"):
        fn.image  # noqa: B018


def test_wrong_setting() -> None:
    with pytest.raises(TypeError, match="Did you mean 'num_threads'"):
        Pipeline(batch_size=1, num_thread=2)
    with pytest.raises(GraphError, match="on_error"):
        Pipeline(batch_size=1, on_error="ignore")


def noise(elements: int) -> Any:
    return fn.random.uniform(shape=[elements])


def test_budget_too_small_for_a_batch() -> None:
    for executor in ("pipelined", "simple"):
        pipe = make(lambda: noise(1 << 18), batch_size=8, memory_limit=1 << 20, executor=executor)
        for _ in range(2):
            with pytest.raises(BudgetError) as raised:
                pipe.run()
            assert "memory" in str(raised.value)
            assert isinstance(raised.value, MemoryError)


IMPOSSIBLE = {
    "uniform": "fn.random.uniform(shape=[2**40, 2**40])",
    "uniform, drawn": "fn.random.uniform(shape=fn.constant(idata=[2**40, 2**40], dtype='int64'))",
    "constant": "fn.constant(idata=[1], shape=[2**31] * 3)",
    "slice": "fn.slice(small(), axes=[0], start=[-2**60], end=[2**60], out_of_bounds_policy='pad')",
    "slice, shape": "fn.slice(small(), axes=[0], start=[0], shape=[2**62], "
    "out_of_bounds_policy='pad')",
    "crop": "fn.crop(small(), crop=[1e15, 1e15], out_of_bounds_policy='pad')",
    "resize": "fn.resize(small(), size=[2e9, 2e9])",
}


@pytest.mark.parametrize("executor", ["pipelined", "simple"])
@pytest.mark.parametrize("call", IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_shapes_beyond_any_memory(call: str, executor: str) -> None:
    """Runs in a process of its own, as a size that wrapped around would overwrite other memory."""
    done = run_script(f"""
from stoker import Pipeline, errors, fn
def small():
    return fn.constant(idata=[1], shape=[4, 5, 3], layout='HWC', dtype='uint8')
try:
    pipe = Pipeline(batch_size=2, num_threads=1, executor={executor!r})
    with pipe:
        pipe.set_outputs({call})
    pipe.run()
except errors.Error as e:
    print('refused:', e)
""")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("refused: "), done.stdout
    assert call[3 : call.index("(")] in done.stdout or "memory" in done.stdout, done.stdout


def test_outputs_of_one_sample_that_no_batch_may_have(tmp_path: Path) -> None:
    path = tmp_path / "big.jpg"
    path.write_bytes(jpegs.encode(jpegs.picture(700, 900), "444"))

    def define() -> Any:
        encoded, _ = fn.readers.file(files=[str(path)])
        return fn.decoders.image(encoded)

    for executor in ("pipelined", "simple"):
        pipe = make(define, memory_limit=1 << 21, executor=executor)
        for _ in range(2):
            with pytest.raises(SampleError, match=r"big\.jpg.*half of memory_limit"):
                pipe.run()


def test_budget_too_small_for_scratch() -> None:
    def define() -> Any:
        return fn.slice(noise(1 << 20), axes=[0], start=[5], shape=[1])

    for executor in ("pipelined", "simple"):
        pipe = make(define, memory_limit=1 << 21, demand=False, executor=executor)
        for _ in range(2):
            with pytest.raises(SampleError, match="three eighths of memory_limit"):
                pipe.run()


def test_a_tight_budget_changes_nothing_but_speed() -> None:
    def define() -> Any:
        return noise(1 << 14)

    expected = take(make(define, batch_size=4), 40)
    one_batch = 4 * (1 << 14) * 4
    for depth in (1, 5):
        pipe = make(
            define,
            batch_size=4,
            num_threads=4,
            prefetch_queue_depth=depth,
            memory_limit=2 * (one_batch + (1 << 16)),
        )
        assert_same(take(pipe, 40), expected, f"depth {depth}")
        memory = pipe.stats()["memory"]["batches"]
        assert memory["high_water"] <= memory["limit"]


@pytest.mark.parametrize("executor", ["pipelined", "simple"])
@pytest.mark.parametrize("ragged", [False, True], ids=["fixed", "ragged"])
def test_user_holds_all_outputs(ragged: bool, executor: str) -> None:
    """run() says who holds the memory instead of waiting for ever. It goes on once some is
    released.
    """

    def define() -> Any:
        if not ragged:
            return noise(1 << 15)
        size = fn.random.uniform(range=[20_000.0, 30_000.0], dtype="int64", shape=[1])
        return fn.random.uniform(shape=size)

    settings: dict[str, Any] = {"batch_size": 4, "executor": executor}
    expected = take(make(define, **settings), 64)
    pipe = make(define, **settings, memory_limit=8 << 20)
    held = []
    with pytest.raises(BudgetError) as raised:
        for _ in range(1000):
            held.append(pipe.run())
    assert 3 <= len(held) < 20
    message = str(raised.value)
    assert "held" in message or "hold" in message, message
    got = [s for batches in held for s in samples_of(batches)]
    assert_same(got, expected[: len(got)], "before")
    with pytest.raises(BudgetError):
        pipe.run()
    held.clear()
    gc.collect()
    more = take(pipe, 8)
    assert_same(more, expected[len(got) : len(got) + 8], "after, no step is lost")


def test_reading_ahead_is_bounded(tmp_path: Path) -> None:
    data = np.random.default_rng(0).bytes(100_000)
    for i in range(40):
        (tmp_path / f"{i}.bin").write_bytes(data)
    files = [str(tmp_path / f"{i}.bin") for i in range(40)]

    def define() -> Any:
        encoded, label = fn.readers.file(files=files)
        return label, fn.slice(encoded, axes=[0], start=[0], shape=[10])

    for limit in (0, 1, 150_000, 10_000_000):
        pipe = make(define, batch_size=3, read_ahead_limit=limit)
        got = take(pipe, 80)
        assert [int(s[0][0]) for s in got] == [i % 40 for i in range(80)]
        assert all(s[1].tobytes() == data[:10] for s in got)
