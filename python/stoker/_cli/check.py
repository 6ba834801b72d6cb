# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Decodes every file as a training would, and says which ones are damaged or are no pictures.

What is found of a file is one of these. "damaged": it is a picture, but its data is wrong. "not a
picture": its name says that it is one, and its content does not. "no decoder": a picture of a
format that this installation lacks. "too large": a picture that may be good, but has too many
pixels or needs too much memory. "unreadable": the file cannot be read. "wrong extension": a good
picture of another format than its name says. "odd": a good picture that may be a mistake: tiny,
very long, very large, or with transparency or CMYK. "other file": neither its name nor its content
is a picture's. The exit status is 1 if a file is of one of the first five kinds, with --strict also
of the next two.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from stoker import DataNode, _core, codecs, fn, pipeline_def, types
from stoker._cli.arguments import count
from stoker._cli.files import (
    ENDINGS,
    FORMAT_OF_ENDING,
    Content,
    content_of,
    ending,
    files_of,
    is_taken,
    printable,
)
from stoker._cli.progress import Progress
from stoker.errors import GraphError, SampleError, SampleWarning

HELP = "finds files that are damaged, odd, no pictures, or named wrongly"

FAULTS = ("damaged", "not a picture", "no decoder", "too large", "unreadable")
DOUBTS = ("wrong extension", "odd")
_SHOWN = 40  # rows of the table of each kind; --json and --report have all

_TINY, _LONG, _LARGE = 16, 10, 100_000_000
# What the engine says of pictures that are too large.
_LIMITS = ("more than the limit of", "of memory_limit")


@dataclass
class Verdict:
    """What was found of a file. ``verdict`` is "good" or one of the kinds above, ``why`` in words;
    the extents are those as decoded, None where there are none.
    """

    file: str
    verdict: str
    why: str = ""
    format: str = ""
    height: int | None = None
    width: int | None = None
    channels: int | None = None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "places",
        metavar="PLACE",
        nargs="+",
        help="a folder, a text file with one name a line, or a picture",
    )
    parser.add_argument("--json", action="store_true", help="print one line of JSON for each file")
    parser.add_argument("--report", metavar="FILE", help="also write those lines to FILE")
    parser.add_argument(
        "--strict", action="store_true", help="exit with 1 also for wrong extensions and odd files"
    )
    parser.add_argument("--threads", type=count, metavar="N", help="default: all usable CPUs")


def execute(given: argparse.Namespace) -> int:
    files = files_of(given.places)
    with open(given.report, "w", encoding="utf-8") if given.report else nullcontext() as report:
        began = time.monotonic()
        verdicts = check(files, given.threads)
        seconds = time.monotonic() - began
        if report is not None:
            report.writelines(_line(verdict) for verdict in verdicts)
    if given.json:
        sys.stdout.writelines(_line(verdict) for verdict in verdicts)
    else:
        _print_table(verdicts, seconds, given.places)
    if all(verdict.verdict == "other file" for verdict in verdicts):
        print(
            "no picture was found; check reads pictures, and no archives of them", file=sys.stderr
        )
        return 1
    counted = (*FAULTS, *DOUBTS) if given.strict else FAULTS
    return int(any(verdict.verdict in counted for verdict in verdicts))


def check(files: Mapping[str, str], threads: int | None = None) -> list[Verdict]:
    """One verdict for each of what ``files_of`` gives, which as many threads decode."""
    shapes, failures = _decode(list(files), threads)
    lacking = [codec.format for codec in codecs() if codec.kind == "picture" and not codec.is_there]
    verdicts = [_judge(f, shapes.get(i), failures.get(i), lacking) for i, f in enumerate(files)]
    for verdict, where in zip(verdicts, files.values(), strict=True):
        if verdict.verdict == "unreadable" and where:
            verdict.why += f"; {where}"
    return verdicts


@pipeline_def(batch_size=32, on_error="skip")
def _decoded(files: list[str]) -> tuple[DataNode, ...]:
    encoded, place = fn.readers.file(files=files, pad_last_batch=True)
    shape = fn.peek_image_shape(encoded)
    whole = fn.decoders.image(encoded, output_type=types.ANY_DATA, verify=True)
    # Its last pixel says that all of it was decoded, and takes no memory.
    return place, shape, fn.crop(whole, crop=[1, 1], crop_pos_x=1.0, crop_pos_y=1.0)


def _decode(
    files: Sequence[str], threads: int | None
) -> tuple[dict[int, Any], dict[int, dict[str, Any]]]:
    """The shapes of the good ones and the failures of the others, by their places in the list."""
    pipe = _decoded(files, num_threads=threads)
    shapes: dict[int, Any] = {}
    steps = pipe.steps_left()
    with Progress("checking", len(files)) as progress, warnings.catch_warnings():
        warnings.simplefilter("ignore", SampleWarning)  # all are listed
        for _ in range(steps):
            try:
                places, peeked, last = pipe.run()
            except SampleError:  # all samples of the batch are bad
                pass
            else:
                extents = peeked.as_array()[:, :2].tolist() if len(peeked) else []
                rows = zip(_numbers(places), extents, last.shape(), strict=True)
                shapes.update((i, (*extent, one[2])) for i, extent, one in rows)
            progress.step(pipe.batch_size)
    return shapes, {int(bad["index"]): bad for bad in pipe.quarantine()}


