# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""An argument of an iterator is one row of the table, and all else follows from the row."""

from __future__ import annotations

import ast
import inspect
import typing
from pathlib import Path
from typing import Any

import pytest

from helpers import load_tool, make
from stoker import fn
from stoker.frameworks import numpy as of_numpy
from stoker.frameworks._arguments import constructors, table
from stoker.frameworks._arguments.table import ARGUMENTS, KINDS, Argument, Kind, arguments_of
from stoker.frameworks._epochs import LastBatchPolicy


@pytest.fixture(scope="module")
def stubs(repository: Path) -> str:
    """The text of the iterators' stub."""
    return str(load_tool(repository, "make_stubs").iterators_text())


def names_of(kind: str) -> list[str]:
    return [name for name in arguments_of(kind) if name != "*"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_argument_of_a_kind_has_a_row(kind: str) -> None:
    for name in names_of(kind):
        assert arguments_of(kind)[name].annotation, f"{kind} has no row for '{name}'"
    assert set(KINDS[kind].own) <= set(names_of(kind))


def test_every_row_is_of_some_kind() -> None:
    assert set(ARGUMENTS) == {
        name for kind in KINDS for name in names_of(kind) if name not in KINDS[kind].own
    } | {"output_map"}


@pytest.mark.parametrize("kind", KINDS)
def test_the_signature_and_the_stub_are_those_of_the_table(kind: str, stubs: str) -> None:
    made = getattr(constructors, kind)
    assert list(inspect.signature(made).parameters) == names_of(kind)
    by_name = inspect.Parameter.KEYWORD_ONLY
    star = list(arguments_of(kind)).index("*") if "*" in arguments_of(kind) else len(ARGUMENTS)
    for place, parameter in enumerate(inspect.signature(made).parameters.values()):
        assert (parameter.kind is by_name) == (place >= star)
    stub = ast.parse(stubs)
    (in_stub,) = (n for n in stub.body if isinstance(n, ast.ClassDef) and n.name == kind)
    assert isinstance(in_stub.body[0], ast.FunctionDef)
    shown = in_stub.body[0].args
    assert [a.arg for a in [*shown.args, *shown.kwonlyargs]] == ["self", *names_of(kind)]


@pytest.mark.parametrize(
    "iterator",
    [
        of_numpy.DataIterator,
        of_numpy.DALIGenericIterator,
        of_numpy.DALIClassificationIterator,
    ],
)
def test_help_has_a_line_for_every_argument(iterator: Any) -> None:
    doc = inspect.getdoc(iterator) or ""
    assert doc.count("Arguments:") == 1
    described, _, ignored = doc.partition("Accepted without effect:")
    for name, row in arguments_of(iterator._kind).items():
        if name != "*":
            assert f"\n    {name}" in described if row.help else name in ignored
    for name, hint in typing.get_type_hints(iterator.__init__).items():
        assert hint is not None, name


def test_a_new_row_is_an_argument_everywhere(
    monkeypatch: pytest.MonkeyPatch, repository: Path
) -> None:
    monkeypatch.setitem(table.ARGUMENTS, "hue", Argument("int", "3", "How red the tensors are."))
    monkeypatch.setitem(table.KINDS, "Tinted", Kind("TintedIterator", "pipelines * hue size=7"))
    made = constructors.__getattr__("Tinted")
    del vars(constructors)["Tinted"]
    given: dict[str, Any] = {}
    monkeypatch.setattr(
        made, "_take", lambda self, arguments: given.update(arguments), raising=False
    )
    made("p", hue=4)
    assert given == {"pipelines": "p", "hue": 4, "size": 7}
    with pytest.raises(TypeError, match=r"^TintedIterator\.__init__\(\) got an unexpected keyword"):
        made("p", heu=4)
    assert "hue (default 3): How red" in table.with_arguments("A tinted one.", "Tinted")
    assert "hue: int = 3" in load_tool(repository, "make_stubs").iterators_text()


def test_there_is_no_other_kind() -> None:
    with pytest.raises(AttributeError, match="there is no kind of iterator 'Loping'"):
        constructors.__getattr__("Loping")


def test_arguments_arrive_by_place_and_by_name() -> None:
    pipe = make(lambda: fn.external_source(source=lambda: [1], batch=True))
    by_place = of_numpy.DALIGenericIterator(pipe, ["x"], 3, None, True)
    by_name = of_numpy.DALIGenericIterator(pipe, output_map=["x"], size=3, auto_reset="yes")
    assert (by_place.size, by_name.size) == (3, 3)
    default = inspect.signature(of_numpy.DataIterator).parameters["last_batch_policy"].default
    assert default is LastBatchPolicy.FILL
