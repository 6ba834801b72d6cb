# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""A pipeline in its process: signals, forks, threads and exits. Time limits only bound a hang."""

from __future__ import annotations

import gc
import io
import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from helpers import make, run_script, take
from stoker import Pipeline, fn
from stoker.errors import StateError

# A step of this takes hours, a sample some milliseconds.
ENDLESS = """
import os, signal, sys, threading, time
import stoker
from stoker import Pipeline, errors, fn

def endless(batch_size=1_000_000, **settings):
    pipe = Pipeline(batch_size=batch_size, num_threads=2, seed=1, demand=False, **settings)
    with pipe:
        big = fn.random.normal(shape=[5_000_000])
        pipe.set_outputs(fn.slice(big, axes=[0], start=[0], shape=[1]))
    return pipe

def once_it_waits(then):
    # Calls it from another thread when this one has gone to sleep in run(), or has left it.
    me, task = threading.get_ident(), threading.get_native_id()

    def is_asleep():
        with open(f'/proc/self/task/{task}/stat') as file:
            return file.read().rpartition(')')[2].split()[0] == 'S'

    def watch():
        was_in, seen = False, 0
        while seen < 5:
            is_in = sys._current_frames()[me].f_code.co_filename.endswith('_pipeline/engine.py')
            if was_in and not is_in:
                break
            was_in = was_in or is_in
            seen = seen + 1 if is_in and is_asleep() else 0
            time.sleep(0.002)
        then()

    threading.Thread(target=watch, daemon=True).start()

def once_it_works(then):
    # Calls it from another thread when this one makes samples in run(): for the simple executor.
    def watch():
        while not any(operator['seconds'] for operator in pipe.stats()['operators']):
            time.sleep(0.002)
        then()

    threading.Thread(target=watch, daemon=True).start()
"""
ONCE = pytest.mark.parametrize(
    "executor, once", [("pipelined", "once_it_waits"), ("simple", "once_it_works")]
)


def script(text: str) -> str:
    return ENDLESS + textwrap.dedent(text)


