# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""decoders.numpy without a dtype: that of the first array, however it gets there."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers import Array
from stoker import Pipeline, fn, pipeline_def, types
from stoker.errors import SampleError

FLOATS = [np.full((2, n), n, np.float16) for n in range(1, 5)]


def saved(array: Array) -> Array:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=False)
    return np.frombuffer(file.getvalue(), np.uint8)


def pipe_of(define: Callable[[], Any], batch_size: int = 2, **settings: Any) -> Pipeline:
    @pipeline_def(batch_size=batch_size, num_threads=1, **settings)
    def pipe() -> Any:
        return define()

    return pipe()


def fed(arrays: list[Array]) -> Any:
    return fn.external_source(
        source=lambda i: saved(arrays[i.idx_in_epoch % len(arrays)]), batch=False, layout="X"
    )


def first(batch: Any) -> Array:
    return np.asarray(batch[0])


def test_the_first_batch_tells_the_dtype_and_is_delivered() -> None:
    pipe = pipe_of(lambda: fn.decoders.numpy(fed(FLOATS)))
    for k in (0, 2):
        (batch,) = pipe.run()
        assert batch.dtype == "float16"
        assert [batch.at(i).tolist() for i in (0, 1)] == [a.tolist() for a in FLOATS[k : k + 2]]


def test_of_a_reader_and_of_what_other_operators_made(tmp_path: Path) -> None:
    for n in range(3):
        np.save(tmp_path / f"{n}.npy", np.array([[n, -n]], ">i8"))

    def define() -> Any:
        name = fn.readers.file(files=sorted(map(str, tmp_path.iterdir())))[0]
        array = fn.decoders.numpy(fn.copy(name))
        return array, array * 2, fn.python_function(array, function=lambda a: a / 2)

    pipe = pipe_of(define, batch_size=1)
    for n in range(3):
        whole, twice, half = (first(b) for b in pipe.run())
        assert (whole.dtype, twice.dtype, half.dtype) == (np.int64, np.int64, np.float64)
        assert (whole.tolist(), twice.tolist()) == ([[n, -n]], [[2 * n, -2 * n]])
        assert half.tolist() == [[n / 2, -n / 2]]


def test_behind_a_function_and_before_a_source() -> None:
    def define() -> Any:
        file = fn.python_function(fed(FLOATS), function=lambda bytes_: bytes_)
        array = fn.decoders.numpy(file)
        return array, fn.external_source(source=lambda: [np.int16(7)] * 2)

    array, number = pipe_of(define).run()
    assert (array.dtype, number.dtype) == ("float16", "int16")


def test_on_one_side_of_a_conditional() -> None:
    def define() -> Any:
        array = fn.decoders.numpy(fed(FLOATS[:1]))
        if fn.random.coin_flip(probability=0.5):
            array = fn.decoders.numpy(fed([FLOATS[0] * 3]))
        return array

    pipe = pipe_of(define, batch_size=8, enable_conditionals=True, seed=3)
    seen = {float(v) for v in np.unique(pipe.run()[0].as_array())}
    assert seen == {1.0, 3.0}


def test_saved_pipelines_and_states_keep_the_dtype() -> None:
    def define() -> Any:
        return fn.decoders.numpy(fn.external_source(name="in", layout="X"))

    pipe = pipe_of(define, batch_size=1)
    fresh = Pipeline.deserialize(pipe.serialize())
    for p in (pipe, fresh):
        p.feed_input("in", [saved(FLOATS[1])])
        assert p.run()[0].dtype == "float16"
    later = Pipeline.deserialize(pipe.serialize())
    later.feed_input("in", [saved(np.int8([1]))])
    with pytest.raises(SampleError, match="is of 'int8', expected 'float16'"):
        later.run()


@pytest.mark.parametrize("batch_size", [1, 2])
def test_arrays_of_another_dtype_fail(batch_size: int) -> None:
    pipe = pipe_of(lambda: fn.decoders.numpy(fed([FLOATS[0], np.int32([[1]])])), batch_size)
    with pytest.raises(SampleError, match="is of 'int32', expected 'float16'"):
        for _ in range(2):
            pipe.run()
    pipe = pipe_of(
        lambda: fn.decoders.numpy(fed([FLOATS[0], np.int32([[1]])]), dtype=types.FLOAT), batch_size
    )
    assert pipe.run()[0].dtype == "float32"


def test_a_bad_first_array_and_only_bad_ones() -> None:
    def define(*files: Array) -> Callable[[], Any]:
        return lambda: fn.decoders.numpy(
            fn.external_source(source=lambda i: files[i.idx_in_batch], batch=False)
        )

    bad, good = np.zeros(90, np.uint8), saved(FLOATS[0])
    (batch,) = pipe_of(define(bad, good), on_error="skip").run()
    assert (batch.dtype, len(batch)) == ("float16", 1)
    with pytest.raises(SampleError, match="no array of the first batch can be read"):
        pipe_of(define(bad, bad)).run()
