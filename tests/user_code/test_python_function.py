# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""`python_function`: what a function gets, what it may return, and where its errors go."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from calling import BATCH, EXECUTORS, SIMPLE, arrays, calling, drawn

from helpers import assert_same, make, take
from stoker import Pipeline, _core, fn, ops, types
from stoker.errors import BudgetError, GraphError, SampleError

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


def test_what_others_may_write_into_is_copied() -> None:
    kept: list[Array] = []

    def function(samples: list[Array]) -> list[Array]:
        made = [x + 1 for x in samples]
        kept.extend(made)
        return made

    def view_of_a_kept_one(x: Array) -> Array:
        kept.append(x + 1)
        return kept[-1][:]

    for pipe in (calling(function, batch_processing=True), calling(view_of_a_kept_one)):
        pipe.build()
        for _ in range(5):
            given, made = pipe.run()
            for array in kept:
                array[:] = -1
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


# Types.


def test_types_are_learned_or_declared() -> None:
    calls = 0

    def function(samples: list[Array]) -> list[Array]:
        nonlocal calls
        calls += 1
        return [x.astype(np.int16) for x in samples]

    for declared, expected in (
        ({}, 2),
        ({"dtype": types.INT16}, 2),
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
        ({"num_outputs": 0}, "num_outputs"),
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


def test_it_takes_inputs() -> None:
    with pytest.raises(GraphError, match="takes 1 or more inputs, got 0"):
        make(lambda: fn.python_function(function=abs))


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


# Errors.


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


@pytest.mark.parametrize("settings", EXECUTORS)
@pytest.mark.parametrize("policy", ["raise", "skip", "replace"])
def test_a_failure_loses_its_step(settings: dict[str, Any], policy: str, files: list[str]) -> None:
    def function(label: Array) -> Array:
        if label in (4, 6):
            raise ValueError(f"not {label.item()}")
        return 2 * label

    def define() -> Any:
        _, label = fn.readers.file(files=files[:12], labels=list(range(12)))
        return label, fn.python_function(label, function=function)

    pipe = make(define, **{"batch_size": 4, "on_error": policy, **settings})
    seen: list[Any] = []
    for _ in range(6):
        try:
            label, twice = pipe.run()
            np.testing.assert_array_equal(twice.as_array(), 2 * label.as_array())
            seen.append(label.as_array().ravel().tolist())
        except SampleError as e:
            seen.append(str(e).count("ValueError: not 4"))
    assert seen == [[0, 1, 2, 3], 2, [8, 9, 10, 11]] * 2


def test_samples_that_are_left_out(damaged: Path) -> None:
    sizes: list[int] = []

    def function(pictures: list[Array]) -> list[Any]:
        sizes.append(len(pictures))
        return [x.mean() for x in pictures]

    def define() -> Any:
        encoded, _label = fn.readers.file(file_root=damaged)
        pictures = fn.decoders.image(encoded)
        return pictures, fn.python_function(
            pictures, function=function, batch_processing=True, dtype="float64", ndim=0
        )

    pipe = make(define, batch_size=6, on_error="skip")
    for batches in pipe:
        for picture, mean in zip(*map(arrays, batches), strict=True):
            assert mean == picture.mean()
    pipe.close()
    assert sizes[:4] in ([6, 5, 6, 6], [5, 6, 6, 6], [6, 6, 5, 6], [6, 6, 6, 5])


# The same samples on every way.


@pytest.fixture(scope="module")
def files(pictures: Path) -> list[str]:
    return sorted(map(str, pictures.rglob("*.jpg")))


def mixed(files: list[str]) -> Callable[[], Any]:
    """A graph with functions by sample, between them and the device, and one in a branch."""

    def define() -> Any:
        _, label = fn.readers.file(files=files, labels=list(range(len(files))), random_shuffle=True)
        x = drawn((3, 4, 1))
        y = fn.python_function(
            x, label, function=lambda x, n: x[: 1 + n.item() % 3] + n, output_layouts="HWC"
        )
        z = fn.crop_mirror_normalize(y.gpu(), crop=(1, 2), dtype=types.FLOAT).cpu()
        if fn.random.coin_flip():
            z = fn.python_function(z, function=lambda z: np.flip(z, 1) - 1)
        total, most = fn.python_function(y, function=lambda y: (y.sum(), y.max()), num_outputs=2)
        return label, y, z, total, most

    return define


@pytest.mark.parametrize("executor", EXECUTORS)
def test_topologies_change_nothing(
    executor: dict[str, Any], files: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STOKER_SIMULATED_DEVICES", "1")

    def some(size: int, **settings: Any) -> list[Any]:
        pipe = make(
            mixed(files[:23]), batch_size=size, enable_conditionals=True, **{**executor, **settings}
        )
        return take(pipe, 40)

    whole = some(1, num_threads=1, prefetch_queue_depth=1)
    for size, threads, depth in ((5, 2, 2), (8, 3, 3), (3, 1, 1)):
        got = some(size, num_threads=threads, prefetch_queue_depth=depth)
        assert_same(got, whole, f"batches of {size}")
    for seed in range(3):
        _core.simulated_delay(0, seed, 300)
        try:
            assert_same(some(5, prefetch_queue_depth=3), whole, f"delays of seed {seed}")
        finally:
            _core.simulated_forget(0)


def test_shards(files: list[str]) -> None:
    def labels(shard: int, count: int) -> list[int]:
        def define() -> Any:
            _, label = fn.readers.file(
                files=files[:22],
                labels=list(range(22)),
                shard_id=shard,
                num_shards=count,
            )
            return fn.python_function(label, function=lambda n: 3 * n)

        return [int(s[0].item()) for s in take(make(define, batch_size=2), 8)]

    assert labels(0, 1) == [3 * k for k in range(8)]
    assert labels(1, 2)[:4] == [3 * k for k in range(11, 15)]


@pytest.mark.parametrize("settings", EXECUTORS)
def test_a_function_in_a_branch_sees_its_samples(settings: dict[str, Any]) -> None:
    seen: list[list[float]] = []

    def function(samples: list[Array]) -> list[Array]:
        assert samples
        seen.append([float(x[0]) for x in samples])
        return [x + 1000 for x in samples]

    def define() -> Any:
        x, is_taken = drawn((1,)), fn.random.coin_flip(probability=0.3)
        y = x
        if is_taken and fn.random.coin_flip(probability=0.7):
            y = fn.python_function(x, function=function, batch_processing=True)
        return x, y

    pipe = make(define, **{"batch_size": 3, "enable_conditionals": True, **settings})
    taken: list[list[float]] = []
    for _ in range(20):
        given, made = map(arrays, pipe.run())
        for x, y in zip(given, made, strict=True):
            assert y in (x, x + 1000)
        if some := [float(x[0]) for x, y in zip(given, made, strict=True) if x != y]:
            taken.append(some)
    pipe.close()
    assert 2 < len(taken) < 20
    assert seen[0] == taken[0], "the call that tells the types"
    assert seen[1 : len(taken) + 1] == taken


def test_a_branch_that_is_never_taken() -> None:
    def define() -> Any:
        x = drawn((1,))
        if fn.random.coin_flip(probability=0.0):
            x = fn.python_function(x, function=lambda x: x)
        return x

    with pytest.raises(GraphError, match="was called with no sample in the first steps"):
        make(define, batch_size=2, enable_conditionals=True).run()


# What is fed.


@pytest.mark.parametrize("settings", EXECUTORS)
def test_sources_lose_no_batch(settings: dict[str, Any]) -> None:
    def define() -> Any:
        x = fn.external_source(lambda i: np.full((BATCH, 2), i))
        return x, fn.python_function(x, function=lambda x: -x)

    pipe = make(define, **{"batch_size": BATCH, **settings})
    for i in range(4):
        given, made = pipe.run()
        assert (given.as_array() == i).all() and (made.as_array() == -i).all()


def test_a_source_that_ends_at_once_and_one_that_fails() -> None:
    def define() -> Any:
        x = fn.external_source(iter([]), dtype="int64", ndim=1)
        return fn.python_function(x, function=lambda x: -x)

    with pytest.raises(StopIteration):
        make(define, batch_size=BATCH).run()


def test_what_is_fed_by_hand() -> None:
    def define() -> Any:
        x = fn.external_source(name="x")
        return fn.python_function(x, function=lambda x: x + 1)

    pipe = make(define, batch_size=2)
    pipe.feed_input("x", np.zeros((2, 3)))
    pipe.feed_input("x", np.ones((2, 3)))
    assert [pipe.run()[0].as_array().max() for _ in range(2)] == [1, 2]


# Memory.


@pytest.mark.parametrize("settings", EXECUTORS)
def test_arrays_are_let_go_of(settings: dict[str, Any]) -> None:
    alive: set[int] = set()

    def function(x: Array) -> Array:
        made = x + 1
        alive.add(id(made))
        weakref.finalize(made, alive.discard, id(made))
        return made

    pipe = calling(function, {"prefetch_queue_depth": 2, **settings})
    for _ in range(30):
        pipe.run()
    assert len(alive) <= 4 * BATCH
    pipe.close()
    gc.collect()
    assert len(alive) == 0


def test_a_pipeline_that_its_function_knows_is_collected() -> None:
    class Training(Pipeline):
        def define_graph(self) -> Any:
            return ops.PythonFunction(function=self.twice)(drawn())

        def twice(self, x: Array) -> Array:
            return 2 * x

    pipe = Training(batch_size=2, num_threads=1)
    pipe.run()
    gone = weakref.ref(pipe)
    del pipe
    gc.collect()
    assert gone() is None


def test_little_memory_is_an_error_or_changes_nothing() -> None:
    def define() -> Any:
        x = drawn((500,))
        return x, fn.python_function(x, function=lambda x: np.tile(x, 3))

    raised = 0
    for limit in range(20_000, 140_000, 4_000):
        try:
            pipe = make(define, batch_size=4, memory_limit=limit)
            for _ in range(3):
                given, made = map(arrays, pipe.run())
                np.testing.assert_array_equal(made, np.tile(given, 3))
        except BudgetError:
            raised += 1
        except SampleError as e:
            assert "memory" in str(e)
            raised += 1
    assert 2 < raised < 28


# Saving.


def test_it_cannot_be_saved(tmp_path: Path) -> None:
    pipe = calling(lambda x: x)
    for save in (pipe.serialize, lambda: pipe.serialize(tmp_path / "saved.json")):
        with pytest.raises(
            GraphError, match=r"the function of python_function 'python_function_0'"
        ):
            save()
    assert not (tmp_path / "saved.json").exists()
    pipe.save_graph_to_dot_file(tmp_path / "graph.dot")
    assert "python_function" in (tmp_path / "graph.dot").read_text()


def test_a_saved_graph_that_names_a_function() -> None:
    saved = make(lambda: fn.copy(drawn()), batch_size=1).serialize()
    edited = saved.replace('"copy"', '"python_function"')
    assert edited != saved
    with pytest.raises(GraphError):
        Pipeline.deserialize(edited).run()


def test_the_plan_and_the_statistics_name_it() -> None:
    pipe = calling(lambda x: x)
    pipe.run()
    assert "python_function 'python_function_0'" in pipe.plan()
    assert any(o["operator"] == "python_function" for o in pipe.stats()["operators"])
