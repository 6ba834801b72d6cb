# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Measures what the PyTorch iterator costs beyond the pipeline, and that it copies nothing.

Batches have 64 samples. Rounds alternate between the training pipeline alone and the same one under
``DataIterator``. The output is the median and the quartiles of the rounds' ratios, and the
iterator's own time for a batch. It needs torch, which ``make test`` installs.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from pathlib import Path

from run import ROOT, pictures, show, training

from stoker.torch import DataIterator


def turn(steps: int, step: object) -> float:
    """Seconds for a step."""
    assert callable(step)
    for _ in range(4):  # more steps than are prepared ahead
        step()
    begun = time.perf_counter()
    for _ in range(steps):
        step()
    return (time.perf_counter() - begun) / steps


def own_time(iterator: DataIterator, batches: object, calls: int = 2000) -> float:
    """Seconds to make a step's dict."""
    begun = time.perf_counter()
    for _ in range(calls):
        iterator._dict(0, batches, 64)  # type: ignore[arg-type]
    return (time.perf_counter() - begun) / calls


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    default = Path(os.environ.get("STOKER_TEST_DATA", ROOT.parent / "shared/data")) / "imagenet"
    parser.add_argument("--data", type=Path, default=default, help="a folder with JPEGs below it")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--steps", type=int, default=8, help="of each round")
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    files = pictures(args.data)
    bare, under = (training(files, "end", args.threads) for _ in range(2))
    iterator = DataIterator(under, ["image"])

    def next_step() -> object:
        step = next(iterator, None)
        return next(iterator) if step is None else step

    ratios, seconds = [], []
    for number in range(args.rounds):
        both = {"bare": bare.run, "iterator": next_step}
        times = {}
        for name in list(both)[:: 1 if number % 2 == 0 else -1]:
            times[name] = turn(args.steps, both[name])
            (
                bare if name == "bare" else under
            ).close()  # so that it makes nothing ahead while others run
        ratios.append(times["iterator"] / times["bare"])
        seconds.append(times["bare"])
    quartiles = statistics.quantiles(ratios, n=4)
    batches = bare.run()
    step = iterator._dict(0, batches, 64)
    assert step["image"].data_ptr() == batches[0].as_tensor().data_ptr, "it copies"
    show("the pipeline alone, a batch of 64", statistics.median(seconds) * 1e6)
    show("the iterator's own time, a batch", own_time(iterator, batches) * 1e6)
    print(
        f"with the iterator: {statistics.median(ratios):.4f} of the time "
        f"(quartiles {quartiles[0]:.4f} - {quartiles[2]:.4f}, {args.rounds} rounds); nothing copied"
    )


if __name__ == "__main__":
    main()
