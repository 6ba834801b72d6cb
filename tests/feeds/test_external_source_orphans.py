# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""However the pipeline's process ends, the worker processes of its sources end with it."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from helpers import run_script

CHILD = """
import multiprocessing, os, signal, sys, threading, time
import numpy as np
from stoker import Pipeline, fn

def source(i):
    return np.full((2, 1), os.getpid())

pipe = Pipeline(batch_size=2, num_threads=1, py_num_workers=2)
with pipe:
    pipe.set_outputs(fn.external_source(source, parallel=True))
pipe.run()
print(*[p.pid for p in multiprocessing.active_children()], flush=True)
"""


def is_gone(pid: int) -> bool:
    """Waits until a process has ended or is a zombie. Returns False if it goes on."""
    event = threading.Event()
    for _ in range(2000):
        try:
            with open(f"/proc/{pid}/stat") as file:
                if file.read().rpartition(")")[2].split()[0] == "Z":
                    return True
        except FileNotFoundError:
            return True
        event.wait(0.01)
    return False


@pytest.mark.parametrize(
    "end",
    [
        "",
        "raise ValueError",
        "sys.exit(3)",
        "os.kill(os.getpid(), signal.SIGINT); time.sleep(60)",
        "os.kill(os.getpid(), signal.SIGKILL)",
        "os._exit(0)",
    ],
    ids=["end", "error", "exit", "Ctrl-C", "killed", "_exit"],
)
def test_no_orphans(end: str) -> None:
    done = run_script(CHILD + end, timeout=60)
    pids = [int(x) for x in done.stdout.split()]
    assert len(pids) == 2, done.stderr
    assert all(is_gone(pid) for pid in pids)
    assert "leaked" not in done.stderr, done.stderr


AT_WORK = """
import multiprocessing, os, signal, time
import numpy as np
from stoker import Pipeline, fn

begun, begins = os.pipe()

def source(i):
    if i > 0:
        os.write(begins, b'.')
        time.sleep(600)
    return np.zeros((2, 1))

pipe = Pipeline(batch_size=2, num_threads=1, py_num_workers=2)
with pipe:
    pipe.set_outputs(fn.external_source(source, parallel=True))
pipe.run()
for _ in range(2):
    os.read(begun, 1)
workers = [p.pid for p in multiprocessing.active_children()]
other = os.fork()
if other == 0:
    os.closerange(1, 3)
    time.sleep(600)
print(other, *workers, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_workers_in_the_midst_of_a_call_end_with_their_parent() -> None:
    """This holds although another child of the process lives on and holds all its files."""
    done = run_script(AT_WORK, timeout=60)
    other, *pids = (int(x) for x in done.stdout.split())
    os.kill(other, signal.SIGKILL)
    assert len(pids) == 2, done.stderr
    assert all(is_gone(pid) for pid in pids)
