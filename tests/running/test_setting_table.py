# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""A setting is one row of the table, and all else follows from the row.

``src/run/options_test.cc`` shows the same for what the engine does with its rows.
"""

from __future__ import annotations

import ast
import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest

from helpers import load_tool
from stoker import Pipeline, _core, errors, fn, pipeline_def
from stoker._settings import checks, configured, signature, table
from stoker._settings.table import Setting, settings

PYTHON_ROW = Setting(
    "hue", "int | None", 3, "How red the samples are.", check=checks.at_least(1), is_saved=True
)
ENGINE_ROW = {
    "name": "tint",
    "type": "int",
    "help": "How red the samples are.",
    "default": 3,
    "required": False,
    "per_sample": False,
    "per_frame": False,
    "low": 1.0,
    "high": 9.0,
    "names": [],
}
FACTS = {"hue": "hue (default 3)", "tint": "tint (int, default 3, 1 to 9)"}


@pytest.fixture(params=list(FACTS))
def added(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The name of a setting that the table has besides the others: a row in Python, or one that
    the engine describes. The engine itself leaves names alone that it does not know.
    """
    described, check = _core.settings(), _core.checked_settings
    if request.param == "hue":
        monkeypatch.setattr(table, "PYTHON_SETTINGS", [*table.PYTHON_SETTINGS, PYTHON_ROW])
    else:
        monkeypatch.setattr(_core, "settings", lambda: [*described, ENGINE_ROW])
        monkeypatch.setattr(_core, "checked_settings", lambda given: {**given, **check(given)})
    settings.cache_clear()
    monkeypatch.setattr(configured.Configured, "__init__", configured._make_init())
    yield request.param
    settings.cache_clear()


def pipeline(**given: Any) -> Pipeline:
    pipe = Pipeline(**{"batch_size": 1, **given})
    with pipe:
        pipe.set_outputs(fn.random.uniform())
    return pipe


def test_a_row_is_in_the_signature(added: str) -> None:
    shown = inspect.signature(Pipeline).parameters[added]
    assert (shown.default, shown.annotation) == (3, "int | None")
    assert shown.kind is inspect.Parameter.KEYWORD_ONLY


def test_a_row_is_in_the_docstring(added: str) -> None:
    assert f"    {FACTS[added]}: How red the samples are.\n" in signature.with_settings("")


def test_a_row_is_in_the_stub(added: str, repository: Path) -> None:
    text = load_tool(repository, "make_stubs").settings_text()
    assert f"        {added}: int | None = 3,\n" in text
    assert f"    {added}: int | None\n" in text


def test_a_row_can_be_given_and_read(added: str) -> None:
    assert getattr(pipeline(), added) == 3
    assert getattr(pipeline(**{added: 5}), added) == 5
    factory = pipeline_def(lambda: fn.random.uniform(), batch_size=1, **{added: 6})
    assert (getattr(factory(), added), getattr(factory(**{added: 7}), added)) == (6, 7)
    with pytest.raises(TypeError, match=f"Did you mean '{added}'"):
        Pipeline(**{f"{added}s": 5})


def test_a_row_is_in_the_saved_form(added: str) -> None:
    text = pipeline(**{added: 5}).serialize()
    assert json.loads(text)["pipeline"][added] == 5
    assert getattr(Pipeline.deserialize(text), added) == 5
    assert getattr(Pipeline.deserialize(text, **{added: 6}), added) == 6


def test_a_row_is_checked(added: str) -> None:
    if added == "hue":
        with pytest.raises(errors.GraphError, match="'hue' is 0, expected at least 1"):
            Pipeline(hue=0)
    else:
        with pytest.raises(errors.GraphError, match="'tint' expects a number, a text or a list"):
            Pipeline(tint=object())


def test_a_saved_form_with_an_unknown_setting_is_refused(repository: Path) -> None:
    text = pipeline().serialize()
    for name in ("hue", "tint", "py_num_workers"):
        damaged = text.replace('"seed"', f'"{name}"')
        with pytest.raises(errors.GraphError, match=f"a setting '{name}' that this version does"):
            Pipeline.deserialize(damaged)


def test_every_setting_is_shown() -> None:
    names = set(settings())
    parameters = dict(inspect.signature(Pipeline).parameters)
    assert parameters.pop("unknown").kind is inspect.Parameter.VAR_KEYWORD
    assert set(parameters) == names
    assert {n: p.default for n, p in parameters.items()} == {
        n: s.default for n, s in settings().items()
    }
    documentation = inspect.getdoc(Pipeline) or ""
    for name, setting in settings().items():
        assert name in documentation
        assert setting.help in " ".join(documentation.split())
    assert list(parameters)[: len(table.POSITIONAL)] == list(table.POSITIONAL)


def test_every_setting_is_in_the_stub() -> None:
    """The stub that type checkers see beside the installed module."""
    path = Path(configured.__file__).with_suffix(".pyi")
    classes = {c.name: c for c in ast.parse(path.read_text()).body if isinstance(c, ast.ClassDef)}
    typed = {a.target.id for a in classes["Settings"].body}  # type: ignore[attr-defined]
    assert typed == set(settings())
    (init,) = (
        m
        for m in classes["Configured"].body
        if isinstance(m, ast.FunctionDef) and m.name == "__init__"
    )
    shown = [a.arg for a in [*init.args.args, *init.args.kwonlyargs]]
    assert shown[1:] == [n for n in inspect.signature(Pipeline).parameters if n != "unknown"]


def test_the_engine_s_settings_are_saved_and_taken() -> None:
    described = {s["name"] for s in _core.settings()}
    assert set(_core.checked_settings({})) == described
    assert described <= set(json.loads(pipeline().serialize())["pipeline"])
    assert set(table.SPELLINGS) <= described
    assert set(table.POSITIONAL) <= set(settings())


def test_none_is_the_default() -> None:
    nothing = Pipeline(**dict.fromkeys(settings()))
    for name in settings():
        assert nothing._settings[name] == settings()[name].default, name


def test_the_plan_tells_the_settings_in_use() -> None:
    given = {"batch_size": 3, "num_threads": 2, "seed": 9, "memory_limit": 1 << 26}
    others = {"on_error": "skip", "io_threads": 1, "fuse": False}
    line = pipeline(**given, **others).plan().splitlines()[0]
    shown = dict(part.split("=") for part in line.removeprefix("settings: ").split(", "))
    assert shown == {name: repr(value) for name, value in {**given, **others}.items()}


def test_values_of_numpy_are_settings() -> None:
    pipe = pipeline(batch_size=numpy.int64(4), seed=numpy.uint8(3), fuse=numpy.bool_(False))
    assert json.loads(pipe.serialize())["pipeline"]["batch_size"] == 4
    assert (pipe.batch_size, pipe.seed, pipe.fuse) == (4, 3, False)
