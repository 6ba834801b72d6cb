# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Times the ResNet-50 input pipeline with a GPU: images a second by who decodes, as lines of JSON.

    gpu_pipeline.py PICTURES [--batch 256] [--steps 60]

Ways: decoding on the CPU and the rest on the GPU, nvJPEG with the Huffman codes on the CPU, and the
hardware engine as far as it takes the pictures. Then nvJPEG's distance from the CPU's pixels. On a
simulated device each way makes one batch, and nothing is measured.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from pathlib import Path
from typing import Any

import numpy as np

import stoker
from stoker import Pipeline, fn, types

WAYS: dict[str, dict[str, Any]] = {
    "cpu": {"device": "cpu"},
    "hybrid": {"device": "mixed", "hw_decoder_load": 0.0},
    "hardware": {"device": "mixed", "hw_decoder_load": 1.0},
    "default": {"device": "mixed"},
}


def pipeline(pictures: Path, batch: int, **how: Any) -> Pipeline:
    with Pipeline(batch_size=batch, device_id=0, seed=1, prefetch_queue_depth=3) as pipe:
        encoded, label = fn.readers.file(file_root=pictures, random_shuffle=True)
        image = fn.decoders.image(encoded, **how)
        if how["device"] == "cpu":
            # Only windows at their size go up, as with the others.
            image = fn.random_resized_crop(image, size=[224, 224]).gpu()
        else:
            image = fn.random_resized_crop(image, size=[224, 224])
        image = fn.crop_mirror_normalize(
            image,
            mirror=fn.random.coin_flip(),
            mean=[123.675, 116.28, 103.53],
            std=[58.395, 57.12, 57.375],
            dtype=types.FLOAT16,
        )
        pipe.set_outputs(image, label)
    return pipe


def images_per_second(pipe: Pipeline, batch: int, steps: int) -> tuple[float, float, float]:
    """Median and quartiles over tenths of the steps, after a tenth to warm up."""
    tenth = max(steps // 10, 1)
    for _ in range(tenth):
        pipe.run()
    rates = []
    for _ in range(9):
        start = time.perf_counter()
        for _ in range(tenth):
            image, _ = pipe.run()
        image[0].as_cpu()  # waits until the last of these is done
        rates.append(tenth * batch / (time.perf_counter() - start))
    low, middle, high = statistics.quantiles(rates, n=4)
    return middle, low, high


def distance(pictures: Path) -> dict[str, Any]:
    """In levels of 255, over the first pictures."""
    far = []
    both = []
    for device in ("mixed", "cpu"):
        with Pipeline(batch_size=64, device_id=0, seed=1) as pipe:
            encoded, _ = fn.readers.file(file_root=pictures)
            pipe.set_outputs(fn.decoders.image(encoded, device=device))
        (batch,) = pipe.run()
        batch = batch.as_cpu()
        both.append([np.array(batch[i]) for i in range(len(batch))])
    for there, here in zip(*both, strict=True):
        far.append(np.abs(there.astype(int) - here.astype(int)))
    return {
        "mean": float(np.mean([f.mean() for f in far])),
        "largest": int(max(f.max() for f in far)),
        "pictures": len(far),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pictures", type=Path)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--steps", type=int, default=60)
    arguments = parser.parse_args()
    device = stoker.devices()[0]
    facts = {"device": device.name, "decoder": device.decoder, "batch": arguments.batch}
    for name, how in WAYS.items():
        pipe = pipeline(arguments.pictures, arguments.batch, **how)
        if device.kind == "simulated":
            image, _ = pipe.run()
            print(json.dumps({**facts, "decode": name, "runs": len(image) == arguments.batch}))
            continue
        middle, low, high = images_per_second(pipe, arguments.batch, arguments.steps)
        rate = {"images_per_s": round(middle), "quartiles": [round(low), round(high)]}
        print(json.dumps({**facts, "decode": name, **rate}), flush=True)
    if device.kind != "simulated":
        print(json.dumps({**facts, "distance_from_the_cpu": distance(arguments.pictures)}))


if __name__ == "__main__":
    main()
