# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Every row of docs/guide/moving-over.md is true, and every name is in it."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import pytest

from helpers import load_tool, warning_of
from stoker import Pipeline, errors, fn, ops, types
from stoker._describe import old_spellings
from stoker.compat._report import names

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "guide" / "moving-over.md").read_text(encoding="utf-8")
MODULES = {"fn": fn, "ops": ops, "types": types, "Pipeline": None}


def part(mark: str) -> str:
    found = re.search(rf"<!-- {mark} -->\n(.*?)\n<!-- end -->", PAGE, re.S)
    assert found
    return found[1]


def rows(mark: str) -> list[list[str]]:
    lines = part(mark).splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def words(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


def resolve(dotted: str) -> Any:
    root, _, rest = dotted.partition(".")
    found: Any = Pipeline(batch_size=1) if root == "Pipeline" else MODULES[root]
    for name in rest.split("."):
        found = getattr(found, name)
    return found


def test_the_page_is_as_the_tool_writes_it() -> None:
    assert load_tool(ROOT, "make_moving_over").filled(PAGE) == PAGE, (
        "run .venv/bin/python tools/make_moving_over.py"
    )


@pytest.mark.parametrize("row", rows("there"), ids=lambda r: r[0].strip("`"))
def test_operators_that_are_there(row: list[str]) -> None:
    function, spelled, missing, without_effect = (words(cell) for cell in row)
    assert callable(resolve(function[0]))
    for made in (resolve(name) for name in spelled):
        for name in missing:
            with pytest.raises(errors.GraphError, match=f"no argument '{name}'"):
                made(**{name: 1})
        for name in without_effect:
            made(**{name: 1})


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("row", rows("old"), ids=lambda r: r[0])
def test_old_spellings(row: list[str]) -> None:
    old, today = words(row[0]), words(row[1])
    if len(old) == 2:
        assert old_spellings.ARGUMENTS[old[1]][old[0]].today == "".join(today)
        return
    with warning_of(old[0], today[0]):
        found = resolve(old[0])
    assert found.__name__ == resolve(today[0]).__name__


@pytest.mark.parametrize("mark", ["absent operators", "absent names"])
def test_what_is_not_there(mark: str) -> None:
    listed = words(part(mark))
    assert listed
    for name in listed:
        with pytest.raises(AttributeError):
            resolve(name)


def test_every_established_operator_is_in_the_page() -> None:
    listed = {row[0].strip("`") for row in rows("there")}
    listed |= {words(row[0])[0] for row in rows("old")} | set(words(part("absent operators")))
    listed |= {f"fn.{old}" for old in old_spellings.FUNCTIONS}  # under their present names
    assert {f"fn.{name}" for name in names()["operators"]} <= listed


def test_what_is_there_warns_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for row in rows("there"):
            resolve(words(row[0])[0])
