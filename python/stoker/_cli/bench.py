# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Measures how many pictures a second this machine can feed to a training, and says what to do.

It runs the usual training input (decode a random window, resize it to --size, flip, normalise) with
more and more threads, then reading alone, and splits the threads' time into read, decode and
augment. Files are read ahead by threads of their own, so "read" is small unless storage is slow.
The first batches of each run do not count. If the files were read before, the system's cache gives
them, and storage looks faster than it is.
"""

from __future__ import annotations

import argparse
import json
import math
import time
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from stoker import DataNode, Pipeline, _core, fn, pipeline_def, types
from stoker._cli.arguments import amount, count
from stoker._cli.files import pictures_of
from stoker._cli.progress import Progress
from stoker.errors import Error, SampleError, SampleWarning

HELP = "measures how many pictures a second this machine feeds, and says what to do"

_MEAN = [0.485 * 255, 0.456 * 255, 0.406 * 255]
_STD = [0.229 * 255, 0.224 * 255, 0.225 * 255]


@dataclass
class Run:
    """One run: pictures a second, and microseconds of a thread's time for each picture."""

    threads: int
    rate: float
    read: float
    decode: float
    augment: float
    idle: float  # share of the threads' time in which they had nothing to do
    read_bytes: float  # for each picture
    failures: int


@dataclass
class Report:
    """What ``--json`` prints."""

    pictures: int
    size: int
    cpus: int
    runs: list[Run]
    reading_alone: float  # pictures a second
    advice: list[str]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "places", metavar="PLACE", nargs="+", help="a folder of pictures, a list, or pictures"
    )
    parser.add_argument("--size", type=count, default=224, help="side of what is made (224)")
    parser.add_argument("--batch-size", type=count, default=64, metavar="N", help="(64)")
    parser.add_argument(
        "--threads",
        type=_counts,
        metavar="N,N",
        help="the numbers of threads to try; default: 1, 2, 4 and so on to all usable CPUs",
    )
    parser.add_argument(
        "--seconds", type=amount, default=3.0, metavar="S", help="how long each run takes (3)"
    )
    parser.add_argument(
        "--need", type=amount, metavar="RATE", help="pictures a second that your model takes"
    )
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON")


def execute(given: argparse.Namespace) -> int:
    files = pictures_of(given.places)
    threads = given.threads or _doubled_up_to_cpus()
    report = measure(files, given.size, given.batch_size, threads, given.seconds, given.need)
    if given.json:
        print(json.dumps(asdict(report), indent=1))
    else:
        _print(report)
    return 0


def _counts(words: str) -> list[int]:
    counts = [int(word) if word.isdecimal() else 0 for word in words.split(",")]
    if min(counts) < 1:
        raise argparse.ArgumentTypeError(f"expected numbers as 1,2,4, got {words!r}")
    return counts


def _doubled_up_to_cpus() -> list[int]:
    cpus = _core.usable_cpus()
    return [*(1 << bit for bit in range(cpus.bit_length()) if 1 << bit < cpus), cpus]


@pipeline_def(on_error="skip", seed=1)
def _training(files: list[str], size: int) -> DataNode:
    encoded, _ = fn.readers.file(name="read", files=files, random_shuffle=True)
    image = fn.decoders.image(encoded, output_type=types.RGB)
    image = fn.random_resized_crop(image, size=[size, size])
    return fn.crop_mirror_normalize(
        image, mirror=fn.random.coin_flip(probability=0.5), mean=_MEAN, std=_STD
    )


@pipeline_def(on_error="skip", seed=1)
def _reading(files: list[str]) -> DataNode:
    return fn.readers.file(name="read", files=files, random_shuffle=True)[0]


def measure(
    files: Sequence[str],
    size: int = 224,
    batch_size: int = 64,
    threads: Sequence[int] = (1,),
    seconds: float = 3.0,
    need: float | None = None,
) -> Report:
    """Runs all that is to be measured. Raises ``Error`` where no picture can be decoded."""
    files = list(files)
    steps = round(seconds * 1000) * (len(threads) + 1)
    with Progress("measuring", steps) as progress, warnings.catch_warnings():
        warnings.simplefilter("ignore", SampleWarning)  # the report counts them
        runs = [
            _run(
                _training(files, size, batch_size=batch_size, num_threads=count),
                count,
                seconds,
                progress,
            )
            for count in threads
        ]
        reading = _run(
            _reading(files, batch_size=batch_size, num_threads=max(threads)),
            max(threads),
            seconds,
            progress,
        )
    report = Report(len(files), size, _core.usable_cpus(), runs, reading.rate, [])
    report.advice = advise(report, need)
    return report


