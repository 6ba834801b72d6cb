# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""decoders.numpy, by NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from typing import Any

import numpy as np

from .common import DTYPES, Array, numbers, to_dtype


def expected(
    inputs: list[Array], layout: str, dtype: str | None = None, same_dtype: bool = False
) -> Array:
    del layout, same_dtype  # where it decides, the sample fails
    stored = np.load(BytesIO(inputs[0].tobytes()))
    native = np.ascontiguousarray(stored.astype(stored.dtype.newbyteorder("=")))
    return to_dtype(native.reshape(stored.shape), dtype or str(native.dtype))


def saved(array: Array, version: tuple[int, int] | None = None) -> Array:
    file = BytesIO()
    np.lib.format.write_array(file, array, version)
    return np.frombuffer(file.getvalue(), np.uint8)


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    for i, dtype in enumerate(["bool", *DTYPES[:-1]]):
        array = numbers(rng, (3, 4, 5), dtype)
        yield [saved(array)], "", {"dtype": dtype}
        yield [saved(np.asfortranarray(array), (2, 0))], "", {"dtype": dtype}
        yield [saved(array.astype(array.dtype.newbyteorder(">")))], "", {"dtype": dtype}
        yield [saved(array)], "", {"dtype": ("float32", "uint8", "int32")[i % 3]}
    for shape in ((), (1,), (0, 3), (2, 1, 1, 2, 1, 3)):
        yield [saved(numbers(rng, shape, "int16"), (3, 0))], "", {"dtype": "int16"}
    yield [saved(numbers(rng, (7, 6), ">i4").T)], "", {"dtype": "int64"}


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    file = saved(np.arange(6.0))
    yield (
        [file],
        "",
        {"dtype": "float32", "same_dtype": True},
        "is of 'float64', expected 'float32'",
    )
    short = {"dtype": "float64"}
    yield [file[:-1]], "", short, "has 47 bytes, expected 48"
    yield [file[:40]], "", short, "ends in its header"
    yield [saved(np.arange(3) * 1j)], "", short, "has the dtype '<c16'"
    yield [saved(np.zeros(2, "i4,f4"))], "", short, "is of a structured dtype"
    yield [np.frombuffer(b"\x89PNG\r\n\x1a\n", np.uint8)], "", short, "found a PNG image"
