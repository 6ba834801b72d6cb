# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""lookup_table, by a dictionary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .common import Array, numbers, to_dtype


def expected(
    inputs: list[Array],
    layout: str,
    keys: Sequence[int] = (),
    values: Sequence[float] = (),
    default_value: float = 0.0,
    dtype: str = "float32",
) -> Array:
    del layout
    known = dict(zip(keys, values, strict=True))
    found = [known.get(int(x), default_value) for x in inputs[0].ravel()]
    return to_dtype(np.array(found, np.float32).reshape(inputs[0].shape), dtype)


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    for source in ("uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"):
        for target in ("uint8", "int16", "float16", "float32", "float64", "int64", "bool"):
            data = numbers(rng, (4, 37, 3), source)
            data[::2] %= min(300, int(np.iinfo(source).max))  # other rows reach far outside
            keys = rng.integers(0, 400, 300)
            arguments = {
                "keys": keys.tolist(),
                "values": rng.normal(100, 90, keys.size).astype(np.float32).tolist(),
                "default_value": -2.5,
                "dtype": target,
            }
            yield [data], "HWC", arguments
    every = np.arange(65536, dtype=np.uint16)
    listed = {"keys": every.tolist(), "values": rng.permutation(65536).astype(float).tolist()}
    yield [every], "", {**listed, "dtype": "uint16"}
    yield [every.astype(np.int32) - 100], "W", {**listed, "default_value": 0.5}
    for shape in ((), (0,), (3, 0, 3), (1, 1, 1)):
        yield [numbers(rng, shape, "uint8")], "", {"keys": [0, 1], "values": [3.0, 4.0]}
    yield [numbers(rng, (2, 3, 4, 3), "uint8")], "FHWC", {"keys": [7], "values": [1.0]}


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    numbers = np.zeros(3, np.uint8)
    yield [numbers], "", {"keys": [1, 2], "values": [1.0]}, "'values' has 1 values, expected 2"
