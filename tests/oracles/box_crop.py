# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Windows that keep boxes, by NumPy: for random_bbox_crop and ssd_random_crop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .chance import Chance
from .common import Array


class Draws:
    """The draws of a sample, one after the other."""

    def __init__(self, chance: Chance) -> None:
        self._chance = chance
        self._next = 0

    def whole(self, count: int) -> int:
        """A number from 0 to count - 1."""
        wide = self._chance.wide(self._next)
        self._next += 2
        return wide * count >> 64

    def between(self, low: float, high: float) -> np.float32:
        """A float32; never the upper end."""
        (word,) = self._chance.words(1, self._next)
        self._next += 1
        lo, hi = np.float32(low), np.float32(high)
        found = np.float32(float(lo) + (float(hi) - float(lo)) * (word / 2**32))
        return found if found < hi or lo == hi else np.nextafter(hi, np.float32(-np.inf))


@dataclass
class Rules:
    """What a window has to be like. Axes are x, y and perhaps z."""

    thresholds: Sequence[float | None]  # None: no window
    overlap: str = "iou"
    all_boxes: bool = True
    visible: float | None = None
    attempts: int = 1
    total: int = -1
    scaling: Sequence[float] = (1, 1)
    ratios: Sequence[Sequence[float]] = ((1, 1), (1, 1), (1, 1))
    full: Array = field(default_factory=lambda: np.ones(2))
    crop: Array | None = None


@dataclass
class Window:
    """A window: its outputs, its corners as shares, and the boxes that stay."""

    anchor: Array
    shape: Array
    low: Array
    high: Array
    kept: Array
    is_whole: bool = False


def _common(low: Array, high: Array, window: Window) -> Array:
    sides = np.minimum(high, window.high) - np.maximum(low, window.low)
    return np.asarray(np.prod(np.maximum(sides, 0), axis=1))


def _metric(low: Array, high: Array, window: Window, rules: Rules) -> float:
    if len(low) == 0:
        return 1.0
    both, own = _common(low, high, window), np.prod(np.maximum(high - low, 0), axis=1)
    whole = own
    if rules.overlap == "iou":
        whole = own + np.prod(window.high - window.low) - both
    share = np.divide(both, whole, out=np.zeros_like(both), where=whole > 0)
    return float(share.min() if rules.all_boxes else share.max())


def _kept(low: Array, high: Array, window: Window, rules: Rules) -> Array:
    if rules.visible is None:
        centres = (low + high) / 2
        inside = (centres >= window.low) & (centres < window.high)
        return np.flatnonzero(inside.all(axis=1))
    both, own = _common(low, high, window), np.prod(np.maximum(high - low, 0), axis=1)
    return np.flatnonzero((both > 0) & (both >= rules.visible * own * (1 - 1e-6)))


def _extents(draws: Draws, rules: Rules) -> Array | None:
    """Shares of the picture's extents, or None where their ratios are not good."""
    dims = len(rules.full)
    drawn = np.array([draws.between(*rules.scaling) for _ in range(dims)], np.float64)
    pixels = drawn * rules.full
    exact = [least == most for least, most in rules.ratios]
    if exact[0]:
        pixels[1] = pixels[0] / rules.ratios[0][0]
    if dims == 3 and exact[1]:
        pixels[2] = pixels[0] / rules.ratios[1][0]
    elif dims == 3 and exact[2]:
        pixels[2] = pixels[1] / rules.ratios[2][0]
    shares = pixels / rules.full
    shares *= drawn.max() / shares.max()
    pixels = shares * rules.full
    pairs = [(0, 1), (0, 2), (1, 2)][: 1 if dims == 2 else 3]
    for (a, b), (least, most) in zip(pairs, rules.ratios, strict=False):
        if not least * (1 - 1e-6) <= pixels[a] / pixels[b] <= most * (1 + 1e-6):
            return None
    return shares


def _window(draws: Draws, rules: Rules) -> Window | None:
    none = np.zeros(0, np.int64)
    if rules.crop is not None:
        room = (rules.full - rules.crop).astype(np.int64)
        anchor = np.array([min(r, 0) + draws.whole(abs(int(r)) + 1) for r in room], np.float64)
        low = anchor / rules.full
        return Window(anchor, rules.crop, low, low + rules.crop / rules.full, none)
    shares = _extents(draws, rules)
    if shares is None:
        return None
    rooms = (1 - shares).astype(np.float32)
    low = np.array([draws.between(min(r, 0), max(r, 0)) for r in rooms], np.float64)
    return Window(low, shares, low, low + shares, none)


def choose(chance: Chance, low: Array, high: Array, rules: Rules) -> Window:
    """The window for boxes with these corners."""
    draws, best, best_value, done = Draws(chance), None, -1.0, 0
    while rules.total < 0 or done < rules.total:
        threshold = rules.thresholds[draws.whole(len(rules.thresholds))]
        if threshold is None:
            zero, one = np.zeros(len(rules.full)), np.ones(len(rules.full))
            return Window(zero, one, zero, one, np.arange(len(low)), True)
        for _ in range(rules.attempts):
            done += 1
            window = _window(draws, rules)
            if window is None:
                continue
            window.kept = _kept(low, high, window, rules)
            metric = _metric(low, high, window, rules)
            has_boxes = len(window.kept) > 0 or len(low) == 0
            if has_boxes and metric >= threshold:
                return window
            value = 2 * has_boxes + metric
            if value > best_value:
                best, best_value = window, value
    assert best is not None
    return best


def seen(low: Array, high: Array, window: Window) -> tuple[Array, Array]:
    """The corners of the boxes that stay, in shares of the window."""
    size = window.high - window.low

    def moved(corners: Array) -> Array:
        return np.clip((corners[window.kept] - window.low) / size, 0, 1)

    return moved(low), moved(high)


def boxes(rng: np.random.Generator, count: int, dims: int = 2) -> Array:
    """Corners of boxes, as one row each."""
    low = rng.uniform(0, 0.6, (count, dims))
    high = low + rng.uniform(0.05, 0.4, (count, dims))
    return np.concatenate([low, high], axis=1).astype(np.float32)


def labels_of(count: int) -> Iterator[Array]:
    """Labels of several dtypes and shapes."""
    numbers: Any = np.arange(count)
    yield numbers.astype(np.int32)
    yield numbers.astype(np.int64)[:, None]
    yield np.stack([numbers, numbers * 2], 1).astype(np.float32)
