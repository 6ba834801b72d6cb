# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Sources in worker processes: order, shared work, failures, and nothing left behind."""

from __future__ import annotations

import contextlib
import functools
import gc
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers import assert_same, epoch, make, take
from stoker import Pipeline, fn, types
from stoker.errors import GraphError, SourceError

BATCH = 4
METHODS = ["fork", "spawn", "forkserver"]


def sample(info: types.SampleInfo) -> Any:
    if info.idx_in_epoch >= 22:
        raise StopIteration
    return (
        np.full(info.idx_in_batch + 1, info.idx_in_epoch, np.int32),
        np.array([os.getpid(), info.epoch_idx]),
    )


def batch(info: types.BatchInfo) -> Any:
    if info.iteration == 5:
        raise StopIteration
    return np.full((BATCH, 3), info.iteration, np.float32), np.full((BATCH, 1), os.getpid())


def generator() -> Iterator[Any]:
    for i in range(3):
        yield [np.full(k + 1, i) for k in range(BATCH)]


def workers(source: Any, processes: int = 2, method: str = "fork", **keywords: Any) -> Pipeline:
    """A pipeline that hands out what a parallel source gives."""
    settings = keywords.pop("settings", {})
    return make(
        lambda: fn.external_source(source, parallel=True, **keywords),
        **{
            "batch_size": BATCH,
            "py_num_workers": processes,
            "py_start_method": method,
            **settings,
        },
    )


@pytest.fixture(autouse=True)
def clean() -> None:
    """Frees the pipelines of earlier tests, also those that exceptions kept."""
    gc.collect()


def children() -> list[Any]:
    """The numbers of the processes that run now."""
    return multiprocessing.active_children()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("processes", [1, 3])
def test_samples_are_those_of_one_thread(method: str, processes: int) -> None:
    define = functools.partial(fn.external_source, sample, 2, batch=False)
    judge_pipe = make(define, batch_size=BATCH)
    pipe = workers(sample, processes, method, num_outputs=2, batch=False)
    for e in range(3):
        judge, got = epoch(judge_pipe), epoch(pipe)
        assert len(judge) == 20, "the last batch was cut short"
        assert_same([s[:1] for s in got], [s[:1] for s in judge], f"epoch {e}")
        pids = {int(s[1][0]) for s in got}
        assert len(pids) == processes and os.getpid() not in pids
        assert {int(s[1][1]) for s in got} == {e}


@pytest.mark.parametrize("depth", [1, 4])
def test_batches_are_dealt_and_stay_in_order(depth: int) -> None:
    pipe = workers(batch, num_outputs=2, batch_info=True, prefetch_queue_depth=depth)
    for _ in range(3):
        got = epoch(pipe)
        assert [int(s[0][0]) for s in got][::BATCH] == [0, 1, 2, 3, 4]
        assert len({int(s[1][0]) for s in got}) == 2


@pytest.mark.parametrize("method", METHODS)
def test_an_iterable_runs_in_one_worker(method: str) -> None:
    for source in (generator, [list(b) for b in generator()]):
        pipe = workers(source, method=method)
        for _ in range(3):
            got = epoch(pipe)
            assert [int(s[0][0]) for s in got] == [i for i in range(3) for _ in range(BATCH)]
    quiet = workers(generator, cycle="quiet", method=method)
    assert [int(s[0][0]) for s in take(quiet, 5 * BATCH)][::BATCH] == [0, 1, 2, 0, 1]
    raising = workers(generator, cycle="raise", method=method)
    for _ in range(2):
        for i in range(3):
            assert int(raising.run()[0].at(0)[0]) == i
        with pytest.raises(StopIteration):
            raising.run()


