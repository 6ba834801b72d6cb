#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Prints how large the parts of the tree are, so that a change which bloats one is seen.

Functions by lizard, files, folders, the classes of src/run by their public functions, the share of
comments, and runs of six equal lines. Generated files and data do not count.
"""

from __future__ import annotations

import re
import statistics
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path

import lizard

ROOT = Path(__file__).resolve().parent.parent
ENDINGS = (".h", ".cc", ".cu", ".cuh", ".py")
EQUAL_LINES = 6
MOST_SHOWN = 8


def is_test(path: str) -> bool:
    return path.startswith("tests/") or path.endswith(("_test.cc", "testing.h", "testing.cuh"))


def sources() -> list[str]:
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [f for f in listed.split("\0") if f.endswith(ENDINGS) and (ROOT / f).is_file()]


def spread(numbers: Sequence[int]) -> str:
    """Median, nine tenths, longest."""
    if len(numbers) < 2:
        return "none"
    return (
        f"{statistics.median(numbers):.0f} / {statistics.quantiles(numbers, n=10)[-1]:.0f} / "
        f"{max(numbers)} (of {len(numbers)})"
    )


def functions_of(path: str, text: str) -> list[tuple[int, str]]:
    """The length and the place of each."""
    found = lizard.analyze_file.analyze_source_code(path, text).function_list
    return [(f.end_line - f.start_line + 1, f"{path}:{f.start_line} {f.name}") for f in found]


def is_comment(path: str, line: str) -> bool:
    return line.lstrip().startswith("#" if path.endswith(".py") else "//")


def public_functions(text: str) -> dict[str, int]:
    """How many public functions each class at the outermost level of a header declares."""
    counts = {}
    head = r"^(class|struct) (?:\w+ )*?(\w+)(?: final)?(?: : [^{;]*)? \{\n(.*?)^\};"
    for kind, name, body in re.findall(head, text, re.MULTILINE | re.DOTALL):
        is_public, depth, count = kind == "struct", 0, 0
        for line in body.splitlines():
            if label := re.match(r" (public|private|protected):", line):
                is_public = label[1] == "public"
            begins = re.match(r"  [\w\[~]", line) and not line.lstrip().startswith(("//", "using"))
            count += bool(is_public and depth == 0 and begins and "(" in line)
            depth += line.count("{") - line.count("}")
        counts[name] = count
    return counts


def equal_runs(texts: dict[str, list[str]]) -> int:
    """How many pairs of files share a run of equal lines, without blank and very short ones."""
    places = defaultdict(set)
    for path, lines in texts.items():
        kept = [line.strip() for line in lines if len(line.strip()) > 3]
        kept = [k for k in kept if not k.startswith(("#include", "import", "from", "//", "#"))]
        for i in range(len(kept) - EQUAL_LINES + 1):
            places["\n".join(kept[i : i + EQUAL_LINES])].add(path)
    pairs = {pair for files in places.values() for pair in pairwise(sorted(files))}
    return len(pairs)


def show(title: str, lines: Iterable[str]) -> None:
    print(f"\n{title}")
    for line in lines:
        print(f"  {line}")


def main() -> None:
    texts = {f: (ROOT / f).read_text(encoding="utf-8") for f in sources()}
    lines = {f: text.splitlines() for f, text in texts.items()}
    for kind, chosen in (
        ("product", [f for f in texts if not is_test(f)]),
        ("tests", [f for f in texts if is_test(f)]),
    ):
        functions = [found for f in chosen for found in functions_of(f, texts[f])]
        comments = sum(is_comment(f, line) for f in chosen for line in lines[f])
        total = sum(len(lines[f]) for f in chosen)
        print(f"{kind}: {len(chosen)} files, {total} lines")
        print(f"  functions: {spread([length for length, _ in functions])} lines")
        print(f"  files: {spread([len(lines[f]) for f in chosen])} lines")
        print(f"  comments: {comments} lines, {100 * comments / total:.1f} %")
        pairs = equal_runs({f: lines[f] for f in chosen})
        print(f"  pairs of files with {EQUAL_LINES} equal lines: {pairs}")
        show(
            "longest functions",
            (f"{n} {at}" for n, at in sorted(functions, reverse=True)[:MOST_SHOWN]),
        )
    folders = Counter(str(Path(f).parent) for f in texts)
    show("folders with most files", (f"{n} {at}" for at, n in folders.most_common(MOST_SHOWN)))
    classes = Counter(
        {
            f"{name} ({f})": count
            for f, text in texts.items()
            if f.startswith("src/run/") and f.endswith(".h")
            for name, count in public_functions(text).items()
        }
    )
    show(
        "classes of src/run by public functions",
        (f"{n} {at}" for at, n in classes.most_common(MOST_SHOWN)),
    )


if __name__ == "__main__":
    main()
