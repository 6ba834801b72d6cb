# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Saved graphs that were cut or edited are refused in words, or taken: no other error."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from damage import assert_own_words, damaged, nested_text

from helpers import make
from stoker import Pipeline, fn
from stoker.errors import Error, GraphError


@pytest.fixture(scope="module")
def saved() -> str:
    def define() -> list[Any]:
        encoded, label = fn.readers.file(files=["a.jpg", "b.jpg"], labels=[3, 4], name="reader")
        image = fn.decoders.image(encoded)
        lit = fn.crop_mirror_normalize(image, mean=[0.5, float("inf"), 0.0], crop=[8, 8])
        return [label, lit, fn.flip(image, horizontal=fn.random.coin_flip())]

    return make(define, output_dtype=["int32", None, None]).serialize()


def is_refused(text: str | bytes) -> bool:
    try:
        Pipeline.deserialize(text).build()
    except Error as e:
        assert_own_words(e)
        return True
    return False


def test_edits(saved: str) -> None:
    assert not is_refused(saved)
    others = [json.dumps(other) for other in damaged(json.loads(saved))]
    refused = sum(map(is_refused, others))
    assert 500 < refused < len(others)


def test_cuts(saved: str) -> None:
    assert all(is_refused(saved[:cut]) for cut in range(0, len(saved) - 1, 7))


def test_other_bytes(saved: str) -> None:
    rng = np.random.default_rng(3)
    refused = 0
    for _ in range(1000):
        data = bytearray(saved.encode())
        for at in rng.integers(0, len(data), rng.integers(1, 4)):
            data[at] = rng.integers(0, 256)
        refused += is_refused(bytes(data))
    assert 300 < refused < 1000


@pytest.mark.parametrize("levels", [65, 1000, 1_000_000])
def test_nested_too_deep(saved: str, levels: int) -> None:
    deep = nested_text(levels)
    for text in (
        deep,
        saved.replace('"pipeline": {', f'"pipeline": {{"x": {deep},', 1),
        saved.replace('"arguments": {', f'"arguments": {{"x": {deep},', 1),
    ):
        with pytest.raises(GraphError, match="more than 64 deep"):
            Pipeline.deserialize(text)


def test_what_is_wrong_is_named(saved: str) -> None:
    graph = json.loads(saved)
    graph["nodes"][2]["inputs"] = [[1, "x"]]
    with pytest.raises(GraphError, match=r"nodes\[2\]\.inputs\[0\]\[1\] expects a whole number"):
        Pipeline.deserialize(json.dumps(graph))
    with pytest.raises(GraphError, match="it is no JSON from byte 11 on"):
        Pipeline.deserialize('{"format" 3}')
    with pytest.raises(GraphError, match="it has no pipeline"):
        Pipeline.deserialize(saved.replace('"pipeline"', '"settings"', 1))
