# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""tools/check_map.py: what pages for developers name is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from helpers import load_tool


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("See `io/order/order.cc`, `src/io/`, `ops/<stage>/<name>.cc` and `tools/lint.sh`.", []),
        ("See `io/orders.cc`.", ["there is no io/orders.cc"]),
        ("See `../nowhere/data`.", []),
        ("See `add` (`_graph/calls.py`).", []),
        ("See `subtract` (`_graph/calls.py`).", ["there is no subtract in _graph/calls.py"]),
        ("`Order::at` and `Feeder.start`, `Order::at()`", []),
        ("`Order::nowhere`", ["there is no Order::nowhere"]),
        ("`Feeder.nowhere`", ["there is no Feeder.nowhere"]),
        ("`CHANGELOG.md`", []),
        ("`Order::at`\n  (`io/order/order.cc`) and `permute` (`io/order/permute.h`)", []),
        ("`gather` (`io/order/order.h`)", ["there is no gather in io/order/order.h"]),
        ("Note [Reading ahead] (`io/fetch.h`), Note [Reading\nahead]", []),
        ("Note [Reading ahead] (`io/tar.h`)", ["there is no Note [Reading ahead] in io/tar.h"]),
        ("Note [The door]", ["there is no Note [The door]"]),
    ],
)
def test_what_is_named_must_be_there(repository: Path, text: str, expected: list[str]) -> None:
    assert list(load_tool(repository, "check_map").complaints(text)) == expected


def test_every_folder_of_tests_is_described(repository: Path) -> None:
    text = (repository / "tests" / "README.md").read_text(encoding="utf-8")
    folders = {f.parent.relative_to(repository / "tests").parts[0] for f in _sources(repository)}
    assert {f for f in folders if f"`{f}/`" not in text} == set()


def test_every_page_of_design_is_in_its_index(repository: Path) -> None:
    folder = repository / "docs" / "design"
    index = (folder / "README.md").read_text(encoding="utf-8")
    pages = sorted(page.name for page in folder.glob("[0-9]*.md"))
    assert re.findall(r"^\| \[\d+\]\(([^)]*)\) \|", index, re.M) == pages


def _sources(repository: Path) -> list[Path]:
    return [f for f in (repository / "tests").glob("*/**/*") if f.suffix in (".py", ".cc", ".json")]
