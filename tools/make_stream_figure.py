#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Draws docs/design/007-streams.svg: the work of a simulated device for some steps of a pipeline.

Times are those of the virtual clock. They show what waits for what, not how long a GPU takes.
"""

from __future__ import annotations

import os
import sys
import tempfile
from html import escape
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "design" / "007-streams.svg"
STEPS = 6
WIDTH, ROW, LEFT, TOP = 900, 34, 96, 34
COLOURS = {"copy": "#7aa6c2", "kernel": "#c98b5a"}


class Work(NamedTuple):
    name: str
    stream: str
    start: int
    end: int

    @property
    def kind(self) -> str:
        return "copy" if self.name == "upload" or self.name.endswith(" tables") else "kernel"


def steps_on_a_device(pictures: Path) -> list[Work]:
    """What the device did for STEPS batches of 16 pictures."""
    os.environ["STOKER_SIMULATED_DEVICES"] = "1"
    sys.path.insert(0, str(ROOT / "examples"))
    from synthetic_photos import make_photos

    from stoker import _core, fn, pipeline_def

    @pipeline_def(batch_size=16, num_threads=2, device_id=0, seed=1)
    def training() -> object:
        encoded, _ = fn.readers.file(file_root=make_photos(pictures, 32))
        image = fn.decoders.image(encoded, device="mixed")
        image = fn.random_resized_crop(image, size=[224, 224], name="resize")
        return fn.crop_mirror_normalize(image, mirror=fn.random.coin_flip(), name="normalize")

    pipe = training()
    held = [pipe.run() for _ in range(STEPS)]
    held[-1][0].as_cpu()  # waits until all work is done
    work = [Work(*entry) for entry in _core.simulated_timeline(0)]
    return [w for w in work if w.stream.startswith("pipeline")]


def drawing(work: list[Work]) -> str:
    streams = sorted({w.stream for w in work})
    begin, end = min(w.start for w in work), max(w.end for w in work)
    scale = (WIDTH - LEFT - 10) / (end - begin)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" '
        f'height="{TOP + ROW * len(streams) + 30}" font-family="sans-serif" font-size="11">',
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    for k, (kind, colour) in enumerate(COLOURS.items()):
        x = LEFT + 90 * k
        parts.append(f'<rect x="{x}" y="10" width="12" height="12" fill="{colour}"/>')
        parts.append(f'<text x="{x + 17}" y="20">{kind}</text>')
    for row, stream in enumerate(streams):
        y = TOP + row * ROW
        parts.append(f'<text x="6" y="{y + 18}">{escape(stream)}</text>')
        for w in work:
            if w.stream != stream or w.end == w.start:
                continue
            x, width = LEFT + (w.start - begin) * scale, max((w.end - w.start) * scale, 0.4)
            words = f"{w.name}: {(w.end - w.start) / 1000:.1f} us"
            parts.append(
                f'<rect x="{x:.1f}" y="{y + 4}" width="{width:.1f}" height="{ROW - 12}" '
                f'fill="{COLOURS[w.kind]}"><title>{escape(words)}</title></rect>'
            )
    y = TOP + ROW * len(streams) + 16
    parts.append(f'<text x="{LEFT}" y="{y}">0</text>')
    parts.append(
        f'<text x="{WIDTH - 10}" y="{y}" text-anchor="end">'
        f"{(end - begin) / 1000:.0f} us, virtual</text>"
    )
    return "\n".join([*parts, "</svg>", ""])


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        PAGE.write_text(drawing(steps_on_a_device(Path(folder))), encoding="utf-8")


if __name__ == "__main__":
    main()
