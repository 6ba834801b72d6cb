# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""``pipeline_def``, ``define_graph`` and the settings of a pipeline."""

from __future__ import annotations

import inspect
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers import make, run_script
from stoker import DataNode, Pipeline, errors, fn, pipeline_def, types


@pipeline_def
def plain() -> DataNode:
    return fn.random.uniform()


@pipeline_def(batch_size=2, num_threads=3)
def with_settings(low: float, high: float = 1.0) -> DataNode:
    """Draws."""
    return fn.random.uniform(range=[low, high])


def test_pipeline_def_in_both_forms() -> None:
    assert plain(batch_size=4).batch_size == 4
    pipe = with_settings(0.5, high=0.75, batch_size=8)
    assert (pipe.batch_size, pipe.num_threads) == (8, 3)
    (batch,) = pipe.run()
    assert np.all((np.asarray(batch) >= 0.5) & (np.asarray(batch) < 0.75))
    assert with_settings.__doc__ == "Draws."
    assert list(inspect.signature(with_settings).parameters) == ["low", "high"]


def test_pipeline_def_refuses_unknown_names() -> None:
    with pytest.raises(
        TypeError, match=r"with_settings\(\).*'batchsize'. Did you mean 'batch_size'"
    ):
        with_settings(0.0, batchsize=3)
    with pytest.raises(TypeError, match="Did you mean 'num_threads'"):
        pipeline_def(num_thread=3)
    with pytest.raises(TypeError, match="Did you mean 'batch_size'"):
        Pipeline(batch_sizes=3)


def test_an_argument_named_like_a_setting_goes_to_the_function() -> None:
    @pipeline_def(batch_size=1)
    def seeded(seed: int) -> DataNode:
        return fn.random.uniform(seed=seed)

    with pytest.warns(UserWarning, match="seed= goes to the function seeded"):
        pipe = seeded(seed=3)
    assert pipe.seed is None


def test_a_function_without_outputs() -> None:
    @pipeline_def(batch_size=1)
    def nothing() -> None:
        fn.random.uniform()

    with pytest.raises(errors.GraphError, match=r"nothing .*returns no outputs"):
        nothing()


