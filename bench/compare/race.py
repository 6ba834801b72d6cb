# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Races the peers: the same work, one process each on the same core, in alternating rounds.

A round of a peer is one pass over the files, timed after everything that it had prepared was used
up. It is stopped while others work, so no peer gets a head start or loses time to another. Files
are in the page cache. The limit, which is as fast as libjpeg-turbo allows, uses the windows that
Stoker draws, and before the race its pixels are compared with Stoker's.

Ratios are medians of the rounds' ratios, with quartiles. Rates hold only for this machine. The
ratio of CPU times shows whether other programs used the core. The results go to
build/compare/results.md.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from player import EPOCH, ROOT, Player
from table import Report, Times, facts_of_machine

PARTS = ("starts", "race", "two", "epochs")
RIVALS = ("dali", "torchvision", "opencv", "opencv:area", "tfdata", "spdl")
VARIANTS = (
    "stoker:float16",
    "stoker:uint8",
    "stoker:resized",
    "stoker:again",
    "stoker:unindexed",
)
BATCH = 64
LEVELS_APART = 2.0  # with more, the limit would do other work than Stoker
OUT = ROOT / "build/compare"


def list_of_files(data: Path) -> Path:
    """Writes the list that all peers read: as many files as make whole batches of one epoch."""
    found = sorted(str(p) for p in data.rglob("*") if p.suffix.lower() in (".jpg", ".jpeg"))
    if len(found) < EPOCH * BATCH:
        sys.exit(f"compare: {data} holds {len(found)} JPEGs; the race takes {EPOCH * BATCH}")
    step = len(found) / (EPOCH * BATCH)
    chosen = [found[int(i * step)] for i in range(EPOCH * BATCH)]
    for path in chosen:
        Path(path).read_bytes()  # into the page cache
    OUT.mkdir(parents=True, exist_ok=True)
    (OUT / "files.txt").write_text("\n".join(chosen) + "\n")
    return OUT / "files.txt"


def check_pixels(stoker: Player, limit: Player) -> str:
    dump = OUT / "batch.bin"
    try:
        step = stoker.dump(dump)
        apart = limit.check(dump, step)
    finally:
        dump.unlink(missing_ok=True)
    if apart["most"] > LEVELS_APART:
        sys.exit(f"compare: the limit's pixels are {apart['most']} levels from Stoker's")
    return (
        f"Pixels of the limit and of Stoker differ by at most {apart['most']:.2f} of 255 levels, "
        f"{apart['mean']:.2f} on average (Stoker rounds to uint8 after the resize)."
    )


def run_rounds(players: list[Player], stoker: Player, rounds: int) -> dict[str, Times]:
    """The players by name. Two players of one name work at the same time."""
    for player in players:
        player.round()  # warms up
    names = list(dict.fromkeys(p.name for p in players))
    times = {name: Times() for name in names}
    for number in range(rounds):
        first = stoker.steps + stoker.ahead
        for name in names if number % 2 == 0 else names[::-1]:
            together = [p for p in players if p.name == name]
            for player in together:
                player.begin(first=first)
            for player in together:
                player.rounds.append(player.end())
            last = [p.rounds[-1] for p in together]
            times[name].wall.append(1e6 / sum(r["images"] / r["seconds"] for r in last))
            times[name].cpu.append(1e6 * sum(r["cpu"] / r["images"] for r in last) / len(last))
        line = ", ".join(f"{name} {1e6 / times[name].wall[-1]:.0f}" for name in names)
        print(f"round {number + 1}: {line}", flush=True)
    return times


def race(args: argparse.Namespace, files: Path, report: Report) -> None:
    names = ["stoker", "limit", *args.peers, *VARIANTS]
    players = [Player(name, files, [args.core]) for name in names]
    by_name = {p.name: p for p in players}
    same = check_pixels(by_name["stoker"], by_name["limit"])
    times = run_rounds(players, by_name["stoker"], args.rounds)
    for player in players:
        player.stop()
    report.one_core(players, times, same, args.core)


def two_cores(args: argparse.Namespace, files: Path, report: Report) -> None:
    names = ["stoker", *(p for p in args.peers if p == "dali")]
    players = [Player(name, files, args.cores) for name in names]
    players += [Player("limit", files, [core]) for core in args.cores]
    times = run_rounds(players, players[0], args.rounds)
    for player in players:
        player.stop()
    report.more_cores(players, times, args.cores)


def starts(args: argparse.Namespace, files: Path, report: Report) -> None:
    """For each peer alone: seconds from its start to its first batch, and its memory."""
    names = ["stoker", *(p for p in args.peers if ":" not in p)]
    seconds: dict[str, list[float]] = {name: [] for name in names}
    peaks: dict[str, list[float]] = {name: [] for name in names}
    for number in range(args.starts):
        for name in names if number % 2 == 0 else names[::-1]:
            player = Player(name, files, [args.core])
            seconds[name].append(player.seconds_to_first_batch)
            if number == 0:
                peaks[name].append(player.peak_mib(2))
            report.abouts[name] = player.about
            player.stop()
        line = ", ".join(f"{name} {seconds[name][-1]:.2f} s" for name in names)
        print(f"start {number + 1}: {line}", flush=True)
    report.starts(seconds, {name: peaks[name][0] for name in names})


def epochs(args: argparse.Namespace, files: Path, report: Report) -> None:
    stoker = Player("stoker", files, args.cores)
    memory = []
    for _ in range(args.epochs):
        stoker.round(EPOCH - stoker.ahead)  # an epoch, with what it makes ahead
        memory.append(stoker.memory_mib())
    stoker.stop()
    print(f"memory after epochs 1, 2, ...: {', '.join(f'{m:.0f}' for m in memory)} MiB")
    report.epochs(memory)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    default = Path(os.environ.get("STOKER_TEST_DATA", ROOT.parent / "shared/data")) / "imagenet"
    usable = sorted(os.sched_getaffinity(0))
    numbers = ",".join(map(str, usable[-2:]))
    parser.add_argument("--data", type=Path, default=default, help="a folder with JPEGs below it")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--starts", type=int, default=3, help="how often each is started")
    parser.add_argument("--epochs", type=int, default=50, help="over which memory is watched")
    parser.add_argument("--core", type=int, default=usable[-1])
    parser.add_argument("--cores", default=numbers, help="of the part with two threads")
    parser.add_argument("--peers", default=",".join(RIVALS), help="those against Stoker")
    parser.add_argument("--parts", default=",".join(PARTS))
    args = parser.parse_args()
    args.cores = [int(c) for c in args.cores.split(",")]
    args.peers = [p for p in args.peers.split(",") if p]
    args.parts = args.parts.split(",")
    return args


def main() -> None:
    args = arguments()
    files = list_of_files(args.data)
    report = Report(facts_of_machine(args.data))
    if "starts" in args.parts:
        starts(args, files, report)
    if "race" in args.parts:
        race(args, files, report)
    if "two" in args.parts:
        if len(args.cores) > 1:
            two_cores(args, files, report)
        else:
            print("compare: one core only: the part with two threads is left out")
    if "epochs" in args.parts:
        epochs(args, files, report)
    (OUT / "results.md").write_text(report.text())
    print(f"\n{report.text()}\nwritten to {OUT / 'results.md'}")


if __name__ == "__main__":
    main()
