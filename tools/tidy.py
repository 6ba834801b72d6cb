#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy over src/ and the operators of tests/.

A file that passed is skipped until its text, with or without its includes, the checks or clang-tidy
change.
"""

import argparse
import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CLANG, TIDY = "clang++-19", "clang-tidy-19"
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "stoker-tidy"


def flags_of(entry: dict[str, str]) -> list[str]:
    """The compile command without launcher, compiler, input and output."""
    words = shlex.split(entry["command"])
    compiler = next(i for i, w in enumerate(words) if w.endswith(("c++", "g++", "clang++")))
    words = words[compiler + 1 :]
    cut = {words.index("-o"), words.index("-o") + 1, words.index("-c"), words.index("-c") + 1}
    return [w for i, w in enumerate(words) if i not in cut]


def key_of(file: Path, flags: list[str], salt: bytes) -> str:
    # Some flags are only GCC's.
    command = [CLANG, *flags, "-Wno-unknown-warning-option", "-E", str(file)]
    text = subprocess.run(command, capture_output=True)
    if text.returncode:
        sys.exit(f"{file}: does not preprocess with {CLANG}\n{text.stderr.decode()}")
    # Line markers hold absolute paths, which differ between checkouts.
    body = text.stdout.replace(str(ROOT).encode(), b"")
    # The preprocessed text has no comments, but NOLINT comments count.
    return hashlib.sha256(salt + file.read_bytes() + body).hexdigest()


def check(entry: dict[str, str], build: Path, salt: bytes) -> str:
    """What clang-tidy finds in the file; "" if nothing."""
    file = Path(entry["file"])
    flags = flags_of(entry)
    passed = CACHE / key_of(file, flags, salt)
    if passed.exists():
        return ""
    command = [TIDY, "-p", str(build), "--quiet", str(file)]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        return run.stdout or run.stderr
    passed.touch()
    return ""


def wanted(entry: dict[str, str]) -> bool:
    file = Path(entry["file"])
    if any(file.is_relative_to(ROOT / "tests" / f) for f in ("new_operators", "run_operators")):
        return True
    return file.is_relative_to(ROOT / "src") and not file.name.endswith("_test.cc")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path, help="a build folder with compile_commands.json")
    parser.add_argument("jobs", type=int, help="how many files at once")
    arguments = parser.parse_args()
    build, jobs = arguments.build, arguments.jobs
    if not shutil.which(TIDY):
        sys.exit(f"tidy: no {TIDY} (tools/install.sh lint)")
    CACHE.mkdir(parents=True, exist_ok=True)
    version = subprocess.run([TIDY, "--version"], capture_output=True, check=True).stdout
    salt = version + (ROOT / ".clang-tidy").read_bytes()
    entries = [e for e in json.loads((build / "compile_commands.json").read_text()) if wanted(e)]
    with ThreadPoolExecutor(jobs) as pool:
        found = list(pool.map(lambda e: check(e, build, salt), entries))
    bad = [text for text in found if text]
    if bad:
        sys.exit("\n".join(bad))
    print(f"clang-tidy: {len(entries)} files, nothing found")


if __name__ == "__main__":
    main()
