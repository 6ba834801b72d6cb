# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""segmentation.random_mask_pixel, by NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .chance import Chance
from .common import Array, numbers


def expected(
    inputs: list[Array],
    layout: str,
    *,
    chance: Chance,
    foreground: int = 0,
    threshold: float = 0,
    value: int | None = None,
) -> Array:
    mask = inputs[0]
    chosen = np.ones(mask.shape, bool)
    if foreground:
        wide = mask.astype(np.float64)
        chosen = wide > np.float32(threshold) if value is None else wide == value
    if not chosen.any():
        chosen = np.ones(mask.shape, bool)
    places = np.argwhere(chosen)
    return np.asarray(places[chance.wide(0) * len(places) >> 64], np.int64)


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    for dtype in ("uint8", "int8", "uint16", "int32", "uint64", "int64", "float32", "bool"):
        mask = numbers(rng, (7, 9), dtype)
        mask[rng.random(mask.shape) < 0.7] = 0
        for arguments in ({}, {"foreground": 1}, {"foreground": 1, "threshold": 10.5}):
            yield [mask], "HW", arguments
        yield [mask], "", {"foreground": 1, "value": 0}
        yield [mask * 0], "", {"foreground": 1}
    labels = rng.integers(-2, 3, (3, 4, 5, 2)).astype(np.int16)
    for label in (-2, 1, 9):
        yield [labels], "DHWC", {"foreground": 1, "value": label}


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    mask = np.zeros((2, 3), np.uint8)
    yield [mask[:0]], "", {}, "the mask has the shape (0, 3), expected one that is not empty"
    yield [mask], "", {"value": 1, "threshold": 0.5}, "'value' and 'threshold' do not go together"
