# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""`python_function`: what a function gets, what it may return, and where its errors go."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from calling import BATCH, EXECUTORS, SIMPLE, arrays, calling, drawn

from helpers import make
from stoker import fn, ops, types
from stoker.errors import GraphError, SampleError

Array = np.ndarray[Any, Any]


@pytest.mark.parametrize("settings", EXECUTORS)
def test_each_sample_alone(settings: dict[str, Any]) -> None:
    pipe = calling(lambda x: x.T * 2, settings)
    for _ in range(3):
        given, made = map(arrays, pipe.run())
        assert len(made) == BATCH
        for x, y in zip(given, made, strict=True):
            np.testing.assert_array_equal(y, x.T * 2)


@pytest.mark.parametrize("settings", EXECUTORS)
def test_lists_of_samples(settings: dict[str, Any]) -> None:
    def minus_mean(samples: list[Array]) -> list[Array]:
        assert type(samples) is list and len(samples) == BATCH
        mean = np.mean(samples, axis=0)
        return [x - mean for x in samples]

    given, made = map(arrays, calling(minus_mean, settings, batch_processing=True).run())
    np.testing.assert_allclose(made, np.array(given) - np.mean(given, axis=0), rtol=1e-6)


@pytest.mark.parametrize("by_batch", [False, True])
def test_several_inputs_and_outputs(by_batch: bool) -> None:
    def both(a: Array, b: Array) -> tuple[Any, ...]:
        return a[0] + b, len(b), b.astype(np.uint8)[::-1]

    def all_of(a: list[Array], b: list[Array]) -> tuple[Any, ...]:
        made = [both(x, y) for x, y in zip(a, b, strict=True)]
        return tuple(list(column) for column in zip(*made, strict=True))

    def define() -> Any:
        a, b = drawn((2, 5)), drawn((5,))
        made = fn.python_function(
            a, b, function=all_of if by_batch else both, num_outputs=3, batch_processing=by_batch
        )
        return a, b, *made

    a, b, total, length, last = map(arrays, make(define, batch_size=BATCH).run())
    for i in range(BATCH):
        np.testing.assert_array_equal(total[i], a[i][0] + b[i])
        assert length[i].shape == () and length[i] == 5 and length[i].dtype == np.int64
        np.testing.assert_array_equal(last[i], b[i].astype(np.uint8)[::-1])


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (3, "int64"),
        (2.5, "float64"),
        (True, "bool"),
        (np.float32(1.5), "float32"),
        (np.uint8(200), "uint8"),
        (np.array(7, np.int16), "int16"),
        (np.bool_(True), "bool"),
    ],
)
def test_scalars_are_arrays_of_no_axes(value: Any, dtype: str) -> None:
    _, made = calling(lambda x: value).run()
    assert made.dtype == dtype and made.shape() == [()] * BATCH
    assert all(x == value for x in arrays(made))


def kept_by_the_function() -> Callable[[Array], Array]:
    own = np.zeros((2, 3), np.float32)

    def function(x: Array) -> Array:
        own[:] = x + 1  # and every further call writes over it
        return own

    return function


def base_of(x: Array) -> Array:
    whole = np.zeros((4, 5), np.float32)
    whole[1:3, 1:4] = x + 1
    return whole[1:3, 1:4]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x + 1,
        lambda x: np.asfortranarray(x + 1),
        lambda x: (x + 1)[::-1][::-1],
        lambda x: (x + 1).T.T,
        lambda x: (x + 1).astype(">f4"),
        lambda x: (x + 1).tolist(),
        lambda x: np.frombuffer((x + 1).tobytes(), np.float32).reshape(2, 3),
        lambda x: memoryview(x + 1),
        lambda x: (x + 1,),
        base_of,
        kept_by_the_function(),
    ],
)
def test_any_array_is_taken(function: Any) -> None:
    pipe = calling(function)
    for _ in range(4):
        given, made = map(arrays, pipe.run())
        for x, y in zip(given, made, strict=True):
            np.testing.assert_array_equal(y, x + 1)


@pytest.mark.parametrize("by_batch", [False, True])
def test_what_others_may_write_into_is_copied(by_batch: bool) -> None:
    kept: list[Array] = []

    def kept_ones(samples: list[Array]) -> list[Array]:
        for array in kept:  # of the call before
            array[:] = -1
        kept[:] = [x + 1 for x in samples]
        return kept[:]

    def define() -> Any:
        x = drawn((200, 300))
        function = kept_ones if by_batch else lambda x: kept_ones([x])[0]
        return x, fn.python_function(x, function=function, batch_processing=by_batch)

    pipe = make(define, batch_size=BATCH)
    for _ in range(20):
        given, made = pipe.run()
        np.testing.assert_array_equal(made.as_array(), given.as_array() + 1)


def test_what_is_returned_unchanged() -> None:
    given, made = calling(lambda x: x).run()
    np.testing.assert_array_equal(made.as_array(), given.as_array())
    given.as_array()[:] = -1  # another memory, as whoever holds a batch may write into it
    assert (made.as_array() >= 0).all()


