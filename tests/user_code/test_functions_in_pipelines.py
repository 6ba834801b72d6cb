# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""`python_function` in its pipeline: policies, topologies, branches, feeds, memory and saving."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from calling import BATCH, EXECUTORS, arrays, calling, drawn

from helpers import assert_same, make, take
from stoker import DataNode, Pipeline, _core, fn, ops, pipeline_def, types
from stoker.errors import BudgetError, GraphError, SampleError

Array = np.ndarray[Any, Any]


@pytest.fixture(scope="module")
def files(pictures: Path) -> list[str]:
    return sorted(map(str, pictures.rglob("*.jpg")))


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


@pytest.mark.parametrize("settings", EXECUTORS)
@pytest.mark.parametrize("policy", ["raise", "skip", "replace"])
def test_a_failure_behind_drops_the_sample_or_loses_the_step(
    settings: dict[str, Any], policy: str, files: list[str]
) -> None:
    """The slice takes two rows of what the function made; that of samples 4 and 9 has one."""

    def function(label: Array) -> Array:
        return np.full((1 if label in (4, 9) else 3, 2), label.item(), np.int32)

    def define() -> Any:
        _, label = fn.readers.file(files=files[:12], labels=list(range(12)))
        made = fn.python_function(label, function=function, dtype="int32", ndim=2)
        return label, fn.slice(made, axes=[0], start=[0], shape=[2])

    pipe = make(define, **{"batch_size": 4, "on_error": policy, **settings})
    seen: list[Any] = []
    for _ in range(6):
        try:
            label, rows = pipe.run()
            kept = label.as_array().ravel().tolist()
            assert [x.tolist() for x in arrays(rows)] == [[[k, k]] * 2 for k in kept]
            seen.append(kept)
        except SampleError as e:
            seen.append("slice" in str(e))
    whole = [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]
    left = [[k for k in step if k not in (4, 9)] for step in whole]
    assert seen == 2 * (left if policy == "skip" else [whole[0], True, True])


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


@pytest.mark.parametrize("settings", EXECUTORS)
def test_fusing_beside_a_function_changes_nothing(settings: dict[str, Any], pictures: Path) -> None:
    def define() -> Any:
        encoded, label = fn.readers.file(file_root=pictures, random_shuffle=True)
        picture = fn.resize(fn.decoders.image(encoded), size=[24, 20])
        made = fn.python_function(
            picture, label, function=lambda x, n: x[n.item() % 3 :], output_layouts="HWC"
        )
        left, right = (
            fn.crop_mirror_normalize(
                x, crop=(16, 16), mirror=fn.random.coin_flip(), dtype=types.FLOAT, mean=[9.0, 5, 2]
            )
            for x in (picture, made)
        )
        return left, right, label

    def some(**rewrites: bool) -> list[Any]:
        return take(make(define, **{"batch_size": 5, **settings, **rewrites}), 20)

    fused = some()
    assert_same(some(fuse=False), fused, "without fusion")
    assert_same(some(fuse=False, demand=False), fused, "without fusion and demand")


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
    assert seen[: len(taken)] == taken


def test_a_branch_that_is_never_taken() -> None:
    def define() -> Any:
        x = drawn((1,))
        if fn.random.coin_flip(probability=0.0):
            x = fn.python_function(x, function=lambda x: x)
        return x

    with pytest.raises(GraphError, match="was called with no sample in the first steps"):
        make(define, batch_size=2, enable_conditionals=True).run()


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


@pytest.mark.parametrize("settings", EXECUTORS)
@pytest.mark.parametrize("by_batch", [False, True])
def test_a_function_without_outputs_is_called_for_each_sample(
    by_batch: bool, settings: dict[str, Any]
) -> None:
    seen: list[float] = []

    def function(x: Any) -> None:
        seen.extend(float(sample[0, 0]) for sample in (x if by_batch else [x]))

    def define() -> DataNode:
        x = drawn()
        result = fn.python_function(x, function=function, num_outputs=0, batch_processing=by_batch)
        assert result is None
        return x

    pipe = make(define, **{"batch_size": BATCH, **settings})
    given: list[float] = []
    for _ in range(5):
        (batch,) = pipe.run()
        given.extend(sample[0, 0] for sample in arrays(batch))
    assert seen[: len(given)] == given, "it may be ahead"


def test_what_a_preserved_function_makes_is_not_handed_out() -> None:
    calls: list[int] = []

    def function(x: Any) -> Any:
        calls.append(1)
        return x

    def preserved() -> DataNode:
        x = drawn()
        fn.python_function(x, function=function, dtype="float32", ndim=2, preserve=True)
        return x

    def unread() -> DataNode:
        x = drawn()
        fn.python_function(x, function=function, dtype="float32", ndim=2)
        return x

    pipe = make(preserved, batch_size=BATCH)
    assert [len(pipe.run()) for _ in range(3)] == [1] * 3
    assert len(calls) >= 3 * BATCH
    pipe.close()  # no call comes behind this
    calls.clear()
    pipe = make(unread, batch_size=BATCH)
    assert [len(pipe.run()) for _ in range(3)] == [1] * 3 and not calls


def test_a_sink_is_called() -> None:
    calls: list[int] = []

    def function(x: Any) -> Any:
        calls.append(1)
        return x

    with Pipeline(batch_size=BATCH, num_threads=1) as pipe:
        x = drawn()
        sink = fn.python_function(x, function=function, dtype="float32", ndim=2)
        pipe.set_outputs(x)
        pipe.add_sink(sink)
        pipe.add_sink(x)
    assert len(pipe.run()) == 1 and len(calls) >= BATCH


def test_a_function_without_outputs_cannot_be_in_a_branch() -> None:
    @pipeline_def(batch_size=BATCH, num_threads=1, enable_conditionals=True)
    def pipe() -> Any:
        x = fn.random.coin_flip()
        if x:
            fn.python_function(x, function=print, num_outputs=0)
        return x

    with pytest.raises(GraphError, match="a function whose outputs nobody needs cannot be in an"):
        pipe()
