# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Rewrites JPEG files so that a training reads them faster, and loses nothing.

Progressive and arithmetic-coded files get one sequential scan of Huffman codes; all get a restart
marker behind each row of blocks. Coefficients, and so pixels, stay the same, and so do EXIF data,
colour profiles, all other APPn and COM segments, and what follows the picture. Each new file is
read back and compared, and then takes the place of the old one at once. What cannot be rewritten
without loss is kept as it is: lossless and hierarchical files, more than 8 bits, files with a list
of further pictures. So are damaged files and those that are no JPEG. With --output these are
copied, so that nothing is missing there. The exit status is 1 if a file is damaged, is named as a
JPEG file and is no picture, or could not be read or written.
"""

from __future__ import annotations

import argparse
import errno
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass

from stoker import _core
from stoker._cli.arguments import count
from stoker._cli.files import FORMAT_OF_ENDING, below, content_of, ending, printable
from stoker._cli.progress import Progress
from stoker._optimise import copy_file, optimise
from stoker.errors import Error, SampleError

HELP = "rewrites JPEG files without loss, so that they are read faster"

FAULTS = ("damaged", "not a picture", "failed")
_SHOWN = 40  # files of each kind; --json has all


@dataclass
class Row:
    """What became of a file: ``outcome`` is "rewritten", "fast already", "kept", "other file" or
    one of FAULTS, ``why`` in words; ``before`` and ``after`` are its bytes.
    """

    file: str
    outcome: str
    why: str = ""
    before: int = 0
    after: int = 0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("places", metavar="FILE", nargs="+", help="a JPEG file, or a folder")
    parser.add_argument(
        "-r", "--recursive", action="store_true", help="go into the folders of folders"
    )
    parser.add_argument(
        "--output", metavar="FOLDER", help="write there, with the same folders, not in place"
    )
    parser.add_argument(
        "-j", "--jobs", type=count, metavar="N", help="files at once; default: all usable CPUs"
    )
    parser.add_argument(
        "--keep-times", action="store_true", help="give new files the times of the old ones"
    )
    parser.add_argument(
        "-n", "--dry-run", action="store_true", help="say what would be done, and write nothing"
    )
    parser.add_argument("--json", action="store_true", help="print one line of JSON for each file")


def execute(given: argparse.Namespace) -> int:
    targets = targets_of(given.places, given.output, given.recursive)
    if given.output and not given.dry_run:
        os.makedirs(given.output, exist_ok=True)
    began = time.monotonic()

    def work(task: tuple[str, str | None]) -> Row:
        return _done(*task, keep_times=given.keep_times, dry_run=given.dry_run)

    rows = []
    with (
        ThreadPoolExecutor(given.jobs or _core.usable_cpus()) as pool,
        Progress("optimising", len(targets)) as progress,
    ):
        for row in pool.map(work, targets.items()):
            rows.append(row)
            progress.step()
    if given.json:
        sys.stdout.writelines(json.dumps(asdict(row)) + "\n" for row in rows)
    else:
        _print(rows, time.monotonic() - began, given.dry_run)
    return int(any(row.outcome in FAULTS for row in rows))


def targets_of(places: Iterable[str], output: str | None, recursive: bool) -> dict[str, str | None]:
    """All files of the places, each with the path to write; None in place.

    Of several names of one file, as links are, only the first is there if it is rewritten in
    place. Raises ``OSError`` for what is not there and if there are no files, and ``Error`` where
    two files would become one.
    """
    places = list(places)
    found: dict[str, str | None] = {}
    sources: dict[str, str] = {}  # by what is written
    for place in places:
        if output is not None:
            _check_apart(place, output)
        for file in _files_of(place, recursive):
            inner = os.path.relpath(file, place) if os.path.isdir(place) else os.path.basename(file)
            target = None if output is None else os.path.join(output, inner)
            written = os.path.realpath(file) if target is None else target
            other = sources.setdefault(written, file)
            if target is not None and other != file:
                raise Error(f"{printable(other)} and {printable(file)} would both be {target}")
            if other == file:
                found[file] = target
    if not found:
        why = "there are no files in it" + ("" if recursive else "; --recursive goes into folders")
        raise FileNotFoundError(errno.ENOENT, why, ", ".join(places))
    return found


def _check_apart(place: str, output: str) -> None:
    """What is written must not be read as well, now or when the command is given again."""
    outer, inner = os.path.realpath(place), os.path.realpath(output)
    if os.path.isdir(place) and os.path.commonpath([outer, inner]) == outer:
        raise Error(
            f"the output folder {printable(output)} lies in {printable(place)}; without --output, "
            "files are rewritten in place"
        )


def _files_of(place: str, recursive: bool) -> Iterable[str]:
    if not os.path.isdir(place):
        os.stat(place)
        return [place]
    return below(place, is_deep=recursive)


def _done(file: str, target: str | None, *, keep_times: bool, dry_run: bool) -> Row:
    """Rewrites one file, or copies it to where it is to be, or leaves it."""
    try:
        if target is not None and not dry_run:
            os.makedirs(os.path.dirname(target), exist_ok=True)
        row = _other(file)
        if row is None:
            try:
                done = optimise(file, target, keep_times=keep_times, dry_run=dry_run)
                return Row(file, *done)
            except SampleError as e:
                row = Row(file, "damaged", _without_name(str(e), file))
        row.before = row.after = os.path.getsize(file)
        if target is not None and not dry_run:
            copy_file(file, target, keep_times=keep_times)
        return row
    except OSError as e:
        return Row(file, "failed", e.strerror or str(e))
    except Error as e:
        return Row(file, "failed", _without_name(str(e), file))


def _without_name(message: str, file: str) -> str:
    return message.removeprefix(f"{printable(file)}: ")


def _other(file: str) -> Row | None:
    """What is to be said of a file that is no JPEG."""
    content = content_of(file)
    if content.format == "JPEG":
        return None
    is_named_so = FORMAT_OF_ENDING.get(ending(file)) == "JPEG"
    kind = "not a picture" if is_named_so and not content.format else "other file"
    return Row(file, kind, f"it is {content.words}")


def _print(rows: Sequence[Row], seconds: float, is_dry: bool) -> None:
    counts = Counter(row.outcome for row in rows)
    for kind in ("kept", *FAULTS):
        of_kind = [row for row in rows if row.outcome == kind]
        if not of_kind:
            continue
        print(f"{kind}: {len(of_kind)}")
        for row in of_kind[:_SHOWN]:
            print(f"  {printable(row.file)}\n      {row.why}")
        if len(of_kind) > _SHOWN:
            print(f"  and {len(of_kind) - _SHOWN} more; --json lists all")
    kinds = ("rewritten", "fast already", "kept", *FAULTS)
    words = [f"{counts[kind]} {kind}" for kind in kinds if counts[kind]]
    others = [row for row in rows if row.outcome == "other file"]
    if others:
        such = f"{printable(others[0].file)}: {others[0].why}"
        words.append(f"{len(others)} other files, such as {such}")
    print(f"{len(rows)} files, {seconds:.1f} s: {', '.join(words)}")
    rewritten = [row for row in rows if row.outcome == "rewritten"]
    if rewritten:
        before = sum(row.before for row in rewritten)
        after = sum(row.after for row in rewritten)
        print(
            f"{before} bytes {'would become' if is_dry else 'became'} {after}: "
            f"{after / before - 1:+.1%}" + ("; nothing was written" if is_dry else "")
        )
