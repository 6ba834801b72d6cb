#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Compares the ResNet-50 input pipeline of two builds, as a ratio of their images per second.

    .venv/bin/python bench/builds.py OLD/build/release/python build/release/python --data FOLDER

Each run is a process of its own, and the builds take turns; the first step of each is not timed.
Prints the median and the range of the pairs' ratios, new to old.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from pathlib import Path

ONE_RUN = """
import sys
import time
from stoker import fn, pipeline_def, types

@pipeline_def(batch_size=64, num_threads=int(sys.argv[2]), device_id=None, seed=1)
def training():
    encoded, label = fn.readers.file(file_root=sys.argv[1], name="Reader", random_shuffle=True)
    image = fn.decoders.image(encoded, output_type=types.RGB)
    image = fn.random_resized_crop(image, size=[224, 224])
    return fn.crop_mirror_normalize(
        image, mirror=fn.random.coin_flip(probability=0.5), dtype=types.FLOAT16,
        mean=[123.7, 116.3, 103.5], std=[58.4, 57.1, 57.4], output_layout="CHW",
    ), label

pipe = training()
pipe.build()
steps = int(sys.argv[3]) * pipe.epoch_size("Reader") // 64
pipe.run()
began = time.perf_counter()
for _ in range(steps):
    pipe.run()
print(steps * 64 / (time.perf_counter() - began))
"""


def images_per_second(package: Path, options: argparse.Namespace) -> float:
    done = subprocess.run(
        [sys.executable, "-c", ONE_RUN, options.data, str(options.threads), str(options.epochs)],
        env={**os.environ, "PYTHONPATH": str(package.resolve())},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return float(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old", type=Path, help="a folder that holds the built package")
    parser.add_argument("new", type=Path, help="the same of the other build")
    parser.add_argument("--data", required=True, help="a folder of class folders with JPEGs")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=10, help="of each run")
    parser.add_argument("--pairs", type=int, default=15)
    options = parser.parse_args()
    pairs = [
        (images_per_second(options.old, options), images_per_second(options.new, options))
        for _ in range(options.pairs)
    ]
    ratios = [new / old for old, new in pairs]
    old, new = (statistics.median(rates) for rates in zip(*pairs, strict=True))
    print(
        f"{options.threads} threads, {options.pairs} pairs, images/s: old {old:.0f}, "
        f"new {new:.0f}; new to old {statistics.median(ratios):.3f} "
        f"({min(ratios):.3f} to {max(ratios):.3f})"
    )


if __name__ == "__main__":
    main()
