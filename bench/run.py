# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Times every operator of the registry, and shows where the time of a training pipeline goes.

An operator runs alone on one thread. The engine's own clock gives microseconds for a sample, which
is mostly a picture of 480 x 640 RGB pixels, or a JPEG file of --data. Compare figures within one
run only, as they depend on the machine. bench/compare races other libraries.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from PIL import Image

from stoker import Pipeline, _core, fn, types

ROOT = Path(__file__).resolve().parents[1]
HEIGHT, WIDTH = 480, 640
# For operators whose own examples have arguments for tiny inputs.
CALLS: dict[str, dict[str, Any]] = {
    "resize": {"size": [224, 224]},
    "random_resized_crop": {"size": [224, 224]},
    "crop": {"crop": [224, 224]},
    "per_frame": {"replace": True},
    "slice": {"rel_start": [0.25, 0.25], "rel_end": [0.75, 0.75]},
    "crop_mirror_normalize": {"crop": [224, 224], "mean": [124.0], "std": [58.0]},
    "decoders.image": {},
    "decoders.image_crop": {"crop": [30, 30]},
    "decoders.image_random_crop": {},
    "decoders.image_slice": {"rel_start": [0.25, 0.25], "rel_end": [0.75, 0.75]},
    "spectrogram": {},
    "mel_filter_bank": {},
    "gaussian_blur": {"window_size": 5},
    "rotate": {"angle": 30.0},
    "io.file.read": {},
    "full": {"shape": [HEIGHT, WIDTH, 3]},
    "jitter": {},
    "multi_paste": {"output_size": [2 * HEIGHT, 2 * WIDTH]},
    "nonsilent_region": {},
    "random_bbox_crop": {"scaling": [0.3, 1.0], "aspect_ratio": [0.5, 2.0]},
    "segmentation.random_mask_pixel": {"foreground": 1},
    "segmentation.random_object_bbox": {},
    "sphere": {},
    "water": {},
    "ones": {"shape": [HEIGHT, WIDTH, 3]},
    "zeros": {"shape": [HEIGHT, WIDTH, 3]},
}


def arguments_of(operator: dict[str, Any]) -> dict[str, Any]:
    if operator["name"] in CALLS:
        return CALLS[operator["name"]]
    call = f"dict({operator['cases'][0]['call']})"
    arguments: dict[str, Any] = eval(call, {"types": types})  # the text comes from the registry
    return arguments


def function(name: str) -> Any:
    found: Any = fn
    for part in name.split("."):
        found = getattr(found, part)
    return found


def picture() -> Any:
    return fn.constant(idata=[100], shape=[HEIGHT, WIDTH, 3], dtype="uint8", layout="HWC")


def numbers(*shape: int, layout: str = "") -> Any:
    return fn.constant(fdata=[0.25], shape=list(shape), layout=layout)


def whole_numbers(*values: int) -> Any:
    return fn.constant(idata=list(values), shape=[len(values)], dtype="int32")


def boxes() -> Any:
    return fn.constant(fdata=[0.25, 0.25, 0.75, 0.75] * 20, shape=[20, 4])


def frames() -> Any:
    return fn.stack(*[picture()] * 4, axis_name="F")


# For operators that do not take one picture.
INPUTS: dict[str, Callable[[], list[Any]]] = {
    "arithmetic": lambda: [picture(), numbers()],
    "cast_like": lambda: [picture(), numbers()],
    "full": lambda: [numbers()],
    "full_like": lambda: [picture(), numbers()],
    "audio_resample": lambda: [numbers(150_000)],
    "bb_flip": lambda: [numbers(100, 4)],
    "bbox_paste": lambda: [numbers(100, 4)],
    "box_encoder": lambda: [numbers(100, 4), whole_numbers(*[1] * 100)],
    "coord_flip": lambda: [numbers(1000, 2)],
    "coord_transform": lambda: [numbers(1000, 2)],
    "cutmix": lambda: [picture(), numbers(3)],
    "element_extract": lambda: [frames()],
    "filter": lambda: [picture(), numbers(5, 5)],
    "mel_filter_bank": lambda: [numbers(257, 500, layout="ft")],
    "nonsilent_region": lambda: [numbers(150_000)],
    "random_bbox_crop": lambda: [boxes(), whole_numbers(*range(20))],
    "remap": lambda: [picture(), numbers(HEIGHT, WIDTH), numbers(HEIGHT, WIDTH)],
    "segmentation.select_masks": lambda: [
        whole_numbers(1),
        fn.constant(idata=[0, 0, 500, 1, 500, 1000], shape=[2, 3], dtype="int32"),
        numbers(1000, 2),
    ],
    "ssd_random_crop": lambda: [picture(), boxes(), whole_numbers(*range(20))],
    "merge": lambda: [picture(), picture(), numbers()],
    "mfcc": lambda: [numbers(80, 500, layout="ft")],
    "mixup": lambda: [picture(), numbers(3)],
    "power_spectrum": lambda: [numbers(150_000)],
    "random_crop_generator": lambda: [whole_numbers(HEIGHT, WIDTH)],
    "reductions.std_dev": lambda: [picture(), numbers()],
    "reductions.variance": lambda: [picture(), numbers()],
    "sequence_rearrange": lambda: [frames()],
    "spectrogram": lambda: [numbers(150_000)],
    "to_decibels": lambda: [numbers(128, 500)],
    "transforms.combine": lambda: [numbers(2, 3), numbers(2, 3)],
}


