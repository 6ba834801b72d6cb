#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the tables of docs/guide/moving-over.md.

The tables are made of the registry, the old spellings and the names of NVIDIA DALI. Only the text
between the page's marks is replaced.
"""

from __future__ import annotations

import argparse
import re
import textwrap
from collections.abc import Callable, Iterable
from pathlib import Path

from stoker import Pipeline, fn, ops, types
from stoker._describe import old_spellings
from stoker._describe.registry import operators
from stoker.compat._report import names
from stoker.ops._classes import class_name, old_class_names

PAGE = Path(__file__).resolve().parent.parent / "docs" / "guide" / "moving-over.md"


def code(words: Iterable[str]) -> str:
    return ", ".join(f"`{w}`" for w in words)


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = list(head)
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def missing_arguments(name: str) -> list[str]:
    """The arguments of the DALI operator that Stoker refuses."""
    op = operators()[name]
    known = {a["name"] for a in op["arguments"]} | set(op["ignored"])
    known |= {"seed", *old_spellings.ARGUMENTS.get(name, {})}
    return [a for a in names()["operators"][name].split() if a not in known]


def exists(module: object, dotted: str) -> bool:
    """Whether the module has the operator under its current name."""
    for part in dotted.split("."):
        if not hasattr(module, part):
            return False
        module = getattr(module, part)
    return True


def there() -> str:
    rows = []
    for name in names()["operators"]:
        if name in old_spellings.FUNCTIONS or not exists(fn, name):
            continue
        spelled = class_name(name)
        row = [f"`fn.{name}`", f"`ops.{spelled}`" if exists(ops, spelled) else ""]
        if name in operators():
            without = set(operators()[name]["ignored"]) - {"bytes_per_sample_hint", "preserve"}
            row += [code(missing_arguments(name)), code(sorted(without))]
        else:
            row += ["", ""]
        rows.append(row)
    return table(
        ["function", "class", "arguments that Stoker lacks", "arguments without effect"], rows
    )


def old_names() -> str:
    classes = {old: new for old, (new, _) in old_class_names().items()}
    rows = [
        [f"`ops.{old}`", f"`ops.{class_name(new)}`"]
        for old, new in sorted(classes.items())
        if new in operators()
    ]
    rows += [
        [f"`fn.{old}`", f"`fn.{new}`"]
        for old, new in old_spellings.FUNCTIONS.items()
        if new in operators()
    ]
    for op, arguments in old_spellings.ARGUMENTS.items():
        for old, today in arguments.items():
            spelled = f"`{today.today}`" if today.today else "none: it has no effect"
            rows.append([f"`{old}` of `{op}`", spelled])
    return table(["old spelling", "current spelling"], rows)


def absent_operators() -> str:
    today = [n for n in names()["operators"] if n not in old_spellings.FUNCTIONS]
    absent = [n for n in today if not exists(fn, n)]
    return textwrap.fill(code(f"fn.{n}" for n in absent) + ".", 100, break_on_hyphens=False)


def absent_names() -> str:
    pipeline = [f"Pipeline.{n}" for n in names()["pipeline"] if not has(n)]
    constants = [f"types.{n}" for n in names()["names"]["types"] if not hasattr(types, n)]
    return textwrap.fill(code([*pipeline, *constants]) + ".", 100, break_on_hyphens=False)


def has(attribute: str) -> bool:
    return hasattr(Pipeline(batch_size=1), attribute)


PARTS: dict[str, Callable[[], str]] = {
    "there": there,
    "old": old_names,
    "absent operators": absent_operators,
    "absent names": absent_names,
}


def filled(page: str) -> str:
    """The page with up-to-date tables."""
    for mark, make in PARTS.items():
        pattern = re.compile(rf"(<!-- {mark} -->\n).*?(<!-- end -->)", re.S)
        part = make()
        page, count = pattern.subn(lambda m, part=part: f"{m[1]}{part}\n{m[2]}", page)
        if count != 1:
            raise ValueError(f"the page has {count} marks '<!-- {mark} -->', not one")
    return page


def main() -> None:
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__).parse_args()
    main()
