# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""What operators do with class numbers is what they say, and nothing makes numbers of no class."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
from calls import Call, inputs_of, names, picture_calls, some_calls, works

from helpers import make, outputs_of, samples_of
from stoker import DataNode, fn
from stoker._describe.registry import operators, ports
from stoker._graph.functions import call as call_operator
from stoker.errors import GraphError

WORDS = "class numbers"


def data_inputs(call: Call) -> list[int]:
    """The inputs whose numbers may be those of classes: what the operator works on."""
    listed = operators()[call.op]["inputs"]
    first = listed[:2] if call.op == "merge" else listed[:1]
    given = zip(ports(operators()[call.op]), call.inputs, strict=False)
    whole = [i for i, (p, (a, _)) in enumerate(given) if p in first and a.dtype.kind in "iu"]
    return [] if first[0]["is_value"] else whole


def of_kind(*kinds: str) -> list[str]:
    return [n for n in names() if operators()[n]["classes"] in kinds and calls_of(n)]


@cache
def calls_of(name: str) -> list[Call]:
    """Calls that work, and take data that may be class numbers."""
    if not operators()[name]["inputs"]:
        return []
    calls = (*some_calls(name), *picture_calls(name))
    return [c for c in calls if data_inputs(c) and works(c)]


def placed(call: Call) -> list[DataNode]:
    """The call, on inputs that hold class numbers where they can."""
    own = data_inputs(call)
    nodes = enumerate(inputs_of(call, vary=False))
    marked = [fn.as_classes(x) if i in own else x for i, x in nodes]
    return outputs_of(call_operator(operators()[call.op], marked, dict(call.arguments)))


def refusal(define: Callable[[], Any]) -> str:
    """What the error says, or nothing."""
    try:
        make(define).build()
    except GraphError as e:
        return str(e)
    return ""


def fills(call: Call) -> Iterator[float]:
    """The arguments that say what to fill with, and 0."""
    yield 0.0
    for name in ("fill_value", "fill_values"):
        yield from np.ravel(call.arguments.get(name, 0)).tolist()


@pytest.mark.parametrize("name", of_kind("refused"))
def test_an_operator_that_would_mix_them_is_refused(name: str) -> None:
    words = refusal(lambda: tuple(placed(calls_of(name)[0])))
    assert words.startswith(f"{name} '"), words
    assert WORDS in words and "fn.cast" in words


@pytest.mark.parametrize("name", of_kind("kept"))
def test_an_operator_that_keeps_them_makes_no_others(name: str) -> None:
    accepted = 0
    for call in calls_of(name):
        words = refusal(lambda call=call: tuple(placed(call)))
        assert not words or WORDS in words, f"{call}: {words}"
        if words:
            continue
        accepted += 1
        (sample,) = samples_of(make(lambda call=call: tuple(placed(call))).run())
        given = [call.inputs[i][0].ravel() for i in data_inputs(call)]
        allowed = {*np.concatenate(given).tolist(), *fills(call)}
        made = set(sample[0].ravel().tolist())
        assert made <= allowed, f"{call}: {sorted(made - allowed)}"
        words = refusal(lambda call=call: fn.normalize(placed(call)[0]))
        assert WORDS in words, f"{call}: the output is not known to hold them"
    assert accepted


@pytest.mark.parametrize("name", [n for n in of_kind("read") if n != "lookup_table"])
def test_what_an_operator_reads_of_them_are_plain_numbers(name: str) -> None:
    for call in calls_of(name):
        assert not refusal(lambda call=call: tuple(placed(call))), str(call)
        words = refusal(lambda call=call: fn.normalize(placed(call)[0]))
        assert WORDS not in words, f"{call}: {words}"


def test_each_operator_is_of_one_kind() -> None:
    """Those that keep them are those of geometry and of shapes, and not those of values.

    What lookup_table makes depends on its dtype; tests/pipelines/test_kept_classes.py tests it.
    """
    kinds = {n: op["classes"] for n, op in operators().items()}
    for name in ("flip", "resize", "rotate", "crop", "stack", "copy", "merge", "remap", "erase"):
        assert kinds[name] == "kept"
    for name in ("gaussian_blur", "brightness", "normalize", "mixup", "noise.gaussian", "equalize"):
        assert kinds[name] == "refused"
    for name in ("cast", "arithmetic", "one_hot", "reductions.sum", "python_function"):
        assert kinds[name] == "read"
    assert kinds["as_classes"] == "made"
