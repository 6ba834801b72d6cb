# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Sources and their process: forks, exits and threads. Time limits only bound a hang."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

import numpy as np
import pytest

from helpers import make, run_script
from sources import script
from stoker import Pipeline, fn
from stoker.errors import SourceError


def test_fork() -> None:
    done = script("""
        pipe = pipeline(counted)
        fed = pipeline(name='in')
        fed.feed_input('in', counted(0))
        pipe.run(), fed.run()
        child = os.fork()
        if child == 0:
            for use in (pipe.run, pipe.state, pipe.close, fed.run,
                        lambda: fed.feed_input('in', counted(1))):
                try:
                    use()
                except errors.StateError as e:
                    assert 'fork' in str(e), e
                else:
                    os._exit(1)
            own = pipeline(counted)
            assert [int(own.run()[0].at(0)[0]) for _ in range(3)] == [0, 1, 2]
            del pipe, fed
            print('child is done', flush=True)
            sys.exit(0)
        _, status = os.waitpid(child, 0)
        print(int(pipe.run()[0].at(0)[0]), status)
    """)
    assert done.stdout == "child is done\n1 0\n", done.stdout + done.stderr
    assert done.stderr == ""


@pytest.mark.parametrize("parallel", [False, True])
def test_a_fork_leaves_the_parents_sources_alone(parallel: bool) -> None:
    done = script(f"""
        pipe = pipeline(counted, parallel={parallel})
        pipe.run()
        child = os.fork()
        if child == 0:
            sys.exit(0)
        os.waitpid(child, 0)
        print([int(pipe.run()[0].at(0)[0]) for _ in range(5)])
    """)
    assert done.stdout == "[1, 2, 3, 4, 5]\n", done.stdout + done.stderr
    assert done.stderr == ""


@pytest.mark.parametrize(
    "source",
    ["counted", "lambda i: time.sleep(3600)", "lambda i: 1 / 0"],
    ids=["running", "slow", "failing"],
)
@pytest.mark.parametrize("held", ["pipe = {}", "pipe = {}; pipe.itself = [pipe]"])
@pytest.mark.parametrize("parallel", [False, True])
def test_exit(source: str, held: str, parallel: bool) -> None:
    call = f"pipeline({source}, parallel={parallel}, dtype='int64', ndim=1)"
    done = script(held.format(call) + "\npipe.schedule_run()\nprint('done')")
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
    assert done.stderr == ""


def test_exits_are_silent_while_workers_work() -> None:
    call = "pipe = pipeline(counted, parallel=True, settings=dict(py_num_workers=2))\n"
    for _ in range(10):  # threads and processes may end in any order
        done = script(call + "for _ in range(3): pipe.run()\nprint('done')")
        assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")


def test_exit_with_what_was_fed_without_a_copy() -> None:
    done = script("""
        pipe = pipeline(name='in', no_copy=True)
        for i in range(5):
            pipe.feed_input('in', counted(i))
        pipe.run()
        print('done')
    """)
    assert (done.stdout, done.stderr) == ("done\n", "")


@pytest.mark.parametrize("use", ["close()", "run()", "state()", "restore({})", "stats()"])
@pytest.mark.parametrize("kind", ["source", "map(source, range(9))"], ids=["callable", "iterator"])
def test_a_source_cannot_wait_for_itself(kind: str, use: str) -> None:
    done = script(f"""
        def source(i):
            if i == 0 or i == 2 and {use != "stats()"}:
                pipe.{use}
            return counted(i)
        pipe = pipeline({kind})
        seen = []
        while len(seen) < 5:
            try:
                seen.append(int(pipe.run()[0].at(0)[0]))
            except errors.SourceError as e:
                assert isinstance(e.__cause__, errors.StateError), e
                assert 'a source cannot run, close or restore' in str(e), e
                seen.append('refused')
        print(seen)
    """)
    expected = ["refused", 1, 2 if use == "stats()" else "refused", 3, 4]
    assert done.stdout == f"{expected}\n", done.stdout + done.stderr


