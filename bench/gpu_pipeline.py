# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Times the ResNet-50 input pipeline with a GPU, for each way to decode. Prints lines of JSON.

    gpu_pipeline.py PICTURES [--batch 256] [--steps 6]

The CPU decodes, or nvJPEG with the Huffman codes on the CPU, or the hardware engine as far as it
takes the pictures. If NVIDIA DALI can be imported, it runs the same pipeline in alternating rounds,
and the ratio is printed. The last line is the difference of nvJPEG's pixels from the CPU's. On a
simulated device each way makes one batch, and nothing is measured.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import statistics
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import stoker

PEER = "nvidia.dali"
ROUNDS = 9
WAYS: dict[str, dict[str, Any]] = {
    "cpu": {"device": "cpu"},
    "hybrid": {"device": "mixed", "hw_decoder_load": 0.0},
    "hardware": {"device": "mixed", "hw_decoder_load": 1.0},
    "default": {"device": "mixed"},
}


def library(name: str) -> ModuleType:
    """A library with ``Pipeline``, ``fn`` and ``types``. Raises ``ImportError``."""
    for part in ("fn", "types"):
        importlib.import_module(f"{name}.{part}")
    return importlib.import_module(name)


def pipeline(library: ModuleType, pictures: Path, batch: int, **how: Any) -> Any:
    """The built pipeline, the same for each library."""
    pipe = library.Pipeline(
        batch_size=batch,
        num_threads=len(os.sched_getaffinity(0)),
        device_id=0,
        seed=1,
        prefetch_queue_depth=3,
    )
    fn = library.fn
    with pipe:
        encoded, label = fn.readers.file(file_root=str(pictures), random_shuffle=True)
        image = fn.decoders.image(encoded, **how)
        image = fn.random_resized_crop(image, size=[224, 224])
        if how["device"] == "cpu":
            image = (
                image.gpu()
            )  # only windows of the final size are copied to the GPU, as with the others
        image = fn.crop_mirror_normalize(
            image,
            mirror=fn.random.coin_flip(),
            mean=[123.675, 116.28, 103.53],
            std=[58.395, 57.12, 57.375],
            dtype=library.types.FLOAT16,
        )
        pipe.set_outputs(image, label)
    pipe.build()
    return pipe


def run(pipe: Any, steps: int) -> None:
    """Runs steps and waits until the GPU is done with the last one."""
    for _ in range(steps):
        image, _ = pipe.run()
    image[0].as_cpu()


def race(pipes: list[Any], batch: int, steps: int) -> list[list[float]]:
    """The images a second of each in alternating rounds. What was made ahead is used up before
    each.
    """
    rates: list[list[float]] = [[] for _ in pipes]
    for number in range(ROUNDS):
        for i in range(len(pipes))[:: 1 if number % 2 else -1]:
            run(pipes[i], steps)
            start = time.perf_counter()
            run(pipes[i], steps)
            rates[i].append(steps * batch / (time.perf_counter() - start))
    return rates


def spread(values: list[float], digits: int | None = None) -> dict[str, Any]:
    low, middle, high = (round(v, digits) for v in statistics.quantiles(values, n=4))
    return {"median": middle, "quartiles": [low, high]}


def measured(pipes: dict[str, Any], batch: int, steps: int) -> dict[str, Any]:
    """The rates by library, and how much faster the first is than each other one."""
    rates = race(list(pipes.values()), batch, steps)
    told = {name: spread(r) for name, r in zip(pipes, rates, strict=True)}
    first, *others = pipes
    for name, other in zip(others, rates[1:], strict=True):
        ratios = [a / b for a, b in zip(rates[0], other, strict=True)]
        told[f"{first} is faster than {name} by"] = spread(ratios, 3)
    return {"images_per_s": told}


def with_peer(
    peer: ModuleType | None, ours: Any, pictures: Path, batch: int, steps: int, **how: Any
) -> dict[str, Any]:
    """Races Stoker's pipeline with the peer's. Without a peer that works, it runs alone and says
    so.
    """
    pipes = {"stoker": ours}
    if peer is None:
        return measured(pipes, batch, steps)
    try:
        theirs = pipeline(peer, pictures, batch, **how)
        run(theirs, 1)
    except Exception as e:
        return {**measured(pipes, batch, steps), "peer_failed": f"{type(e).__name__}: {e}"}
    return measured({**pipes, PEER: theirs}, batch, steps)


def distance(pictures: Path) -> dict[str, Any]:
    """The difference in levels of 255, over the first pictures."""
    both = []
    for device in ("mixed", "cpu"):
        with stoker.Pipeline(batch_size=64, device_id=0, seed=1) as pipe:
            encoded, _ = stoker.fn.readers.file(file_root=pictures)
            pipe.set_outputs(stoker.fn.decoders.image(encoded, device=device))
        (batch,) = pipe.run()
        batch = batch.as_cpu()
        both.append([np.array(batch[i]) for i in range(len(batch))])
    far = [np.abs(a.astype(int) - b.astype(int)) for a, b in zip(*both, strict=True)]
    return {
        "mean": float(np.mean([f.mean() for f in far])),
        "largest": int(max(f.max() for f in far)),
        "pictures": len(far),
    }


def find_peer() -> tuple[ModuleType | None, str]:
    """The peer, and its version or the reason why there is none."""
    try:
        peer = library(PEER)
    except ImportError as e:
        return None, f"was not there: {e}"
    return peer, peer.__version__


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pictures", type=Path)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--steps", type=int, default=6, help="in a round")
    arguments = parser.parse_args()
    device = stoker.devices()[0]
    facts = {"device": device.name, "decoder": device.decoder, "batch": arguments.batch}
    is_real = device.kind != "simulated"
    peer, words = find_peer() if is_real else (None, "not asked: the device is simulated")
    print(json.dumps({PEER: words}), flush=True)
    for name, how in WAYS.items():
        pipe = pipeline(stoker, arguments.pictures, arguments.batch, **how)
        if is_real:
            shape = (arguments.pictures, arguments.batch, arguments.steps)
            told = with_peer(peer, pipe, *shape, **how)
        else:
            told = {"runs": len(pipe.run()[0]) == arguments.batch}
        print(json.dumps({**facts, "decode": name, **told}), flush=True)
    if device.decoder == "nvJPEG":
        print(json.dumps({**facts, "distance_from_the_cpu": distance(arguments.pictures)}))
    else:
        print(json.dumps({**facts, "distance_from_the_cpu": f"not asked: {device.decoder_words}"}))


if __name__ == "__main__":
    main()