def test_established_settings_are_accepted() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pipe = Pipeline(
            4,
            2,
            None,
            -1,
            True,
            {"cpu_size": 3, "gpu_size": 2},
            exec_async=False,
            set_affinity=True,
            enable_checkpointing=True,
            py_num_workers=4,
        )
    assert (pipe.batch_size, pipe.num_threads, pipe.prefetch_queue_depth) == (4, 2, 3)
    assert (pipe.seed, pipe.exec_async, pipe.set_affinity, pipe.py_num_workers) == (
        None,
        False,
        True,
        4,
    )


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"batch_size": 0}, "argument 'batch_size' is 0, expected 1 to 2147483647"),
        ({"batch_size": 2.5}, "argument 'batch_size' expects int, got 2.5"),
        ({"num_threads": "many"}, "argument 'num_threads' expects int, got 'many'"),
        ({"on_error": "skipp"}, "Did you mean 'skip'"),
        ({"executor": "fast"}, "argument 'executor' expects one of pipelined, simple, got 'fast'"),
        ({"shard_id": 2, "num_shards": 2}, "shard_id is 2"),
        ({"prefetch_queue_depth": {"cpu": 2}}, "'cpu_size' and 'gpu_size'"),
        ({"num_threads": 4097}, "argument 'num_threads' is 4097, expected 1 to 4096"),
        ({"io_threads": 4097}, "argument 'io_threads' is 4097, expected 1 to 4096"),
        ({"prefetch_queue_depth": 10**5}, "'prefetch_queue_depth' is 100000, expected 0 to 10000"),
        ({"prefetch_queue_depth": -1}, "'prefetch_queue_depth' is -1, expected 0 to 10000"),
        ({"exec_pipelined": 2}, "argument 'exec_pipelined' expects bool, got 2"),
        ({"memory_limit": -1}, "argument 'memory_limit' is -1, expected at least 0"),
        ({"device_memory_limit": -1}, "argument 'device_memory_limit' is -1, expected at least 0"),
        (
            {"seed": 2**63},
            "Pipeline: argument 'seed': an argument is an int that int64 cannot hold",
        ),
        (
            {"io_threads": object()},
            "'io_threads' expects a number, a text or a list of them, got <",
        ),
        ({"max_batch_size": 3}, "batch_size=1, but max_batch_size=3"),
        ({"max_batch_size": 0}, "argument 'max_batch_size' is 0, expected at least 1"),
        ({"max_batch_size": [[3]]}, "argument 'max_batch_size' expects int, got [[3]]"),
    ],
)
def test_refused_settings(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(errors.GraphError) as caught:
        Pipeline(**{"batch_size": 1, **settings})
    assert message in str(caught.value)


def test_a_pipeline_needs_a_batch_size_and_outputs() -> None:
    with pytest.raises(errors.GraphError, match="batch_size is required"):
        plain().run()
    with pytest.raises(errors.GraphError, match="has no outputs"):
        Pipeline(batch_size=1).run()
    with pytest.raises(errors.GraphError, match="at least one output"):
        Pipeline(batch_size=1).set_outputs()


TESTS = str(Path(__file__).parents[1])
AFFINITY = """
import os, sys
sys.path.insert(0, sys.argv[1])
from helpers import cpus_of_workers
from stoker import Pipeline, fn
with Pipeline(batch_size=2, num_threads=3, set_affinity=True) as pipe:
    pipe.set_outputs(fn.random.uniform())
pipe.run()
own = os.sched_getaffinity(0)
workers = cpus_of_workers(3)
print(workers.count({max(own)}), workers.count(own), pipe.plan().splitlines()[-1], sep="|")
"""


def test_workers_run_where_the_established_variable_says() -> None:
    usable = os.sched_getaffinity(0)
    last = max(usable)
    done = run_script(
        AFFINITY, TESTS, DALI_AFFINITY_MASK=f"{last},{last}", STOKER_SIMULATED_DEVICES=""
    )
    assert not done.returncode, done.stderr
    on_last, on_any, words = done.stdout.strip().split("|")
    assert (on_last, on_any) == (("2", "1") if len(usable) > 1 else ("3", "3"))
    assert words == (
        f"workers: on CPUs {last}, {last} (DALI_AFFINITY_MASK); the others on any CPU: "
        "the pipeline has no device"
    )


def test_a_wrong_affinity_is_refused() -> None:
    done = run_script(AFFINITY, TESTS, DALI_AFFINITY_MASK="first")
    assert "GraphError: DALI_AFFINITY_MASK takes numbers of CPUs" in done.stderr
    with pytest.raises(errors.GraphError, match="'set_affinity' expects bool, got 'yes'"):
        make(fn.random.uniform, set_affinity="yes")


def test_define_graph() -> None:
    class Draws(Pipeline):
        def define_graph(self) -> tuple[DataNode, DataNode]:
            return fn.random.uniform(), fn.random.coin_flip()

    pipe = Draws(batch_size=3)
    assert [len(b) for b in pipe.run()] == [3, 3]
    assert pipe.num_outputs == 2


def test_a_built_graph_stays_as_it_is() -> None:
    pipe = plain(batch_size=1)
    pipe.build()
    with pipe, pytest.raises(errors.GraphError, match="built"):
        fn.random.uniform()


def test_pipelines_nest_and_belong_to_threads() -> None:
    outer, inner = Pipeline(batch_size=1), Pipeline(batch_size=1)
    assert Pipeline.current() is None
    with outer:
        with inner:
            assert Pipeline.current() is inner
        assert Pipeline.current() is outer
    assert Pipeline.current() is None
    with pytest.raises(errors.GraphError, match="no current pipeline"):
        Pipeline.pop_current()


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ({"output_dtype": types.UINT8}, "output 0 .*output_dtype expects 'uint8', got 'float32'"),
        ({"output_ndim": [0, 2]}, "output 1 .*output_ndim expects 2, got 1"),
        (
            {"output_layout": ("", None, "")},
            r"output_layout expects an entry for each of output 0 \(random_uniform_0\), "
            r"output 1 \(random_coin_flip_0\), got 3",
        ),
        ({"output_dtype": [types.FLOAT, np.int32], "output_ndim": [None, 1]}, None),
    ],
)
def test_declared_outputs_are_checked(declared: dict[str, Any], message: str | None) -> None:
    pipe = Pipeline(batch_size=1, **declared)
    with pipe:
        pipe.set_outputs(fn.random.uniform(), fn.random.coin_flip(shape=[2]))
    if message is None:
        pipe.build()
        return
    with pytest.raises(errors.GraphError, match=message):
        pipe.build()


@pytest.mark.parametrize(
    ("declared", "kind", "words"),
    [
        ({"output_ndim": -1}, errors.GraphError, "output_ndim' is -1, expected at least 0"),
        ({"output_ndim": [3, -1]}, errors.GraphError, "output_ndim' is -1, expected at least 0"),
        ({"output_ndim": 1.5}, errors.GraphTypeError, "output_ndim' expects an int, a list"),
        ({"output_ndim": ["1"]}, errors.GraphTypeError, "output_ndim' expects an int, a list"),
        ({"output_ndim": True}, errors.GraphTypeError, "output_ndim' expects an int, a list"),
        ({"output_dtype": int}, errors.GraphTypeError, "output_dtype' expects a dtype such as"),
        ({"output_dtype": [3.5]}, errors.GraphTypeError, "output_dtype' expects a dtype such as"),
        ({"output_dtype": types.DType.NO_TYPE}, errors.GraphError, "expects a dtype, one of uint8"),
        ({"output_dtype": [None, "int33"]}, errors.GraphError, "one of uint8.* got 'int33'"),
        ({"output_layout": 5}, errors.GraphTypeError, "output_layout' expects a text, a list"),
        ({"output_layout": ["HWC", 5]}, errors.GraphTypeError, "output_layout' expects a text"),
    ],
)
def test_wrong_declarations_are_refused_at_once(
    declared: dict[str, Any], kind: type[Exception], words: str
) -> None:
    with pytest.raises(kind, match=words):
        Pipeline(batch_size=1, **declared)


def test_declarations_of_another_count_are_refused_by_the_build() -> None:
    for declared in ({"output_dtype": ["uint8"]}, {"output_ndim": [None] * 3}):
        pipe = Pipeline(batch_size=1, **declared)  # type: ignore[arg-type]
        with pipe:
            fed = fn.external_source(name="fed")  # of a type that is not known at the build
            pipe.set_outputs(fed, fed)
        with pytest.raises(errors.GraphError, match=r"an entry for each of output 0 .*, output 1"):
            pipe.build()
