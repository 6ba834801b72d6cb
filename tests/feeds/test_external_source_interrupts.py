# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C in the midst of sources, and threads that do not start. Time limits only bound a hang."""

from __future__ import annotations

import textwrap

import pytest

from helpers import interrupt_script
from sources import PRELUDE, script


@pytest.mark.parametrize("executor", ["pipelined", "simple"])
@pytest.mark.parametrize("parallel", [False, True])
def test_ctrl_c_while_a_source_is_slow(parallel: bool, executor: str) -> None:
    err = interrupt_script(
        PRELUDE
        + textwrap.dedent(f"""
            parent = os.getpid()
            def slow(i):
                if i == 1:
                    print('waiting', flush=True)
                    time.sleep(3600)
                return counted(i)
            pipe = pipeline(slow, parallel={parallel}, settings=dict(executor={executor!r}))
            try:
                pipe.run(), pipe.run()
            except KeyboardInterrupt:
                print('interrupted', flush=True)
            """),
    )
    assert err == ""


def test_ctrl_c_loses_no_step() -> None:
    done = script("""
        go, second = threading.Event(), threading.Event()
        def slow(i):
            if i == 1 and not go.is_set():
                second.wait(60)
                signal.raise_signal(signal.SIGINT)  # the main thread hears it
                go.wait(60)
            return counted(i)
        pipe = pipeline(slow)
        pipe.run()
        try:
            second.set()
            pipe.run()
            raise SystemExit('not interrupted')
        except KeyboardInterrupt:
            go.set()
        print([int(pipe.run()[0].at(0)[0]) for _ in range(3)])
    """)
    assert done.stdout == "[1, 2, 3]\n", done.stdout + done.stderr


def test_ctrl_c_while_waiting_for_a_first_batch() -> None:
    done = script("""
        def source(i):
            signal.raise_signal(signal.SIGINT)
            time.sleep(0.05)
            threading.Event().wait(3600)
        try:
            pipeline(source).run()
        except KeyboardInterrupt:
            print('interrupted')
    """)
    assert done.stdout == "interrupted\n", done.stdout + done.stderr


@pytest.mark.parametrize("new", ["pipeline(counted)", "pipe"], ids=["new", "old"])
def test_ctrl_c_at_any_moment(new: str) -> None:
    done = script(f"""
        import random
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        chance = random.Random(1)
        pipe = pipeline(counted)
        for _ in range(300):
            try:
                signal.setitimer(signal.ITIMER_REAL, 1e-4 + chance.random() * 4e-3)
                for _ in range(100):  # an interrupt of a destructor is lost
                    pipe = {new}
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


@pytest.mark.parametrize(
    "problem", ["KeyboardInterrupt", "RuntimeError('no more')"], ids=["Ctrl-C", "no room"]
)
@pytest.mark.parametrize("begins", [False, True])
def test_a_thread_that_could_not_be_started(problem: str, begins: bool) -> None:
    done = script(f"""
        real = threading.Thread.start
        def start(thread):
            threading.Thread.start = real
            if {begins}:
                real(thread)
            raise {problem}
        pipe = pipeline(counted)
        threading.Thread.start = start
        try:
            pipe.run()
        except (KeyboardInterrupt, errors.BudgetError) as e:
            print(e)
        print([int(pipe.run()[0].at(0)[0]) for _ in range(3)])
    """)
    is_refused = problem.startswith("Runtime")
    said = "no thread can be started for the sources: no more" if is_refused else ""
    assert done.stdout == f"{said}\n[0, 1, 2]\n", done.stdout + done.stderr
