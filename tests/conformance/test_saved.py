# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""A graph that was saved and loaded, or a state that was restored, changes no byte."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from calls import Call, all_calls, names, picture_calls, place_all, some_calls

from helpers import assert_same, make, take
from stoker import Pipeline, fn
from stoker._describe.registry import operators
from stoker._settings.table import settings
from stoker.errors import GraphError

GOLDEN = sorted((Path(__file__).resolve().parents[1] / "golden").glob("graph_v*.json"))


def calls_of(name: str) -> list[Call]:
    return [*some_calls(name), *picture_calls(name)]


@pytest.mark.one_of_many
@pytest.mark.parametrize("name", names())
def test_loaded_runs_alike(name: str) -> None:
    calls = calls_of(name)
    pipe = make(lambda: place_all(calls), batch_size=3)
    text = pipe.serialize()
    loaded = Pipeline.deserialize(text)
    assert loaded.serialize() == text
    assert_same(take(loaded, 6), take(pipe, 6), name)
    assert loaded.state() == pipe.state()


@pytest.mark.parametrize("name", names())
def test_every_argument_is_saved(name: str) -> None:
    call = all_calls(name)[0]
    nodes = json.loads(make(lambda: place_all([call])).serialize())["nodes"]
    (node,) = [n for n in nodes if n["op"] == name][-1:]
    saved = {*node["arguments"], *node["computed"]}
    assert saved == {a["name"] for a in operators()[name]["arguments"]}
    assert node["version"] == operators()[name]["version"]
    assert node["key"]


@pytest.mark.one_of_many
@pytest.mark.parametrize("name", names())
def test_resumed_goes_on_alike(name: str) -> None:
    calls = calls_of(name)
    whole = take(make(lambda: place_all(calls), batch_size=3), 12)
    first = make(lambda: place_all(calls), batch_size=3)
    for k in range(3):
        state = first.state()
        resumed = make(lambda: place_all(calls), batch_size=3)
        resumed.restore(json.dumps(state))
        assert_same(take(resumed, 3), whole[3 * k : 3 * k + 3], f"{name}, resumed after {k}")
        first.run()


@pytest.mark.parametrize("path", GOLDEN, ids=lambda p: p.stem)
def test_golden_graphs_load(path: Path) -> None:
    """A loaded graph is saved again as it was. What came later has its default."""
    expected = json.loads(path.read_text())
    saved = {name: s.default for name, s in settings().items() if s.is_saved}
    expected["pipeline"] = saved | expected["pipeline"]
    for node in expected["nodes"]:
        arguments = operators()[node["op"]]["arguments"]
        constant = {a["name"]: a["default"] for a in arguments if a["name"] not in node["computed"]}
        node["arguments"] = constant | node["arguments"]
    text = Pipeline.deserialize(path.read_text()).serialize()
    assert json.loads(text) == expected
    assert Pipeline.deserialize(text).serialize() == text


def test_infinity_is_saved() -> None:
    pipe = make(lambda: fn.constant(fdata=[float("inf"), -float("inf"), 0.1, -0.0]))
    text = pipe.serialize()
    json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    loaded = Pipeline.deserialize(text)
    assert loaded.serialize() == text
    assert_same(take(loaded, 1), take(pipe, 1), "infinity")


@pytest.mark.parametrize("given", [0.0, 0, 2.5])
def test_arguments_of_an_older_version_become_those_of_today(given: float) -> None:
    def define(**reference: float) -> Any:
        return fn.to_decibels(fn.constant(fdata=[1.0, 4.0, 2.0]), **reference)

    today = make(lambda: define(**{"reference": given} if given else {}))
    saved = json.loads(today.serialize())
    saved["nodes"][1] |= {"version": 1}
    saved["nodes"][1]["arguments"] |= {"reference": given}
    old = Pipeline.deserialize(json.dumps(saved))
    assert_same(take(old, 1), take(today, 1), "an older version")
    assert Pipeline.deserialize(old.serialize()).serialize() == today.serialize()


def test_there_are_golden_graphs() -> None:
    assert len(GOLDEN) >= 3


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda t: t[: len(t) // 2], "damaged"),
        (lambda t: "", "damaged"),
        (lambda t: "[1, 2]", "damaged"),
        (lambda t: t.replace('"stoker graph"', '"something"'), "not a saved"),
        (lambda t: t.replace('"version": 1', '"version": 99'), "99"),
        (lambda t: t.replace('"op": "flip"', '"op": "flap"'), "Did you mean 'flip'"),
        (lambda t: t.replace('"vertical"', '"verticul"'), "verticul"),
        (lambda t: t.replace('"outputs": [', '"outputs": [[7, 0],'), "7"),
    ],
)
def test_damaged_graphs_are_refused(damage: object, message: str) -> None:
    text = make(lambda: fn.flip(fn.constant(idata=[1], shape=[1, 1, 1], layout="HWC"))).serialize()
    with pytest.raises(GraphError, match=message):
        Pipeline.deserialize(damage(text))  # type: ignore[operator]
