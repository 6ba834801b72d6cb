# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Pipelines that call functions, and scripts with them."""

from __future__ import annotations

import subprocess
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np

from helpers import make, run_script
from stoker import DataNode, Pipeline, fn

BATCH = 4
SIMPLE = {"executor": "simple"}
EXECUTORS: list[dict[str, Any]] = [{}, SIMPLE]


def drawn(shape: tuple[int, ...] = (2, 3)) -> DataNode:
    """A tensor that differs from sample to sample."""
    return fn.random.uniform(range=(0.0, 100.0), shape=list(shape))


def calling(function: Callable[..., Any], settings: Any = None, **arguments: Any) -> Pipeline:
    """A pipeline that hands out draws, and what the function makes of them."""

    def define() -> Any:
        x = drawn()
        made = fn.python_function(x, function=function, **arguments)
        return (x, *made) if isinstance(made, tuple) else (x, made)

    return make(define, **{"batch_size": BATCH, **(settings or {})})


def arrays(batch: Any) -> list[np.ndarray[Any, Any]]:
    return [np.array(sample) for sample in batch.as_cpu()]


PRELUDE = """
import gc, os, signal, sys, threading, time, weakref
import numpy as np
from stoker import Pipeline, errors, fn

def pipeline(function, settings={}, **keywords):
    pipe = Pipeline(batch_size=2, num_threads=2, seed=1, **settings)
    with pipe:
        numbers = fn.external_source(lambda i: np.full((2, 1), i), dtype='int64', ndim=1)
        keywords = {'dtype': 'int64', 'ndim': 1, **keywords}
        pipe.set_outputs(fn.python_function(numbers, function=function, **keywords))
    return pipe

def number(step):
    return int(step[0].at(0)[0])
"""


def script(text: str, timeout: float = 60) -> subprocess.CompletedProcess[str]:
    """Runs code behind the prelude in a process of its own. `timeout` only bounds a hang."""
    return run_script(PRELUDE + textwrap.dedent(text), timeout=timeout)