def test_two_workers_work_at_once() -> None:
    """Each half of a batch waits for the other half, which is made in the other process."""
    barrier = multiprocessing.get_context("fork").Barrier(2)

    def source(info: types.SampleInfo) -> Any:
        if info.idx_in_batch in (0, BATCH // 2):
            barrier.wait(60)
        return np.array([info.idx_in_epoch])

    pipe = workers(source, batch=False)
    assert [int(s[0][0]) for s in take(pipe, 20)] == list(range(20))
    pipe.close()


def test_batches_are_prepared_ahead_at_once() -> None:
    barrier = multiprocessing.get_context("fork").Barrier(2)

    def source(iteration: int) -> Any:
        barrier.wait(60)
        return np.full((BATCH, 1), iteration)

    pipe = workers(source, prefetch_queue_depth=2)
    assert [int(s[0][0]) for s in take(pipe, 6 * BATCH)][::BATCH] == list(range(6))
    pipe.close()


def test_samples_that_grow() -> None:
    def source(info: types.SampleInfo) -> Any:
        return np.full(1 << (2 * (info.iteration % 9)), info.idx_in_epoch, np.int32)

    got = take(workers(source, batch=False), 18 * BATCH)
    for i, (a,) in enumerate(got):
        assert a.shape == (1 << (2 * (i // BATCH % 9)),)
        assert (a == i).all()


def test_sources_beside_each_other() -> None:
    def define() -> Any:
        return (
            fn.external_source(lambda i: np.full((BATCH, 1), i), parallel=True),
            fn.external_source(lambda i: np.full((BATCH, 1), 10 + i)),
            fn.external_source(lambda s: np.array([s.iteration + 20]), batch=False, parallel=True),
        )

    pipe = make(define, batch_size=BATCH, py_num_workers=2)
    for i in range(6):
        assert [int(b.at(3)[0]) for b in pipe.run()] == [i, 10 + i, 20 + i]


def fails(info: types.SampleInfo) -> Any:
    if info.iteration == 1 and info.idx_in_batch >= 2:
        raise ValueError(f"broken {info.idx_in_batch}")
    return np.array([info.idx_in_epoch])


@pytest.mark.parametrize("method", METHODS)
def test_what_a_worker_raises(method: str) -> None:
    pipe = workers(fails, batch=False, method=method, name="mine")
    pipe.run()
    with pytest.raises(SourceError) as caught:
        pipe.run()
    message = str(caught.value)
    assert "'mine'" in message and "iteration 1 of epoch 0, sample 2" in message
    assert "ValueError: broken 2" in message
    assert "in fails" in str(caught.value.__cause__), "the worker's traceback"
    assert int(pipe.run()[0].at(0)[0]) == 8, "the pipeline goes on"


def test_what_a_worker_cannot_share() -> None:
    with pytest.raises(SourceError, match="expected an array of numbers, got a str"):
        workers(lambda i: ["text"]).run()


@pytest.mark.parametrize("batch", [True, False])
def test_a_sample_that_is_no_array_is_named(batch: bool) -> None:
    def sample(k: int) -> Any:
        return "text" if k == 3 else np.array([k])

    def source(x: Any) -> Any:
        return [sample(k) for k in range(BATCH)] if batch else sample(x.idx_in_batch)

    expected = r"iteration 0 of epoch 0, sample 3, in a worker process: TypeError: .* got a str"
    with pytest.raises(SourceError, match=expected):
        workers(source, batch=batch, name="mine").run()


@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM"])
def test_a_killed_worker(name: str, tmp_path: Path) -> None:
    received = tmp_path / "received"  # two batches: a death loses whatever is being made

    def source(info: types.SampleInfo) -> Any:
        if info.idx_in_epoch == 9:
            while not received.exists():
                time.sleep(0.001)
            os.kill(os.getpid(), getattr(signal, name))
        return np.array([info.idx_in_epoch])

    pipe = workers(source, batch=False)
    pipe.run()
    pipe.run()
    received.touch()
    with pytest.raises(SourceError, match=rf"worker process \d+ was killed by signal .*{name}"):
        pipe.run()
    assert not children(), "the others were stopped"
    assert int(pipe.run()[0].at(0)[0]) == 12, "new workers go on"
    pipe.close()


def test_sources_stay_in_step_when_a_worker_dies() -> None:
    def counts(i: int) -> Any:
        return np.full((BATCH, 1), i)

    def dies(i: int) -> Any:
        return os._exit(3) if i == 5 else counts(i)

    def define() -> Any:
        return [fn.external_source(source, parallel=True) for source in (dies, counts)]

    pipe = make(define, batch_size=BATCH, py_num_workers=2)
    steps = []
    for _ in range(12):  # a death loses what is being made, so steps before the fifth as well
        with contextlib.suppress(SourceError):
            steps.append([int(b.at(0)[0]) for b in pipe.run()])
    pipe.close()
    assert all(one == other and one != 5 for one, other in steps), steps
    assert steps[-1] == [11, 11]


def test_an_idle_worker_that_is_killed() -> None:
    pipe = workers(lambda i: np.full((BATCH, 1), os.getpid()))
    os.kill(int(pipe.run()[0].at(0)[0]), signal.SIGKILL)
    with pytest.raises(SourceError, match="SIGKILL"):
        for _ in range(10):
            pipe.run()
    assert len(pipe.run()[0]) == BATCH, "new workers go on"


def test_a_worker_that_exits() -> None:
    with pytest.raises(SourceError, match="ended with exit code 3"):
        workers(lambda i: os._exit(3)).run()


def test_close_ends_the_workers_and_run_starts_others() -> None:
    pipe = workers(lambda i: np.array([[i, os.getpid()]]))
    first = pipe.run()[0].at(0)
    assert len(children()) == 2
    pipe.close()
    assert not children()
    rest = [pipe.run()[0].at(0) for _ in range(6)]
    assert [int(r[0]) for r in (first, *rest)] == list(range(7))
    assert int(rest[-1][1]) != int(first[1])
    pipe.close()


def test_an_iterator_is_lost_with_its_worker() -> None:
    def endless() -> Iterator[Any]:
        i = 0
        while True:
            yield np.full((BATCH, 1), i)
            i += 1

    pipe = workers(endless)
    pipe.run()
    pipe.close()
    with pytest.raises(SourceError, match="its iterator ended with the worker process"):
        for _ in range(5):
            pipe.run()
    assert int(pipe.run()[0].at(0)[0]) == 0
    pipe.close()


def test_dropped_pipelines_leave_no_process() -> None:
    for _ in range(3):
        pipe = workers(lambda i: np.zeros((BATCH, 100)), processes=3)
        pipe.run()
        del pipe
    assert not children()


def test_a_collected_pipeline_closes_its_pipes_once() -> None:
    """The order in which the collector ends the parts of a cycle does not matter."""
    unheard: list[Any] = []

    def use() -> None:
        pipes: list[Any] = []
        pipes.append(workers(lambda i: np.full((BATCH, 1), i + 0 * len(pipes)), processes=2))
        pipes[0].run()

    gc.collect()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "unraisablehook", unheard.append)
        for _ in range(3):
            use()
            while children():
                gc.collect()
    assert unheard == []


def test_typed_memory_stays_typed() -> None:
    numbers = np.arange(6, dtype=np.int32).reshape(2, 3)
    pipe = workers(lambda i: [memoryview(numbers)] * BATCH)
    assert np.array_equal(pipe.run()[0].at(3), numbers)


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


def test_no_file_or_shared_memory_is_left() -> None:
    counts = []
    for _ in range(4):
        pipe = workers(lambda i: np.zeros((BATCH, 10_000)), processes=2)
        take(pipe, 5 * BATCH)
        with open("/proc/self/maps") as file:
            named = [line for line in file if "/dev/shm/" in line]
        # multiprocessing has locks and values of its own, also from earlier tests.
        assert not [x for x in named if "/sem." not in x and "/pym-" not in x], "slots have no name"
        pipe.close()
        del pipe
        counts.append(open_files())
    assert counts[-1] <= counts[0]


def test_workers_may_start_before_the_first_run() -> None:
    pipe = workers(lambda i: np.full((BATCH, 1), os.getpid()))
    pipe.start_py_workers()
    started = {p.pid for p in children()}
    assert len(started) == 2
    assert int(pipe.run()[0].at(0)[0]) in started
    pipe.close()


def test_user_code_of_the_pipelines_process_is_not_called() -> None:
    called = []

    def source(i: int) -> Any:
        called.append(i)
        return np.zeros((BATCH, 1))

    pipe = workers(source)
    pipe.run()
    assert not called
    pipe.close()


def dumps_marked(sources: Any) -> bytes:
    return b"marked" + pickle.dumps(sources)


def loads_marked(data: bytes) -> Any:
    assert data.startswith(b"marked")
    return pickle.loads(data[len(b"marked") :])


class Marked:
    dumps = staticmethod(dumps_marked)
    loads = staticmethod(loads_marked)


class Tagged:
    """Needs keywords, which have to be the same."""

    @staticmethod
    def dumps(sources: Any, *, tag: bytes, protocol: int | None = None) -> bytes:
        return tag + pickle.dumps(sources, protocol)

    @staticmethod
    def loads(data: bytes, *, tag: bytes = b"none") -> Any:
        assert data.startswith(tag)
        return pickle.loads(data[len(tag) :])


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
@pytest.mark.parametrize(
    "pickler",
    [
        (dumps_marked, loads_marked),
        pickle,
        Marked,
        (pickle,),
        (pickle, {"protocol": 2}),
        (pickle, None, {"encoding": "utf-8"}),
        (Tagged, {"tag": b"a", "protocol": 3}, {"tag": b"a"}),
        [Tagged, {"tag": b"none"}],
    ],
    ids=["functions", "module", "object", "alone", "dumps", "loads", "both", "default"],
)
def test_an_own_pickler(method: str, pickler: Any) -> None:
    pipe = workers(fails, batch=False, method=method, settings={"py_callback_pickler": pickler})
    assert int(pipe.run()[0].at(3)[0]) == 3


def test_what_cannot_be_sent_is_named() -> None:
    lock = threading.Lock()
    pipe = workers(lambda i: lock, method="spawn", name="mine")
    with pytest.raises(GraphError, match=r"'mine'.*cannot be sent to a worker process.*pickler"):
        pipe.run()


def refuses(sent: bytes) -> Any:
    raise ImportError(f"{len(sent)} bytes of nothing known")


def test_what_a_worker_cannot_load_is_told() -> None:
    settings = {"py_callback_pickler": (dumps_marked, refuses)}
    pipe = workers(fails, method="spawn", name="mine", settings=settings)
    with pytest.raises(
        SourceError, match=r"'mine'.*cannot be loaded in a worker process: ImportError"
    ):
        pipe.run()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"py_num_workers": -1}, "'py_num_workers' is -1, expected at least 0"),
        ({"py_start_method": "thread"}, "'py_start_method' expects one of"),
        ({"py_callback_pickler": 3}, "'py_callback_pickler' expects a module"),
        ({"py_callback_pickler": (1, 2)}, "'py_callback_pickler' expects a module"),
        ({"py_callback_pickler": (pickle, 2)}, "'py_callback_pickler' expects a module"),
        ({"py_callback_pickler": (pickle, {}, {}, {})}, "'py_callback_pickler' expects a module"),
        ({"py_callback_pickler": ()}, "'py_callback_pickler' expects a module"),
    ],
)
def test_settings_are_checked(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(GraphError, match=message):
        Pipeline(batch_size=1, **settings)
    assert Pipeline(batch_size=1, py_num_workers=3).py_num_workers == 3


def test_no_processes_without_parallel_sources() -> None:
    settings = {"py_num_workers": 0, "batch_size": 1}

    def defined(parallel: bool) -> Any:
        return fn.external_source(lambda info: np.zeros(1), batch=False, parallel=parallel)

    assert len(make(lambda: defined(False), **settings).run()[0]) == 1
    with pytest.raises(GraphError, match="'py_num_workers' is 0, but the source of external_so"):
        make(lambda: defined(True), **settings).build()


def test_a_pipeline_in_a_function_of_a_thread() -> None:
    """Starts and ends workers outside of the main thread."""
    results: list[list[int]] = []

    def use() -> None:
        pipe = workers(sample, num_outputs=2, batch=False)
        results.append([int(s[0][0]) for s in epoch(pipe)])
        pipe.close()

    threads = [threading.Thread(target=use) for _ in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(120)
    assert results == [list(range(20))] * 2
