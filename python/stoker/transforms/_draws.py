# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Draws from torch's generator, in the way and in the order in which torchvision draws.

So ``torch.manual_seed`` and the seeds of a ``DataLoader``'s workers mean what they mean there: the
same seed gives the same windows, flips and factors.
"""

from __future__ import annotations

import functools
import math
from typing import Any


@functools.cache
def _torch() -> Any:
    import torch

    return torch


@functools.cache
def _logarithms(ratio: tuple[float, float]) -> list[float]:
    torch = _torch()
    logs: list[float] = torch.log(torch.tensor(ratio)).tolist()
    return logs


def uniform(low: float, high: float) -> float:
    """A number from [low, high)."""
    return float(_torch().empty(1).uniform_(low, high).item())


def share() -> float:
    """A number from [0, 1)."""
    return float(_torch().rand(1).item())


def happens(p: float) -> bool:
    """True with this probability."""
    return share() < p


def whole(end: int) -> int:
    """A whole number from [0, end)."""
    return int(_torch().randint(0, end, size=(1,)).item())


def order(count: int) -> list[int]:
    """The numbers below ``count``, in any order."""
    numbers: list[int] = _torch().randperm(count).tolist()
    return numbers


def choice(weights: list[float]) -> int:
    """A number below the count of weights, as often as its weight says."""
    torch = _torch()
    return int(torch.multinomial(torch.tensor(weights), 1))


def _sides(area: int, scale: tuple[float, float], ratio: tuple[float, float]) -> tuple[int, int]:
    """Two sides of a part of an area, of which the first is longer by a ratio that is drawn."""
    torch = _torch()
    logs = _logarithms(ratio)
    part = area * uniform(scale[0], scale[1])
    by = float(torch.exp(torch.empty(1).uniform_(logs[0], logs[1])).item())
    return round(math.sqrt(part * by)), round(math.sqrt(part / by))


def box(
    height: int, width: int, scale: tuple[float, float], ratio: tuple[float, float]
) -> tuple[int, int, int, int] | None:
    """The (top, left, height, width) of a box to erase; None if ten tries gave none that fits."""
    for _ in range(10):
        h, w = _sides(height * width, scale, ratio)
        if h < height and w < width:
            top = whole(height - h + 1)
            return top, whole(width - w + 1), h, w
    return None


def window(
    height: int, width: int, scale: tuple[float, float], ratio: tuple[float, float]
) -> tuple[int, int, int, int]:
    """The (top, left, height, width) of a window of random area and aspect ratio."""
    for _ in range(10):
        w, h = _sides(height * width, scale, ratio)
        if 0 < w <= width and 0 < h <= height:
            top = whole(height - h + 1)
            return top, whole(width - w + 1), h, w
    w, h = width, height
    if width / height < min(ratio):
        h = round(w / min(ratio))
    elif width / height > max(ratio):
        w = round(h * max(ratio))
    return (height - h) // 2, (width - w) // 2, h, w
