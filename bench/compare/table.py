# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The results of a race as Markdown."""

from __future__ import annotations

import platform
import statistics
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from player import ROOT, Player

CPU = "in CPU time"
VARIANTS = {
    "stoker:float16": "float16 CHW",
    "stoker:uint8": "uint8 HWC, flipped, not normalised",
    "stoker:resized": "decoded and resized only, uint8 HWC",
    "stoker:again": "float32 CHW in a second process (the noise of this run)",
}
# The same output, and what the decoder knows of a file that it decodes.
INDEXED = {
    "stoker": "what the epochs before noted",
    "stoker:unindexed": "nothing: jpeg_index_limit=0",
}


@dataclass
class Times:
    """The microseconds an image takes, for each round."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)


def quartiles(values: list[float]) -> tuple[float, float, float]:
    if len(values) == 1:
        return values[0], values[0], values[0]
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, middle, high


def ratio(slow: Times, fast: Times) -> str:
    """How much faster `fast` is: the median, the quartiles, and the median by CPU time."""
    low, middle, high = quartiles([a / b for a, b in zip(slow.wall, fast.wall, strict=True)])
    cpu = statistics.median(a / b for a, b in zip(slow.cpu, fast.cpu, strict=True))
    return f"{middle:.2f} x | {low:.2f} - {high:.2f} | {cpu:.2f} x"


def spread(values: list[float], unit: str = "", digits: int = 0) -> str:
    low, middle, high = quartiles(values)
    return f"{middle:.{digits}f}{unit} ({low:.{digits}f} - {high:.{digits}f})"


def rate(times: Times) -> str:
    return f"{1e6 / statistics.median(times.wall):.0f}"


def facts_of_machine(data: Path) -> str:
    cpu = platform.machine()
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            cpu = line.split(":", 1)[1].strip()
    flags = Path("/proc/cpuinfo").read_text().split()
    vectors = next((v for v in ("avx512f", "avx2", "asimd") if v in flags), "no wide vectors")
    revision = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True
    ).stdout.strip()
    system = f"{platform.system()} {platform.release()}, Python {platform.python_version()}"
    return (
        f"{cpu} ({vectors}), {system}, Stoker {revision or 'of unknown revision'}, "
        f"pictures from {data.name}/"
    )


class Report:
    def __init__(self, machine: str) -> None:
        self.abouts: dict[str, str] = {}
        self._parts = [machine + "."]

    def text(self) -> str:
        return "\n\n".join(self._parts) + "\n"

    def _table(self, head: list[str], rows: list[str]) -> None:
        lines = [f"| {' | '.join(head)} |", "| --- " * len(head) + "|"]
        self._parts.append("\n".join(lines + [f"| {row} |" for row in rows]))

    def _introduce(self, players: list[Player]) -> None:
        self.abouts |= {p.name: p.about for p in players}

    def one_core(
        self, players: list[Player], times: dict[str, Times], same: str, core: int
    ) -> None:
        self._introduce(players)
        ours = times["stoker"]
        self._parts.append(
            f"Window of random size decoded and resized to 224x224 with antialias, flipped, "
            f"normalised, float32 CHW, batch 64: {len(ours.wall)} alternating rounds of "
            f"{players[0].rounds[0]['images']} pictures, core {core}; medians and quartiles of the "
            f"rounds' ratios."
        )
        rivals = [n for n in times if not n.startswith("stoker")]
        rows = [f"Stoker | {rate(ours)} | | |"]
        rows += [f"{self.abouts[n]} | {rate(times[n])} | {ratio(times[n], ours)}" for n in rivals]
        self._table(["one core", "images/s", "Stoker is faster by", "quartiles", CPU], rows)
        self._parts.append(same)
        variants = [n for n in times if n in VARIANTS]
        rows = [f"{VARIANTS[n]} | {rate(times[n])} | {ratio(ours, times[n])}" for n in variants]
        head = ["Stoker's output", "images/s", "faster than float32 by", "quartiles", CPU]
        self._table(head, rows)
        slow = times["stoker:unindexed"]
        rows = [
            f"{INDEXED[n]} | {rate(times[n])} | {ratio(times['limit'], times[n])} "
            f"| {ratio(slow, times[n]).split(' | ')[0]}"
            for n in INDEXED
        ]
        head = ["known of JPEG files", "images/s", "faster than the limit by", "quartiles", CPU]
        self._table([*head, "than without"], rows)
        self._beyond({p.name: p for p in players}, times)

    def _beyond(self, players: dict[str, Player], times: dict[str, Times]) -> None:
        """The costs beyond decoding and resizing, for each round."""
        parts: dict[str, list[float]] = {"decode": [], "resize": []}
        for r in players["stoker:resized"].rounds:
            for part, operator in (("decode", "decoders_image_0"), ("resize", "window")):
                # These clocks run on while other programs have the core: only a share counts.
                share = r["operators"][operator] / r["seconds"]
                parts[part].append(share * r["cpu"] / r["images"] * 1e6)
        ours, limit = times["stoker"].cpu, times["limit"].cpu
        both = zip(parts["decode"], parts["resize"], strict=True)
        beyond = [all_ - d - r for all_, (d, r) in zip(ours, both, strict=True)]
        shares = [b / t * 100 for b, t in zip(beyond, limit, strict=True)]
        decoding = [
            r["decode"] / r["seconds"] * t
            for r, t in zip(players["limit"].rounds, limit, strict=True)
        ]
        self._parts.append(
            f"Microseconds of CPU time a picture: Stoker {spread(ours)}, of which decode "
            f"{spread(parts['decode'])}, resize {spread(parts['resize'])}, everything beyond both "
            f"(flip, normalise, layout, float32, reading, queues, Python) {spread(beyond)}: "
            f"{spread(shares, ' %', 1)} of the {spread(limit)} of libjpeg-turbo's limit, of which "
            f"decode {spread(decoding)}."
        )

    def more_cores(self, players: list[Player], times: dict[str, Times], cores: list[int]) -> None:
        self._introduce(players)
        ours = times["stoker"]
        rows = [f"Stoker, {len(cores)} threads | {rate(ours)} | | |"]
        for name in times:
            if name != "stoker":
                how = "processes together" if name == "limit" else "threads"
                rows.append(
                    f"{self.abouts[name]}, {len(cores)} {how} | {rate(times[name])} "
                    f"| {ratio(times[name], ours)}"
                )
        head = [f"{len(cores)} cores", "images/s", "Stoker is faster by", "quartiles", CPU]
        self._table(head, rows)

    def starts(self, seconds: dict[str, list[float]], peaks: dict[str, float]) -> None:
        rows = []
        for name, values in seconds.items():
            times = [v / o for v, o in zip(values, seconds["stoker"], strict=True)]
            rows.append(
                f"{self.abouts[name]} | {statistics.median(values):.2f} "
                f"| {statistics.median(times):.1f} x | {peaks[name]:.0f} "
                f"| {peaks[name] / peaks['stoker']:.1f} x"
            )
        runs = len(seconds["stoker"])
        head = [
            f"each alone, median of {runs} starts",
            "s to the first batch",
            "of Stoker's",
            "peak MiB (PSS)",
            "of Stoker's",
        ]
        self._table(head, rows)

    def epochs(self, memory: list[float]) -> None:
        settled = memory[min(2, len(memory) - 1) :]
        self._parts.append(
            f"Stoker's memory (PSS) over {len(memory)} epochs: {memory[0]:.0f} MiB after the first,"
            f" {settled[0]:.0f} after the third, {memory[-1]:.0f} after the last; "
            f"{min(settled):.0f} - {max(settled):.0f} from the third on."
        )
