# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Times every operator that the registry knows a picture call for, and the training pipeline.

An operator is timed alone on one thread: the engine's own clock around its work, on a picture of
480 x 640 RGB pixels, so figures are microseconds a picture. They belong to the machine: compare
them within one run only.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from typing import Any

from stoker import Pipeline, _core, fn, types

ROOT = Path(__file__).resolve().parents[1]
HEIGHT, WIDTH = 480, 640
# Where the arguments of an operator's own examples are for tiny inputs.
CALLS: dict[str, dict[str, Any]] = {
    "resize": {"size": [224, 224]},
    "random_resized_crop": {"size": [224, 224]},
    "crop": {"crop": [224, 224]},
    "per_frame": {"replace": True},
    "slice": {"rel_start": [0.25, 0.25], "rel_end": [0.75, 0.75]},
    "crop_mirror_normalize": {"crop": [224, 224], "mean": [124.0], "std": [58.0]},
}


def arguments_of(operator: dict[str, Any]) -> dict[str, Any]:
    if operator["name"] in CALLS:
        return CALLS[operator["name"]]
    call = f"dict({operator['cases'][0]['call']})"
    arguments: dict[str, Any] = eval(call, {"types": types})  # the registry's own text
    return arguments


def function(name: str) -> Any:
    found: Any = fn
    for part in name.split("."):
        found = getattr(found, part)
    return found


def microseconds(operator: dict[str, Any], steps: int) -> float:
    pipe = Pipeline(batch_size=8, num_threads=1, seed=1, fuse=False)
    with pipe:
        shape = [HEIGHT, WIDTH, 3]
        picture = fn.constant(idata=[100], shape=shape, dtype="uint8", layout="HWC")
        out = function(operator["name"])(picture, name="timed", **arguments_of(operator))
        pipe.set_outputs(out)
    pipe.run()
    before = seconds_of(pipe)
    samples = pipe.stats()["samples"]
    for _ in range(steps):
        pipe.run()
    made = pipe.stats()["samples"] - samples
    return (seconds_of(pipe) - before) / made * 1e6


def seconds_of(pipe: Pipeline) -> float:
    return sum(o["seconds"] for o in pipe.stats()["operators"] if o["name"] == "timed")


def training_rate(folder: Path) -> float:
    pipe = Pipeline(batch_size=64, num_threads=len(os.sched_getaffinity(0)), seed=1)
    with pipe:
        encoded, label = fn.readers.file(file_root=str(folder), random_shuffle=True)
        image = fn.random_resized_crop(fn.decoders.image(encoded), size=[224, 224])
        image = fn.crop_mirror_normalize(image, mirror=fn.random.coin_flip(), mean=[124.0])
        pipe.set_outputs(image, label)
    pipe.run()
    start, made = time.perf_counter(), 0
    for _ in range(8):
        made += len(pipe.run()[0])
    return made / (time.perf_counter() - start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    default = Path(os.environ.get("STOKER_TEST_DATA", ROOT.parent / "shared/data")) / "imagenet"
    parser.add_argument("--data", type=Path, default=default, help="a folder of folders of JPEGs")
    parser.add_argument("--steps", type=int, default=20)
    args = parser.parse_args()
    for operator in _core.operators():
        if operator["kind"] == "lower":
            print(f"{operator['name']:24} {microseconds(operator, args.steps):9.1f} us a picture")
    if args.data.is_dir():
        print(f"{'training pipeline':24} {training_rate(args.data):9.0f} images/s")


if __name__ == "__main__":
    main()