def test_a_source_that_works_ahead_cannot_close_its_pipeline() -> None:
    done = script("""
        idle, tried = threading.Event(), threading.Event()
        def source(i):
            if i == 1:
                idle.wait()
                try:
                    pipe.close()
                finally:
                    tried.set()
            return counted(i)
        pipe = pipeline(source)
        pipe.run()
        idle.set()
        tried.wait()
        try:
            pipe.run()
        except errors.SourceError as e:
            print(e)
        print(int(pipe.run()[0].at(0)[0]))
    """)
    assert "a source cannot run, close or restore" in done.stdout, done.stdout + done.stderr
    assert done.stdout.endswith("\n2\n")


def test_a_source_cannot_close_a_pipeline_that_waits_for_it_through_another() -> None:
    done = script("""
        tried = threading.Event()
        def inner(i):
            if not tried.is_set():  # the next call comes while nothing waits for it
                try:
                    outer_pipe.close()
                finally:
                    tried.set()
            return counted(i)
        inner_pipe = pipeline(inner)
        outer_pipe = pipeline(lambda i: inner_pipe.run()[0], dtype='int64', ndim=1)
        outer_pipe.schedule_run()
        tried.wait()
        try:
            outer_pipe.outputs()
        except errors.SourceError as e:
            print(e)
    """)
    assert "a source cannot run, close or restore" in done.stdout, done.stdout + done.stderr


def test_a_source_that_waits_to_feed_hears_that_its_pipeline_is_closed() -> None:
    done = script("""
        waits = threading.Event()
        def source(i):
            if i == 1:
                waits.set()
                try:
                    while True:
                        pipe.feed_input('fed', np.zeros((2, 1000)))
                except errors.StateError as e:
                    print(e)
            return counted(i)
        pipe = Pipeline(batch_size=2, memory_limit=4 << 20)
        with pipe:
            pipe.set_outputs(
                fn.external_source(source),
                fn.external_source(name='fed', blocking=True, dtype='float64', ndim=1),
            )
        pipe.feed_input('fed', np.zeros((2, 1000)))
        pipe.schedule_run()
        waits.wait()
        pipe.close()
        print(int(pipe.outputs()[0].at(0)[0]))
    """)
    told = "feed_input: external_source 'fed' has no room, and the pipeline is being closed"
    assert done.stdout == f"{told}\n0\n", done.stdout + done.stderr


def test_a_source_may_close_other_pipelines() -> None:
    done = script("""
        def source(i):
            if i == 1:
                other.close()
            return other.run()[0]
        other = pipeline(counted)
        pipe = pipeline(source)
        print([int(pipe.run()[0].at(0)[0]) for _ in range(4)])
    """)
    assert done.stdout == "[0, 1, 2, 3]\n", done.stdout + done.stderr


def test_a_source_in_a_worker_cannot_close_its_pipeline() -> None:
    done = script("""
        def source(i):
            if i == 1:
                pipe.close()
            return counted(i)
        pipe = pipeline(source, parallel=True)
        pipe.run()
        try:
            pipe.run()
        except errors.SourceError as e:
            print(e)
        print(int(pipe.run()[0].at(0)[0]))
    """)
    assert "StateError: this pipeline was built before a fork" in done.stdout, done.stderr
    assert done.stdout.endswith("\n2\n"), done.stdout


def test_a_source_may_drop_its_pipeline() -> None:
    """The source's thread ends then, and asks for nothing more."""
    done = script("""
        held, go, calls = {}, threading.Event(), []
        def source(i):
            calls.append(i)
            if i == 1:
                go.wait()
                del held['pipe']
            return counted(i)
        held['pipe'] = pipeline(source, settings=dict(prefetch_queue_depth=1))
        held['pipe'].run()
        (thread,) = [t for t in threading.enumerate() if t.name == 'stoker-source']
        go.set()
        thread.join()
        print(calls)
    """)
    assert done.stdout == "[0, 1]\n", done.stdout + done.stderr


def test_another_thread_cannot_close_a_running_pipeline() -> None:
    """It gets an error, and the step still comes."""
    done = script("""
        asked, go = threading.Event(), threading.Event()
        def source(i):
            asked.set()
            go.wait()
            return counted(i)
        def close():
            asked.wait()
            try:
                pipe.close()
            except errors.StateError as e:
                print(e, flush=True)
            go.set()
        pipe = pipeline(source)
        threading.Thread(target=close).start()
        print(int(pipe.run()[0].at(0)[0]))
    """)
    assert done.stdout == "two threads use one pipeline at once; give each its own\n0\n", (
        done.stdout + done.stderr
    )


