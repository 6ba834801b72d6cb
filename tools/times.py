#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Keeps how long the steps of CI and the tests take, and prints that beside the run before.

`times.py step NAME COMMAND...` runs a command and notes its seconds and those of its processors in
build/times.json. `times.py report` prints what was noted, and the slowest tests of build/pytest.xml
and build/ctest.xml, beside tools/ci_times.json; `times.py keep` makes that file and the table of
tests/README.md of it, to be committed where a change makes tests slower or faster on purpose.
check_table.py reads the file, too. The kept figures are of one quiet machine of two cores: only
their ratios mean something elsewhere.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
NOTED = ROOT / "build/times.json"
KEPT = ROOT / "tools/ci_times.json"
PAGE = ROOT / "tests/README.md"
BEGIN, END = "<!-- The slowest files, by `tools/times.py keep`. -->", "<!-- End of the slowest. -->"
REPORTS = (ROOT / "build/pytest.xml", ROOT / "build/ctest.xml")
SHOWN = 20
SHORT = 2.5  # seconds; shorter tests are not kept

Times = dict[str, dict[str, float]]


def load(path: Path) -> Times:
    return json.loads(path.read_text()) if path.is_file() else {}


def save(path: Path, times: Times) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(times, indent=1, sort_keys=True) + "\n")


def run_step(name: str, command: list[str]) -> int:
    begun = time.monotonic()
    code = subprocess.run(command, cwd=ROOT, check=False).returncode
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    noted = load(NOTED)
    noted.setdefault("steps", {})[name] = round(time.monotonic() - begun)
    noted.setdefault("processors", {})[name] = round(used.ru_utime + used.ru_stime)
    save(NOTED, noted)
    return code


def seconds_of_tests() -> dict[str, float]:
    """By file of Python tests, as a path in tests/, and by C++ test program; the longest first."""
    seconds: Counter[str] = Counter()
    for report in REPORTS:
        if report.is_file():
            for case in ElementTree.parse(report).iter("testcase"):
                seconds[group_of(case)] += float(case.get("time") or 0)
    return {name: round(time, 1) for name, time in seconds.most_common()}


def group_of(case: ElementTree.Element) -> str:
    """The file of a Python test, "running/test_batches.py", or the program of a C++ test, "run"."""
    for prop in case.iter("property"):
        if prop.get("name") == "cmake_labels":
            return prop.get("value", "").removeprefix("stoker_").removesuffix("_test")
    return case.get("classname", "").removeprefix("tests.").replace(".", "/") + ".py"


def table(title: str, now: dict[str, float], before: dict[str, float]) -> None:
    if not now:
        return
    print(f"\n{title:50} now  kept")
    for name, seconds in sorted(now.items(), key=lambda item: -item[1])[:SHOWN]:
        kept = f"{before[name]:.0f}" if name in before else "-"
        print(f"{name:48} {seconds:5.0f} {kept:>5}")
    print(f"{'together':48} {sum(now.values()):5.0f} {sum(before.values()):5.0f}")


def slowest(tests: dict[str, float]) -> str:
    """The slowest files as a table for a page."""
    rows = sorted(tests.items(), key=lambda item: (-item[1], item[0]))[:SHOWN]
    lines = ["| file, or program of C++ tests | seconds |", "| --- | --: |"]
    for name, seconds in rows:
        shown = f"`tests/{name}`" if name.endswith(".py") else f"`stoker_{name}_test`"
        lines.append(f"| {shown} | {seconds:.0f} |")
    return "\n".join(lines)


def show_slowest(page: Path, tests: dict[str, float]) -> None:
    """Puts the table between the two marks of a page."""
    before, begin, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        sys.exit(f"times: {page} lacks the line {END if begin else BEGIN}")
    page.write_text(f"{before}{BEGIN}\n{slowest(tests)}\n{END}{after}", encoding="utf-8")


def report() -> None:
    noted, kept = load(NOTED), load(KEPT)
    noted["tests"] = seconds_of_tests()
    save(NOTED, noted)
    for key, title in (
        ("steps", "seconds of each step"),
        ("processors", "seconds of processors of each step"),
        ("tests", "seconds of the slowest files of tests"),
    ):
        table(title, noted.get(key, {}), kept.get(key, {}))


def main(words: list[str]) -> int:
    match words:
        case ["step", name, *command] if command:
            return run_step(name, command)
        case ["report"]:
            report()
        case ["keep"]:
            report()
            noted = load(NOTED)
            noted["tests"] = {name: time for name, time in noted["tests"].items() if time >= SHORT}
            show_slowest(PAGE, noted["tests"])
            save(KEPT, noted)
        case _:
            sys.exit(__doc__)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
