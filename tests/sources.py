# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Sources whose batches tell their place, and scripts with sources."""

from __future__ import annotations

import subprocess
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from helpers import SIMPLE, make, run_script
from stoker import Pipeline, fn

BATCH = 4
EXECUTORS: list[dict[str, Any]] = [{}, SIMPLE, {"prefetch_queue_depth": 1}]


def numbers(i: int, size: int = BATCH) -> np.ndarray[Any, Any]:
    """A batch whose samples tell their iteration and their place in it."""
    return np.stack([np.array([i, k], np.int32) for k in range(size)])


def up_to(end: int, give: Callable[[int], Any] = numbers) -> Callable[[int], Any]:
    """A callable of the iteration, which ends after so many."""

    def source(iteration: int) -> Any:
        if iteration >= end:
            raise StopIteration
        return give(iteration)

    return source


def external(*args: Any, settings: dict[str, Any] | None = None, **keywords: Any) -> Pipeline:
    """A pipeline that hands out what the source gives."""
    return make(
        lambda: fn.external_source(*args, **keywords), **{"batch_size": BATCH, **(settings or {})}
    )


def generator() -> Iterator[Any]:
    for i in range(3):
        yield numbers(i)


PRELUDE = """
import os, signal, sys, threading, time
import numpy as np
from stoker import Pipeline, errors, fn

def pipeline(source=None, **keywords):
    settings = keywords.pop('settings', {})
    pipe = Pipeline(batch_size=2, num_threads=2, seed=1, **settings)
    with pipe:
        pipe.set_outputs(fn.external_source(source, **keywords))
    return pipe

def counted(i):
    return np.full((2, 1), i)
"""


def script(text: str, timeout: float = 60) -> subprocess.CompletedProcess[str]:
    return run_script(PRELUDE + textwrap.dedent(text), timeout=timeout)


def firsts(pipe: Pipeline) -> list[int]:
    """The iterations of the batches that a loop gives."""
    return [int(b[0].as_array()[0][0]) for b in pipe]
