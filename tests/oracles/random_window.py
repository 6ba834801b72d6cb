# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Predicts the random window of random_resized_crop and decoders.image_random_crop.

It follows the documented rule in decimal numbers of 50 digits, which are the same on every machine.
Where a number lies so near to a border of rounding that the last bits of binary arithmetic would
decide, the prediction fails instead of guessing. No number of the tests does.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np

from .chance import Chance

NEAR = Decimal("1e-9")
ARGUMENTS = ("random_area", "random_aspect_ratio", "num_attempts")
Pair = tuple[Fraction, Fraction]


def _pair(values: Any) -> Pair:
    low, high = np.asarray(values, np.float32).tolist()
    return Fraction(low), Fraction(high)


def _decimal(x: Fraction) -> Decimal:
    return Decimal(x.numerator) / Decimal(x.denominator)


def _floor(x: Decimal) -> int:
    """A length in whole pixels, at least one."""
    assert abs(x - x.to_integral_value()) > NEAR, f"{x} is too near to a whole number to predict"
    return max(1, int(x))


def _size(chance: Chance, height: int, width: int, area: Pair, ratio: Pair, attempts: int) -> Any:
    """Height, width, and the number of draws that they took."""
    pixels = height * width
    widest = max(1, int(height * ratio[1]))
    tallest = max(1, int(width / ratio[0]))
    # No window of a legal ratio has the least area, so the rule takes the largest one.
    if height * widest < area[0] * pixels:
        return height, widest, 0
    if tallest * width < area[0] * pixels:
        return tallest, width, 0
    for i in range(attempts):
        share = Fraction(chance.wide(4 * i) >> 11, 2**53)
        wanted = _decimal((area[0] + (area[1] - area[0]) * share) * pixels)
        lowest, highest = (_decimal(r).ln() for r in ratio)
        slope = (lowest + (highest - lowest) * (chance.wide(4 * i + 2) >> 11) / 2**53).exp()
        w = _floor((wanted * slope).sqrt() + Decimal("0.5"))
        h = _floor((wanted / slope).sqrt() + Decimal("0.5"))
        if w <= width and h <= height and ratio[0] <= Fraction(w, h) <= ratio[1]:
            return h, w, 4 * (i + 1)
    h, w = height, width
    if Fraction(width, height) > ratio[1]:
        w = widest
    elif Fraction(width, height) < ratio[0]:
        h = tallest
    excess = area[1] * pixels / (h * w)
    if excess < 1:
        shrink = _decimal(excess).sqrt()
        h, w = _floor(h * shrink), _floor(w * shrink)
    return h, w, 4 * attempts


def random_window(
    chance: Chance,
    height: int,
    width: int,
    random_area: Any = (0.08, 1.0),
    random_aspect_ratio: Any = (0.75, 1.333333),
    num_attempts: int = 10,
) -> tuple[int, int, int, int]:
    """The window as (y, x, height, width)."""
    with localcontext() as context:
        context.prec = 50
        area, ratio = _pair(random_area), _pair(random_aspect_ratio)
        h, w, used = _size(chance, height, width, area, ratio, num_attempts)
    y = (height - h + 1) * chance.wide(used) >> 64
    x = (width - w + 1) * chance.wide(used + 2) >> 64
    return y, x, h, w


def window_arguments() -> Iterator[dict[str, Any]]:
    """Common windows, some that take many attempts, and some that no attempt gives."""
    yield {}
    yield {"random_area": [0.3, 0.9]}
    yield {"random_aspect_ratio": [0.5, 2.5]}
    yield {"random_area": [0.0, 0.02]}
    # Most attempts fail here, and with few of them the fallback is taken.
    often = {"random_area": [0.7, 1.0], "random_aspect_ratio": [0.6, 2.0]}
    yield {**often, "num_attempts": 50}
    yield {**often, "num_attempts": 1}
    # Rounded sizes seldom have this ratio in this area.
    yield {"random_area": [0.1, 0.23], "random_aspect_ratio": [1.2999, 1.3001], "num_attempts": 3}
    # No such window has the least area, so the result has the full height or width.
    yield {"random_area": [0.9, 1.0], "random_aspect_ratio": [0.25, 0.26]}
    yield {"random_area": [0.9, 1.0], "random_aspect_ratio": [6.3, 6.4]}
