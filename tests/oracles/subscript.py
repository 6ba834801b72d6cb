# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""subscript, by NumPy's own indexing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .common import Array, numbers

_TEXTS = [
    *["0", "-1", ":", "1:", ":-1", "::2", "::-1", "-100:100", "5:2", "2:0:-1", "-1:-100:-2"],
    *["newaxis", "..., 0", "0, ...", "..., newaxis", "newaxis, ..., -1:", "..., ::-1, :"],
]


def index(text: str, indices: Sequence[int]) -> Any:
    """What NumPy takes in the brackets."""
    text = re.sub(r"\$(\d+)", lambda m: str(indices[int(m[1])]), text)
    return eval(f"np.s_[{text}]", {"np": np, "newaxis": np.newaxis})


def expected(
    inputs: list[Array], layout: str, selection: str, indices: Sequence[int] | int = ()
) -> Array:
    return inputs[0][index(selection, np.atleast_1d(indices).tolist())]


def generate(
    rng: np.random.Generator,
) -> Iterator[tuple[list[Array], str | list[str], dict[str, Any]]]:
    dtypes = ["uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"]
    for i, text in enumerate(_TEXTS):
        dtype = [*dtypes, "float16", "float32", "float64", "bool"][i % 12]
        for shape, layout in (((5, 7, 3), "HWC"), ((4, 3), ""), ((3, 1, 5, 2), "FHWC")):
            yield [numbers(rng, shape, dtype)], layout, {"selection": text}
    array = numbers(rng, (6, 5, 4), "int32")
    for text in (
        "1, 2, 3",
        "0:100:3, -2:, 1",
        ":, 1:3, newaxis, ::-2",
        "3:1:-1, ..., -1",
        "::7, 2",
    ):
        yield [array], "", {"selection": text}
        yield [array.astype("uint8")], "DHW", {"selection": text}
    yield [array], "", {"selection": "$0, $1:", "indices": [2, -3]}
    yield [array], "HWC", {"selection": "..., $0", "indices": 3}
    yield [array], "HWC", {"selection": "$1:$0:$2", "indices": [0, 4, -1]}
    yield [numbers(rng, (0, 3), "uint8")], "", {"selection": ":, 1"}
    yield [numbers(rng, (0, 3), "uint8")], "HW", {"selection": "::-1"}
    yield [numbers(rng, (2, 1, 2, 1, 2, 3), "uint16")], "", {"selection": "1, ..., newaxis, 2"}


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    a = np.zeros((2, 3), "uint8")
    for text, words in (
        ("2", "index 2 is out of range for axis 0, which has 2 positions"),
        ("0, -4", "index -4 is out of range for axis 1, which has 3 positions"),
        ("0, 0, 0", "the selection has 3 items, the tensor has 2 axes"),
        ("..., ...", "has ... more than once"),
        ("::0", "has the step 0"),
        ("1:2:3:4", "expects a range such as 1:-1:2, got 1:2:3:4"),
        ("x", "expects a whole number or one such as $0"),
        ("1,", "has an empty item"),
        ("$0", "argument 'indices' has 0 values, $0 stands for one more"),
        ("newaxis, newaxis, newaxis, newaxis, newaxis", "more than 6 axes"),
    ):
        yield [a], "", {"selection": text}, words
    yield [a], "", {"selection": "::$0", "indices": [0]}, "a range expects a step other than 0"
