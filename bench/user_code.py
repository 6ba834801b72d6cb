#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Measures what python_function adds to the function that it calls.

    .venv/bin/python bench/user_code.py

For a batch of 64 pictures, it compares the time of the operator with that of the same function in a
plain loop over the same pictures, while the main thread is in run(). What may be added are 100 us
and 2 us for each sample. The figures are medians of rounds, each of which measures both.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from stoker import Pipeline, fn, pipeline_def

BATCH, STEPS, ROUNDS = 64, 20, 15
ALLOWED = 100 + 2 * BATCH  # microseconds
SHAPE = (96, 96, 3)
FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "the largest of some pixels": lambda x: x[::32, ::32].max(axis=(0, 1)),
    "a view of the picture": lambda x: x[::-1],
    "a new picture": lambda x: np.invert(x),
}


@pipeline_def(batch_size=BATCH, num_threads=1, seed=1, prefetch_queue_depth=2)
def calling(function: Callable[[Any], Any]) -> Any:
    picture = fn.constant(idata=[7], shape=list(SHAPE), dtype="uint8", layout="HWC")
    return fn.python_function(picture, function=function)


def operator_seconds(pipe: Pipeline) -> float:
    """The time of the operator in a step; the fastest of some."""

    def total() -> float:
        nodes = pipe.stats()["operators"]
        return sum(node["seconds"] for node in nodes if node["operator"] == "python_function")

    found = []
    for _ in range(STEPS):
        before = total()
        pipe.run()
        found.append(total() - before)
    return min(seconds for seconds in found if seconds > 0)


def own_seconds(function: Callable[[Any], Any], pictures: list[Any]) -> float:
    found = []
    for _ in range(STEPS):
        start = time.perf_counter()
        made = [function(x) for x in pictures]
        del made  # the operator frees what was returned, too
        found.append(time.perf_counter() - start)
    return min(found)


def main() -> None:
    pictures = [np.full(SHAPE, 7, np.uint8) for _ in range(BATCH)]
    for name, function in FUNCTIONS.items():
        pipe = calling(function)
        pipe.run()
        rounds = [(operator_seconds(pipe), own_seconds(function, pictures)) for _ in range(ROUNDS)]
        added = statistics.median(whole - own for whole, own in rounds) * 1e6
        own = statistics.median(own for _, own in rounds) * 1e6
        print(f"{name}: {own:.0f} us alone, {added:.0f} us are added ({ALLOWED} are allowed)")


if __name__ == "__main__":
    main()
