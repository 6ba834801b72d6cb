# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Every row of docs/guide/moving-over.md is true, and every name is in it."""

from __future__ import annotations

import re
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from helpers import load_tool, warning_of
from stoker import Pipeline, compat, errors, fn, ops, types
from stoker._describe import old_spellings
from stoker._describe.registry import operators
from stoker.compat import _pipeline as compat_pipeline
from stoker.compat._report import names

ROOT = Path(__file__).resolve().parents[2]
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


def first_word(row: list[str]) -> str:
    return row[0].strip("`")


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


def is_there(row: list[str]) -> bool:
    return row[1].startswith("`") or not row[1]


@pytest.mark.parametrize("row", [r for r in rows("operators") if is_there(r)], ids=first_word)
def test_operators_that_are_there(row: list[str]) -> None:
    function, spelled, missing, without_effect = (words(row[i]) for i in (0, 1, 4, 5))
    assert callable(resolve(function[0]))
    for made in (resolve(name) for name in spelled):
        for name in missing:
            with pytest.raises(errors.GraphError, match=f"no argument '{name}'"):
                made(**{name: 1})
        for name in without_effect:
            made(**{name: 1})


@pytest.mark.parametrize("row", [r for r in rows("operators") if not is_there(r)], ids=first_word)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_operators_that_are_not_there_or_elsewhere(row: list[str]) -> None:
    (function,), today = words(row[0]), words(row[1])
    if today:
        assert resolve(function).__name__ == resolve(today[0]).__name__
    else:
        assert row[1] == "not yet"
        with pytest.raises(AttributeError):
            resolve(function)


@pytest.mark.parametrize("row", [r for r in rows("operators") if r[2] or r[3]], ids=first_word)
def test_devices_of_operators(row: list[str]) -> None:
    """The registry says which devices there are; operators of Python take both."""
    name = words(row[0])[0].removeprefix("fn.")
    op = operators().get(old_spellings.FUNCTIONS.get(name, name))
    if op is not None:
        here = [row[i] in ("yes", "only here") for i in (2, 3)]
        assert here == ["cpu" in op["devices"], bool({"gpu", "mixed"} & set(op["devices"]))]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("row", rows("old"), ids=lambda r: r[0])
def test_old_spellings(row: list[str]) -> None:
    old, today = words(row[0]), words(row[1])
    if len(old) == 2:
        assert old_spellings.ARGUMENTS[old[1]][old[0]].today == "".join(today)
        return
    found = resolve(old[0])
    with warning_of(old[0], today[0]), suppress(errors.GraphError):
        found()() if isinstance(found, type) else found()
    assert found.__name__ == resolve(today[0]).__name__


def test_all_names_of_pipelines_and_types_are_there() -> None:
    pipe = compat_pipeline.Pipeline(batch_size=1)
    assert [n for n in names()["pipeline"] if not hasattr(pipe, n)] == []
    listed = names()["names"]["types"]
    assert [n for n in listed if not hasattr(compat.module("types"), n)] == []


def test_every_established_operator_is_in_the_page() -> None:
    assert [first_word(row) for row in rows("operators")] == [
        f"fn.{n}" for n in names()["operators"]
    ]


def test_what_is_there_warns_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for row in filter(is_there, rows("operators")):
            resolve(words(row[0])[0])
