# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""What all peers share. A peer is a process that makes batches when told to."""

from __future__ import annotations

import json
import math
import random
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

SIZE, BATCH = 224, 64
MEAN = (123.675, 116.28, 103.53)
STD = (58.395, 57.12, 57.375)

# Makes the next batch, of the files in their order, again and again.
Step = Callable[[], Any]


def window(rng: random.Random, height: int, width: int) -> tuple[int, int, int, int]:
    """Draws y, x, height and width of a window, for libraries that draw none."""
    for _ in range(10):
        area = height * width * rng.uniform(0.08, 1)
        ratio = math.exp(rng.uniform(math.log(3 / 4), math.log(4 / 3)))
        w, h = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
        if 0 < w <= width and 0 < h <= height:
            return rng.randint(0, height - h), rng.randint(0, width - w), h, w
    side = min(height, width)
    return (height - side) // 2, (width - side) // 2, side, side


def batches_of(files: Sequence[str]) -> Callable[[], Sequence[str]]:
    """Gives the files of the next batch, again and again."""
    at = -BATCH

    def next_files() -> Sequence[str]:
        nonlocal at
        at = (at + BATCH) % len(files)
        return files[at : at + BATCH]

    return next_files


def answer(**facts: Any) -> None:
    print(json.dumps(facts), flush=True)


def serve(
    make: Callable[[list[str], int, str], Step],
    about: str,
    ahead: int = 0,
    seconds_by_operator: Callable[[], dict[str, float]] = dict,
) -> None:
    """Runs a peer, whose make(files, threads, variant) gives its step.

    The arguments are LIST THREADS VARIANT. `ahead` is how many batches the peer may prepare before
    it is asked. It answers lines of stdin: "round RUN_IN STEPS FIRST" makes RUN_IN batches, which
    uses up what was prepared, and then times STEPS more. "dump FILE" writes the next batch's bytes.
    """
    files = Path(sys.argv[1]).read_text().splitlines()
    step = make(files, int(sys.argv[2]), sys.argv[3])
    step()
    answer(about=about, ahead=ahead)
    for line in sys.stdin:
        word, *arguments = line.split()
        if word == "round":
            run_in, steps = int(arguments[0]), int(arguments[1])
            for _ in range(run_in):
                step()
            before, made = seconds_by_operator(), 0
            start, cpu_start = time.perf_counter(), time.process_time()
            for _ in range(steps):
                made += len(step())
            seconds, cpu = time.perf_counter() - start, time.process_time() - cpu_start
            after = seconds_by_operator()
            operators = {name: after[name] - before[name] for name in after}
            answer(images=made, seconds=seconds, cpu=cpu, operators=operators)
        elif word == "dump":
            answer(bytes=Path(arguments[0]).write_bytes(step().as_array().tobytes()))
        else:
            sys.exit(f"no command {word!r}")
