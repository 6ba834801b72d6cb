#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Draws where a command's CPU time goes as a flame graph: bench/flame.py OUT.svg COMMAND...

It needs Linux perf. A box is as wide as its share of the samples, and stands on its caller.
"""

from __future__ import annotations

import html
import re
import subprocess
import sys
import tempfile
import zlib
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

WIDTH, ROW, LETTER = 1400, 17, 6.2
LEAST = 0.002  # pixels; narrower boxes are left out


@dataclass
class Frame:
    samples: int = 0
    callees: dict[str, Frame] = field(default_factory=lambda: defaultdict(Frame))

    def depth(self) -> int:
        return 1 + max((f.depth() for f in self.callees.values()), default=0)


def short(symbol: str, library: str) -> str:
    """A function's name without arguments, or the name of a stripped library."""
    if symbol == "[unknown]":
        return "[" + Path(library).name.split(".")[0] + "]"
    while (plain := re.sub(r"<[^<>]*>|\([^()]*\)", "", symbol)) != symbol:
        symbol = plain
    return symbol.replace("stoker::", "").replace("::operator", "").strip()


def stacks(script: str) -> Frame:
    root = Frame()
    for sample in script.split("\n\n"):
        frames = []
        for line in sample.splitlines()[1:]:
            found = re.match(r"\s*[0-9a-f]+ (.*) \((.*)\)$", line)
            name = short(*found.groups()) if found else "?"
            if not frames or frames[-1] != name:
                frames.append(name)
        at = root
        at.samples += bool(frames)
        for name in reversed(frames):
            at = at.callees[name]
            at.samples += 1
    return root


def boxes(name: str, frame: Frame, x: float, level: int, total: int, height: int) -> list[str]:
    width = WIDTH * frame.samples / total
    if frame.samples < LEAST * total:
        return []
    y = height - (level + 1) * ROW
    hue = zlib.crc32(name.encode()) % 40 + (200 if name.startswith("[") else 15)
    share = f"{100 * frame.samples / total:.1f} %"
    label = name if len(name) * LETTER < width else name[: max(int(width / LETTER) - 1, 0)]
    drawn = [
        f'<g><title>{html.escape(name)}: {share}</title><rect x="{x:.1f}" y="{y}" '
        f'width="{width:.1f}" height="{ROW - 1}" fill="hsl({hue},70%,72%)"/>'
        f'<text x="{x + 2:.1f}" y="{y + 12}">{html.escape(label)}</text></g>'
    ]
    for callee, f in sorted(frame.callees.items()):
        drawn += boxes(callee, f, x, level + 1, total, height)
        x += WIDTH * f.samples / total
    return drawn


def main() -> None:
    out, command = Path(sys.argv[1]), sys.argv[2:]
    with tempfile.NamedTemporaryFile(suffix=".perf") as data:
        record = ["perf", "record", "-q", "-F", "499", "--call-graph", "dwarf,32768"]
        subprocess.run([*record, "-o", data.name, "--", *command], check=True)
        fields = ["--no-inline", "-F", "comm,tid,ip,sym,dso"]
        script = subprocess.run(
            ["perf", "script", "-i", data.name, *fields], capture_output=True, text=True, check=True
        ).stdout
    root = stacks(script)
    if not root.samples:
        sys.exit("perf took no samples")
    height = root.depth() * ROW
    out.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        'font-family="sans-serif" font-size="11">\n'
        + "\n".join(boxes("all", root, 0, 0, root.samples, height))
        + "\n</svg>\n"
    )


if __name__ == "__main__":
    main()
