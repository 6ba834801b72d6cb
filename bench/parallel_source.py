# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Measures how much faster a CPU-heavy source is with several worker processes than with one.

It also shows what the machine allows at that time: the same calls in processes that share nothing.
"""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
import time
from typing import Any

import numpy as np

from stoker import Pipeline, fn, types

BATCH = 16


def heavy(info: types.SampleInfo) -> Any:
    """Works for some milliseconds in Python, which holds the interpreter lock."""
    total = 0
    for i in range(50_000):
        total = (total * 31 + i) % 1_000_003
    return np.full((64, 64, 3), (total + info.idx_in_epoch) % 256, np.uint8)


def pipeline(workers: int) -> Pipeline:
    pipe = Pipeline(batch_size=BATCH, num_threads=1, py_num_workers=max(workers, 1))
    with pipe:
        pipe.set_outputs(
            fn.external_source(
                heavy, batch=False, parallel=workers > 0, dtype=types.UINT8, layout="HWC"
            )
        )
    return pipe


def samples_per_second(pipe: Pipeline, steps: int) -> float:
    for _ in range(6):  # more steps than are prepared ahead
        pipe.run()
    begun = time.perf_counter()
    for _ in range(steps):
        pipe.run()
    seconds = time.perf_counter() - begun
    pipe.close()  # so that it prepares nothing while the next one is timed
    return steps * BATCH / seconds


def call_often(calls: int) -> None:
    for i in range(calls):
        heavy(types.SampleInfo(i, 0, 0, 0))


def bare_samples_per_second(processes: int, steps: int) -> float:
    calls = steps * BATCH // processes
    with multiprocessing.Pool(processes) as pool:
        pool.map(call_often, [1] * processes, chunksize=1)
        begun = time.perf_counter()
        pool.map(call_often, [calls] * processes, chunksize=1)
        return calls * processes / (time.perf_counter() - begun)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    counts = [0, 1, options.workers]
    pipes = {n: pipeline(n) for n in counts}
    rates: dict[int, list[float]] = {n: [] for n in counts}
    bare: dict[int, list[float]] = {n: [] for n in counts[1:]}
    for _ in range(options.rounds):
        for n, pipe in pipes.items():
            rates[n].append(samples_per_second(pipe, options.steps))
        for n in bare:
            bare[n].append(bare_samples_per_second(n, options.steps))
    median = {n: statistics.median(r) for n, r in rates.items()}
    print(f"the pipeline's own thread  {median[0]:8.0f} samples/s")
    print(f"1 worker process           {median[1]:8.0f} samples/s")
    print(f"{options.workers} worker processes         {median[options.workers]:8.0f} samples/s")
    many, limit = options.workers, {n: statistics.median(r) for n, r in bare.items()}
    print(f"{many} workers to 1: {median[many] / median[1]:.2f} x")
    print(f"{many} bare processes to 1: {limit[many] / limit[1]:.2f} x")


if __name__ == "__main__":
    main()
