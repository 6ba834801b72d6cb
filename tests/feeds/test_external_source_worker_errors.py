# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""What is said when worker processes fail, read as a whole."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stoker import fn, pipeline_def
from stoker.errors import GraphError, SourceError, StateError

SOURCE = r"the source of external_source 'mine' \([^)]*\) "


class Unloadable:
    """A source that fails where it is loaded, as a class of a notebook does."""

    def __init__(self, failure: Exception) -> None:
        self.failure = failure

    def __reduce__(self) -> Any:
        return _fail, (self.failure,)

    def __call__(self, info: Any) -> Any:
        return np.zeros(1)


def _fail(failure: Exception) -> None:
    raise failure


def said(source: Any, error: type[Exception] = SourceError, **settings: Any) -> str:
    @pipeline_def(batch_size=2, num_threads=1, py_num_workers=1, **settings)
    def pipe() -> Any:
        return fn.external_source(source, parallel=True, batch=False, name="mine")

    made = pipe()
    with pytest.raises(error) as raised:
        made.run()
    made.close()
    return str(raised.value)


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
@pytest.mark.parametrize(
    "failure",
    [AttributeError("Can't get attribute 'Helper'"), ModuleNotFoundError("x"), KeyError(3)],
)
def test_a_source_that_cannot_be_loaded(failure: Exception, method: str) -> None:
    what = re.escape(f"{type(failure).__name__}: {failure}")
    assert re.fullmatch(
        SOURCE + f"cannot be loaded in a worker process: {what}. Such a process has only what "
        "modules have: put the source, and what it uses, into a module that can be imported there, "
        "or let the processes inherit it with py_start_method='fork'",
        said(Unloadable(failure), py_start_method=method),
    )


def test_the_same_source_runs_where_it_is_inherited() -> None:
    @pipeline_def(batch_size=2, num_threads=1, py_num_workers=1, py_start_method="fork")
    def pipe() -> Any:
        return fn.external_source(Unloadable(KeyError()), parallel=True, batch=False)

    assert pipe().run()[0].as_array().shape == (2, 1)


class Unsendable(Unloadable):
    def __reduce__(self) -> Any:
        raise self.failure


def test_a_source_that_cannot_be_sent_names_what_was_raised() -> None:
    text = said(Unsendable(KeyError("part")), GraphError, py_start_method="spawn")
    assert "cannot be sent to a worker process: KeyError: 'part'. Give a function of a" in text


def fails(info: Any) -> Any:
    raise ValueError("no such sample")


def test_a_source_that_raises() -> None:
    assert re.fullmatch(
        SOURCE + "failed in iteration 0 of epoch 0, sample 0, in a worker process: "
        "ValueError: no such sample",
        said(fails, py_start_method="fork"),
    )


def killed(info: Any) -> Any:
    os.kill(os.getpid(), signal.SIGKILL if info.idx_in_batch else signal.SIGTERM)


def killed_at_one(info: Any) -> Any:
    if info.idx_in_batch == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return np.zeros(1)


def test_a_killed_worker_says_what_kills_so() -> None:
    assert re.fullmatch(
        SOURCE + r"failed in iteration 0 of epoch 0: worker process \d+ was killed by signal 9 "
        r"\(SIGKILL\) in samples 0 to 1 of epoch 0 \(SampleInfo\.idx_in_epoch\), as the system "
        "does where memory runs out; the others were stopped, the next run\\(\\) starts new ones",
        said(killed_at_one, py_start_method="fork"),
    )
    other = said(killed, py_start_method="fork")
    assert "SIGTERM" in other and "memory" not in other


def test_a_script_without_a_main_guard(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import numpy as np\n"
        "from stoker import fn, pipeline_def\n"
        "def source(info):\n    return np.zeros(1)\n"
        "@pipeline_def(batch_size=1, num_threads=1, py_num_workers=1, py_start_method='spawn')\n"
        "def pipe():\n"
        "    return fn.external_source(source, parallel=True, batch=False)\n"
        "pipe().run()\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    last = done.stderr.strip().splitlines()[-1]
    assert "ended with exit code 1 in sample 0 of epoch 0 (SampleInfo.idx_in_epoch), before" in last
    assert "stands there under if __name__ == '__main__'" in last


class NoState:
    """A source that says where it stands by raising."""

    def __iter__(self) -> Any:
        return iter([[np.zeros(1)] * 2] * 3)

    def state(self) -> Any:
        raise KeyError("position")

    def restore(self, state: Any) -> None:
        pass


def test_a_state_that_fails_names_what_was_raised() -> None:
    @pipeline_def(batch_size=2, num_threads=1)
    def pipe() -> Any:
        return fn.external_source(NoState(), name="mine")

    made = pipe()
    with pytest.raises((SourceError, StateError), match="KeyError: 'position'"):
        made.run()
        made.checkpoint()


def test_a_pipeline_of_a_script_ends_quietly_with_the_interpreter(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import numpy as np\nfrom stoker import Pipeline, fn\n"
        "pipe = Pipeline(batch_size=1, num_threads=1)\n"
        "pipe.set_outputs(fn.external_source(lambda: [np.zeros(1)]))\npipe.run()\n"
        "import atexit, sys\nsys.kept = pipe\n"
    )
    for command in ([str(script)], ["-m", "stoker", "run", str(script)]):
        done = subprocess.run([sys.executable, *command], capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")
