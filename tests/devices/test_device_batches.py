# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Batches on a device, as consumers get them: capsules, life times, refusals.

The device is the simulated one, whose memory ctypes can read. ``tests/gpu`` tests GPUs.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from capsules import Taken
from helpers import Array, make, run_script
from stoker import Batch, Pipeline, Tensor, devices, fn
from stoker.errors import DeviceError, GraphError

EXTENSION = 12  # DLPack's number for this kind of device; that of the CPU is 1, of CUDA 2


@pytest.fixture(autouse=True)
def _simulated_device(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("STOKER_SIMULATED_DEVICES", "1")
    yield
    gc.collect()


def in_use() -> int:
    gc.collect()
    return devices()[0].in_use


def pipeline(shapes: list[tuple[int, ...]], dtype: str = "float32", **settings: Any) -> Pipeline:
    """Each step is one batch on the device, with these shapes. Elements are the step's number."""

    def step(number: int) -> list[Array]:
        return [np.full(shape, number % 100, dtype) for shape in shapes]

    return make(
        lambda: fn.external_source(source=step, device="gpu", batch=True),
        batch_size=len(shapes),
        device_id=0,
        **settings,
    )


def batch_of(*shapes: tuple[int, ...], dtype: str = "float32") -> Batch:
    pipe = pipeline([*shapes], dtype)
    pipe.run()
    (batch,) = pipe.run()
    return batch


@pytest.mark.parametrize("version", [None, (1, 0), (0, 8)])
def test_a_capsule_is_the_batch_s_own_memory(version: tuple[int, int] | None) -> None:
    batch = batch_of((3, 4), (3, 4), dtype="int16")
    assert batch.__dlpack_device__() == (EXTENSION, 0)
    tensor = batch.as_tensor()
    assert tensor.__dlpack_device__() == (EXTENSION, 0) and tensor.device == "simulated:0"
    assert (tensor.shape, tensor.dtype) == ((2, 3, 4), "int16")
    for data in (batch, tensor):
        taken = Taken(data.__dlpack__(max_version=version))
        assert taken.device == (EXTENSION, 0)
        assert taken.dtype == (0, 16)
        assert (taken.shape, taken.strides) == ((2, 3, 4), (12, 4, 1))
        assert taken.data == tensor.data_ptr
        assert taken.flags == (0 if version == (1, 0) else None)
        assert taken.bytes() == batch.as_cpu().as_array().tobytes() == b"\1\0" * 24
        taken.let_go()


def test_samples_are_tensors_there() -> None:
    batch = batch_of((2, 3), (4, 1))
    for i, shape in enumerate([(2, 3), (4, 1)]):
        tensor = batch[i]
        assert isinstance(tensor, Tensor) and isinstance(batch.at(i), Tensor)
        assert batch.at(i).data_ptr == tensor.data_ptr
        assert tensor.shape == shape and "on simulated:0" in repr(tensor)
        taken = Taken(tensor.__dlpack__())
        assert taken.shape == shape and taken.data == tensor.data_ptr
        assert taken.bytes() == np.full(shape, 1, np.float32).tobytes()
        taken.let_go()
        host = tensor.as_cpu()
        assert host.device == "cpu" and host.as_cpu().as_array().tolist() == np.ones(shape).tolist()
    assert [batch.index_in_batch(i) for i in range(2)] == [0, 1]


def test_memory_is_kept_until_the_consumer_lets_go() -> None:
    assert in_use() == 0
    pipe = pipeline([(100,)] * 4)
    (batch,) = pipe.run()
    pipe.close()
    held = in_use()
    assert held >= 1600
    taken = Taken(batch.__dlpack__())
    unused = batch.as_tensor().__dlpack__()
    del batch, pipe
    assert in_use() == held
    assert taken.bytes() == bytes(1600)
    del unused
    assert in_use() == held, "a capsule that nobody takes frees its own share only"
    taken.let_go(locked=True)
    assert in_use() == 0


def test_consumers_let_go_anywhere_while_the_pipeline_runs_on() -> None:
    pipe = pipeline([(50, 20)] * 8)
    threads = []
    for number in range(30):
        (batch,) = pipe.run()
        taken = [Taken(batch[i].__dlpack__()) for i in range(8)]
        del batch
        for one in taken:
            assert one.bytes() == np.full((50, 20), number, np.float32).tobytes()
        threads += [threading.Thread(target=one.let_go) for one in taken]
        for thread in threads[-8:]:
            thread.start()
    for thread in threads:
        thread.join()
    (batch,) = pipe.run()
    pipe.close()
    del pipe
    left = Taken(batch.__dlpack__())
    del batch
    assert left.bytes() == np.full((8, 50, 20), 30, np.float32).tobytes()
    left.let_go()
    assert in_use() == 0


def test_copies_are_made_where_they_are_asked_for() -> None:
    tensor = batch_of((5,), (5,)).as_tensor()
    held = in_use()
    copy = Taken(tensor.__dlpack__(copy=True, max_version=(1, 0)))
    assert copy.device == (EXTENSION, 0) and copy.data != tensor.data_ptr and copy.flags == 2
    assert in_use() == held + 40
    host = Taken(tensor.__dlpack__(dl_device=(1, 0), max_version=(1, 0)))
    assert host.device == (1, 0) and host.flags == 2
    same = Taken(tensor.__dlpack__(dl_device=(EXTENSION, 0), copy=False, max_version=(1, 0)))
    assert same.data == tensor.data_ptr and same.flags == 0
    for taken in (copy, host, same):
        assert taken.bytes() == np.ones(10, np.float32).tobytes()
        taken.let_go()
    assert in_use() == held


def test_copies_on_the_cpu() -> None:
    (batch,) = make(lambda: fn.constant(idata=[3, 4], shape=[2], dtype="int32")).run()
    own, copy = (Taken(batch.__dlpack__(copy=c, max_version=(1, 0))) for c in (False, True))
    assert own.data == batch.as_tensor().data_ptr != copy.data
    assert (own.flags, copy.flags) == (0, 2)
    assert own.bytes() == copy.bytes() == np.array([3, 4], np.int32).tobytes()
    own.let_go()
    copy.let_go()


def test_a_copy_that_cannot_be_is_refused() -> None:
    tensor = batch_of((5,)).as_tensor()
    with pytest.raises(BufferError, match=r"copy=None or True, got False.*simulated:0"):
        tensor.__dlpack__(dl_device=(1, 0), copy=False)
    with pytest.raises(BufferError, match=r"own, \(12, 0\), or that of the CPU.*got \(2, 0\)"):
        tensor.__dlpack__(dl_device=(2, 0))
    with pytest.raises(BufferError, match=r"own, \(1, 0\).*got \(12, 0\)"):
        tensor.as_cpu().__dlpack__(dl_device=(EXTENSION, 0))


def test_streams_are_those_of_the_convention() -> None:
    tensor = batch_of((5,)).as_tensor()
    for stream in (None, -1):
        Taken(tensor.__dlpack__(stream=stream)).let_go()
    for stream in (0, -2):
        with pytest.raises(GraphError, match=rf"stream expects .*got {stream}$"):
            tensor.__dlpack__(stream=stream)
    with pytest.raises(DeviceError, match="simulated:0: a consumer's stream is named 1,"):
        tensor.__dlpack__(stream=1)


def test_what_only_hosts_can_do_is_refused() -> None:
    batch = batch_of((5,), (5,))
    tensor = batch.as_tensor()
    refusals: list[Callable[[], Any]] = [
        lambda: np.asarray(batch),
        lambda: np.asarray(tensor),
        batch.as_array,
        tensor.as_array,
    ]
    for refused in refusals:
        with pytest.raises(
            DeviceError, match=r"memory of simulated:0, which NumPy cannot see.*as_cpu"
        ):
            refused()
    assert not hasattr(tensor, "__array_interface__")
    assert hasattr(tensor.as_cpu(), "__array_interface__")


def test_only_gpus_have_the_interface_of_cuda_s_arrays() -> None:
    tensor = batch_of((5,)).as_tensor()
    assert not hasattr(tensor, "__cuda_array_interface__")
    assert not hasattr(tensor.as_cpu(), "__cuda_array_interface__")


@pytest.mark.parametrize("executor", ["simple", "pipelined"])
@pytest.mark.parametrize("ragged", [False, True])
def test_outputs_can_be_copied_to_the_host(executor: str, ragged: bool) -> None:
    shapes = [(4, 3 + ragged * i) for i in range(3)]

    def step(number: int) -> list[Array]:
        return [np.full(shape, 10 * number + i, np.int16) for i, shape in enumerate(shapes)]

    def define() -> Any:
        data = fn.external_source(source=step, device="gpu", batch=True)
        wide = fn.cast(data, dtype="float32")
        assert (wide.cpu().device, wide.cpu().gpu().device) == ("cpu", "gpu")
        assert wide.cpu().cpu().name == wide.name
        return data.cpu(), wide, wide.cpu()

    pipe = make(define, batch_size=3, device_id=0, executor=executor)
    for number in range(5):
        same, there, wide = pipe.run()
        assert [b.device for b in (same, there, wide)] == ["cpu", "simulated:0", "cpu"]
        for i, right in enumerate(step(number)):
            np.testing.assert_array_equal(same.at(i), right)
            np.testing.assert_array_equal(wide.at(i), right.astype(np.float32))
            np.testing.assert_array_equal(np.asarray(there[i].as_cpu()), wide.at(i))
        wide.at(0)[:] = -1
    pipe.close()
    assert wide.at(0).max() == -1


def test_copied_outputs_are_saved_and_shown() -> None:
    pipe = make(lambda: fn.constant(idata=[1, 2], shape=[2]).gpu().cpu(), device_id=0)
    loaded = Pipeline.deserialize(pipe.serialize())
    assert "; copied to the host, int32" in loaded.plan()
    (batch,) = loaded.run()
    assert batch.device == "cpu" and batch.as_array().tolist() == [[1, 2]]


def test_iterators_take_copied_outputs() -> None:
    from stoker.numpy import DataIterator

    pipe = make(lambda: fn.constant(idata=[1, 2], shape=[2]).gpu().cpu(), device_id=0)
    assert next(DataIterator(pipe, ["x"]))["x"].tolist() == [[1, 2]]


@pytest.mark.parametrize("device", ["cpu", "gpu"])
def test_operators_take_copies(device: str) -> None:
    def define() -> Any:
        there = fn.constant(idata=[1, 2], shape=[2]).gpu()
        return fn.cast(there.cpu(), dtype="uint8", device=device), there.cpu(), there

    wide, copied, there = make(define, device_id=0).run()
    assert wide.device == ("cpu" if device == "cpu" else "simulated:0")
    assert np.asarray(wide.as_cpu()).tolist() == copied.as_array().tolist() == [[1, 2]]
    assert np.asarray(there.as_cpu()).tolist() == [[1, 2]]


def test_what_is_on_the_cpu_stays_there() -> None:
    def define() -> Any:
        node = fn.constant(idata=[1], shape=[1])
        assert node.cpu() is node
        return node.cpu()

    assert make(define).run()[0].as_array().tolist() == [[1]]


def test_unequal_shapes_are_no_single_tensor() -> None:
    batch = batch_of((5,), (6,))
    for refused in (batch.as_tensor, batch.__dlpack__):
        with pytest.raises(GraphError, match=r"differ in shape \(\(5,\), \(6,\)\)"):
            refused()
    host = batch.as_cpu()
    assert [host.at(i).tolist() for i in range(2)] == [[1.0] * 5, [1.0] * 6]


# A thread counts its turns. No thread is interrupted, so it gets none while the lock is held.
END_WHILE_OTHERS_RUN = """
import gc, sys, threading, time
import numpy as np
from stoker import Pipeline, _core, fn

_core.simulated_delay(0, 1, 500_000)
with Pipeline(batch_size=4, num_threads=2, device_id=0) as pipe:
    pipe.set_outputs(fn.external_source(name="x", device="gpu", batch=True))
for number in range(3):
    pipe.feed_input("x", [np.full(1000, number, np.float32)] * 4)
pipe.run()
turns, ends = 0, False

def count():
    global turns
    while not ends:
        turns += 1
        time.sleep(0)

thread = threading.Thread(target=count)
sys.setswitchinterval(1000)
thread.start()
before = turns
del pipe
gc.collect()
after, ends = turns, True
thread.join()
assert after > before, after
"""


def test_an_unclosed_pipeline_ends_without_the_interpreter_s_lock() -> None:
    done = run_script(END_WHILE_OTHERS_RUN)
    assert done.returncode == 0, done.stderr
