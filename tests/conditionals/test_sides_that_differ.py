# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Sides of an `if` that differ in dtype, number of axes or layout, and do not meet in a batch."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conditional_pipes import pipe_of

from helpers import Array, needs
from stoker import DataNode, Pipeline, fn, types
from stoker.errors import GraphError, SampleError

BATCH, STEPS = 4, 5
WAYS = [{}, {"executor": "simple"}, {"num_threads": 1, "prefetch_queue_depth": 3}]


def is_even() -> DataNode:
    """Whether the number of the batch is even: the same for all samples of a batch."""
    return fn.external_source(source=lambda i: np.array(i.iteration % 2 == 0), batch=False)


def is_third() -> DataNode:
    return fn.external_source(source=lambda i: np.array(i.iteration % 3 == 0), batch=False)


def numbered() -> DataNode:
    return fn.external_source(source=picture, batch=False, layout="HWC")


def picture(i: Any) -> Array:
    return np.arange(24, dtype=np.uint8).reshape(2, 4, 3) + np.uint8(i.idx_in_epoch)


def pictures(step: int) -> list[Array]:
    return [
        np.arange(24, dtype=np.uint8).reshape(2, 4, 3) + np.uint8(step * BATCH + k)
        for k in range(BATCH)
    ]


def two(condition: DataNode, one: DataNode) -> Any:
    return one if condition else fn.cast(one, dtype=types.FLOAT) / 2


def made(pipe: Pipeline, count: int = STEPS) -> list[list[tuple[str, str, list[Array]]]]:
    return [
        [(b.dtype, b.layout, [np.array(x) for x in b.as_cpu()]) for b in pipe.run()]
        for _ in range(count)
    ]


def halves(step: int) -> list[Array]:
    """What `two` makes with `is_even`."""
    return pictures(step) if step % 2 == 0 else [x.astype(np.float32) / 2 for x in pictures(step)]


def expect(got: tuple[str, str, list[Array]], wanted: list[Array], layout: str = "HWC") -> None:
    dtype, came, samples = got
    assert (dtype, came, len(samples)) == (wanted[0].dtype.name, layout, len(wanted))
    for x, y in zip(samples, wanted, strict=True):
        assert x.dtype == y.dtype and np.array_equal(x, y)


@pytest.mark.parametrize("way", WAYS)
def test_outputs_have_the_type_of_the_side(way: dict[str, Any]) -> None:
    def define() -> Any:
        one = numbered()
        result = two(is_even(), one)
        return result, one

    pipe = pipe_of(define, batch_size=BATCH, **way)
    for step, (result, one) in enumerate(made(pipe)):
        expect(result, halves(step))
        expect(one, pictures(step))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("kind", "wanted", "layouts"),
    [
        (lambda x: fn.reshape(x, shape=[-1]), lambda x: x.ravel(), ("HWC", "")),
        (lambda x: fn.reshape(x, layout="FGX"), lambda x: x, ("HWC", "FGX")),
        (
            lambda x: fn.cast(x[:, :, 0], dtype="int64"),
            lambda x: x[:, :, 0].astype(np.int64),
            ("HWC", "HW"),
        ),
    ],
)
def test_number_of_axes_and_layout(
    way: dict[str, Any],
    kind: Callable[[DataNode], DataNode],
    wanted: Callable[[Array], Array],
    layouts: tuple[str, str],
) -> None:
    def define() -> Any:
        one = numbered()
        return one if is_even() else kind(one)

    for step, (got,) in enumerate(made(pipe_of(define, batch_size=BATCH, **way))):
        odd = step % 2
        expect(got, [wanted(x) if odd else x for x in pictures(step)], layouts[odd])


