# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Tortures Stoker with what only Python can pass: odd arrays, objects, sources and arguments.

    .venv/bin/python tests/torture/python/hunt.py --seconds 60 --seed 1

What is found is made smaller and printed as a text that ``--replay`` runs.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import planted
from child import Child, examine_apart
from drawing import trial
from examining import Complaint, examine, prepare
from shrinking import OutOfTimeError, shrink, signature

IN_ONE_CHILD = 200


class Finding(NamedTuple):
    number: int
    complaint: Complaint
    text: str
    is_alone: bool  # False: it shows only after the trials before it, or by luck


class Hunt:
    """Runs trials of one seed, from ``first`` on, until the time or number is over."""

    def __init__(self, arguments: argparse.Namespace, seed: int, seconds: float) -> None:
        self._a = arguments
        self._seed = seed
        self._end = time.monotonic() + seconds
        self._at = arguments.first - 1  # the trial that runs, or ran last
        self._complaint: Complaint | None = None
        self.findings: list[Finding] = []

    def run(self) -> None:
        while not self._is_over():
            self._complaint = None
            begun = self._at + 1
            ended = Child(self._work, self._a.limit).messages(self._receive)
            if complaint := ended or self._complaint:
                self._at = max(self._at, begun)  # also if the child did not come that far
                self._find(begun, complaint)

    def _is_over(self) -> bool:
        tried = self._at + 1 - self._a.first
        return (
            tried >= self._a.trials
            or len(self.findings) >= self._a.findings
            or time.monotonic() > self._end
        )

    def _work(self, send: Callable[[Any], None]) -> None:
        planted.plant(self._a.plant)
        for number in range(self._at + 1, self._at + 1 + IN_ONE_CHILD):
            if number - self._a.first >= self._a.trials or time.monotonic() > self._end:
                return
            send(["at", number])
            text = trial(self._seed, number)
            prepare(text)
            send(["at", number])  # its time begins
            if complaint := examine(text):
                return send(["found", complaint])
        return None

    def _receive(self, message: Any) -> None:
        word, what = message
        if word == "at":
            self._at = what
        else:
            self._complaint = Complaint(*what)

    def _find(self, begun: int, complaint: Complaint) -> None:
        text = trial(self._seed, self._at)
        if signature(complaint) in {signature(f.complaint) for f in self.findings}:
            return
        again = self._apart(text)
        is_alone = signature(again) == signature(complaint)
        if is_alone:
            smaller = shrink(text, self._fails_as(complaint))
            if smaller != text:
                text, complaint = smaller, self._apart(smaller) or complaint
        self.findings.append(Finding(self._at, complaint, text, is_alone))
        since = "" if is_alone else f" (not alone: --first {begun})"
        print(f"\nseed {self._seed}, trial {self._at}{since}: {': '.join(complaint)}")
        print(f"{sys.executable} {__file__} --replay <<'END'\n{text}END", flush=True)

    def _fails_as(self, complaint: Complaint) -> Callable[[str], bool]:
        end = time.monotonic() + self._a.shrink

        def fails(text: str) -> bool:
            if time.monotonic() > end:
                raise OutOfTimeError
            return signature(self._apart(text)) == signature(complaint)

        return fails

    def _apart(self, text: str) -> Complaint | None:
        return examine_apart(text, lambda: planted.plant(self._a.plant), self._a.limit)

    def summary(self) -> str:
        tried = self._at + 1 - self._a.first
        return f"seed {self._seed}: {tried} trials, {len(self.findings)} findings"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, action="append", help="several share the time")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--trials", type=int, default=sys.maxsize)
    parser.add_argument("--findings", type=int, default=5, help="then the hunt ends")
    parser.add_argument("--limit", type=float, default=60, help="seconds for one trial")
    parser.add_argument("--shrink", type=float, default=30, help="seconds to make one smaller")
    parser.add_argument("--show", action="store_true", help="prints the trials instead")
    parser.add_argument("--replay", action="store_true", help="runs the trial on standard input")
    parser.add_argument("--plant", choices=planted.PLANTS, help="a defect, to see that it is found")
    arguments = parser.parse_args()
    seeds = arguments.seed or [1]
    if arguments.replay:
        begin = lambda: planted.plant(arguments.plant)  # noqa: E731
        complaint = examine_apart(sys.stdin.read(), begin, arguments.limit)
        print(": ".join(complaint) if complaint else "nothing")
        return complaint is not None
    if arguments.show:
        for number in itertools.islice(
            itertools.count(arguments.first), min(arguments.trials, 1000)
        ):
            print(trial(seeds[0], number))
        return 0
    hunts = []
    for seed in seeds:
        hunts.append(Hunt(arguments, seed, arguments.seconds / len(seeds)))
        hunts[-1].run()
        print(hunts[-1].summary())
    return any(hunt.findings for hunt in hunts)


if __name__ == "__main__":
    sys.exit(main())
