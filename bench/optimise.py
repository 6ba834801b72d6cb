# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Measures what `stoker optimise` does to the JPEG files of a folder: to their sizes, and to the
time that decoding takes, as ratios. It needs Pillow.

Each file is tried as it is and as a progressive file of the same coefficients. Old and new files
take turns, whole pictures and the windows that training crops.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import tempfile
import time
from pathlib import Path

from PIL import Image

import stoker
from stoker import DataNode, Pipeline, fn, pipeline_def
from stoker.errors import SampleError


@pipeline_def(batch_size=16, num_threads=1, seed=1)
def decoded(files: list[str], crops: bool) -> DataNode:
    encoded, _ = fn.readers.file(name="read", files=files)
    decode = fn.decoders.image_random_crop if crops else fn.decoders.image
    return fn.crop(decode(encoded), crop=[1, 1])


def seconds_of_decoding(pipe: Pipeline) -> float:
    def decoders() -> float:
        return sum(
            float(each["seconds"])
            for each in pipe.stats()["operators"]
            if str(each["operator"]).startswith("decoders")
        )

    before = decoders()
    for _ in range(-(-pipe.epoch_size("read") // pipe.batch_size)):
        pipe.run()
    return decoders() - before


def ratio_of_times(old: list[str], new: list[str], crops: bool, rounds: int) -> float:
    """How many times as long the old files take, as the median of the rounds."""
    pipes = [decoded(files, crops, executor="simple") for files in (old, new)]
    for pipe in pipes:
        seconds_of_decoding(pipe)
    times = [[seconds_of_decoding(pipe) for pipe in pipes] for _ in range(rounds)]
    return statistics.median(of_old / of_new for of_old, of_new in times)


def progressive(file: Path, folder: Path) -> Path:
    """The same coefficients, as Pillow writes them."""
    written = folder / file.name
    with Image.open(file) as image:
        image.save(written, "JPEG", quality="keep", progressive=True, optimize=True)
    return written


def report(name: str, files: list[Path], folder: Path, rounds: int) -> None:
    folder.mkdir()
    old, new, before, after, seconds = [], [], 0, 0, 0.0
    for number, file in enumerate(files):
        written = folder / f"{number}.jpg"
        began = time.perf_counter()
        try:
            done = stoker.optimise(file, written)
        except SampleError:
            continue
        seconds += time.perf_counter() - began
        if done.outcome == "rewritten":
            old.append(str(file))
            new.append(str(written))
            before += done.before
            after += done.after
    whole, crops = (ratio_of_times(old, new, crop, rounds) for crop in (False, True))
    print(
        f"{name}: {len(new)} of {len(files)} files rewritten, {after / before - 1:+.1%} bytes, "
        f"{len(files) / seconds:.0f} files/s; old / new decoding time: "
        f"whole {whole:.2f}, windows {crops:.2f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--files", type=int, default=200, help="at most so many (200)")
    parser.add_argument("--rounds", type=int, default=5, help="of which medians are shown (5)")
    given = parser.parse_args()
    found = sorted(p for p in given.folder.rglob("*") if p.suffix.lower() in (".jpg", ".jpeg"))
    files = list(itertools.islice(found, given.files))
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "progressive").mkdir()
        copies = [progressive(file, folder / "progressive") for file in files]
        report("as they are", files, folder / "new", given.rounds)
        report("progressive", copies, folder / "of_progressive", given.rounds)


if __name__ == "__main__":
    main()
