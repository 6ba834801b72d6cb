# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Every operator describes itself completely, and its errors name what is wrong with a call."""

from __future__ import annotations

import inspect
import math
from typing import Any

import pytest
from calls import Call, all_calls, names, oracle, place

import stoker
from stoker import fn
from stoker._describe import signatures
from stoker._describe.registry import Argument, operators
from stoker.errors import GraphError

ALL = names(tested=False)


def test_names_are_unique() -> None:
    listed = [op["name"] for op in stoker._core.operators()]
    assert listed
    assert len(set(listed)) == len(listed)
    assert listed == sorted(listed)


@pytest.mark.parametrize("name", ALL)
def test_docs_are_complete(name: str) -> None:
    op = operators()[name]
    first, _, rest = op["summary"].partition("\n\n")
    assert first.endswith(".") and "\n" not in first, f"no one-sentence first line: {first!r}"
    assert first[0].isupper()
    assert rest.strip(), "the summary says nothing beyond its first line"
    for port in (*op["inputs"], *op["outputs"]):
        assert port["name"], "a port without a name"
        assert port["help"].strip().endswith("."), f"port {port['name']}: no sentence of help"
    for argument in op["arguments"]:
        assert argument["help"].strip().endswith("."), f"{argument['name']}: no sentence of help"
        assert argument["low"] <= argument["high"]
    spelled = [a["name"] for a in op["arguments"]] + list(op["ignored"])
    assert len(set(spelled)) == len(spelled), "an argument is there twice"


@pytest.mark.parametrize("name", ALL)
def test_docs_tell_what_has_no_effect(name: str) -> None:
    op = operators()[name]
    *_, last = signatures.docstring(op).partition("Accepted without effect: ")
    listed = [word.strip(" .\n") for word in last.split(",")]
    assert listed == [p.name for p in signatures.parameters(op) if p.is_ignored]
    assert "preserve" in listed


@pytest.mark.parametrize("name", ALL)
def test_is_tested(name: str) -> None:
    op = operators()[name]
    if op["skip_reason"]:
        assert len(op["skip_reason"].split()) > 3, "a reason is a sentence"
        return
    assert oracle(name) is not None and len(op["cases"]) >= 2, (
        "an operator takes an oracle and two cases, or a reason for neither in its file"
    )


@pytest.mark.parametrize("name", ALL)
def test_function_shows_its_arguments(name: str) -> None:
    op = operators()[name]
    function: Any = fn
    for part in name.split("."):
        function = getattr(function, part)
    shown = inspect.signature(function).parameters
    for argument in op["arguments"]:
        assert argument["name"] in shown
        assert words(argument["help"]) in words(function.__doc__)
        if not argument["required"]:
            assert shown[argument["name"]].default == argument["default"]
    assert words(op["summary"]) in words(function.__doc__)


def words(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("name", names())
def test_two_types_or_layouts_are_tested(name: str) -> None:
    ports = operators()[name]["inputs"]
    if not ports or ports[0]["is_optional"]:
        return
    one_dtype = len(ports[0]["dtypes"].split(",")) == 1 and ports[0]["dtypes"]
    if one_dtype and not ports[0]["layouts"]:
        return  # encoded bytes have only one type
    kinds = {(str(c.inputs[0][0].dtype), c.inputs[0][1]) for c in all_calls(name) if c.inputs}
    assert len({d for d, _ in kinds}) >= 2 or len({layout for _, layout in kinds}) >= 2, (
        f"the cases and the oracle together need two dtypes or two layouts, and have only {kinds}"
    )


def refused(call: Call, **changed: Any) -> str:
    """The message of the error that building the call must raise."""
    pipe = stoker.Pipeline(batch_size=1, num_threads=1)
    try:
        with pipe:
            pipe.set_outputs(*place(call, **changed))
        pipe.build()
    except GraphError as e:
        return str(e)
    pytest.fail(f"{call} with {changed}: was built")


def assert_names(message: str, call: Call, argument: str) -> None:
    assert f"'{argument}'" in message, f"does not name argument '{argument}': {message}"
    assert call.op in message, f"does not name operator {call.op}: {message}"
    assert "calls.py:" in message, f"does not name the user's line: {message}"


@pytest.mark.parametrize("name", names())
def test_unknown_argument_is_named(name: str) -> None:
    call = all_calls(name)[0]
    for argument in operators()[name]["arguments"]:
        wrong = argument["name"] + "s_"
        message = refused(call, **{wrong: 1})
        assert_names(message, call, wrong)
        assert f"Did you mean '{argument['name']}'?" in message, message


def wrong_type(argument: Argument) -> Any:
    kind = argument["type"]
    if argument["names"]:
        return 3.5
    if kind == "Sequence[str]":
        return [1, 2]
    if kind in ("str", "DType"):
        return 3.5
    if kind.startswith("Sequence["):
        return ["a", "b"]
    return "text"


@pytest.mark.parametrize("name", names())
def test_wrong_type_is_named(name: str) -> None:
    for argument in operators()[name]["arguments"]:
        call = all_calls(name)[0]
        message = refused(call, **{argument["name"]: wrong_type(argument)})
        assert_names(message, call, argument["name"])
        assert "expects" in message, message
        if argument["type"] == "int":
            assert "expects" in refused(call, **{argument["name"]: 1.5})
        if argument["names"]:
            message = refused(call, **{argument["name"]: argument["names"][0] + "x"})
            assert argument["names"][0] in message


@pytest.mark.parametrize("name", names())
def test_out_of_range_is_named(name: str) -> None:
    for argument in operators()[name]["arguments"]:
        for bound, outside in (
            (argument["low"], argument["low"] - 1),
            (argument["high"], argument["high"] + 1),
        ):
            if math.isfinite(bound):
                whole = "int" in argument["type"]
                number = int(outside) if whole else outside
                value = [number] if argument["type"].startswith("Sequence") else number
                call = all_calls(name)[0]
                message = refused(call, **{argument["name"]: value})
                assert_names(message, call, argument["name"])
                assert "expected" in message, message


@pytest.mark.parametrize("name", names())
def test_required_argument_is_named(name: str) -> None:
    for argument in operators()[name]["arguments"]:
        if argument["required"]:
            call = all_calls(name)[0]
            message = refused(call, **{argument["name"]: None})
            assert_names(message, call, argument["name"])
            assert "required" in message


@pytest.mark.parametrize("name", names(tested=False))
def test_ignored_arguments_are_taken(name: str) -> None:
    calls = all_calls(name)
    if not calls:
        assert operators()[name]["skip_reason"]
        return
    everything = dict.fromkeys((*operators()[name]["ignored"], "preserve"), 0)
    pipe = stoker.Pipeline(batch_size=1, num_threads=1)
    with pipe:
        pipe.set_outputs(*place(calls[0], **everything))
    pipe.build()


@pytest.mark.parametrize("name", names())
def test_wrong_input_is_named(name: str) -> None:
    call = all_calls(name)[0]
    ports = operators()[name]["inputs"]
    if ports and ports[0]["layouts"]:
        array, _ = call.inputs[0]
        wrong = Call(name, ((array, "XYZUVW"[: array.ndim]), *call.inputs[1:]), call.arguments)
        message = refused(wrong)
        assert f"'{ports[0]['name']}'" in message and "expects" in message, message
    too_many = Call(
        name, (*call.inputs, *[call.inputs[0]] * 999) if call.inputs else (), call.arguments
    )
    if too_many.inputs:
        assert "input" in refused(too_many)