def inputs_of(operator: dict[str, Any], files: Sequence[str]) -> list[Any]:
    """A file for a decoder, a picture for most other operators with an input, else nothing."""
    if operator["name"].startswith(("decoders.image", "peek_image_shape")):
        return [fn.readers.file(files=files)[0]]
    if operator["name"] == "io.file.read":
        return [fn.constant(idata=list(files[0].encode()), dtype="uint8", shape=[len(files[0])])]
    if operator["name"].startswith("decoders."):
        numbers_of_case = json.loads(operator["cases"][0]["inputs"][0].removeprefix("uint8 "))
        return [fn.constant(idata=numbers_of_case, dtype="uint8", shape=[len(numbers_of_case)])]
    if operator["name"] in INPUTS:
        return INPUTS[operator["name"]]()
    return [] if all(i["is_optional"] for i in operator["inputs"]) else [picture()]


def one_operator(operator: dict[str, Any], files: Sequence[str]) -> Pipeline:
    pipe = Pipeline(batch_size=8, num_threads=1, seed=1, fuse=False)
    with pipe:
        if operator["kind"] == "read":
            out = fn.readers.file(files=files, name="timed")[0]
        else:
            inputs = inputs_of(operator, files)
            made = function(operator["name"])(*inputs, name="timed", **arguments_of(operator))
            out = made[0] if isinstance(made, list | tuple) else made
        pipe.set_outputs(out)
    return pipe


def microseconds(operator: dict[str, Any], files: Sequence[str], steps: int) -> float:
    pipe = one_operator(operator, files)
    for _ in range(4):  # more steps than are prepared ahead
        pipe.run()
    samples, before, begun = pipe.stats()["samples"], seconds_of(pipe, "timed"), time.perf_counter()
    for _ in range(steps):
        pipe.run()
    made, wall = pipe.stats()["samples"] - samples, time.perf_counter() - begun
    # The workers' clocks do not see reading, so a reader's time is that of the whole pipeline.
    seconds = wall if operator["kind"] == "read" else seconds_of(pipe, "timed") - before
    return seconds / made * 1e6


def seconds_of(pipe: Pipeline, name: str) -> float:
    return sum(o["seconds"] for o in pipe.stats()["operators"] if o["name"] == name)


# The training pipeline, and two that stop earlier. Equal names make them draw the same windows.


def training(files: Sequence[str], until: str, threads: int) -> Pipeline:
    pipe = Pipeline(batch_size=64, num_threads=threads, seed=1)
    with pipe:
        encoded, _ = fn.readers.file(files=files)
        if until == "decode":
            image = fn.decoders.image_random_crop(encoded, name="window")
        else:
            image = fn.decoders.image(encoded, name="decode")
            image = fn.random_resized_crop(image, size=[224, 224], name="window")
        if until == "end":
            mirror = fn.random.coin_flip(name="mirror")
            mean, std = [123.675, 116.28, 103.53], [58.395, 57.12, 57.375]
            image = fn.crop_mirror_normalize(image, mirror=mirror, mean=mean, std=std)
        pipe.set_outputs(image)
    return pipe


class Timed:
    """A pipeline that takes turns with others, and the microseconds for a picture in each turn."""

    def __init__(self, pipe: Pipeline) -> None:
        self.pipe = pipe
        self.wall: list[float] = []
        self.cpu: list[float] = []
        self.operators: dict[str, list[float]] = {}

    def turn(self, steps: int) -> None:
        for _ in range(4):
            self.pipe.run()
        before = self._clocks()
        begun, cpu_begun, made = time.perf_counter(), time.process_time(), 0
        for _ in range(steps):
            made += len(self.pipe.run()[0])
        self.wall.append((time.perf_counter() - begun) / made * 1e6)
        self.cpu.append((time.process_time() - cpu_begun) / made * 1e6)
        # The engine's clocks run on while others have the core: they get a share of CPU time.
        share = min(1.0, self.cpu[-1] / self.wall[-1]) / made * 1e6
        for name, seconds in self._clocks().items():
            self.operators.setdefault(name, []).append((seconds - before[name]) * share)
        self.pipe.close()  # so that it makes nothing ahead while others are timed

    def _clocks(self) -> dict[str, float]:
        return {o["name"]: o["seconds"] for o in self.pipe.stats()["operators"]}

    def of(self, name: str) -> float:
        return statistics.median(self.operators[name])


