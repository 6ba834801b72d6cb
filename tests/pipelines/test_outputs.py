# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Outputs belong to their holder: no copies, writable, independent. Memory does not grow."""

from __future__ import annotations

import gc
import resource
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from helpers import make, run_script, samples_of
from stoker import fn, types
from stoker.errors import GraphError

DTYPES = ["uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "bool"]


def draws(dtype: str) -> Any:
    wide = fn.random.uniform(range=[0.0, 100.0], shape=[3, 4])
    return fn.cast(wide, dtype=dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_torch_sees_the_same_memory(dtype: str) -> None:
    (batch,) = make(lambda: draws(dtype), batch_size=5).run()
    assert batch.is_dense
    whole = torch.from_dlpack(batch)
    assert tuple(whole.shape) == (5, 3, 4)
    assert str(whole.dtype) == f"torch.{dtype}"
    assert whole.data_ptr() == batch.as_tensor().data_ptr
    for i in range(5):
        sample = torch.from_dlpack(batch[i])
        assert sample.data_ptr() == batch[i].data_ptr
        assert torch.equal(sample, whole[i])
    whole[2, 1, 1] = 1
    assert np.asarray(batch[2])[1, 1] == 1


@pytest.mark.parametrize("dtype", [*DTYPES, "uint16", "uint32", "uint64"])
def test_numpy_sees_the_same_memory(dtype: str) -> None:
    (batch,) = make(lambda: draws(dtype), batch_size=5).run()
    address = batch.as_tensor().data_ptr
    views = [np.from_dlpack(batch), np.asarray(batch.as_tensor()), np.asarray(batch)]
    views.append(batch.as_array())
    for view in views:
        assert view.__array_interface__["data"][0] == address
        assert str(view.dtype) == dtype and view.shape == (5, 3, 4)
    assert np.asarray(batch[3]).__array_interface__["data"][0] == batch[3].data_ptr
    views[1][0, 0, 0] = 1
    assert all(v[0, 0, 0] == 1 for v in views)
    copied = np.array(batch[0], copy=True)
    copied[...] = 0
    assert views[1][0, 0, 0] == 1


def test_memory_outlives_batch_and_pipeline() -> None:
    pipe = make(lambda: fn.random.uniform(shape=[1000]), batch_size=3, seed=1)
    expected = [s[0].copy() for s in samples_of(pipe.run())]
    pipe = make(lambda: fn.random.uniform(shape=[1000]), batch_size=3, seed=1)
    (batch,) = pipe.run()
    tensors = [torch.from_dlpack(batch[i]) for i in range(3)]
    array = np.asarray(batch[0])
    del batch
    pipe.run()
    del pipe
    gc.collect()
    make(lambda: fn.random.uniform(shape=[1000]), batch_size=3, seed=2).run()
    for tensor, right in zip(tensors, expected, strict=True):
        assert np.array_equal(tensor.numpy(), right)
    assert np.array_equal(array, expected[0])


def test_outputs_are_writable_and_independent(files: list[str]) -> None:
    """Overwriting everything that was received changes no later output."""

    def define() -> list[Any]:
        encoded, label = fn.readers.file(files=files)
        image = fn.decoders.image(encoded)
        constant = fn.constant(idata=[1, 2, 3])
        return [image, image, label, encoded, constant, constant, fn.copy(constant)]

    clean = make(define, batch_size=6)
    dirty = make(define, batch_size=6)
    for _ in range(14):
        expected = samples_of(clean.run())
        batches = dirty.run()
        assert [[a.tobytes() for a in s] for s in samples_of(batches)] == [
            [a.tobytes() for a in s] for s in expected
        ]
        addresses = [b[i].data_ptr for b in batches for i in range(len(b))]
        assert len(set(addresses)) == len(addresses), "two outputs share memory"
        for batch in batches:
            for i in range(len(batch)):
                np.asarray(batch[i])[...] = 77


def test_ragged_batches(files: list[str]) -> None:
    def define() -> Any:
        encoded, _ = fn.readers.file(files=files)
        return fn.decoders.image(encoded)

    (batch,) = make(define, batch_size=4).run()
    assert not batch.is_dense and batch.layout == "HWC" and batch.dtype == "uint8"
    assert [tuple(s) for s in batch.shape()] == [np.asarray(batch[i]).shape for i in range(4)]
    assert [batch.source_info(i) for i in range(4)] == files[:4]
    assert batch[1].source_info == files[1]
    with pytest.raises(GraphError, match="differ in shape"):
        batch.as_tensor()
    with pytest.raises(IndexError):
        batch[4]
    assert np.asarray(batch[-1]).shape == np.asarray(batch[3]).shape


def test_equal_ragged_samples_become_one_tensor(files: list[str]) -> None:
    def define() -> Any:
        encoded, _ = fn.readers.file(files=files[:1])
        return fn.decoders.image(encoded)

    (batch,) = make(define, batch_size=3).run()
    array = batch.as_array()
    assert array.shape == (3, *np.asarray(batch[0]).shape)
    assert all(np.array_equal(array[i], np.asarray(batch[i])) for i in range(3))
    assert batch.as_tensor().layout == "NHWC"


def resident() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def test_memory_is_flat_over_epochs(files: list[str]) -> None:
    def define() -> list[Any]:
        encoded, label = fn.readers.file(files=files, random_shuffle=True)
        image = fn.decoders.image(encoded)
        return [fn.resize(image, size=[64, 64]), image, label]

    depth, batch, threads = 2, 8, 3
    pipe = make(define, batch_size=batch, prefetch_queue_depth=depth, num_threads=threads)
    steps = -(-len(files) // batch)

    def run(epochs: int) -> None:
        for _ in range(epochs * steps):
            pipe.run()

    run(5)
    before = resident()
    high_before = pipe.stats()["memory"]["batches"]["high_water"]
    run(50)
    memory = pipe.stats()["memory"]["batches"]
    largest = 64 * 64 * 3 + 61 * 61 * 3 + 4
    # The batches prepared ahead and those that the user holds, rounded up to size classes.
    assert memory["high_water"] <= 2 * (depth + 2) * batch * largest + (1 << 20)
    assert memory["high_water"] <= 2 * high_before + (1 << 18)
    assert memory["in_use"] <= memory["high_water"] <= memory["limit"]
    assert resident() - before < 24 << 20
    pipe.close()
    gc.collect()
    assert pipe.stats()["memory"]["batches"]["in_use"] == 0
    pipe.trim()
    assert pipe.stats()["memory"]["batches"]["cached"] == 0


def growth_over_pipelines(files: list[str]) -> int:
    """The growth of a process in bytes while pipelines come and go, after some to warm up."""

    def one() -> None:
        def define() -> Any:
            encoded, _ = fn.readers.file(files=files)
            return fn.resize(fn.decoders.image(encoded), size=[256, 256], dtype=types.FLOAT)

        pipe = make(define, batch_size=16)
        pipe.run()

    for _ in range(3):
        one()
    gc.collect()
    before = resident()
    for _ in range(12):
        one()
    gc.collect()
    return resident() - before


def test_memory_comes_back_when_pipelines_go(files: list[str]) -> None:
    """Runs in a process of its own, as this one's growth includes that of frameworks."""
    here = Path(__file__).resolve().parent
    script = f"""
import sys
sys.path[:0] = [{str(here.parent)!r}, {str(here)!r}]
from test_outputs import growth_over_pipelines
print(growth_over_pipelines({files!r}))
"""
    done = run_script(script)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 48 << 20  # one pipeline alone holds about 60 MB


def test_statistics_count(files: list[str]) -> None:
    def define() -> Any:
        encoded, _ = fn.readers.file(files=files, name="reader")
        return fn.decoders.image(encoded, name="decoder")

    pipe = make(define, batch_size=5)
    for _ in range(4):
        pipe.run()
    stats = pipe.stats()
    assert stats["steps"] == 4
    assert 20 <= stats["samples"] <= 30  # two batches may be prepared ahead
    assert stats["bytes_read"] >= sum(Path(f).stat().st_size for f in files[:20])
    assert stats["failures"] == 0
    times = {o["name"]: o["seconds"] for o in stats["operators"]}
    assert times["decoder"] > 0 and times["reader"] > 0 and set(times) == {"reader", "decoder"}


@pytest.mark.parametrize("executor", ["pipelined", "simple"])
def test_memory_is_reported_by_share(files: list[str], executor: str) -> None:
    def define() -> Any:
        encoded, _ = fn.readers.file(files=files, name="reader")
        return fn.resize(fn.decoders.image(encoded), size=[16, 16])

    limit = 64 << 20
    pipe = make(define, batch_size=5, memory_limit=limit, executor=executor)
    held = pipe.run()
    memory = pipe.stats()["memory"]
    assert memory["limit"] == limit
    shares = ("batches", "scratch", "read_ahead", "jpeg_indexes")
    assert sum(memory[share]["limit"] for share in shares) == limit
    assert memory["batches"]["in_use"] >= len(held[0]) * 16 * 16 * 3
    assert memory["scratch"]["in_use"] > 0
    if executor == "simple":
        assert memory["read_ahead"]["high_water"] == 0
        return
    for _ in range(500):  # workers read by themselves the files that no reader has begun
        if pipe.stats()["memory"]["read_ahead"]["high_water"] > 0:
            return
        pipe.run()
    pytest.fail("nothing was read ahead in 500 steps")