BEHIND: dict[str, tuple[Callable[[Any], Any], Callable[[Array], Array]]] = {
    "flip": (lambda x: fn.flip(x), lambda x: x[:, ::-1]),
    "resize": (
        lambda x: fn.resize(x, size=(4, 8), interp_type=types.INTERP_NN),
        lambda x: x.repeat(2, 0).repeat(2, 1),
    ),
    "normalize": (
        lambda x: fn.crop_mirror_normalize(x, mean=[2.0], std=[4.0], output_layout="HWC"),
        lambda x: ((x.astype(np.float32) - 2) / 4).astype(np.float32),
    ),
    "arithmetic": (lambda x: x * 2 + x, lambda x: x * 2 + x if x.dtype != np.uint8 else None),
    "cast": (lambda x: fn.cast(x, dtype="int32"), lambda x: np.floor(x + 0.5).astype(np.int32)),
    "pad": (
        lambda x: fn.pad(x, axes=[0], shape=[3]),
        lambda x: np.pad(x, ((0, 1), (0, 0), (0, 0))),
    ),
    "python_function": (
        lambda x: fn.reshape(
            fn.python_function(x, function=lambda a: np.float32(a.sum())), shape=[1, 1, 1]
        ),
        lambda x: np.float32(x.sum()).reshape(1, 1, 1),
    ),
    "permute_batch": (
        lambda x: fn.permute_batch(x, indices=types.Constant(np.int32(0))),
        lambda x: x,
    ),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", BEHIND)
def test_operators_behind_it_take_each_type(way: dict[str, Any], name: str) -> None:
    apply, wanted = BEHIND[name]

    def define() -> Any:
        return apply(two(is_even(), numbered()))

    for step, ((dtype, _, samples),) in enumerate(made(pipe_of(define, batch_size=BATCH, **way))):
        assert len(samples) == BATCH
        for k, x in enumerate(samples):
            given = halves(step)[0 if name == "permute_batch" else k]
            if name == "arithmetic" and given.dtype == np.uint8:
                assert np.array_equal(x, given.astype(np.int32) * 2 + given)
                continue
            y = wanted(given)
            assert (dtype, x.dtype) == (y.dtype.name, y.dtype)
            assert np.array_equal(x, y)


def test_conditions_within_each_other_and_beside_each_other() -> None:
    def define() -> Any:
        even, third, one = is_even(), is_third(), numbered()
        nested = one if even else (fn.cast(one, dtype="int16") if third else two(even, one))
        result = two(even, one)
        other = one if third else fn.cast(one, dtype="int16")
        return nested, result + other, result + result

    pipe = pipe_of(define, batch_size=BATCH)
    dtypes = []
    for step, (nested, summed, twice) in enumerate(made(pipe, 6)):
        dtypes.append((nested[0], summed[0], twice[0]))
        one = pictures(step)
        other = one if step % 3 == 0 else [x.astype(np.int16) for x in one]
        for x, a, b in zip(summed[2], halves(step), other, strict=True):
            assert np.array_equal(x, (a + b).astype(x.dtype))
    assert dtypes == [
        ("uint8", "uint8", "uint8"),
        ("float32", "float32", "float32"),
        ("uint8", "int16", "uint8"),
        ("int16", "float32", "float32"),
        ("uint8", "int16", "uint8"),
        ("float32", "float32", "float32"),
    ]


def of_each_sample(probability: float = 0.5) -> DataNode:
    return fn.random.coin_flip(probability=probability, dtype=types.BOOL)


def test_types_may_meet_where_an_operator_gives_them_one() -> None:
    def define() -> Any:
        one, condition = numbered(), of_each_sample()
        result = two(condition, one)
        return fn.cast(result, dtype="int32"), one, condition

    seen = set()
    for whole, one, condition in made(pipe_of(define, batch_size=BATCH)):
        for x, y, c in zip(whole[2], one[2], condition[2], strict=True):
            seen.add(bool(c))
            assert np.array_equal(x, y if c else np.floor(y / 2 + 0.5).astype(np.int32))
    assert seen == {False, True}


@pytest.mark.parametrize("executor", ["simple", "pipelined"])
@pytest.mark.parametrize(
    ("behind", "words"),
    [
        (lambda x: x, "merge 'merge_0'"),
        (lambda x: fn.flip(x), "merge 'merge_0'"),
        (lambda x: fn.pad(x), "pad 'pad_0'"),
        (
            lambda x: fn.python_function(x, function=lambda a: a, dtype="uint8"),
            "python_function 'python_function_0'",
        ),
    ],
)
def test_types_that_meet_are_an_error_of_their_batch(
    executor: str, behind: Callable[[Any], Any], words: str
) -> None:
    def condition(i: Any) -> Array:
        return np.array(i.iteration == 2 or (i.iteration == 1 and i.idx_in_batch > 1))

    def define() -> Any:
        where = fn.external_source(source=condition, batch=False, name="where")
        one = numbered()
        result = one
        if where:
            result = fn.expand_dims(one, axes=[0], new_axis_names="F")
        return behind(result)

    pipe = pipe_of(define, batch_size=BATCH, executor=executor)
    axes = []
    for step in range(4):
        if step == 1:
            with pytest.raises(SampleError) as failed:
                pipe.run()
            text = str(failed.value)
            assert words in text and "test_sides_that_differ.py" in text, text
            assert "uint8 FHWC" in text and "uint8 HWC" in text
            assert "where 'where' is true" in text and "fn.reshape or fn.expand_dims" in text
            assert len(failed.value.samples) == 1
            continue
        if step == 2 and "python_function" in words:
            break  # what it returns has the axes of its first batch
        (batch,) = pipe.run()
        axes.append(np.array(batch[0]).ndim)
    assert axes in ([3, 4, 3], [3])


def test_what_on_error_does_about_it() -> None:
    def condition(i: Any) -> Array:
        return np.array(i.iteration == 1 and i.idx_in_batch > 1)

    def define() -> Any:
        return two(fn.external_source(source=condition, batch=False), numbered())

    for executor in ("simple", "pipelined"):
        pipe = pipe_of(define, batch_size=BATCH, on_error="drop", executor=executor)
        with pytest.warns(UserWarning, match="merge 'merge_0'"):
            first = [np.array(pipe.run()[0][0])[0, 0, 0] for _ in range(3)]
        assert first == [0.0, 4.0, 6.0]
        assert pipe.stats()["steps_dropped"] == 1


@pytest.mark.parametrize("executor", ["simple", "pipelined"])
def test_a_state_goes_on(executor: str) -> None:
    def define() -> Any:
        third, even = is_third(), is_even()
        result = two(even, numbered())
        return fn.flip(result), fn.random_resized_crop(result if third else result * 2, size=(2, 2))

    whole = made(pipe_of(define, batch_size=BATCH, executor=executor), 6)
    for steps in (1, 2, 3):
        pipe = pipe_of(define, batch_size=BATCH)
        made(pipe, steps)
        again = pipe_of(define, batch_size=BATCH, executor=executor, checkpoint=pipe.checkpoint())
        for got, wanted in zip(made(again, 6 - steps), whole[steps:], strict=True):
            for one, other in zip(got, wanted, strict=True):
                expect(one, other[2], other[1])


def test_a_saved_pipeline_is_the_given_one() -> None:
    def define() -> Any:
        a, b = fn.constant(idata=[1, 2], dtype="uint8"), fn.random.uniform(shape=[1, 2])
        return fn.copy(a if of_each_sample() else b)

    pipe = pipe_of(define, batch_size=1)
    text = pipe.serialize()
    assert [n["op"] for n in json.loads(text)["nodes"]].count("merge") == 1
    for (got,), (wanted,) in zip(made(Pipeline.deserialize(text)), made(pipe), strict=True):
        expect(got, wanted[2], wanted[1])


def test_short_batches_and_the_last_one(tmp_path: Path) -> None:
    for k in range(7):
        np.save(tmp_path / f"{k}.npy", np.full((1 + k % 2, 2), k, np.uint8))

    def define() -> Any:
        array = fn.readers.numpy(file_root=str(tmp_path), name="R", pad_last_batch=False)
        return two(is_even(), array), array

    for executor in ("simple", "pipelined"):
        pipe = pipe_of(define, batch_size=BATCH, executor=executor)
        for step in range(4):
            result, array = pipe.run()
            for k in range(len(array)):
                assert result.source_info(k) == array.source_info(k)
            assert result.dtype == ("uint8" if step % 2 == 0 else "float32")
            for k in range(len(array)):
                x = np.array(array[k])
                assert np.array_equal(np.array(result[k]), x if step % 2 == 0 else x / 2)


def test_a_batch_of_one_shape_is_one_tensor() -> None:
    def define() -> Any:
        one = fn.constant(idata=[1, 2, 3], dtype="uint8")
        result = fn.copy(one) if is_even() else fn.cast(one, dtype=types.FLOAT)
        return fn.flip(fn.reshape(result, shape=[1, 3, 1], layout="HWC")), result

    pipe = pipe_of(define, batch_size=BATCH)
    for step in range(3):
        for batch in pipe.run():
            assert batch.is_dense and batch.as_array().shape[0] == BATCH
            assert batch.dtype == ("uint8", "float32")[step % 2]


def test_on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STOKER_SIMULATED_DEVICES", "1")

    def define() -> Any:
        even, one = is_even(), numbered()
        result = two(even, one.gpu())
        mixed: Any = one if even else fn.cast(one.gpu(), dtype=types.FLOAT)
        return (
            fn.flip(result),
            fn.flip(result).cpu(),
            mixed,
            fn.cast(mixed, dtype="int32"),
            fn.gaussian_blur(result, window_size=3),
        )

    pipe = pipe_of(define, batch_size=BATCH, device_id=0)
    for step, batches in enumerate(made(pipe)):
        one, half = pictures(step), halves(step)
        cast = [x.astype(np.int32) for x in one]
        flipped = [x[:, ::-1] for x in half]
        as_float = [x if step % 2 == 0 else x.astype(np.float32) for x in one]
        for got, wanted in zip(batches, [flipped, flipped, as_float, cast], strict=False):
            expect(got, wanted)
        assert batches[4][0] == half[0].dtype.name
    devices = [batch.device for batch in pipe.run()]
    assert [d == "cpu" for d in devices] == [False, True, False, False, False]


def test_on_a_gpu_types_that_meet_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STOKER_SIMULATED_DEVICES", "1")

    def define() -> Any:
        return two(of_each_sample(), numbered().gpu())

    pipe = pipe_of(define, batch_size=BATCH, device_id=0)
    found: set[Any] = set()
    for _ in range(8):
        try:
            found.add(pipe.run()[0].dtype)
        except SampleError as e:
            found.add("merge 'merge_0'" in str(e))
    assert True in found and found <= {True, "uint8", "float32"}


def test_arguments_and_conditions_of_two_types() -> None:
    def define() -> Any:
        third, one = is_third(), numbered()
        size: Any = fn.constant(fdata=[3.0, 3.0]) if is_even() else fn.constant(idata=[4, 5])
        flag: Any = third if is_even() else fn.cast(third, dtype="float32") / 4
        return fn.resize(one, size=size), one if flag else one + 1

    for step, (resized, chosen) in enumerate(made(pipe_of(define, batch_size=BATCH))):
        assert {x.shape for x in resized[2]} == {(4, 5, 3) if step % 2 else (3, 3, 3)}
        add = step % 3 != 0
        assert np.array_equal(chosen[2][0], pictures(step)[0].astype(np.int32) + add)


def test_the_plan_shows_what_is_done() -> None:
    def define() -> Any:
        return fn.flip(two(is_even(), numbered()))

    pipe = pipe_of(define, batch_size=BATCH)
    plan = pipe.plan()
    assert plan.count("flip 'flip_0'") == 2
    assert "output 0: uint8 HWC (?, ?, ?) of flip_0 or float32 HWC (?, ?, ?) of flip_0" in plan


def test_what_one_type_does_not_fit_is_refused_at_once() -> None:
    def define() -> Any:
        one = numbered()
        flat: Any = fn.reshape(one, shape=[-1]) if is_even() else one
        return fn.flip(flat)

    with pytest.raises(GraphError, match=r"flip 'flip_0'.*expects.*where .* is true"):
        pipe_of(define, batch_size=BATCH).run()


def test_declared_outputs_hold_for_all_types() -> None:
    def define() -> Any:
        return two(is_even(), numbered())

    with pytest.raises(GraphError, match="output_dtype expects 'uint8', got 'float32'"):
        pipe_of(define, batch_size=BATCH, output_dtype="uint8").run()
    pipe_of(define, batch_size=BATCH, output_ndim=3, output_layout="HWC").run()


@needs("tensorflow")
@pytest.mark.xdist_group("tensorflow")
def test_a_dataset_of_tensorflow_has_one_type() -> None:
    from stoker.tensorflow import DALIDataset

    def define() -> Any:
        return two(of_each_sample(), fn.constant(idata=[1, 2], dtype="uint8"))

    with pytest.raises(GraphError, match="output 0: a dataset of TensorFlow has one dtype"):
        DALIDataset(pipe_of(define, batch_size=1), output_dtypes=None)