def test_a_signal_handler_cannot_close_a_running_pipeline() -> None:
    """It gets an error, and the step still comes."""
    done = script("""
        go = threading.Event()
        def source(i):
            if i == 0:
                signal.raise_signal(signal.SIGUSR1)  # the main thread hears it
                go.wait()
            return counted(i)
        def close(*_):
            try:
                pipe.close()
            except errors.StateError as e:
                print(e)
            go.set()
        signal.signal(signal.SIGUSR1, close)
        pipe = pipeline(source)
        print(int(pipe.run()[0].at(0)[0]))
    """)
    refusal = "a signal handler cannot use a pipeline in the midst of a call of it"
    assert done.stdout == f"{refusal}\n0\n", done.stdout + done.stderr


def source_threads() -> int:
    return sum(t.name == "stoker-source" for t in threading.enumerate())


def test_dropped_pipelines_end_their_thread() -> None:
    gc.collect()
    before = source_threads()
    for _ in range(5):
        pipe = make(lambda: fn.external_source(lambda i: np.zeros((1, 1))), batch_size=1)
        pipe.run()
        del pipe
        gc.collect()
        assert source_threads() <= before


def test_close_joins_the_thread() -> None:
    gc.collect()
    before = source_threads()
    pipe = make(lambda: fn.external_source(lambda i: np.full((1, 1), i)), batch_size=1)
    assert int(pipe.run()[0].at(0)[0]) == 0
    assert source_threads() == before + 1
    pipe.close()
    pipe.close()
    assert source_threads() == before
    assert [int(pipe.run()[0].at(0)[0]) for _ in range(5)] == [1, 2, 3, 4, 5]
    pipe.close()


@pytest.mark.parametrize("is_closed", [True, False])
def test_a_source_may_refer_to_its_pipeline(is_closed: bool) -> None:
    """Such a pipeline is collected like any other."""

    class Source:
        pipe: Pipeline

        def __call__(self, i: int) -> Any:
            return np.full((1, 1), i)

    def use() -> weakref.ref[Pipeline]:
        source = Source()
        pipe = source.pipe = make(lambda: fn.external_source(source), batch_size=1)
        pipe.run()
        if is_closed:
            pipe.close()
        return weakref.ref(pipe)

    before = source_threads()
    gone = use()
    gc.collect()
    while source_threads() > before:  # its thread may be in the midst of a turn
        gc.collect()
    assert gone() is None


def test_a_source_of_objects_may_refer_to_its_pipeline() -> None:
    """The collector sees no references of NumPy's arrays of objects."""

    class Stranger:
        pipe: Pipeline

    def use() -> weakref.ref[Pipeline]:
        stranger = Stranger()
        pipe = stranger.pipe = make(lambda: fn.external_source(lambda i: stranger), batch_size=1)
        with pytest.raises(SourceError, match="Stranger: it is no array of numbers"):
            pipe.run()
        pipe.close()
        return weakref.ref(pipe)

    gone = use()
    gc.collect()
    assert gone() is None


def test_pipelines_in_many_threads() -> None:
    results: dict[int, list[int]] = {}

    def use(k: int) -> None:
        pipe = make(
            lambda: fn.cast(
                fn.external_source(lambda s: np.array([s.idx_in_epoch + k]), batch=False),
                dtype="float32",
            ),
            batch_size=3,
        )
        results[k] = [int(b.at(i)[0]) for (b,) in (pipe.run() for _ in range(50)) for i in range(3)]

    threads = [threading.Thread(target=use, args=(k,)) for k in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(120)
    assert all(results.get(k) == [k + i for i in range(150)] for k in range(6))


def test_import_brings_in_nothing_of_sources() -> None:
    done = run_script(
        "import sys, stoker\n"
        "stoker.fn.resize\n"
        "print(sorted({'multiprocessing', 'inspect', 'mmap', 'numpy'} & set(sys.modules)))"
    )
    assert done.stdout.strip() in ("[]", "['inspect']"), done.stderr
