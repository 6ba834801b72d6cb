# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Functions that block, close, raise and never return, in processes of their own.

Time limits only bound a hang.
"""

from __future__ import annotations

import textwrap

import pytest
from calling import PRELUDE, script

from helpers import interrupt_script, run_script

EXECUTORS = ["pipelined", "simple"]


@pytest.mark.parametrize("executor", EXECUTORS)
def test_ctrl_c_while_a_function_blocks(executor: str) -> None:
    interrupt_script(
        PRELUDE
        + textwrap.dedent(f"""
            def slow(x):
                if x[0] == 1:
                    print('waiting', flush=True)
                    time.sleep(3600)
                return x
            pipe = pipeline(slow, dict(executor={executor!r}))
            try:
                pipe.run(), pipe.run()
            except KeyboardInterrupt:
                print('interrupted', flush=True)
            """),
    )


def test_ctrl_c_loses_no_step() -> None:
    done = script("""
        go, second = threading.Event(), threading.Event()
        def slow(x):
            if x[0] == 1 and not go.is_set():
                second.wait(60)
                signal.raise_signal(signal.SIGINT)  # the main thread hears it
                go.wait(60)
            return x
        pipe = pipeline(slow)
        pipe.run()
        try:
            second.set()
            pipe.run()
            raise SystemExit('not interrupted')
        except KeyboardInterrupt:
            go.set()
        print([number(pipe.run()) for _ in range(3)])
    """)
    assert done.stdout == "[1, 2, 3]\n", done.stdout + done.stderr


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("what", ["KeyboardInterrupt", "SystemExit(3)", "GeneratorExit"])
def test_what_is_no_error_of_a_sample_is_raised_as_it_is(what: str, executor: str) -> None:
    done = script(f"""
        first = True
        def function(x):
            global first
            if x[0] == 1 and first:
                first = False
                raise {what}
            return x
        pipe = pipeline(function, dict(executor={executor!r}))
        seen = []
        while len(seen) < 4:
            try:
                seen.append(number(pipe.run()))
            except BaseException as e:
                seen.append(type(e).__name__)
        print(seen)
    """)
    name = what.partition("(")[0]
    assert done.stdout == f"[0, '{name}', 1, 2]\n", done.stdout + done.stderr


def test_one_that_raises_in_the_midst_of_ctrl_c() -> None:
    done = script("""
        second = threading.Event()
        def function(x):
            if x[0] == 1:
                second.wait(60)
                signal.raise_signal(signal.SIGINT)  # the main thread hears it
                raise ValueError('at once')
            return x
        pipe = pipeline(function)
        seen = [number(pipe.run())]
        while len(seen) < 4:
            try:
                second.set()
                seen.append(number(pipe.run()))
            except KeyboardInterrupt:
                signal.signal(signal.SIGINT, signal.SIG_IGN)
                seen.append('interrupted')
            except errors.SampleError as e:
                seen.append('failed')
        print(seen)
    """)
    assert done.stdout == "[0, 'interrupted', 'failed', 2]\n", done.stdout + done.stderr


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("use", ["close()", "run()", "state()", "restore({})", "stats()"])
def test_a_function_cannot_wait_for_itself(use: str, executor: str) -> None:
    done = script(f"""
        def function(x):
            if x[0] == 1:
                pipe.{use}
            return x
        pipe = pipeline(function, dict(executor={executor!r}))
        seen = []
        while len(seen) < 4:
            try:
                seen.append(number(pipe.run()))
            except errors.SampleError as e:
                assert 'StateError: a source cannot run, close or restore' in str(e), e
                seen.append('refused')
        print(seen)
    """)
    expected = [0, 1 if use == "stats()" else "refused", 2, 3]
    assert done.stdout == f"{expected}\n", done.stdout + done.stderr


@pytest.mark.parametrize(
    ("how", "blocks"),
    [
        ("pipe.close()", "time.sleep(3600)"),
        ("del pipe; gc.collect()", "forever.wait()"),
        ("pass", "time.sleep(3600)"),
        ("pass", "while True: pass"),
    ],
)
def test_a_function_that_never_returns_is_not_joined(how: str, blocks: str) -> None:
    done = script(f"""
        forever, begun = threading.Event(), threading.Event()
        def function(x):
            if x[0] == 1:
                begun.set()
                {blocks}
            return x
        pipe = pipeline(function)
        print(number(pipe.run()))
        begun.wait()
        {how}
        print('done', flush=True)
    """)
    assert done.stdout == "0\ndone\n", done.stdout + done.stderr
    assert done.returncode == 0, done.stderr


def test_exit_waits_for_what_is_running() -> None:
    done = script("""
        begun = threading.Event()
        class Slow:
            def __init__(self, x):
                self.x = x
            def __array__(self, dtype=None, copy=None):
                begun.set()
                time.sleep(0.2)
                return self.x
        pipe = pipeline(lambda x: Slow(x + 1) if x[0] else x + 1)
        print(number(pipe.run()))
        begun.wait()
    """)
    assert (done.returncode, done.stdout, done.stderr) == (0, "1\n", "")


def test_exit_while_functions_are_called_without_a_pause() -> None:
    for _ in range(10):  # the exit may find the thread anywhere
        done = script("""
            kept = []
            def function(x):
                kept.append(np.full(50_000, x[0]))
                return kept[-1][:]
            pipe = pipeline(function)
            for _ in range(3):
                pipe.run()
        """)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("returned", ["x", "x + 1", "x[:1]"])
def test_exit_frees_what_was_returned(returned: str) -> None:
    done = script(f"""
        pipe = pipeline(lambda x: {returned})
        kept = pipe.run()
    """)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_functions_are_not_called_after_the_exit_began() -> None:
    done = run_script(
        textwrap.dedent("""
        import atexit
        @atexit.register
        def last():
            for _ in range(20):
                pipe.run()
        """)
        + PRELUDE
        + "pipe = pipeline(lambda x: x)\n"
    )
    assert "the function is not called any more, as Python is about to exit" in done.stderr


def test_a_closed_pipeline_goes_on() -> None:
    done = script("""
        pipe = pipeline(lambda x: 2 * x)
        seen = []
        for i in range(20):
            seen.append(number(pipe.run()))
            pipe._prepare()
            pipe.close()
        print(seen == [2 * i for i in range(20)])
    """)
    assert done.stdout == "True\n", done.stdout + done.stderr


def test_ctrl_c_at_any_moment() -> None:
    done = script("""
        import random
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        chance = random.Random(1)
        def function(x):
            time.sleep(1e-4)
            return x
        pipe = pipeline(function)
        expected = 0
        for _ in range(100):
            try:
                signal.setitimer(signal.ITIMER_REAL, 1e-4 + chance.random() * 4e-3)
                for _ in range(100):
                    pipe.run()
                    pipe.state()
                signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt:
                pass
            signal.alarm(30)
            pipe.run()
            pipe.close()
            signal.alarm(0)
        print('fine')
    """)
    assert done.stdout == "fine\n", done.stdout + done.stderr


def test_a_fork() -> None:
    done = script("""
        pipe = pipeline(lambda x: x)
        pipe.run()
        child = os.fork()
        if child == 0:
            try:
                pipe.run()
            except errors.StateError as e:
                print('refused', flush=True)
            other = pipeline(lambda x: x + 1)
            print(number(other.run()), flush=True)
            del pipe, other
            gc.collect()
            os._exit(0)
        os.waitpid(child, 0)
        print(number(pipe.run()))
    """)
    assert done.stdout == "refused\n1\n1\n", done.stdout + done.stderr


def test_a_fork_in_the_midst_of_a_call() -> None:
    done = script("""
        begun, go_on = threading.Event(), threading.Event()
        def function(x):
            if x[0] == 1:
                begun.set()
                go_on.wait()
            return x
        pipe = pipeline(function)
        pipe.run()
        begun.wait()
        if child := os.fork():
            print(os.waitpid(child, 0)[1])
            go_on.set()
            print(number(pipe.run()))
    """)
    assert (done.stdout, done.stderr) == ("0\n1\n", "")


def test_the_last_reference_goes_in_the_function() -> None:
    done = script("""
        begun, gone = threading.Event(), threading.Event()
        holder = []
        def function(x):
            if x[0] == 1:
                begun.set()
                gone.wait()
            return x
        pipe = pipeline(function)
        function.pipe = pipe  # a circle
        pipe.run()
        begun.wait()
        ref = weakref.ref(pipe)
        del pipe, function
        gc.collect()
        gone.set()
        for _ in range(2000):
            gc.collect()
            if ref() is None:
                break
            time.sleep(0.005)
        print(ref())
    """)
    assert done.stdout == "None\n", done.stdout + done.stderr


def test_values_of_the_thread_last_and_it_has_one_name() -> None:
    done = script("""
        own, names = threading.local(), set()
        def function(x):
            own.count = getattr(own, 'count', 0) + 1
            names.add(threading.get_ident())
            return np.full(1, own.count)
        pipe = pipeline(function)
        seen = [number(pipe.run()) for _ in range(5)]
        print(seen, len(names), threading.get_ident() in names)
    """)
    assert done.stdout == "[1, 3, 5, 7, 9] 1 False\n", done.stdout + done.stderr


def test_chains_go_on_while_a_function_blocks() -> None:
    done = script("""
        go = threading.Event()
        def function(x):
            go.wait()
            return x
        pipe = pipeline(function, dict(prefetch_queue_depth=3))
        pipe._prepare()
        while pipe.stats()['samples'] < 6:  # of three steps
            time.sleep(0.001)
        go.set()
        print([number(pipe.run()) for _ in range(3)])
    """)
    assert done.stdout == "[0, 1, 2]\n", done.stdout + done.stderr