def test_import_is_light() -> None:
    done = run_script(
        "import sys, stoker\n"
        "heavy = {'numpy', 'torch', 'jax', 'tensorflow', 'mxnet', 'PIL', 'cv2', 'scipy'}\n"
        "stoker.fn.decoders.image; stoker.fn.resize; stoker.types.FLOAT\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"


def test_numpy_is_not_needed_to_run() -> None:
    done = run_script(
        script("""
        pipe = endless(batch_size=2)
        (batch,) = pipe.run()
        assert batch.shape() == [(1,), (1,)] and batch[0].dtype == 'float32'
        print('numpy' in sys.modules)
        """)
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "False"


@ONCE
def test_ctrl_c_ends_a_run(executor: str, once: str) -> None:
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            script(f"""
            pipe = endless(executor={executor!r})
            pipe.build()
            {once}(lambda: print('waiting', flush=True))
            try:
                pipe.run()
            except KeyboardInterrupt:
                print('interrupted', flush=True)
            """),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "waiting\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert out == "interrupted\n", err
    assert process.returncode == 0


def test_a_signal_ends_the_wait_and_loses_nothing(tmp_path: Path) -> None:
    class StopError(Exception):
        pass

    def stop(*_: object) -> None:
        raise StopError

    picture = io.BytesIO()
    Image.effect_noise((3000, 3000), 90).save(picture, "JPEG", quality=98)
    for i in range(2):
        (tmp_path / f"{i}.jpg").write_bytes(picture.getvalue())
    pipe = Pipeline(batch_size=64, num_threads=1)
    with pipe:
        encoded, _ = fn.readers.file(files=[str(tmp_path / f"{i % 2}.jpg") for i in range(64)])
        pipe.set_outputs(fn.resize(fn.decoders.image(encoded), size=[2, 2]))
    old = signal.signal(signal.SIGALRM, stop)
    pipe.build()
    try:
        with pytest.raises(StopError):
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            pipe.run()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    assert pipe.state()["orders"]["readers_file_0"]["cursor"] == 0
    pipe.close()


@ONCE
def test_an_interrupted_step_is_not_lost(executor: str, once: str) -> None:
    done = run_script(
        script(f"""
        def quick():
            pipe = Pipeline(
                batch_size=40, num_threads=1, seed=1, demand=False, executor={executor!r}
            )
            with pipe:
                big = fn.random.normal(shape=[5_000_000])
                pipe.set_outputs(fn.slice(big, axes=[0], start=[0], shape=[1]))
            return pipe

        expected = bytes(memoryview(quick().run()[0].as_array()))
        pipe = quick()
        pipe.build()
        batch, heard = None, False
        try:
            {once}(lambda: os.kill(os.getpid(), signal.SIGINT))
            batch = pipe.run()[0]
            time.sleep(60)
        except KeyboardInterrupt:
            heard = True
        assert heard
        batch = batch or pipe.run()[0]
        assert bytes(memoryview(batch.as_array())) == expected
        """)
    )
    assert done.returncode == 0, done.stderr


def test_fork() -> None:
    done = run_script(
        script("""
        pipe = endless(batch_size=2)
        pipe.run()
        child = os.fork()
        if child == 0:
            try:
                for use in (pipe.run, pipe.state, pipe.stats, pipe.close, pipe.trim):
                    try:
                        use()
                    except errors.StateError as e:
                        assert 'fork' in str(e), e
                    else:
                        raise AssertionError(f'{use} did not raise')
                own = endless(batch_size=2)
                own.run()
                own.run()
                del pipe
                print('child is done', flush=True)
            except BaseException as e:
                print('child:', repr(e), flush=True)
                os._exit(1)
            sys.exit(0)  # with all that an exit destroys
        _, status = os.waitpid(child, 0)
        pipe.run()
        print('status', status)
        """),
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "child is done\nstatus 0\n", done.stdout + done.stderr


def test_a_forked_child_may_just_exit() -> None:
    done = run_script(
        script("""
        pipe = endless()
        pipe.schedule_run()
        child = os.fork()
        if child == 0:
            sys.exit(3)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status))
        """),
        timeout=60,
    )
    assert done.stdout == "3\n", done.stdout + done.stderr


@pytest.mark.parametrize("held", ["a global", "a cycle", "a module"])
def test_exit_with_a_running_pipeline(held: str) -> None:
    keep = {
        "a global": "pipe = endless()",
        "a cycle": "pipe = endless(); pipe.itself = [pipe]; the = pipe; del pipe; pipe = the",
        "a module": "pipe = endless(); stoker.kept = pipe",
    }[held]
    done = run_script(script(f"{keep}\npipe.schedule_run()\nprint('done')"), timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "done\n"
    assert done.stderr == ""


@pytest.mark.parametrize("batch_size", [2, 1_000_000], ids=["many steps", "one long step"])
def test_exit_while_another_thread_runs(batch_size: int) -> None:
    """Python ends such threads, which must not end the process."""
    done = run_script(
        script(f"""
        def go_on():
            while True:
                pipe.run()

        pipe = endless(batch_size={batch_size})
        threading.Thread(target=go_on, daemon=True).start()
        while not pipe.stats()["samples"]:
            time.sleep(0.001)
        time.sleep(0.1)
        print("done")
        """),
        timeout=60,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")


def threads_here() -> int:
    return len(os.listdir("/proc/self/task"))


def threads_left() -> int:
    """The number of threads, once it no longer falls, as those of earlier pipelines have ended."""
    gc.collect()
    lowest, still = threads_here(), 0
    while still < 10:
        time.sleep(0.01)
        still = still + 1 if threads_here() >= lowest else 0
        lowest = min(lowest, threads_here())
    return lowest


def fall_to(count: int) -> bool:
    """Waits for threads to end. Returns whether at most `count` are left."""
    for _ in range(1000):
        if threads_here() <= count:
            return True
        time.sleep(0.01)
    return False


def test_dropping_a_pipeline_in_mid_iteration(files: list[str]) -> None:
    def define() -> Any:
        encoded, label = fn.readers.file(files=files)
        return fn.decoders.image(encoded), label

    take(make(define), 1)
    before = threads_left()
    for k in range(20):
        pipe = make(define, batch_size=3, num_threads=4, prefetch_queue_depth=3)
        for i, _ in enumerate(pipe):
            if i == k % 4:
                break
        del pipe, _
    gc.collect()
    assert fall_to(before)


def test_close_joins_and_run_starts_again(files: list[str]) -> None:
    def define() -> Any:
        return fn.readers.file(files=files)

    expected = [s[1] for s in take(make(define, batch_size=4), 12)]
    before = threads_left()
    pipe = make(define, batch_size=4, num_threads=3)
    got = [s[1] for s in take(pipe, 4)]
    pipe.close()
    assert fall_to(before)
    pipe.close()
    got += [s[1] for s in take(pipe, 8)]
    assert [int(x[0]) for x in got] == [int(x[0]) for x in expected]


def test_two_threads_in_one_pipeline_is_an_error() -> None:
    """One is refused while the other waits; steps get longer until the two have met."""

    def define() -> Any:
        big = fn.random.normal(shape=[5_000_000])
        return fn.slice(big, axes=[0], start=[0], shape=[1])

    for batch in (10, 40, 160, 640, 2560):
        pipe = make(define, batch_size=batch, num_threads=1, demand=False, prefetch_queue_depth=1)
        pipe.build()
        outcomes = run_twice_at_once(pipe)
        pipe.run()
        if outcomes != ["ran", "ran"]:
            assert len(outcomes) == 2 and outcomes[0] == "ran" and "two threads" in outcomes[1]
            return
    pytest.fail("two threads in one pipeline were never refused")


def run_twice_at_once(pipe: Pipeline) -> list[str]:
    """The sorted results of two threads: "ran", or the refusal."""
    outcomes: list[str] = []
    start = threading.Barrier(2)

    def use() -> None:
        start.wait()
        try:
            pipe.run()
            outcomes.append("ran")
        except StateError as e:
            outcomes.append(f"refused: {e}")

    threads = [threading.Thread(target=use) for _ in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(120)
    return sorted(outcomes)


BUILD_WHILE_OTHERS_RUN = """
import sys, threading
from stoker import Pipeline, fn
def pipeline(count):
    pipe = Pipeline(batch_size=1, num_threads=1)
    with pipe:
        pipe.set_outputs(*fn.readers.file(files=["a"] * count))
    return pipe

pipes = [pipeline(100_000) for _ in range(40)]
sys.setswitchinterval(1000)
gate = threading.Lock()
gate.acquire()
others = []
thread = threading.Thread(target=lambda: others.append(gate.acquire()))
thread.start()
gate.release()
for pipe in pipes:
    pipe.build()
    if others:
        break
assert others, "no other thread ran"
"""


def test_other_threads_run_while_files_are_listed() -> None:
    """There are many lists, so that the other thread has time to begin."""
    done = run_script(BUILD_WHILE_OTHERS_RUN)
    assert done.returncode == 0, done.stderr


def test_pipelines_in_many_threads(files: list[str]) -> None:
    """Threads with a pipeline each get the same bytes, and do not block the interpreter."""

    def define() -> Any:
        encoded, label = fn.readers.file(files=files, random_shuffle=True)
        return fn.random_resized_crop(fn.decoders.image(encoded), size=[16, 16]), label

    expected = [tuple(a.tobytes() for a in s) for s in take(make(define, batch_size=4), 40)]
    results: dict[int, Any] = {}

    def use(k: int) -> None:
        pipe = make(define, batch_size=k + 1)
        results[k] = [tuple(a.tobytes() for a in s) for s in take(pipe, 40)]

    threads = [threading.Thread(target=use, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(120)
    assert all(results.get(k) == expected for k in range(4))


@pytest.mark.parametrize("setting", ["num_threads", "io_threads"])
def test_threads_that_the_system_does_not_start(setting: str, files: list[str]) -> None:
    done = run_script(f"""
import resource
from stoker import Pipeline, errors, fn
pipe = Pipeline(batch_size=2, **{{"num_threads": 1, "io_threads": 1, "{setting}": 600}})
with pipe:
    pipe.set_outputs(*fn.readers.file(files={files!r}))
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))  # what the stacks take
for _ in range(2):
    try:
        pipe.run()
    except errors.BudgetError as e:
        print(e)
""")
    assert done.returncode == 0, done.stderr
    said = re.findall(rf"the system starts no more threads .*; {setting} decides", done.stdout)
    assert len(said) == 2, done.stdout + done.stderr
