# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""noise.salt_and_pepper, by NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .chance import Chance
from .common import Array, full, numbers, to_dtype


def expected(
    inputs: list[Array],
    layout: str,
    *,
    chance: Chance,
    pepper_val: float | None = None,
    per_channel: bool = False,
    prob: float = 0.05,
    salt_val: float | None = None,
    salt_vs_pepper: float = 0.5,
) -> Array:
    data = inputs[0]
    channels = layout.find("C") if layout else data.ndim - 1 if data.ndim > 2 else -1
    shape = list(data.shape)
    if channels >= 0 and not per_channel:
        shape[channels] = 1
    count = int(np.prod(shape))
    words = np.array(chance.words(2 * count), np.float64).reshape(-1, 2) / 2**32
    is_hit = (words[:, 0] < np.float32(prob)).reshape(shape)
    is_salt = (words[:, 1] < np.float32(salt_vs_pepper)).reshape(shape)
    kind = data.dtype.kind
    most = 1.0 if kind == "b" else full(str(data.dtype))
    least = -1.0 if kind == "f" else -most - 1 if kind == "i" else 0.0
    salt = np.float64(most if salt_val is None else np.float32(salt_val))
    pepper = np.float64(least if pepper_val is None else np.float32(pepper_val))
    noise = to_dtype(np.where(is_salt, salt, pepper), str(data.dtype))
    return np.where(is_hit, noise, data)


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    for dtype in ("uint8", "int8", "int16", "uint32", "int32", "float32", "float64", "bool"):
        data = numbers(rng, (9, 11, 3), dtype)
        yield [data], "HWC", {"prob": 0.3}
        yield [data], "", {"prob": 0.3, "per_channel": True}
    for layout, shape in (
        ("CHW", (3, 7, 9)),
        ("", (7, 9, 3)),
        ("", (5, 7)),
        ("FHWC", (2, 5, 4, 3)),
    ):
        data = numbers(rng, shape, "uint8")
        yield [data], layout, {}
        yield [data], layout, {"prob": 0.5, "salt_vs_pepper": 0.2, "salt_val": 7.0}
        yield [data], layout, {"prob": 1.0, "pepper_val": 3.5}
    yield [numbers(rng, (0, 3), "uint8")], "", {}
