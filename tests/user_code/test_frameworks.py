# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Functions on what frameworks have: DLPack capsules, PyTorch, JAX and Numba."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from calling import BATCH, EXECUTORS, arrays, drawn

from helpers import assert_same, make, run_script, take
from stoker import DataNode, fn, ops, types
from stoker.errors import GraphError, SampleError

Array = np.ndarray[Any, Any]


def applied(operator: Any, function: Any, settings: Any = None, **arguments: Any) -> Any:
    """What the function makes of draws, and these draws."""

    def define() -> Any:
        x = drawn()
        made = operator(x, function=function, **arguments)
        return (x, *made) if isinstance(made, tuple) else (x, made)

    return map(arrays, make(define, **{"batch_size": BATCH, **(settings or {})}).run())


# DLPack


def test_capsules() -> None:
    from torch.utils.dlpack import from_dlpack, to_dlpack

    def function(capsule: Any) -> Any:
        return to_dlpack(from_dlpack(capsule) * 2)

    x, y = applied(fn.dl_tensor_python_function, function, batch_processing=False)
    np.testing.assert_array_equal(y, np.array(x) * 2)


def test_capsules_by_batch_and_synchronize_stream() -> None:
    from torch.utils.dlpack import from_dlpack, to_dlpack

    def function(capsules: list[Any]) -> tuple[list[Any], list[Any]]:
        tensors = [from_dlpack(c) for c in capsules]
        return [to_dlpack(t + 1) for t in tensors], [t.T for t in tensors]

    x, y, z = applied(
        ops.DLTensorPythonFunction(function=function, synchronize_stream=False),
        None,
        num_outputs=2,
    )
    np.testing.assert_array_equal(y, np.array(x) + 1)
    np.testing.assert_array_equal(z, np.array(x).transpose(0, 2, 1))


def test_a_capsule_that_was_taken() -> None:
    from torch.utils.dlpack import from_dlpack

    def function(capsule: Any) -> Any:
        from_dlpack(capsule)
        return capsule

    with pytest.raises(SampleError, match="DLPack capsule of an unknown kind, or one that was"):
        applied(fn.dl_tensor_python_function, function, batch_processing=False)


def test_writing_into_a_tensor_changes_no_input() -> None:
    def function(tensor: Any) -> Any:
        tensor *= 0
        return tensor

    x, y = applied(fn.torch_python_function, function)
    assert not np.any(y) and np.any(x)


# PyTorch


