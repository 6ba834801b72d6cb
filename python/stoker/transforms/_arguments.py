# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Arguments that several transforms have, with torchvision's rules."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

from stoker.transforms._refused import refuse
from stoker.types import InterpType

Interpolation = Any  # a str, an int of PIL, or an InterpolationMode, here or of torchvision
Fill = float | Sequence[float] | None


class InterpolationMode(enum.Enum):
    """How values between pixels are found, as torchvision names it."""

    NEAREST = "nearest"
    NEAREST_EXACT = "nearest-exact"
    BILINEAR = "bilinear"
    BICUBIC = "bicubic"
    BOX = "box"
    HAMMING = "hamming"
    LANCZOS = "lanczos"


_OF_PIL = ("nearest", "lanczos", "bilinear", "bicubic", "box", "hamming")  # by their numbers
FILTERS = {
    "nearest": InterpType.INTERP_NN,
    "nearest-exact": InterpType.INTERP_NN,
    "bilinear": InterpType.INTERP_LINEAR,
    "bicubic": InterpType.INTERP_CUBIC,
    "lanczos": InterpType.INTERP_LANCZOS3,
}


def filter_name(given: Interpolation) -> str:
    """The name of an interpolation."""
    name = getattr(given, "value", given)
    if isinstance(name, int) and 0 <= name < len(_OF_PIL):
        name = _OF_PIL[name]
    if name not in FILTERS:
        refuse(f"interpolation expects one of {', '.join(FILTERS)}, got {given!r}")
    return str(name)


def pair(given: int | Sequence[int], what: str) -> tuple[int, int]:
    """A height and a width: one number serves both."""
    if isinstance(given, int):
        return given, given
    if isinstance(given, (list, tuple)) and len(given) in (1, 2):
        return int(given[0]), int(given[-1])
    return refuse(f"{what} expects a number or (height, width), got {given!r}")


def interval(given: Sequence[float], what: str) -> tuple[float, float]:
    """Two numbers."""
    if not isinstance(given, Sequence) or len(given) != 2:
        refuse(f"{what} expects two numbers, got {given!r}", TypeError)
    return float(given[0]), float(given[1])


def probability(p: float) -> None:
    """Raises ``ValueError`` for what is no probability."""
    if not 0.0 <= p <= 1.0:
        refuse(f"p expects a number from 0 to 1, got {p!r}")


def borders(padding: int | Sequence[int]) -> tuple[int, int, int, int]:
    """The (left, top, right, bottom) of a padding."""
    if isinstance(padding, int):
        return padding, padding, padding, padding
    given = tuple(padding)
    if len(given) not in (1, 2, 4) or not all(isinstance(x, int) for x in given):
        refuse(f"padding expects a number, or 1, 2 or 4 of them, got {padding!r}")
    left, top = given[0], given[1 % len(given)]
    return left, top, given[2 % len(given)], given[3 % len(given)]


def constant_mode(padding_mode: str) -> None:
    """Raises ``ValueError`` for a padding mode that is not here."""
    if padding_mode != "constant":
        refuse(f"padding_mode may be 'constant' here, got {padding_mode!r}")


def fill_values(fill: Fill, what: str = "fill") -> list[float]:
    """The value of what is filled, for each channel or one for all."""
    if fill is None:
        return [0.0]
    if isinstance(fill, (int, float)):
        return [float(fill)]
    if not isinstance(fill, (list, tuple)):
        refuse(f"{what} expects a number or one for each channel, got {fill!r}", TypeError)
    return [float(x) for x in fill]


def resized(height: int, width: int, size: Sequence[int] | None, most: int | None) -> list[int]:
    """The size that ``Resize`` gives a picture, in torchvision's rounding."""
    short, long = min(height, width), max(height, width)
    if size is not None and len(size) == 2:
        return list(size)
    if size is None:
        assert most is not None
        new_short, new_long = int(most * short / long), most
    else:
        new_short, new_long = size[0], int(size[0] * long / short)
        if most is not None and new_long > most:
            new_short, new_long = int(most * new_short / new_long), most
    return [new_long, new_short] if width <= height else [new_short, new_long]