def test_inputs_cannot_be_written_into() -> None:
    def function(x: Array) -> Array:
        x[:] = 0
        return x

    with pytest.raises(SampleError, match="ValueError: assignment destination is read-only"):
        calling(function).run()


def test_empty_samples() -> None:
    _given, made = calling(lambda x: x[:0]).run()
    assert made.shape() == [(0, 3)] * BATCH
    pipe = make(
        lambda: fn.python_function(
            fn.python_function(drawn(), function=lambda x: x[:0]), function=lambda x: x.shape[0]
        ),
        batch_size=BATCH,
    )
    assert pipe.run()[0].as_array().tolist() == [0] * BATCH


def test_types_are_learned_or_declared() -> None:
    calls = 0

    def function(samples: list[Array]) -> list[Array]:
        nonlocal calls
        calls += 1
        return [x.astype(np.int16) for x in samples]

    for declared, expected in (
        ({}, 1),
        ({"dtype": types.INT16}, 1),
        ({"dtype": types.INT16, "ndim": 2}, 1),
        ({"dtype": "int16", "output_layouts": "HW"}, 1),
    ):
        calls = 0
        pipe = calling(function, SIMPLE, batch_processing=True, **declared)
        pipe.build()
        assert calls == 0
        _, made = pipe.run()
        assert (made.dtype, calls) == ("int16", expected)


def test_operators_may_follow() -> None:
    def define() -> Any:
        picture = fn.cast(drawn((6, 8, 3)), dtype=types.UINT8)
        turned = fn.python_function(picture, function=lambda x: np.rot90(x), output_layouts=["HWC"])
        return picture, fn.crop(turned, crop=(4, 4)), fn.cast(turned, dtype=types.FLOAT)

    given, cropped, cast = map(arrays, make(define, batch_size=BATCH).run())
    for x, y, z in zip(given, cropped, cast, strict=True):
        np.testing.assert_array_equal(z, np.rot90(x).astype(np.float32))
        np.testing.assert_array_equal(y, np.rot90(x)[2:6, 1:5])


def test_functions_may_follow_each_other() -> None:
    def define() -> Any:
        x = drawn()
        y = fn.python_function(x, function=lambda x: x.sum())
        return x, y, fn.python_function(y, x, function=lambda y, x: x > y / 6)

    given, total, is_more = map(arrays, make(define, batch_size=BATCH).run())
    for x, y, z in zip(given, total, is_more, strict=True):
        assert y == x.sum() and z.dtype == bool
        np.testing.assert_array_equal(z, x > y / 6)


def test_a_type_that_is_not_as_declared() -> None:
    pipe = calling(lambda x: x, dtype=types.INT16, ndim=2)
    with pytest.raises(SampleError, match=r"returned float32 .* as output 0, expected int16"):
        pipe.run()
    pipe = calling(lambda x: x if x[0, 0] < 50 else x[0])
    with pytest.raises(SampleError, match="as output 0, expected float32"):
        for _ in range(10):
            pipe.run()


