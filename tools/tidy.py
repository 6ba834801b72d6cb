#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy over src/ and the operators of tests/.

Several files of a folder are checked as one, because reading what they include takes most of the
time. A file that passed is skipped until its text, with or without its includes, the checks or
clang-tidy change.
"""

import argparse
import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
CLANG, TIDY = "clang++-19", "clang-tidy-19"
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "stoker-tidy"
GROUP = 8  # files that are checked as one


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


class File(NamedTuple):
    path: Path
    flags: tuple[str, ...]  # without definitions
    definitions: tuple[str, ...]
    passed: Path  # exists once clang-tidy has found nothing


def file_of(entry: dict[str, str], salt: bytes) -> File:
    path = Path(entry["file"])
    flags = flags_of(entry)
    definitions = tuple(f for f in flags if f.startswith("-D"))
    others = tuple(f for f in flags if f not in definitions)
    return File(path, others, definitions, CACHE / key_of(path, flags, salt))


def groups_of(files: list[File]) -> Iterator[list[File]]:
    together: dict[object, list[File]] = {}
    for file in files:
        together.setdefault((file.path.parent, file.flags), []).append(file)
    for group in together.values():
        for i in range(0, len(group), GROUP):
            yield group[i : i + GROUP]


def check_group(group: list[File], folder: Path) -> str:
    """What clang-tidy finds in the files, which are checked as one; "" if nothing."""
    text = ""
    for file in group:
        # Some checks look only at the main file, so this has the texts and does not include them.
        macros = [d.removeprefix("-D").partition("=") for d in file.definitions]
        text += "".join(f"#define {name} {value}\n" for name, _, value in macros)
        text += file.path.read_text()
        text += "".join(f"#undef {name}\n" for name, _, _ in macros)
    together = folder / f"tidy_{group[0].path.stem}.cc"
    together.write_text(text)
    if not tidy(together, group[0].flags):
        for file in group:
            file.passed.touch()
        return ""
    # Some names cannot meet in one file, and findings are clearer in their own.
    return "\n".join(filter(None, map(check, group)))


def check(file: File) -> str:
    found = tidy(file.path, file.flags + file.definitions)
    if not found:
        file.passed.touch()
    return found


def tidy(file: Path, flags: tuple[str, ...]) -> str:
    command = [TIDY, "--quiet", str(file), "--", *flags]
    run = subprocess.run(command, capture_output=True, text=True)
    return (run.stdout or run.stderr or "clang-tidy failed") if run.returncode else ""


def wanted(entry: dict[str, str]) -> bool:
    file = Path(entry["file"])
    built = ("new_operators", "new_codecs", "run_operators")
    if any(file.is_relative_to(ROOT / "tests" / f) for f in built):
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
    with ThreadPoolExecutor(jobs) as pool, TemporaryDirectory(dir=build) as folder:
        files = list(pool.map(lambda e: file_of(e, salt), entries))
        groups = groups_of([f for f in files if not f.passed.exists()])
        found = list(pool.map(lambda g: check_group(g, Path(folder)), groups))
    bad = [text for text in found if text]
    if bad:
        sys.exit("\n".join(bad))
    print(f"clang-tidy: {len(entries)} files, nothing found")


if __name__ == "__main__":
    main()
