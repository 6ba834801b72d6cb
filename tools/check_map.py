#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Fails where the pages for developers name a file, a function or a note that is not there.

A path in backticks starts at the root, in src/, python/stoker/ or tests/; one outside of the
repository (`../`) is not looked for. `Class::member` has to be in C++ and `Class.member` in Python.
`name` (`file`), `name` in `file`, `name` of `file` and Note [Title] (`file`) have to be in that
file.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = (
    *("CONTRIBUTING.md", "src/README.md", "python/stoker/README.md", "tests/README.md"),
    "docs/design/*.md",
)
STARTS = ("src", "python/stoker", "tests", "")
SUFFIXES = {"::": (".h", ".cc", ".cu", ".cuh"), ".": (".py", ".pyi")}


@cache
def sources(suffixes: tuple[str, ...]) -> list[str]:
    folders = (ROOT / "src", ROOT / "bindings", ROOT / "python")
    files = (f for folder in folders for f in sorted(folder.rglob("*")) if f.suffix in suffixes)
    return [f.read_text(encoding="utf-8") for f in files]


def find(path: str) -> Path | None:
    return next((p for start in STARTS if (p := ROOT / start / path).exists()), None)


def has_member(owner: str, between: str, member: str) -> bool:
    definition = re.compile(rf"\b{owner}{re.escape(between)}{member}\b")
    in_class = re.compile(rf"\b(class|struct|namespace) {owner}\b.*\b{member}\b", re.S)
    texts = sources(SUFFIXES[between])
    return any(definition.search(t) or in_class.search(t) for t in texts)


def complaints(text: str) -> Iterator[str]:
    """What is wrong in a page."""
    for path in re.findall(r"`([\w.-]+(?:/[\w.-]*)+)`", text):
        if not path.startswith("../") and not find(path):
            yield f"there is no {path}"
    for owner, between, member in re.findall(r"`([A-Z]+[a-z]\w*)(::|\.)(\w+)(?:\(\))?`", text):
        if not has_member(owner, between, member):
            yield f"there is no {owner}{between}{member}"
    for name, file in re.findall(r"`([\w:.]+)(?:\(\))?`\s+(?:\(|in |of )`([\w./-]+)`", text):
        path = find(file)
        word = re.split(r"::|\.", name)[-1]
        if path and path.is_file() and not re.search(rf"\b{word}\b", path.read_text()):
            yield f"there is no {name} in {file}"
    for title, file in re.findall(r"\bNote\s+(\[[^]]*\])(?:\s+\(`([\w./-]+)`\))?", text):
        note = f"// Note {' '.join(title.split())}"
        path = find(file) if file else None
        texts = [path.read_text()] if path and path.is_file() else sources(SUFFIXES["::"])
        if not any(note in t for t in texts):
            yield f"there is no Note {title}" + (f" in {file}" if file else "")


def main() -> None:
    found = [
        f"{page.relative_to(ROOT)}: {complaint}"
        for pattern in PAGES
        for page in sorted(ROOT.glob(pattern))
        for complaint in complaints(page.read_text(encoding="utf-8"))
    ]
    if found:
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main()