def engine(files: Sequence[str]) -> None:
    """The cost of a sample without work (queues, order, batching), and that with reading a file."""
    coins, labels = (Pipeline(batch_size=64, num_threads=1, seed=1) for _ in range(2))
    with coins:
        coins.set_outputs(fn.random.coin_flip())
    with labels:
        labels.set_outputs(fn.readers.file(files=files)[1])
    print("\nThe engine alone, a sample, CPU time")
    for name, pipe, steps in (
        ("a coin", coins, 500),
        ("a file read, its label handed out", labels, 30),
    ):
        run = Timed(pipe)
        for _ in range(5):
            run.turn(steps)
        show(name, statistics.median(run.cpu))


def show(name: str, value: float, unit: str = "us") -> None:
    print(f"{name:44} {value:9.1f} {unit}")


def split(files: Sequence[str], rounds: int) -> None:
    """Shows where the training pipeline's time goes, on one thread."""
    runs = {until: Timed(training(files, until, 1)) for until in ("decode", "resize", "end")}
    for number in range(rounds):
        for run in list(runs.values())[:: 1 if number % 2 == 0 else -1]:
            run.turn(max(1, len(files) // 64))
    decode, resize, end = (statistics.median(runs[u].cpu) for u in ("decode", "resize", "end"))
    inside = runs["resize"].operators
    both = zip(runs["end"].cpu, inside["decode"], inside["window"], strict=True)
    beyond = statistics.median(all_ - d - r for all_, d, r in both)
    print(f"\nTraining pipeline, one thread, a picture ({rounds} alternating rounds, CPU time)")
    show("decode the window, and stop", decode)
    show("decode and resize, and stop", resize)
    show("all: also flip, normalise, float32 CHW", end)
    print("By the engine's clocks")
    show("decode", runs["end"].of("decode"))
    show("resize alone", runs["resize"].of("window"))
    show("resize, flip and normalise in one pass", runs["end"].of("window"))
    show("beyond decode and resize (all - both)", beyond)
    show("throughput", 1e6 / statistics.median(runs["end"].wall), "images/s")


def heavy_tail(files: Sequence[str], threads: int, rounds: int) -> None:
    """Compares batches of equal pictures with batches of as much work with one large picture."""
    small = list(files[:64])
    with tempfile.TemporaryDirectory() as folder:
        large = str(Path(folder) / "large.jpg")
        with Image.open(small[0]) as picture:
            width, height = (round(extent * 20**0.5) for extent in picture.size)
            picture.convert("RGB").resize((width, height)).save(large, quality=92)
        sets = {"small": small, "mixed": [*small[:63], large], "large": [large] * 64}
        runs = {name: Timed(training(each, "end", threads)) for name, each in sets.items()}
        for _ in range(rounds):
            for name, run in runs.items():
                run.turn(1 if name == "large" else 8)
    walls = zip(*(runs[name].wall for name in ("mixed", "small", "large")), strict=True)
    ratio = statistics.median(m / ((63 * s + big) / 64) for m, s, big in walls)
    show(f"one picture in 64 is 20 x larger, {threads} threads", 100 * ratio, "% of its work")


def pictures(data: Path) -> list[str]:
    found = sorted(str(p) for p in data.rglob("*") if p.suffix.lower() in (".jpg", ".jpeg"))
    return found or [str(ROOT / "tests/golden/picture.jpg")] * 64


def is_timed(operator: dict[str, Any]) -> bool:
    """Inputs do no work, and dump_image leaves files behind."""
    return operator["kind"] != "input" and operator["name"] != "dump_image"


def each(operators: Sequence[dict[str, Any]], time_one: Callable[[dict[str, Any]], float]) -> None:
    print("Each operator alone, a sample")
    for operator in operators:
        if is_timed(operator):
            show(operator["name"], time_one(operator))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    default = Path(os.environ.get("STOKER_TEST_DATA", ROOT.parent / "shared/data")) / "imagenet"
    parser.add_argument("--data", type=Path, default=default, help="a folder with JPEGs below it")
    parser.add_argument("--steps", type=int, default=20, help="of each operator")
    parser.add_argument("--rounds", type=int, default=5, help="of the training pipeline")
    args = parser.parse_args()
    files = pictures(args.data)
    each(_core.operators(), lambda operator: microseconds(operator, files, args.steps))
    engine(files)
    split(files, args.rounds)
    run = Timed(training(files, "end", threads := len(os.sched_getaffinity(0))))
    run.turn(2 * max(1, len(files) // 64))
    show(f"throughput, {threads} threads", 1e6 / run.wall[0], "images/s")
    heavy_tail(files, threads, args.rounds)
    print("\nThe PyTorch iterator: .venv/bin/python bench/iterator.py (make test installs torch)")


if __name__ == "__main__":
    main()
