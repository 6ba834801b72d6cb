#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Measures what a conditional saves: a blur of all pictures, of half of them, and of none.

    .venv/bin/python bench/conditional.py

Prints the share of the blur's time that is left if a coin decides for each sample. A half is what
can be had. It is the median of rounds, each of which runs all three pipelines.
"""

from __future__ import annotations

import statistics
import time
from typing import Any

from stoker import Pipeline, fn, pipeline_def

BATCH, STEPS, ROUNDS = 32, 20, 15


@pipeline_def(batch_size=BATCH, num_threads=1, seed=1, enable_conditionals=True)
def blurring(probability: float | None) -> Any:
    picture = fn.constant(idata=[100], shape=[240, 320, 3], dtype="uint8", layout="HWC")
    if probability is None:
        return fn.gaussian_blur(picture, window_size=41)
    if fn.random.coin_flip(probability=probability):
        picture = fn.gaussian_blur(picture, window_size=41)
    return picture


def seconds(pipe: Pipeline) -> float:
    start = time.perf_counter()
    for _ in range(STEPS):
        pipe.run()
    return time.perf_counter() - start


def main() -> None:
    pipes = [blurring(p, prefetch_queue_depth=1) for p in (None, 0.5, 0.0)]
    for pipe in pipes:
        pipe.run()
    rounds = [[seconds(pipe) for pipe in pipes] for _ in range(ROUNDS)]
    shares = [(some - none) / (every - none) for every, some, none in rounds]
    milliseconds = [1000 * statistics.median(r[k] for r in rounds) / STEPS for k in range(3)]
    print(
        f"a batch of {BATCH}, in ms: all blurred {milliseconds[0]:.2f}, by a coin "
        f"{milliseconds[1]:.2f}, none {milliseconds[2]:.2f}; "
        f"{statistics.median(shares):.2f} of the blur is left"
    )


if __name__ == "__main__":
    main()
