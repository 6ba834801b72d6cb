#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the tests that the changed files concern.

`sets` prints what tools/install.sh has to install for them, `targets` what has to be built, and
`run` runs them, the nearest first. Files are changed if they differ from what BASE had when this
branch left it; without BASE that is the main branch. check_table.py says which tests concern which
files.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import check_table as table

ROOT = Path(__file__).resolve().parent.parent
LIMIT = 180  # seconds


@dataclass
class Plan:
    """What to run. Lists begin with what is nearest to the changes."""

    programs: list[str] = field(default_factory=list)  # C++ tests, by their short names
    operators: list[str] = field(default_factory=list)  # to be tested for conformance
    files: list[str] = field(default_factory=list)  # Python tests, as paths in tests/
    reasons: dict[str, list[str]] = field(
        default_factory=dict
    )  # for tests, in words, the changed files that they concern

    def targets(self) -> list[str]:
        """What has to be built."""
        built = [f"stoker_{name}_test" for name in self.programs]
        if self.operators or self.files:
            built.append("stoker_stage")
        return built + [table.TARGETS[file] for file in self.files if file in table.TARGETS]

    def sets(self) -> list[str]:
        """What has to be installed, besides what most tests need."""
        needed = set(self.files) & set(table.FRAMEWORKS.split())
        return ["frameworks", "mxnet"] if needed else []

    def seconds(self, cores: int) -> float:
        """About how long the tests take once everything is built."""
        work = sum(map(table.seconds, self.programs + self.files))
        work += table.OPERATOR_SECONDS * len(self.operators)
        return work / cores


def plan_for(changed: list[str]) -> Plan:
    plan = Plan()
    ranks: dict[str, int] = {}  # how near each Python test is to the changes
    for path in changed:
        row = table.row_of(path)
        words = [f"C++ {row.programs}"] if row.programs else []
        plan.programs += [p for p in row.programs.split() if p not in plan.programs]
        for rank, test in enumerate(row.python.split()):
            if test == table.OPERATOR and (operator := operator_of(path)):
                words.append(f"tests/{table.CONFORMANCE} -k {operator}")
                if operator not in plan.operators:
                    plan.operators.append(operator)
                continue
            itself = path.removeprefix("tests/")
            test = {table.OPERATOR: table.CONFORMANCE, table.ITSELF: itself}.get(test, test)
            files = test_files(test)
            words += [f"tests/{test}"] if files else []
            for file in files:
                ranks[file] = min(rank, ranks.get(file, rank))
        plan.reasons.setdefault(", ".join(words), []).append(path)
    plan.files = sorted(ranks, key=lambda file: ranks[file])
    if set(test_files(table.CONFORMANCE)) <= ranks.keys():
        plan.operators.clear()  # they are tested with all others
    return plan


def test_files(path: str) -> list[str]:
    """The test files in a folder of tests/, or the file itself. Nothing if it was deleted."""
    tests = ROOT / "tests"
    if (tests / path).is_dir():
        return sorted(str(f.relative_to(tests)) for f in (tests / path).rglob("test_*.py"))
    return [path] if (tests / path).is_file() else []


def operator_of(path: str) -> str:
    """The name of the operator whose source or oracle this is; "" if it is neither."""
    for source in (ROOT / "src" / "ops").glob("*/*.c[cu]"):
        name = re.search(r'\bdescribe\(\s*"([\w.]+)"', source.read_text(encoding="utf-8"))
        if name and path in (
            str(source.relative_to(ROOT)),
            f"tests/oracles/{name[1].replace('.', '_')}.py",
        ):
            return name[1]
    return ""


def git(*arguments: str) -> str:
    """What a command of Git prints; "" if it fails."""
    command = ["git", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else ""


def find_base() -> tuple[str, str]:
    """What changes are counted from: a branch, and the commit at which this branch left it."""
    names = ["main", "origin/main", "HEAD"]
    if git("branch", "--show-current").strip() == "main":
        names.remove("main")
    if base := os.environ.get("BASE"):
        names = [base]
    for name in names:
        if commit := git("merge-base", name, "HEAD").strip():
            return name, commit
    sys.exit(f"check: this branch has no commit in common with {names[0]}")


def changed_since(commit: str) -> list[str]:
    """The files that were changed, added or removed, whether that is committed or not."""
    tracked = git("diff", "--name-only", "--no-renames", "-z", commit)
    new = git("ls-files", "--others", "--exclude-standard", "-z")
    return sorted({path for path in (tracked + new).split("\0") if path})


def explain(plan: Plan, base: str, cores: int) -> None:
    """Prints what will run and why."""
    if not plan.reasons:
        return print(f"check: nothing changed since {base}")
    print(f"check: what changed since {base}, and the tests that it concerns")
    for tests, files in plan.reasons.items():
        others = f" and {len(files) - 3} more" if len(files) > 3 else ""
        print(f"  {', '.join(files[:3])}{others}\n    -> {tests or 'no test; see `make lint`'}")
    seconds = plan.seconds(cores)
    print(f"check: this takes about {seconds:.0f} s on {cores} cores")
    if seconds > LIMIT:
        print("check: that is over three minutes; what is nearest to the changes comes first")


def keywords(operators: list[str]) -> str:
    """Chooses the tests in whose brackets one of these names stands, and is not part of another."""
    places = [f"[{o}] or [{o}- or -{o}] or -{o}-" for o in operators]
    return " or ".join(places)


def commands(plan: Plan, jobs: int, stop_early: bool = False) -> list[list[str]]:
    """The programs that run all of it; with `stop_early`, each ends with its first failure."""
    commands = []
    if plan.programs:
        labels = f"^stoker_({'|'.join(plan.programs)})_test$"
        ctest = ["ctest", "--test-dir", "build/release", "--output-on-failure", f"-j{jobs}"]
        commands.append([*ctest, *["--stop-on-failure"] * stop_early, "-L", labels])
    pytest = [sys.executable, "-m", "pytest", f"-n{jobs}", "--dist=loadgroup", *["-x"] * stop_early]
    if plan.operators:
        folder = f"tests/{table.CONFORMANCE}"
        commands.append([*pytest, folder, "-k", keywords(plan.operators)])
    if plan.files:
        commands.append([*pytest, *(f"tests/{file}" for file in plan.files)])
    return commands


def run(plan: Plan, jobs: int) -> bool:
    """Runs all of it, whatever fails. Returns whether all passed."""
    codes = [subprocess.run(c, cwd=ROOT, check=False).returncode for c in commands(plan, jobs)]
    return not any(codes)


def main(word: str) -> None:
    name, commit = find_base()
    plan = plan_for(changed_since(commit))
    jobs = int(os.environ.get("JOBS") or os.cpu_count() or 1)
    if word == "run":
        explain(plan, f"{name} ({commit[:10]})", jobs)
        sys.stdout.flush()
        sys.exit(0 if run(plan, jobs) else 1)
    print(" ".join({"sets": plan.sets, "targets": plan.targets}[word]()))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("word", choices=["sets", "targets", "run"])
    main(parser.parse_args().word)
