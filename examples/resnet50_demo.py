#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The ResNet-50 training input on CPUs: its rate, where the time goes, and a contact sheet.

The pictures are those of a folder of class folders, or else made on the spot. The folder is given
as argument or as DATA in the environment.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

import numpy as np
from contact_sheet import contact_sheet
from synthetic_photos import make_photos

from stoker import DataNode, Pipeline, fn, pipeline_def, types

MEAN = [0.485 * 255, 0.456 * 255, 0.406 * 255]
STD = [0.229 * 255, 0.224 * 255, 0.225 * 255]


@pipeline_def
def resnet50_training(root: Path) -> tuple[DataNode, DataNode]:
    encoded, label = fn.readers.file(name="Reader", file_root=root, random_shuffle=True)
    image = fn.decoders.image(encoded, output_type=types.RGB)
    image = fn.random_resized_crop(image, size=[224, 224])
    image = fn.crop_mirror_normalize(
        image,
        mirror=fn.random.coin_flip(probability=0.5),
        mean=MEAN,
        std=STD,
        dtype=types.FLOAT16,
        output_layout="CHW",
    )
    return image, label


def train(pipe: Pipeline, epochs: int) -> float:
    """Runs the epochs with a progress bar. Returns images per second, without the first step."""
    steps = epochs * pipe.steps_left()
    bar = ProgressBar(steps)
    images = 0
    began = 0.0
    for _ in range(epochs):
        for pictures, _labels in pipe:
            if began:
                images += len(pictures)
            else:
                began = time.perf_counter()
            bar.step(images / (time.perf_counter() - began) if images else 0)
    bar.end()
    return images / (time.perf_counter() - began)


class ProgressBar:
    """Shows progress in one line, if the output is a terminal."""

    def __init__(self, steps: int) -> None:
        self.steps = max(1, steps)
        self.done = 0

    def step(self, rate: float) -> None:
        self.done += 1
        if sys.stdout.isatty():
            full = min(40, 40 * self.done // self.steps)
            bar = "#" * full + "." * (40 - full)
            print(f"\r[{bar}] {self.done}/{self.steps}  {rate:6.0f} images/s", end="", flush=True)

    def end(self) -> None:
        if sys.stdout.isatty():
            print()


def print_times(pipe: Pipeline) -> None:
    stats = pipe.stats()
    operators = [o for o in stats["operators"] if o["seconds"] > 0]
    total = sum(o["seconds"] for o in operators) or 1
    print("\nWhere the workers' time went")
    for o in sorted(operators, key=lambda o: -o["seconds"]):
        share = o["seconds"] / total
        each = o["seconds"] / max(1, stats["samples"]) * 1e6
        print(f"  {o['name']:26} {share:6.1%} {each:8.0f} us a sample  {'#' * round(share * 30)}")
    waited, steps = stats["steps_waited"], stats["steps"]
    print(f"  waited for {waited} of {steps} batches, {stats['user_wait_seconds']:.2f} s in all")
    print(f"  workers idle {stats['worker_idle_seconds']:.2f} s")
    memory = stats["memory"]["batches"]["high_water"] / 1e6
    print(
        f"  {stats['bytes_read'] / 1e6:.0f} MB read, batches took at most {memory:.0f} MB of memory"
    )


def save_sheet(pipe: Pipeline, path: Path) -> None:
    pictures: list[np.ndarray] = []
    std, mean = np.array(STD, np.float32), np.array(MEAN, np.float32)
    while len(pictures) < 32:
        batch, _ = pipe.run()
        chw = batch.as_array().astype(np.float32)
        hwc = chw.transpose(0, 2, 3, 1) * std + mean
        pictures += list(np.clip(np.rint(hwc), 0, 255).astype(np.uint8))
    contact_sheet(pictures[:32], path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, nargs="?", default=os.environ.get("DATA") or None)
    parser.add_argument("--out", type=Path, default=Path("build/demo"), help="where results go")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--threads", type=int, default=None, help="default: all usable CPUs")
    options = parser.parse_args()

    options.out.mkdir(parents=True, exist_ok=True)
    root = options.data
    if not root:
        print("making pictures; give your own with DATA=folder")
        root = make_photos(options.out / "photos")
    pipe = resnet50_training(
        root, batch_size=options.batch_size, num_threads=options.threads, seed=1, on_error="skip"
    )
    size = pipe.epoch_size("Reader")
    print(f"{size} pictures in {root}, {options.epochs} epochs, {pipe.num_threads} threads")
    rate = train(pipe, options.epochs)
    print(f"{rate:.0f} images/s: read, decoded, cropped, resized to 224x224, flipped, normalised")
    print_times(pipe)
    for bad in pipe.quarantine():
        print(f"  left out: {bad['source']}: {bad['message']}")
    sheet = options.out / "contact_sheet.png"
    save_sheet(pipe, sheet)
    print(f"\nWhat the network gets to see: {sheet}")


if __name__ == "__main__":
    main()
