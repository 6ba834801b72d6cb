#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The ResNet-50 training input on CPUs: its rate, where the time goes, and a contact sheet.

The pictures are those of a folder of class folders, or else made on the spot. The folder is given
as argument or as DATA in the environment. With --store or STORE they are put into a store of that
kind, once, and read from there: the pixels are compared with those from the files, and so is the
rate.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from pathlib import Path

import numpy as np
import picture_stores
from synthetic_photos import make_photos
from training_inputs import MEAN, STD

from stoker import DataNode, Pipeline, errors, fn, pipeline_def, types
from stoker.images import contact_sheet


@pipeline_def
def resnet50_training(kind: str, folder: Path) -> tuple[DataNode, DataNode]:
    encoded, label = picture_stores.read(kind, folder, name="Reader", random_shuffle=True)
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
    """Runs the epochs. Returns images per second, without the first step."""
    images = 0
    began = 0.0
    for _ in range(epochs):
        for pictures, _labels in pipe:
            if began:
                images += len(pictures)
            else:
                began = time.perf_counter()
    return images / (time.perf_counter() - began)


def compare_with_files(files: Pipeline, store: Pipeline, rounds: int, epochs: int) -> float:
    """How fast the store is beside the files: the median of rounds of so many epochs of each.

    Before that, an epoch of both must give the same pixels and labels.
    """
    steps = files.steps_left()
    for of_files, of_store in zip(files, store, strict=True):
        for a, b in zip(of_files, of_store, strict=True):
            if not np.array_equal(a.as_array(), b.as_array()):
                raise SystemExit("the store does not give the pixels and labels of the files")
    print(f"the same pixels and labels as from the files, in all {steps} batches")
    ratios = []
    for i in range(rounds):
        took = {}
        for pipe in (files, store) if i % 2 == 0 else (store, files):
            began = time.perf_counter()
            for _ in range(epochs):
                for _ in pipe:
                    pass
            took[pipe] = time.perf_counter() - began
        ratios.append(took[files] / took[store])
    return statistics.median(ratios)


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
    store = os.environ.get("STORE") or "files"
    parser.add_argument("--store", choices=("files", *picture_stores.KINDS), default=store)
    parser.add_argument("--out", type=Path, default=Path("build/demo"), help="where results go")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=5, help="of a store beside files")
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--threads", type=int, default=None, help="default: all usable CPUs")
    options = parser.parse_args()

    options.out.mkdir(parents=True, exist_ok=True)
    root = options.data
    if not root:
        print("making pictures; give your own with DATA=folder")
        root = make_photos(options.out / "photos")
    settings = {"batch_size": options.batch_size, "num_threads": options.threads, "seed": 1}
    files = resnet50_training("files", root, **settings, on_error="skip")
    files.build()
    pipe = files
    if options.store != "files":
        if options.store not in picture_stores.KINDS:
            parser.error(f"there is no store '{options.store}': {', '.join(picture_stores.KINDS)}")
        began = time.perf_counter()
        folder = picture_stores.converted(options.store, root, options.out / "stores")
        print(
            f"{options.store} in {folder}, {time.perf_counter() - began:.1f} s to make or find it"
        )
        pipe = resnet50_training(options.store, folder, **settings, on_error="skip")
        ratio = compare_with_files(files, pipe, options.rounds, options.epochs)
        print(f"{ratio:.3f} x the rate of files, the median of {options.rounds} rounds")
    size = pipe.epoch_size("Reader")
    print(f"{size} pictures in {root}, {options.epochs} epochs, {pipe.num_threads} threads")
    rate = train(pipe, options.epochs)
    print(f"{rate:.0f} images/s: read, decoded, cropped, resized to 224x224, flipped, normalised")
    print(f"\n{pipe.stats()}")
    for bad in pipe.quarantine():
        print(f"  left out: {bad['source']}: {bad['message']}")
    sheet = options.out / "contact_sheet.png"
    save_sheet(pipe, sheet)
    print(f"\nWhat the network gets to see: {sheet}")


if __name__ == "__main__":
    try:
        main()
    except errors.Error as e:
        raise SystemExit(str(e)) from e