def _numbers(batch: Any) -> list[int]:
    return [int(n) for n in batch.as_array().ravel()] if len(batch) else []


def _judge(
    file: str, shape: Sequence[int] | None, failure: dict[str, Any] | None, lacking: list[str]
) -> Verdict:
    if failure is not None and str(failure["operator"]).startswith("readers"):
        return Verdict(file, "unreadable", _first_line(failure["message"]))
    try:
        content = content_of(file)
    except OSError as e:
        return Verdict(file, "unreadable", e.strerror or str(e))
    if failure is not None:
        return _judge_failed(file, failure, content, lacking)
    if shape is None:
        raise AssertionError(f"{file} was neither decoded nor refused")
    height, width, channels = shape
    good = Verdict(file, "good", "", content.format, height, width, channels)
    named = FORMAT_OF_ENDING.get(ending(file))
    oddities = _oddities(height, width, channels)
    if named != content.format and ending(file):
        good.verdict = "wrong extension"
        good.why = f"it is {content.words}; such files end in {_endings(content.format)}"
    elif oddities:
        good.verdict, good.why = "odd", "; ".join(oddities)
    return good


def _judge_failed(
    file: str, failure: dict[str, Any], content: Content, lacking: list[str]
) -> Verdict:
    why = _first_line(failure["message"])
    if any(format_ in content.words for format_ in lacking):
        return Verdict(file, "no decoder", why, content.format)
    if content.format:
        kind = "too large" if any(limit in why for limit in _LIMITS) else "damaged"
        return Verdict(file, kind, why, content.format)
    kind = "not a picture" if ending(file) in FORMAT_OF_ENDING else "other file"
    return Verdict(file, kind, f"it is {content.words}")


def _oddities(height: int, width: int, channels: int) -> list[str]:
    found = []
    size = f"{width} x {height} pixels"
    if min(height, width) < _TINY:
        found.append(f"only {size}")
    elif max(height, width) > _LONG * min(height, width):
        found.append(f"{size}: one side is more than {_LONG} times the other")
    if height * width > _LARGE:
        found.append(f"{size}: more than {_LARGE // 1_000_000} megapixels")
    if channels in (2, 4):
        found.append(f"{channels} channels: transparency or CMYK")
    elif channels > 4:
        found.append(f"{channels} channels")
    return found


def _endings(format_: str) -> str:
    return ", ".join(ENDINGS.get(format_, []))


def _first_line(message: str) -> str:
    return message.strip().splitlines()[0] if message.strip() else ""


def _line(verdict: Verdict) -> str:
    entry = {k: v for k, v in vars(verdict).items() if v not in ("", None)}
    # A name that is not UTF-8 is escaped as Python does it.
    return json.dumps(entry, ensure_ascii=True) + "\n"


def _print_table(verdicts: list[Verdict], seconds: float, places: Sequence[str]) -> None:
    counts = Counter(verdict.verdict for verdict in verdicts)
    for kind in (*FAULTS, *DOUBTS):
        of_kind = [verdict for verdict in verdicts if verdict.verdict == kind]
        if not of_kind:
            continue
        print(f"{kind}: {len(of_kind)}")
        for verdict in of_kind[:_SHOWN]:
            print(f"  {printable(verdict.file)}\n      {verdict.why}")
        if len(of_kind) > _SHOWN:
            print(f"  and {len(of_kind) - _SHOWN} more; --json and --report list all")
    _print_left_out(verdicts, places)
    rate = len(verdicts) / max(seconds, 1e-9)
    words = [f"{counts[kind]} {kind}" for kind in ("good", *DOUBTS, *FAULTS) if counts[kind]]
    if counts["other file"]:
        others = [verdict.file for verdict in verdicts if verdict.verdict == "other file"]
        words.append(f"{len(others)} other files, such as {printable(others[0])}")
    print(f"{len(verdicts)} files, {rate:.0f} a second: {', '.join(words)}")


def _print_left_out(verdicts: list[Verdict], places: Sequence[str]) -> None:
    good = [verdict.file for verdict in verdicts if verdict.verdict in ("good", *DOUBTS)]
    counts = Counter(ending(file) or "without an ending" for file in good if not is_taken(file))
    if counts:
        words = ", ".join(f"{count} {of}" for of, count in sorted(counts.items()))
        print(f"readers.file(file_root=...) takes these only with file_filters=: {words}")
    for place in filter(os.path.isdir, places):
        try:
            surprises = _core.surprises_of(place)
        except GraphError:  # its folders are not those of classes
            continue
        if surprises:
            print(f"readers.file(file_root={printable(place)}) {printable(surprises)}")
