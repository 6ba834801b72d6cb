#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Plants defects into the sources, one after the other, and says which test notices each first.

`defects.py [NAME...]` works on the last commit, in a copy of the checkout in build/defects. For
each defect of tests/defects/defect_list.py it builds what the tests need that `make check` would
run for that file, and runs these, the nearest first, until one fails. `--far` goes on with all
other Python tests where none of these fails. It prints a line for each defect, and ends with 1 if
one was not noticed. All of them take some hours on two cores.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COPY = ROOT / "build" / "defects"
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests" / "defects")]

from defect_list import DEFECTS, Defect  # noqa: E402

import check  # noqa: E402

JOBS = os.environ.get("JOBS") or str(os.cpu_count() or 1)
HANGS = 900  # seconds after which a run of tests counts as failed


def prepare() -> None:
    """Makes the copy, or brings it to the last commit."""
    if not (COPY / ".git").exists():
        git(ROOT, "worktree", "prune")
        git(ROOT, "worktree", "add", "--force", "--detach", str(COPY), "HEAD")
        (COPY / ".venv").symlink_to(ROOT / ".venv")
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()
    git(COPY, "checkout", "--quiet", "--force", "--detach", commit)
    if not (COPY / "build/release/build.ninja").is_file():
        run(["cmake", "--preset", "release", "-DSTOKER_TESTS=ON"])


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, check=True)


def environment() -> dict[str, str]:
    places = {"PYTHONPATH": str(COPY / "build/release/python")}
    return {**os.environ, **places, "PATH": f"{ROOT}/.venv/bin:{os.environ['PATH']}"}


def run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=COPY,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=HANGS,
        check=False,
    )


@contextmanager
def planted(defect: Defect) -> Iterator[None]:
    """The copy with the defect in it."""
    file = COPY / defect.file
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace(defect.right, defect.wrong), encoding="utf-8")
    try:
        yield
    finally:
        file.write_text(text, encoding="utf-8")


def first_failure(plan: check.Plan, far: bool) -> str:
    """The first test that fails, or what else goes wrong; "" if nothing does."""
    targets = plan.targets()
    if targets and (built := run(["ninja", "-C", "build/release", *targets])).returncode:
        lines = [line for line in built.stdout.splitlines() if "error" in line]
        return f"the compiler: {lines[0] if lines else 'it fails'}"
    for command in check.commands(plan, int(JOBS), stop_early=True) + all_tests(far):
        try:
            done = run(command)
        except subprocess.TimeoutExpired:
            return f"a hang of {' '.join(command[:4])}"
        if done.returncode:
            return failed_test(done.stdout)
    return ""


def all_tests(far: bool) -> list[list[str]]:
    command = [sys.executable, "-m", "pytest", f"-n{JOBS}", "--dist=loadgroup", "-x", "tests"]
    return [command] if far else []


def failed_test(output: str) -> str:
    """The name of the first failed test in what ctest or pytest prints."""
    found = re.search(r"^FAILED (\S+)|^ERROR (\S+)|\d+ - (\S+) \(", output, re.M)
    return next(filter(None, found.groups())) if found else output.strip().splitlines()[-1]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--far", action="store_true", help="tries all Python tests in the end")
    parser.add_argument("names", nargs="*", metavar="NAME", help="of a defect; all without one")
    asked = parser.parse_args()
    unknown = set(asked.names) - {d.name for d in DEFECTS}
    if unknown:
        parser.error(f"there is no defect {sorted(unknown)[0]!r} in tests/defects/defect_list.py")
    prepare()
    missed = 0
    for defect in DEFECTS:
        if asked.names and defect.name not in asked.names:
            continue
        begun = time.monotonic()
        with planted(defect):
            failure = first_failure(check.plan_for([defect.file]), asked.far)
        missed += not failure
        seconds = time.monotonic() - begun
        print(f"{defect.name:28} {seconds:5.0f} s  {failure or 'NOT NOTICED'}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