@pytest.mark.parametrize("settings", EXECUTORS)
def test_tensors(settings: dict[str, Any]) -> None:
    import torch

    def function(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        assert isinstance(x, torch.Tensor) and x.dtype == torch.float32
        weight = torch.ones(3, requires_grad=True)
        return x @ weight, x.T, x.mean()

    x, y, z, m = applied(fn.torch_python_function, function, settings, num_outputs=3)
    np.testing.assert_allclose(y, np.array(x).sum(2), rtol=1e-5)
    np.testing.assert_array_equal(z, np.array(x).transpose(0, 2, 1))
    np.testing.assert_allclose(m, np.array(x).mean((1, 2)), rtol=1e-5)


def test_lists_of_tensors() -> None:
    import torch

    def function(samples: list[torch.Tensor]) -> list[torch.Tensor]:
        return list(torch.stack(samples) - torch.stack(samples).mean(0))

    x, y = applied(fn.torch_python_function, function, batch_processing=True)
    np.testing.assert_allclose(y, np.array(x) - np.mean(x, 0), rtol=1e-4, atol=1e-4)


def test_what_torch_keeps_is_copied() -> None:
    import torch

    kept: dict[bytes, torch.Tensor] = {}

    def function(samples: list[torch.Tensor]) -> list[torch.Tensor]:
        made = [t + 1 for t in samples]
        kept.update((t.numpy().tobytes(), m) for t, m in zip(samples, made, strict=True))
        return made

    def define() -> Any:
        x = drawn()
        return x, fn.torch_python_function(x, function=function, batch_processing=True)

    pipe = make(define, batch_size=BATCH)
    for _ in range(4):
        x, y = pipe.run()
        for sample in x.as_array():  # those of later steps may not be copied yet
            kept[sample.tobytes()].zero_()
        np.testing.assert_array_equal(y.as_array(), x.as_array() + 1)


def test_an_error_in_torch() -> None:
    with pytest.raises(SampleError, match=r"(?s)torch_python_function .*RuntimeError.*<lambda>"):
        applied(fn.torch_python_function, lambda x: x.reshape(7))


def test_torch_s_own_names() -> None:
    import stoker.torch

    x, y = applied(stoker.torch.torch_python_function, lambda t: -t)
    np.testing.assert_array_equal(y, -np.array(x))
    x, y = applied(stoker.torch.TorchPythonFunction(function=lambda t: -t), None)
    np.testing.assert_array_equal(y, -np.array(x))


# JAX


@pytest.mark.parametrize("settings", EXECUTORS)
def test_whole_batches_of_jax(settings: dict[str, Any]) -> None:
    jax = pytest.importorskip("jax")

    @jax.jit
    def function(batch: Any) -> Any:
        assert batch.shape == (BATCH, 2, 3)
        return batch[:, :, ::-1], batch.sum(axis=(1, 2))

    x, y, z = applied(fn.jax_function, function, settings, num_outputs=2, output_layouts=["HW"])
    np.testing.assert_array_equal(y, np.array(x)[:, :, ::-1])
    np.testing.assert_allclose(z, np.array(x).sum((1, 2)), rtol=1e-5)


def test_the_decorator() -> None:
    jax = pytest.importorskip("jax")
    from stoker.jax import jax_function

    devices = jax.devices("cpu")[:1]
    sharding = (
        jax.sharding.PositionalSharding(devices)
        if hasattr(jax.sharding, "PositionalSharding")
        else jax.sharding.SingleDeviceSharding(devices[0])
    )

    @jax_function
    @jax.jit
    def twice(x: Any) -> Any:
        return 2 * x

    @jax_function(num_outputs=2, sharding=sharding, dtype=["float32", "bool"], ndim=[2, 2])
    def more(x: Any) -> Any:
        return x + 1, x > 50

    assert twice.__name__ == "twice"
    x, y, z, b = map(
        arrays, make(lambda: (lambda x: (x, twice(x), *more(x)))(drawn()), batch_size=BATCH).run()
    )
    np.testing.assert_array_equal(y, 2 * np.array(x))
    np.testing.assert_array_equal(z, np.array(x) + 1)
    np.testing.assert_array_equal(b, np.array(x) > 50)


@pytest.mark.parametrize(
    ("declared", "layouts"),
    [
        ({}, ["HW", "", "AB"]),
        ({"output_layouts": "XY"}, ["XY", "XY", "XY"]),
        ({"output_layouts": ["XY", "UV"]}, ["XY", "UV", ""]),
    ],
)
def test_layouts_of_jax(declared: dict[str, Any], layouts: list[str]) -> None:
    pytest.importorskip("jax")

    def define() -> Any:
        x = fn.reshape(drawn(), layout="HW")
        flat = fn.reshape(drawn(), shape=[6], layout="N")
        y = fn.reshape(drawn(), layout="AB")
        return fn.jax_function(
            x, flat, y, function=lambda x, n, y: (x, x, y), num_outputs=3, **declared
        )

    assert [b.layout for b in make(define, batch_size=BATCH).run()] == layouts


def test_what_jax_refuses() -> None:
    pytest.importorskip("jax")
    with pytest.raises(SampleError, match="output 0 expects the batch of 4 samples as its first"):
        applied(fn.jax_function, lambda x: x[0])
    with pytest.raises(SampleError, match=r"(?s)jax_function .* TypeError: .*in <lambda>"):
        applied(fn.jax_function, lambda x: x + "a")

    def define() -> Any:
        ragged = fn.python_function(drawn(), function=lambda x: x[: 1 + int(x[0, 0]) % 2])
        return fn.jax_function(ragged, function=lambda x: x)

    with pytest.raises(SampleError, match=r"input 0 expects samples of one shape, .* \(1, 3\) and"):
        make(define, batch_size=32).run()


# Numba


@pytest.fixture
def numba() -> Any:
    return pytest.importorskip("numba")


def numbered(x: DataNode, run_fn: Callable[..., Any], **arguments: Any) -> Any:
    types_of = {"in_types": [types.FLOAT], "ins_ndim": [2], "out_types": [types.FLOAT]}
    return fn.numba_function(x, run_fn=run_fn, **{**types_of, "outs_ndim": [2], **arguments})


@pytest.mark.parametrize("settings", EXECUTORS)
def test_compiled_functions(numba: Any, settings: dict[str, Any]) -> None:
    def double(out: Array, x: Array) -> None:
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                out[i, j] = 2 * x[i, j]

    def define() -> Any:
        x = drawn()
        return x, numbered(x, double)

    x, y = map(arrays, make(define, **{"batch_size": BATCH, **settings}).run())
    np.testing.assert_array_equal(y, 2 * np.array(x))


def test_shapes_that_setup_fn_says(numba: Any) -> None:
    def setup(outs: Any, ins: Any) -> None:
        for i in range(len(ins[0])):
            outs[0][i][0] = ins[0][i][1]
            outs[0][i][1] = ins[0][i][0]
            outs[1][i][0] = ins[0][i][0]

    def turn(turned: Array, sums: Array, x: Array) -> None:
        sums[:] = 0
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                turned[j, i] = x[i, j]
                sums[i] += x[i, j]

    def define() -> Any:
        x = drawn()
        made = numbered(
            x, turn, setup_fn=setup, out_types=[types.FLOAT, types.FLOAT64], outs_ndim=[2, 1]
        )
        return x, *made

    x, y, z = map(arrays, make(define, batch_size=BATCH).run())
    np.testing.assert_array_equal(y, np.array(x).transpose(0, 2, 1))
    np.testing.assert_allclose(z, np.array(x).sum(2), rtol=1e-6)
    assert z[0].dtype == np.float64


def test_lists_of_arrays_in_numba(numba: Any) -> None:
    def run(outs: Any, ins: Any) -> None:
        for i in range(len(ins)):
            outs[i][:] = ins[i] - ins[0]

    def define() -> Any:
        x = drawn()
        return x, numbered(x, run, batch_processing=True)

    x, y = map(arrays, make(define, batch_size=BATCH).run())
    np.testing.assert_array_equal(y, np.array(x) - np.array(x)[0])


def test_the_class_and_what_numba_refuses(numba: Any) -> None:
    def copy(out: Array, x: Array) -> None:
        out[:] = x

    def unset(outs: Any, ins: Any) -> None:
        pass

    made = ops.NumbaFunction(
        run_fn=copy,
        in_types=[types.FLOAT],
        ins_ndim=[2],
        out_types=[types.FLOAT],
        outs_ndim=[2],
        device="cpu",
    )
    x, y = map(arrays, make(lambda: (lambda x: (x, made(x)))(drawn()), batch_size=BATCH).run())
    np.testing.assert_array_equal(y, x)
    for arguments, words in (
        ({"in_types": [types.UINT8]}, "input 0 expects uint8 with 2 axes, got float32"),
        ({"ins_ndim": [2, 2]}, "in_types has 1 and ins_ndim 2 entries for 1 inputs"),
        ({"outs_ndim": [2, 2]}, "out_types has 1 entries, outs_ndim 2"),
        ({"out_types": ["nothing"]}, "got 'nothing'"),
        ({"run_fn": None}, "argument 'run_fn' is required"),
        ({"setup_fn": 3}, "argument 'setup_fn' expects a callable, got 3"),
        ({"out_types": None}, "argument 'out_types' is required"),
    ):
        with pytest.raises(GraphError) as refused:
            make(
                lambda given=arguments: numbered(drawn(), **{"run_fn": copy, **given}),
                batch_size=BATCH,
            ).build()
        assert words in str(refused.value)
    with pytest.raises(SampleError, match="setup_fn left an extent of output 0 unset"):
        make(lambda: numbered(drawn(), copy, setup_fn=unset), batch_size=BATCH).run()
    with pytest.raises(SampleError, match="TypingError"):
        make(lambda: numbered(drawn(), lambda out, x: x.nothing()), batch_size=BATCH).run()


def test_numba_does_not_hold_python_s_lock(numba: Any) -> None:
    """While compiled code waits for a flag, a thread sees that it waits and sets the flag."""
    import ctypes
    import threading
    import time

    flags = np.zeros(2, np.int64)  # that it waits, and that it may go on
    address = flags.ctypes.data
    sleep = ctypes.CDLL(None).usleep
    sleep.argtypes, sleep.restype = [ctypes.c_uint], ctypes.c_int

    @numba.extending.intrinsic
    def pointer_to(_: Any, number: Any) -> Any:
        def code(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
            return builder.inttoptr(arguments[0], numba.core.cgutils.voidptr_t)

        return numba.core.types.voidptr(number), code

    def wait(out: Array, x: Array) -> None:
        out[:] = 0
        flags = numba.carray(pointer_to(address), 2, np.int64)
        flags[0] = 1
        for _ in range(10_000):
            if flags[1]:
                out[:] = x
                break
            sleep(1000)  # microseconds

    def define() -> Any:
        x = drawn()
        return x, numbered(x, wait)

    def let_go_on() -> None:
        while not flags[0]:
            time.sleep(0.001)
        flags[1] = 1

    thread = threading.Thread(target=let_go_on)
    thread.start()
    x, y = map(arrays, make(define, batch_size=1).run())
    thread.join()
    np.testing.assert_array_equal(x, y)


# What is the same for all.


def test_topologies_change_nothing() -> None:
    pytest.importorskip("jax")

    def define() -> Any:
        x = drawn()
        a = fn.torch_python_function(x, function=lambda t: t.cumsum(0))
        b = fn.jax_function(a, function=lambda x: x * 2)
        return x, a, b

    def some(size: int, **settings: Any) -> Any:
        return take(make(define, batch_size=size, **settings), 24)

    whole = some(1, executor="simple")
    for size, threads, depth in ((5, 2, 2), (8, 3, 3)):
        assert_same(some(size, num_threads=threads, prefetch_queue_depth=depth), whole, str(size))


@pytest.mark.parametrize("framework", ["torch", "jax", "numba"])
def test_a_framework_that_is_not_there(framework: str) -> None:
    operator = {"torch": "torch_python_function", "jax": "jax_function", "numba": "numba_function"}
    given = (
        "run_fn=print, in_types='float32', ins_ndim=0, out_types='float32', outs_ndim=0"
        if framework == "numba"
        else "function=print"
    )
    done = run_script(
        f"""
import sys
sys.modules[{framework!r}] = None
from stoker import Pipeline, errors, fn
with Pipeline(batch_size=1):
    try:
        fn.{operator[framework]}(fn.random.uniform(), {given})
    except errors.GraphError as e:
        print(e)
""",
        PYTHONPATH=os.pathsep.join(sys.path),
    )
    assert "its framework cannot be imported" in done.stdout, done.stdout + done.stderr
    assert framework in done.stdout


def test_established_modules(tmp_path: Any) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        """
import nvidia.dali.plugin.pytorch as torch_plugin
from nvidia.dali import fn, pipeline_def, ops, types
from nvidia.dali.plugin.jax.fn import jax_function
from nvidia.dali.plugin.numba.fn.experimental import numba_function
from nvidia.dali.plugin.numba.experimental import NumbaFunction
from nvidia.dali.plugin.pytorch.fn import torch_python_function

@pipeline_def(batch_size=2, num_threads=1, device_id=None, exec_dynamic=True)
def pipe():
    x = fn.constant(fdata=[1, 2], shape=[2])
    return (
        torch_python_function(x, function=lambda t: t + 1),
        torch_plugin.fn.torch_python_function(x, function=lambda t: t + 2),
        torch_plugin.TorchPythonFunction(function=lambda t: t + 3)(x),
        jax_function(lambda b: b + 4)(x),
        fn.python_function(x, function=lambda a: a + 5, num_outputs=1),
        ops.PythonFunction(function=lambda a: a + 6)(x),
        ops.DLTensorPythonFunction(function=lambda batch: list(batch))(x),
    )
assert numba_function and NumbaFunction
print([batch.at(0).tolist() for batch in pipe().run()])
"""
    )
    code = f"import sys, runpy, stoker.run; sys.argv = ['run', {str(script)!r}]; stoker.run.main()"
    done = run_script(code)
    expected = [[1 + k, 2 + k] for k in (1, 2, 3, 4, 5, 6, 0)]
    assert done.stdout == f"{[[float(x) for x in row] for row in expected]}\n", done.stderr