def test_an_output_s_declaration_is_checked() -> None:
    with pytest.raises(GraphError, match="output_dtype expects 'int16', got 'float32'"):
        calling(lambda x: x, {"output_dtype": [None, "int16"]}).run()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"function": None}, "argument 'function' is required"),
        ({"function": 3}, "argument 'function' expects a callable, got 3"),
        ({"batch_processing": 2}, "argument 'batch_processing' expects bool, got 2"),
        ({"num_outputs": -1}, "num_outputs"),
        ({"functions": abs}, "no argument named 'functions'. Did you mean 'function'"),
        ({"device": "gpu"}, "device='gpu': it runs on the CPU; give it .cpu() of its inputs"),
        ({"dtype": "nothing", "ndim": 1}, "argument 'dtype' expects dtypes"),
        ({"dtype": ["int8"] * 2, "ndim": 1}, "'dtype' has 2 entries for 1 outputs"),
        ({"dtype": "int8", "ndim": 7}, "'ndim' expects numbers from 0 to 6, got 7"),
        ({"dtype": "int8", "ndim": 2, "output_layouts": "HWC"}, "layout of output 0 is 'HWC'"),
        ({"dtype": "int8", "ndim": 2, "output_layouts": ["HW"] * 2}, "has 2 entries for 1"),
    ],
)
def test_a_wrong_call_is_named(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(GraphError) as refused:
        make(
            lambda: fn.python_function(drawn(), **{"function": abs, **arguments}), batch_size=BATCH
        ).build()
    assert words in str(refused.value) and "python_function" in str(refused.value)
    assert Path(__file__).name in str(refused.value)


@pytest.mark.parametrize("settings", EXECUTORS)
def test_without_inputs_it_makes_samples(settings: dict[str, Any]) -> None:
    calls: list[int] = []

    def one() -> Array:
        calls.append(0)
        return np.full(2, 7, np.int16)

    def batch() -> tuple[list[int], list[float]]:
        return [0] * BATCH, [1.5] * BATCH

    def define() -> Any:
        made = fn.python_function(function=one)
        several = fn.python_function(function=batch, num_outputs=2, batch_processing=True)
        capsule = fn.dl_tensor_python_function(
            function=lambda: np.ones(3).__dlpack__(), batch_processing=False
        )
        return made, *several, capsule

    pipe = make(define, **{"batch_size": BATCH, "prefetch_queue_depth": 1, **settings})
    for _ in range(3):
        a, b, c, d = pipe.run()
        assert a.as_array().tolist() == [[7, 7]] * BATCH and a.dtype == types.INT16
        assert b.as_array().tolist() == [0] * BATCH and c.as_array().tolist() == [1.5] * BATCH
        assert d.as_array().tolist() == [[1.0] * 3] * BATCH
    pipe.close()
    assert len(calls) % BATCH == 0, "once for each sample"
    with pytest.raises(GraphError, match="takes 1 or more inputs, got 0"):
        make(lambda: fn.jax_function(function=abs))


def test_without_inputs_in_a_branch() -> None:
    """It makes samples for the side that is taken."""
    calls: list[int] = []

    def function() -> Any:
        calls.append(0)
        return np.int32(-1)

    def define() -> Any:
        x = fn.random.coin_flip(probability=0.5)
        y = x
        if x:
            y = fn.python_function(function=function, dtype=types.INT32, ndim=0)
        return x, y

    pipe = make(define, batch_size=8, enable_conditionals=True, executor="simple")
    flips, made = (batch.as_array() for batch in pipe.run())
    assert 0 < flips.sum() < 8, "this seed takes both sides"
    assert made.tolist() == [-1 if flip else 0 for flip in flips]
    assert len(calls) == flips.sum()


def test_one_layout_is_that_of_all_outputs() -> None:
    def layouts(given: Any) -> list[str]:
        _, *made = calling(lambda x: (x, x), num_outputs=2, output_layouts=given).run()
        return [batch.layout for batch in made]

    assert layouts("HW") == ["HW", "HW"]
    assert layouts(["HW"]) == ["HW", ""]
    assert layouts(("HW", "AB")) == ["HW", "AB"]


def test_lists_of_nodes_and_classes() -> None:
    double = ops.PythonFunction(function=lambda x: 2 * x)
    assert double.device == "cpu"

    def define() -> Any:
        a, b = drawn(), drawn((4,))
        return a, b, *double([a, b]), double(a)

    a, b, twice_a, twice_b, again = map(arrays, make(define, batch_size=BATCH).run())
    np.testing.assert_array_equal(twice_a, 2 * np.array(a))
    np.testing.assert_array_equal(twice_b, 2 * np.array(b))
    np.testing.assert_array_equal(again, twice_a)


def test_the_traceback_is_in_the_error() -> None:
    def helper(x: Array) -> Array:
        return x[17]

    def function(x: Array) -> Array:
        return helper(x)

    for settings in EXECUTORS:
        with pytest.raises(SampleError) as failed:
            calling(function, settings, dtype="float32", ndim=1).run()
        text = str(failed.value)
        assert "python_function 'python_function_0'" in text and "sample 0: IndexError" in text
        assert text.index("in function") < text.index("in helper")
        assert (
            "return x[17]" in text and "_functions" not in text and "user_function.py" not in text
        )
        assert failed.value.samples[0]["operator"] == "python_function"


class OddError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "what the function returned as output 0, sample 0, is of type NoneType"),
        ("text", "is of type str"),
        (np.array([None]), "of format 'O', 8 bytes each; no dtype of types.* is that"),
        (np.zeros(3, "U3"), "no dtype of types.* is that"),
        (np.zeros(3, complex), "no dtype of types.* is that"),
        (object(), "is of type object"),
        (np.zeros([1] * 7), "has samples of 7 axes; there may be 6"),
        ([[1], [2, 3]], "is of type list"),
    ],
)
def test_what_is_no_array(value: Any, words: str) -> None:
    with pytest.raises(SampleError) as failed:
        calling(lambda x: value, dtype="int64", ndim=0).run()
    assert words in str(failed.value)


@pytest.mark.parametrize("by_batch", [False, True])
def test_a_wrong_number_of_outputs(by_batch: bool) -> None:
    arguments = {"num_outputs": 2, "batch_processing": by_batch}
    for value, came in ((3, "a int"), ((1, 2, 3), "3")):
        pipe = calling(lambda *x, value=value: value, **arguments)
        with pytest.raises(SampleError, match=f"expected a tuple of num_outputs=2 .* got {came}"):
            pipe.run()


def test_a_wrong_number_of_samples() -> None:
    pipe = calling(lambda samples: samples[1:], batch_processing=True)
    with pytest.raises(SampleError, match="returned 3 samples, expected 4"):
        pipe.run()
    pipe = calling(lambda samples: samples[1:], batch_processing=True, dtype="float32", ndim=2)
    with pytest.raises(SampleError, match="returned 3 samples, expected 4"):
        pipe.run()


def test_an_exception_without_a_text() -> None:
    def function(x: Array) -> Array:
        raise OddError

    with pytest.raises(SampleError, match="its __str__ raised RuntimeError"):
        calling(function).run()
