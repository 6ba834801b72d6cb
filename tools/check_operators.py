#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Fails on what an operator's struct has and the engine would not use: check_operators.py [FILE...]

The engine finds functions and constants by their names, which src/op/struct_names.h lists, so one
whose name is misspelt does nothing. That is a public function that takes what the engine asks with,
such as Demand& or Run&, or a public constant k..., under another name. Structs that operators
derive from are looked at as well. The compiler checks the rest.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
NAMES = ROOT / "src/op/struct_names.h"
ASKED_WITH = (
    "Checker",
    "Lowering",
    "Inference",
    "Demand",
    "Run",
    "GpuRun",
    "BatchInference",
    "BatchRun",
    "Asking",
    "Reading",
)
COMMENTS_AND_TEXTS = re.compile(r'//[^\n]*|"(?:\\.|[^"\\])*"')
FUNCTION = re.compile(rf"\b(\w+)\s*\(\s*(?:const )?(?:{'|'.join(ASKED_WITH)})&")
CONSTANT = re.compile(r"\bstatic constexpr\b[^;=({]*?\b(k[A-Z]\w*)\s*(?:\[\w*\]\s*)?[={]")


class Struct(NamedTuple):
    file: Path
    line: int  # of its first line within the braces
    body: str
    bases: list[str]


def known_names() -> set[str]:
    """The members of the struct Names."""
    members = re.search(r"struct Names \{(.*?)\};", NAMES.read_text(encoding="utf-8"), re.DOTALL)
    assert members, f"{NAMES} has no struct Names"
    return set(re.findall(r"\w+", members[1])) - {"int"}


def plain(text: str) -> str:
    """The text with blanks for comments and texts, so that only code is left."""
    return COMMENTS_AND_TEXTS.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)


def structs_of(file: Path) -> Iterator[tuple[str, Struct]]:
    text = plain(file.read_text(encoding="utf-8"))
    head = r"^struct (?:\w+::)*(\w+)(?: final)?(?: : ([\w:, <>\n]+?))? \{"
    for found in re.finditer(head, text, re.MULTILINE):
        end = text.find("\n};", found.end())
        bases = re.findall(r"(\w+)(?:\s*<[^>]*>)?\s*(?:,|$)", found[2] or "")
        line = text.count("\n", 0, found.end()) + 1
        yield found[1], Struct(file, line, text[found.end() : end], bases)


def public_parts(body: str) -> str:
    """What any code may use of a struct's outermost level, with blanks for the rest."""
    kept, depth, is_public = [], 0, True
    for line in body.split("\n"):
        if label := re.match(r" (public|private|protected):", line):
            is_public = label[1] == "public"
        kept.append(line if is_public and depth == 0 else "")
        depth += line.count("{") - line.count("}")
    return "\n".join(kept)


def shown(file: Path) -> Path:
    return file.relative_to(ROOT) if file.is_relative_to(ROOT) else file


def unused(struct: Struct, known: set[str]) -> Iterator[str]:
    text = public_parts(struct.body)
    for pattern, what in ((FUNCTION, "function"), (CONSTANT, "constant")):
        for found in pattern.finditer(text):
            if found[1] in known:
                continue
            line = struct.line + text.count("\n", 0, found.start(1))
            near = get_close_matches(found[1], known, 1)
            hint = f"did you mean {near[0]}? Else " if near else ""
            yield (
                f"{shown(struct.file)}:{line}: the engine uses no {what} named "
                f"{found[1]}; {hint}make it private"
            )


def with_bases(name: str, structs: dict[str, Struct]) -> Iterator[Struct]:
    if name in structs:
        yield structs[name]
        for base in structs[name].bases:
            yield from with_bases(base, structs)


def files_of_tree() -> list[str]:
    patterns = ["src/op/**/*.h", "src/op/*.h", "src/ops/*.cc", "src/ops/*.cu", "src/ops/*.h"]
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *patterns]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [f for f in listed.stdout.split("\0") if f and (ROOT / f).is_file()]


def main(files: list[str]) -> None:
    paths = [ROOT / f for f in files]
    structs = {name: struct for path in paths for name, struct in structs_of(path)}
    operators = [
        name
        for path in paths
        for name in re.findall(
            r"^STOKER_OPERATOR\((?:\w+::)*(\w+)\)", path.read_text(encoding="utf-8"), re.MULTILINE
        )
    ]
    known = known_names()
    found = {
        problem
        for operator in operators
        for struct in with_bases(operator, structs)
        for problem in unused(struct, known)
    }
    if found:
        sys.exit("\n".join(sorted(found)))


if __name__ == "__main__":
    main(sys.argv[1:] or files_of_tree())
