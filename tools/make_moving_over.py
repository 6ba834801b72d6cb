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
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from stoker import fn, ops
from stoker._describe import old_spellings
from stoker._describe.registry import operators
from stoker.compat._report import arguments_of, names
from stoker.ops._classes import class_name, old_class_names

PAGE = Path(__file__).resolve().parent.parent / "docs" / "guide" / "moving-over.md"


def code(words: Iterable[str]) -> str:
    return ", ".join(f"`{w}`" for w in words)


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = list(head)
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def missing_arguments(today: str, there: str) -> list[str]:
    """The arguments of the DALI operator that Stoker refuses."""
    op = operators()[today]
    known = {a["name"] for a in [*op["arguments"], *op["extra"]]} | set(op["ignored"])
    known |= {"seed", *old_spellings.ARGUMENTS.get(today, {})}
    return [a for a in arguments_of(there) if a not in known]


def exists(module: object, dotted: str) -> bool:
    """Whether the module has the operator under its current name."""
    for part in dotted.split("."):
        if not hasattr(module, part):
            return False
        module = getattr(module, part)
    return True


def plain(default: Any) -> Any:
    """A default as it compares: constants by their lower-case names, lists of one as the number."""
    if isinstance(default, list) and len(default) == 1:
        return plain(default[0])
    if isinstance(default, str):
        return {"float": "float32"}.get(default.lower(), default.lower())
    return float(default) if isinstance(default, (bool, int)) else default


def other_defaults(today: str, there: str) -> Iterator[str]:
    """The arguments that have one default there and another one here, or need none here.

    None stands for what other arguments decide, or for the default that is documented there.
    """
    given = {a["name"]: a for a in operators()[today]["arguments"]}
    for name, default in arguments_of(there).items():
        here = given.get(name)
        if here is None or default is None:
            continue
        if default is ...:
            if not here["required"]:
                yield f"`{name}` is needed there"
        elif here["default"] is not None and not alike(plain(default), plain(here["default"])):
            yield f"`{name}={here['default']!r}`, there `{default!r}`"


def alike(a: Any, b: Any) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return abs(a - b) <= 1e-6 * abs(a)
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        return all(alike(plain(x), plain(y)) for x, y in zip(a, b, strict=True))
    return bool(a == b)


def devices(today: str, there: str) -> list[str]:
    """Whether CPUs and GPUs run the operator: here, there, or both."""
    found = []
    in_dali = set(names()["operators"][there]["devices"].split())
    for kinds in ({"cpu"}, {"gpu", "mixed"}):
        sides = bool(kinds & set(operators()[today]["devices"])), bool(kinds & in_dali)
        words = {(True, True): "yes", (True, False): "only here", (False, True): "only there"}
        found.append(words.get(sides, ""))
    return found


def differences(today: str, there: str) -> list[str]:
    """The devices, and what is not the same of the arguments."""
    if today not in operators():  # it is made of other operators
        return ["yes", "yes", "", "", ""]
    without = set(operators()[today]["ignored"]) - {"bytes_per_sample_hint", "preserve"}
    return [
        *devices(today, there),
        code(missing_arguments(today, there)),
        code(sorted(without)),
        "; ".join(other_defaults(today, there)),
    ]


def all_operators() -> str:
    rows = []
    for there in names()["operators"]:
        today = old_spellings.FUNCTIONS.get(there, there)
        spelled = class_name(today)
        if not exists(fn, today):
            rows.append([f"`fn.{there}`", "not yet", *[""] * 5])
        elif today != there and today in names()["operators"]:
            rows.append([f"`fn.{there}`", f"now `fn.{today}`", *[""] * 5])
        else:
            made = f"`ops.{spelled}`" if exists(ops, spelled) else ""
            rows.append([f"`fn.{there}`", made, *differences(today, there)])
    head = ["function", "class", "CPU", "GPU", "arguments that Stoker lacks"]
    return table([*head, "arguments without effect", "other defaults"], rows)


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


def missing_modules() -> str:
    """The modules that are refused."""
    return "\n".join(f"- `nvidia.dali.{name}`" for name in names()["not planned"])


PARTS: dict[str, Callable[[], str]] = {
    "modules": missing_modules,
    "operators": all_operators,
    "old": old_names,
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
