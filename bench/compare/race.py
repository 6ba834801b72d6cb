# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Races the peers: the same work, one process each on the same core, in alternating rounds.

Prints a Markdown table: images/s (median over rounds), and Stoker's ratio to each peer as the
median of the per-round ratios with its quartiles. Absolute rates belong to the machine; the ratios
are what can be compared.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PEERS = ("stoker", "dali", "torchvision", "opencv")


class Peer:
    """A peer's process. It says 'ready <seconds of its first epoch>' and then answers rounds."""

    def __init__(self, name: str, data: str, core: str) -> None:
        python = ROOT / (".venv" if name == "stoker" else f"build/compare/{name}") / "bin/python"
        command = [str(python), str(HERE / "peers" / f"with_{name}.py"), data, core]
        self.name = name
        self.rates: list[float] = []
        self.memory_mib = 0.0
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._answer("ready")

    def _answer(self, what: str) -> list[str]:
        assert self.process.stdout
        line = self.process.stdout.readline().split()
        if not line:
            sys.exit(
                f"{self.name} ended while {what} was expected (exit status {self.process.wait()})"
            )
        return line

    def round(self) -> None:
        assert self.process.stdin
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        images, seconds, rss = self._answer("a round")
        self.rates.append(int(images) / float(seconds))
        self.memory_mib = int(rss) / 1024

    def stop(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait()


def cpu_name() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def quartiles(values: list[float]) -> tuple[float, float, float]:
    low, middle, high = statistics.quantiles(values, n=4) if len(values) > 1 else values * 3
    return low, middle, high


def import_seconds(name: str, module: str) -> float:
    """The median of five imports, each in a fresh interpreter, less the interpreter's own start."""
    python = ROOT / (".venv" if name == "stoker" else f"build/compare/{name}") / "bin/python"
    code = f"import time; t = time.perf_counter(); import {module}; print(time.perf_counter() - t)"
    runs = [float(subprocess.check_output([str(python), "-c", code], text=True)) for _ in range(6)]
    return statistics.median(runs[1:])


def report(peers: list[Peer], data: str, core: str) -> None:
    print(
        f"\n{len(peers[0].rates)} alternating rounds over {data}, core(s) {core} of {cpu_name()}\n"
    )
    print("| peer | images/s | Stoker is faster by | quartiles | peak MiB |")
    print("| --- | --- | --- | --- | --- |")
    ours = peers[0].rates
    for peer in peers:
        low, middle, high = quartiles([a / b for a, b in zip(ours, peer.rates, strict=True)])
        rate = statistics.median(peer.rates)
        print(
            f"| {peer.name} | {rate:.0f} | {middle:.2f} x | {low:.2f} - {high:.2f} "
            f"| {peer.memory_mib:.0f} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    default = Path(os.environ.get("STOKER_TEST_DATA", ROOT.parent / "shared/data")) / "imagenet"
    parser.add_argument("--data", default=str(default), help="a folder of folders of JPEGs")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument(
        "--core", default="1" if (os.cpu_count() or 1) > 1 else "0", help="or several: 0,1"
    )
    parser.add_argument("--peers", default=",".join(PEERS[1:]))
    args = parser.parse_args()
    if not Path(args.data).is_dir():
        sys.exit(
            f"no folder {args.data}: name one with --data (make demo makes a set below build/)"
        )
    peers = [Peer(name, args.data, args.core) for name in ["stoker", *args.peers.split(",")]]
    for number in range(args.rounds):
        order = peers if number % 2 == 0 else peers[::-1]
        for peer in order:
            peer.round()
        print(
            f"round {number + 1}: " + ", ".join(f"{p.name} {p.rates[-1]:.0f}" for p in peers),
            flush=True,
        )
    for peer in peers:
        peer.stop()
    report(peers, args.data, args.core)
    if "dali" in args.peers:
        ours, theirs = import_seconds("stoker", "stoker"), import_seconds("dali", "nvidia.dali")
        print(
            f"\nimport: {ours:.3f} s, the established library {theirs:.3f} s "
            f"({ours / theirs:.2f} x)"
        )


if __name__ == "__main__":
    main()
