# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""What the oracles of mixup, cutmix and batch_permutation share: draws, partners and labels."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .chance import Chance
from .common import Array, numbers

# Where the draws that concern a whole batch begin, of its first sample.
SHARED, ORDER = 2**40, 2**41


class Cursor:
    """Takes one draw after the other."""

    def __init__(self, chance: Chance, first: int = 0) -> None:
        self._chance, self._at = chance, first

    def word(self) -> int:
        self._at += 1
        return self._chance.words(1, self._at - 1)[0]

    def below(self, n: int) -> int:
        self._at += 2
        return self._chance.wide(self._at - 2) * n >> 64

    def share(self) -> float:
        self._at += 2
        return (self._chance.wide(self._at - 2) >> 11) / 2**53


def permutation(draws: Cursor, n: int) -> list[int]:
    order = list(range(n))
    for k in range(n - 1, 0, -1):
        other = draws.below(k + 1)
        order[k], order[other] = order[other], order[k]
    return order


def log_of_gamma(draws: Cursor, shape: float) -> float:
    """By the method of Marsaglia and Tsang (2000)."""
    d = (shape + 1 if shape < 1 else shape) - 1 / 3
    while True:
        first, second, third = draws.word(), draws.word(), draws.word()
        radius = math.sqrt(-2 * math.log((first + 0.5) / 2**32))
        x = radius * math.cos(2 * math.pi * second / 2**32)
        v = (1 + x / math.sqrt(9 * d)) ** 3
        if v > 0 and math.log((third + 0.5) / 2**32) < x * x / 2 + d * (1 - v + math.log(v)):
            break
    log = math.log(d * v)
    return log + math.log((draws.word() + 0.5) / 2**32) / shape if shape < 1 else log


def draw_share(draws: Cursor, alpha: float, probability: float) -> float:
    if not draws.word() / 2**32 < float(np.float32(probability)) or alpha == 0:
        return 1.0
    a, b = (log_of_gamma(draws, float(np.float32(alpha))) for _ in range(2))
    return 0.0 if b - a > 700 else 1 / (1 + math.exp(b - a))


def partners(chances: Sequence[Chance], partner: str) -> list[int]:
    n = len(chances)
    if partner == "permute":
        return permutation(Cursor(chances[0], ORDER), n)
    return [(i - 1) % n if partner == "roll" else n - 1 - i for i in range(n)]


def draws_of(chances: Sequence[Chance], mode: str) -> list[Cursor]:
    """For each sample a cursor at its draws, or at those of the batch."""
    return [Cursor(c) if mode == "elem" else Cursor(chances[0], SHARED) for c in chances]


def shares_of(label: Array, num_classes: int | None, label_smoothing: float) -> Array:
    if label.dtype.kind == "f":
        return label
    assert num_classes is not None
    one = np.zeros(num_classes)
    one[int(label.reshape(-1)[0])] = 1
    return one * (1 - label_smoothing) + label_smoothing / num_classes


def calls(rng: np.random.Generator) -> Iterator[tuple[list[Array], list[str], dict[str, Any]]]:
    """Calls for single samples."""
    image = numbers(rng, (9, 13, 3), "uint8")
    label = np.array([2], np.int64)
    for arguments in (
        {},
        {"alpha": 0.2},
        {"alpha": 8.0, "mode": "elem"},
        {"alpha": 0.001, "mode": "elem", "partner": "flip"},
        {"alpha": 0.0},
        {"probability": 0.5, "mode": "elem", "partner": "permute"},
        {"probability": 0.5, "label_smoothing": 0.1, "mode": "elem"},
        {"partner": "flip", "label_smoothing": 1.0},
    ):
        yield [image, label], ["HWC", ""], {"num_classes": 4, **arguments}
    for dtype in ("uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"):
        yield [image, np.array(3, dtype)], ["HWC", ""], {"num_classes": 5, "mode": "elem"}
    soft = rng.dirichlet([1, 1, 1, 1]).astype(np.float32)
    yield [image, soft], ["HWC", ""], {}
    yield [image, soft], ["HWC", ""], {"num_classes": 4, "partner": "permute", "mode": "elem"}
    for dtype in ("int8", "uint16", "int16", "float16", "float32", "float64"):
        picture = numbers(rng, (3, 11, 7), dtype)
        yield [picture, label], ["CHW", ""], {"num_classes": 3, "mode": "elem"}
    yield [numbers(rng, (2, 5, 4, 3), "uint8"), label], ["FHWC", ""], {"num_classes": 3}
    yield [numbers(rng, (40, 50), "uint8"), label], ["HW", ""], {"num_classes": 3}


def batches(rng: np.random.Generator) -> Iterator[tuple[list[list[Array]], list[str], Any]]:
    """Calls for whole batches."""
    for n in (1, 2, 5, 8):
        for k, partner in enumerate(("roll", "flip", "permute")):
            dtype = ("uint8", "float32", "int16")[(n + k) % 3]
            batch = [[numbers(rng, (17, 14, 3), dtype), np.array(i % 4)] for i in range(n)]
            mode = {"mode": "elem"} if (n + k) % 2 else {}
            yield batch, ["HWC", ""], {"num_classes": 4, "partner": partner, **mode}
    soft = [rng.dirichlet(np.ones(7)).astype(np.float32) for _ in range(5)]
    batch = [[numbers(rng, (6, 30, 5), "uint8"), s] for s in soft]
    yield batch, ["CHW", ""], {"partner": "permute", "alpha": 0.4}


def refused_batches() -> Iterator[tuple[list[list[Array]], list[str], dict[str, Any], str]]:
    image, wide = np.zeros((4, 6, 3), np.uint8), np.zeros((4, 7, 3), np.uint8)
    one, nine = np.array(1), np.array(9)
    two, three = (np.full(n, 1 / n, np.float32) for n in (2, 3))
    layouts = ["HWC", ""]
    yield (
        [[image, one], [wide, one]],
        layouts,
        {"num_classes": 3},
        "sample 1 of the batch is uint8 HWC (4, 7, 3)",
    )
    yield [[image, one], [image, nine]], layouts, {"num_classes": 3}, "expected 0 to 2"
    yield [[image, two], [image, three]], layouts, {}, "the label of sample 1 of the batch has 3"
    yield [[image, two]], layouts, {"num_classes": 3}, "expected the shape (3,)"


def refused() -> Iterator[tuple[list[Array], list[str], dict[str, Any], str]]:
    image = np.zeros((4, 6, 3), np.uint8)
    yield [image, np.array(1)], ["HWC", ""], {}, "'num_classes'"
    yield [image, np.array([1, 2])], ["HWC", ""], {"num_classes": 3}, "one number"
    yield [image, np.array(-1)], ["HWC", ""], {"num_classes": 3}, "expected 0 to 2"
    yield [image, np.ones((2, 2), np.float32)], ["HWC", ""], {}, "one axis"
