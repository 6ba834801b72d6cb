#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the table of docs/guide/transforms.md: what torchvision.transforms.v2 has, and where.

Only the text between the page's marks is replaced.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from stoker import transforms
from stoker.transforms._table import NOT_HERE, PARTLY

PAGE = Path(__file__).resolve().parent.parent / "docs" / "guide" / "transforms.md"
_MARKS = re.compile(r"(<!-- names: .*? -->\n).*?(<!-- end of names -->)", re.S)
_OWN = {"Encoded", "lazy"}  # which torchvision does not have


def table() -> str:
    """The rows of all names."""
    rows = {name: PARTLY.get(name, "here") for name in transforms.__all__ if name not in _OWN}
    rows.update({name: f"not yet: {why}" for name, why in NOT_HERE.items()})
    lines = ["| name | |", "| --- | --- |"]
    lines += [f"| `{name}` | {rows[name]} |" for name in sorted(rows)]
    return "\n".join(lines) + "\n"


def page_with_table(text: str) -> str:
    """The page with its table as it is now."""
    return _MARKS.sub(lambda m: m.group(1) + table() + m.group(2), text)


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    PAGE.write_text(page_with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
