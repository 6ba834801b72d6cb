#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""What one call costs: transforms at once, beside torchvision's, and with FOLDER beside a pipeline.

    bench/calls.py                     # a flip of 8x8, and single transforms of 500x375
    bench/calls.py --folder DIR [-n 200]  # the usual transform of JPEG files, also by a pipeline

Times are of the CPU, as the best of several rounds, in microseconds. All run in one thread.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
import torch
import torchvision.transforms.v2 as theirs

from stoker import fn, pipeline_def
from stoker import transforms as ours
from stoker._calls.compiled import Input, compiled

MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
SINGLE: list[tuple[str, tuple[Any, ...]]] = [
    ("Resize", (224,)),
    ("Resize", (224, "bicubic")),
    ("CenterCrop", (224,)),
    ("RandomCrop", (224,)),
    ("RandomResizedCrop", (224,)),
    ("RandomHorizontalFlip", (1.0,)),
    ("RandomVerticalFlip", (1.0,)),
    ("Pad", (8,)),
    ("Grayscale", (3,)),
    ("ColorJitter", (0.4,)),
    ("ColorJitter", (None, 0.4)),
    ("ColorJitter", (None, None, 0.4)),
    ("RandomInvert", (1.0,)),
    ("RandomSolarize", (128, 1.0)),
    ("RandomPosterize", (4, 1.0)),
    ("GaussianBlur", (5,)),
]


def cost(call: Callable[[], Any], count: int, rounds: int = 5) -> float:
    """Microseconds of a call, in the best round."""
    best = float("inf")
    call()
    for _ in range(rounds):
        start = time.process_time()
        for _ in range(count):
            call()
        best = min(best, (time.process_time() - start) / count)
    return best * 1e6


def overhead() -> None:
    """A flip of a picture that is so small that it costs nothing."""
    pixels = np.zeros((8, 8, 3), np.uint8)
    tensor, picture = torch.zeros(3, 8, 8, dtype=torch.uint8), PIL.Image.fromarray(pixels)
    flip = compiled(fn.flip, [Input("uint8", 3, "HWC")])
    mine, judge = ours.RandomHorizontalFlip(1.0), theirs.RandomHorizontalFlip(1.0)
    print("a flip of 8x8                        us")
    print(f"  compiled call of an array     {cost(lambda: flip(pixels), 5000):8.1f}")
    for name, value in (("tensor", tensor), ("picture of PIL", picture)):
        print(f"  {'Stoker, ' + name:30}{cost(lambda v=value: mine(v), 3000):8.1f}")
        print(f"  {'torchvision, ' + name:30}{cost(lambda v=value: judge(v), 3000):8.1f}")


def single() -> None:
    """Single transforms of a picture of usual size, as factors of torchvision's faster form."""
    pixels = np.random.default_rng(0).integers(0, 256, (375, 500, 3), np.uint8)
    values = (torch.from_numpy(pixels).permute(2, 0, 1).contiguous(), PIL.Image.fromarray(pixels))
    print("\nof 500x375, us           Stoker, tensor   PIL  torchvision, tensor   PIL  faster by")
    factors = []
    for name, given in SINGLE:
        mine, judge = getattr(ours, name)(*given), getattr(theirs, name)(*given)
        a = [cost(lambda v=v, of=mine: of(v), 20, 3) for v in values]
        b = [cost(lambda v=v, of=judge: of(v), 20, 3) for v in values]
        factors.append(min(b) / min(a))
        shown = ", ".join(str(x) for x in given)
        print(
            f"  {name + '(' + shown + ')':32}{a[0]:7.0f}{a[1]:7.0f}{b[0]:18.0f}{b[1]:7.0f}"
            f"{factors[-1]:10.2f}"
        )
    print(f"  median {np.median(factors):.2f}, least {min(factors):.2f}")


def imagenet(of: Any) -> Any:
    """The five transforms of a training, by one of the packages."""
    return of.Compose(
        [
            of.RandomResizedCrop(224),
            of.RandomHorizontalFlip(),
            of.ToImage(),
            of.ToDtype(torch.float32, scale=True),
            of.Normalize(MEAN, STD),
        ]
    )


def files_of(folder: Path, count: int) -> None:
    """The usual transform of files, in alternating rounds."""
    files = sorted(str(p) for p in folder.rglob("*") if p.suffix.lower() in (".jpg", ".jpeg"))
    files = files[: count // 64 * 64]

    @pipeline_def(batch_size=64, num_threads=1, prefetch_queue_depth=0)
    def usual() -> Any:
        encoded, _ = fn.readers.file(files=files, name="Reader")
        image = fn.decoders.image(encoded, adjust_orientation=False)
        image = fn.random_resized_crop(image, size=[224, 224])
        return fn.crop_mirror_normalize(
            image,
            mirror=fn.random.coin_flip(),
            mean=[m * 255 for m in MEAN],
            std=[s * 255 for s in STD],
        )

    pipe, mine, judge = usual(), imagenet(ours), imagenet(theirs)
    ways: dict[str, Callable[[], Any]] = {
        "Stoker's pipeline": lambda: [pipe.run() for _ in range(len(files) // 64)],
        "Stoker's transforms": lambda: [mine(f) for f in files],
        "torchvision, PIL": lambda: [judge(PIL.Image.open(f).convert("RGB")) for f in files],
    }
    times: dict[str, list[float]] = {name: [] for name in ways}
    for round_number in range(5):
        for name, way in ways.items():
            start = time.process_time()
            way()
            if round_number:  # in the first one, graphs are compiled and files are indexed
                times[name].append((time.process_time() - start) / len(files))
    print(f"\n{len(files)} files, us a file; rates are those of one busy CPU")
    for name, all_times in times.items():
        each = float(np.median(all_times))
        print(f"  {name:24}{each * 1e6:8.0f}{1 / each:10.0f} files/s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--folder", type=Path, help="where JPEG files are")
    parser.add_argument("-n", type=int, default=192, help="how many of them")
    given = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    overhead()
    if given.folder:
        files_of(given.folder, given.n)
    else:
        single()


if __name__ == "__main__":
    main()