def _run(pipe: Pipeline, threads: int, seconds: float, progress: Progress) -> Run:
    """Runs for so long; the first batches are waited for but do not count."""
    for _ in range(pipe.cpu_queue_size + 1):
        _pictures_made(pipe)
    before, began = pipe.stats(), time.perf_counter()
    pictures, last = 0, began
    steps, most = 0, 2 * math.ceil(pipe.epoch_size("read") / pipe.batch_size)
    while (now := time.perf_counter()) - began < seconds or pictures == 0:
        if pictures == 0 and steps > most:  # a whole epoch and more
            raise Error("none of the pictures can be decoded: `stoker check` says why")
        pictures += _pictures_made(pipe)
        steps += 1
        progress.step(round((now - last) * 1000))
        last = now
    elapsed = time.perf_counter() - began
    after = pipe.stats()
    pipe.close()
    made: int = max(1, after["samples"] - before["samples"])

    def each(key: str) -> float:
        gained: float = after[key] - before[key]
        return gained / made

    split = {"read": 0.0, "decode": 0.0, "augment": 0.0}
    for new, old in zip(after["operators"], before["operators"], strict=True):
        split[_part(new["operator"])] += (new["seconds"] - old["seconds"]) * 1e6 / made
    return Run(
        threads=threads,
        rate=pictures / elapsed,
        **split,
        idle=min(1.0, each("worker_idle_seconds") * made / (threads * elapsed)),
        read_bytes=each("bytes_read"),
        failures=int(after["failures"]),
    )


def _pictures_made(pipe: Pipeline) -> int:
    """How many pictures the next batch has; 0 if none of it can be decoded."""
    try:
        outputs: Any = pipe.run()
    except SampleError:
        return 0
    return len(outputs[0])


def _part(operator: str) -> str:
    return {"readers": "read", "decoders": "decode"}.get(operator.split(".")[0], "augment")


def advise(report: Report, need: float | None = None) -> list[str]:
    """What the numbers mean, a sentence each."""
    best = max(report.runs, key=lambda run: run.rate)
    one = min(report.runs, key=lambda run: run.threads)
    said = []
    total = best.read + best.decode + best.augment
    storage_limits = report.reading_alone < 1.3 * best.rate
    if storage_limits:
        said.append(
            f"Storage is the limit: reading alone gives {report.reading_alone:.0f} a second. Try "
            "io_threads=16 and a larger read_ahead_limit, or pack the files "
            "(readers.webdataset, readers.tfrecord)."
        )
    elif total and best.decode > 0.6 * total:
        said.append(
            f"Decoding is {best.decode / total:.0%} of the work, so the size of the stored "
            "pictures decides: smaller ones, or more CPU cores, are faster; other operators "
            "matter little."
        )
    elif total and best.augment > 0.4 * total:
        said.append(
            f"Augmenting is {best.augment / total:.0%} of the work: crop and resize early, and "
            "look at pipe.plan() for what runs in one pass."
        )
    if best.threads > one.threads:
        gain = best.rate / one.rate / (best.threads / one.threads)
        if gain < 0.7 and not storage_limits:
            said.append(
                f"{best.threads} threads give {best.rate / one.rate:.1f} times the rate of "
                f"{one.threads}: other programs, or hyper-threads, share these CPUs."
            )
    if best.threads < max(run.threads for run in report.runs):
        said.append(f"num_threads={best.threads} is best here: more threads were slower.")
    if best.failures:
        said.append("Some pictures could not be decoded: `stoker check` lists them.")
    if need is not None:
        said.append(_about_need(need, best, storage_limits))
    return said


def _about_need(need: float, best: Run, storage_limits: bool) -> str:
    if best.rate >= need:
        return f"This is enough for {need:g} a second: {best.rate / need:.1f} times as much."
    lacking = "storage that is {} times as fast" if storage_limits else "{} times as many CPU cores"
    times = lacking.format(f"about {need / best.rate:.1f}")
    return f"For {need:g} a second you need {times} as was used, or smaller pictures."


def _print(report: Report) -> None:
    print(f"{report.pictures} pictures, made {report.size} x {report.size}, {report.cpus} CPUs")
    print("threads  pictures/s   us a picture: read  decode  augment   idle")
    for run in report.runs:
        print(
            f"{run.threads:7} {run.rate:11.0f} {run.read:20.0f} {run.decode:7.0f} "
            f"{run.augment:8.0f} {run.idle:6.0%}"
        )
    read = report.runs[-1].read_bytes
    print(f"reading alone {report.reading_alone:.0f} pictures/s, {read / 1000:.0f} kB a picture")
    for sentence in report.advice:
        print(f"- {sentence}")
