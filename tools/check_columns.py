#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Fails on lines over 100 columns: check_columns.py [FILE...], without one all files of the tree.

Data, golden files, and tables and code in Markdown may be wider, and so may a line that holds only
a link, which cannot be broken.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIMIT = 100
DATA = (
    "*.json",
    "*.svg",
    "*.jpg",
    "*.png",
    "LICENSE",
    "tests/golden/*",
    "fuzz/corpus/*",
    "fuzz/seeds/*",
)


def is_data(path: str) -> bool:
    return any(fnmatch(path, pattern) for pattern in DATA)


def prose(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a Markdown text with their numbers, without those of tables and code."""
    fence = ""
    for number, line in enumerate(text.splitlines(), 1):
        mark = re.match(r"\s*(```+|~~~+)", line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        elif not fence and not line.startswith(("|", "    ", "\t")):
            yield number, line


def is_link(line: str) -> bool:
    """Whether the line holds nothing but a link behind its marks."""
    return re.fullmatch(r"\s*(?:[-*#/<]+\s+)?\S+://\S+", line) is not None


def long_lines(path: str, text: str) -> list[int]:
    """The numbers of the lines that are too long."""
    numbered = prose(text) if path.endswith(".md") else enumerate(text.splitlines(), 1)
    return [n for n, line in numbered if len(line) > LIMIT and not is_link(line)]


def files_of_tree() -> list[str]:
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [f for f in listed.stdout.split("\0") if f and (ROOT / f).is_file()]


def main(files: list[str]) -> None:
    found = [
        f"{file}:{number}: over {LIMIT} columns"
        for file in files
        if not is_data(file)
        for number in long_lines(file, (ROOT / file).read_text(encoding="utf-8"))
    ]
    if found:
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main(sys.argv[1:] or files_of_tree())
