# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""What every peer is: a process on given cores that makes one epoch when told to."""

from __future__ import annotations

import os
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

SIZE, BATCH = 224, 64
MEAN = (123.675, 116.28, 103.53)
STD = (58.395, 57.12, 57.375)


def images(folder: str) -> list[str]:
    return sorted(str(p) for p in Path(folder).rglob("*") if p.suffix.lower() in (".jpg", ".jpeg"))


def serve(make: Callable[[str, int], Callable[[], int]]) -> None:
    """make(folder, threads) gives the function that makes one epoch.

    Answers each line of stdin with 'images seconds peak-KiB'.
    """
    folder, cores = sys.argv[1], [int(c) for c in sys.argv[2].split(",")]
    os.sched_setaffinity(0, cores)
    start = time.perf_counter()
    epoch = make(folder, len(cores))
    epoch()
    print(f"ready {time.perf_counter() - start:.4f}", flush=True)
    for _ in sys.stdin:
        start = time.perf_counter()
        made = epoch()
        seconds = time.perf_counter() - start
        print(
            made, f"{seconds:.6f}", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, flush=True
        )
