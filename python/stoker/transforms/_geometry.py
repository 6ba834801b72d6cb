# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Transforms that move pixels: crops, flips, sizes, borders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from stoker import fn
from stoker.transforms import _draws as draws
from stoker.transforms._arguments import (
    FILTERS,
    Fill,
    Interpolation,
    borders,
    constant_mode,
    fill_values,
    filter_name,
    interval,
    pair,
    probability,
    resized,
)
from stoker.transforms._refused import refuse
from stoker.transforms._steps import FLAG, INTEGERS, NUMBERS, Picture, Steps
from stoker.transforms._transform import RandomTransform, Transform

_AXES = {"HWC": [0, 1], "CHW": [1, 2]}


def cut(
    t: Transform, steps: Steps, window: tuple[int, int, int, int], fill: Sequence[float] = (0.0,)
) -> None:
    """Cuts a window (top, left, height, width) out. Beyond the picture lies ``fill``."""
    top, left, height, width = window
    values = list(fill)

    def build(p: Picture, start: Any, shape: Any) -> None:
        p.settle()
        p.node = fn.slice(
            p.node,
            start=start,
            shape=shape,
            axes=_AXES[p.layout],
            out_of_bounds_policy="pad",
            fill_values=values,
        )

    is_whole = (top, left) == (0, 0) and (height, width) == (steps.height, steps.width)
    steps.add(
        (t._key, "cut", *values),
        t._line,
        build,
        (INTEGERS, INTEGERS),
        ((top, left), (height, width)),
        not is_whole,
    )
    steps.height, steps.width = height, width


def scale(
    t: Transform, steps: Steps, size: Sequence[int], interpolation: Interpolation, antialias: Any
) -> None:
    """Resizes the picture."""
    name = filter_name(interpolation)
    if min(size) < 1:
        refuse(f"a size of {tuple(size)}: height and width must be above 0")
    is_tensor = steps.form in ("tensor", "image")
    if is_tensor and name == "nearest":
        refuse("interpolation='nearest' is not here for tensors; 'nearest-exact' is")
    widens = bool(antialias) or not is_tensor
    if name == "bicubic" and not widens:
        refuse("interpolation='bicubic' without antialias is not here for tensors")

    def build(p: Picture, to: Any) -> None:
        p.settle()
        # Pillow and torchvision keep uint8 between the two axes, so what overshoots is cut off.
        overshoots = name in ("bicubic", "lanczos") and p.dtype == "uint8"
        for x, y in ((to[1], 0.0), (0.0, to[0])) if overshoots else ((to[1], to[0]),):
            p.node = fn.resize(
                p.node,
                resize_x=x,
                resize_y=y,
                mode="stretch",
                interp_type=FILTERS[name],
                antialias=widens,
                subpixel_scale=False,
            )

    is_same = tuple(size) == (steps.height, steps.width)
    steps.add(
        (t._key, "scale", name, widens),
        t._line,
        build,
        (NUMBERS,),
        ((float(size[0]), float(size[1])),),
        not is_same,
    )
    steps.height, steps.width = size


def flip(t: Transform, steps: Steps, axis: str, happens: bool) -> None:
    """Mirrors the picture along "horizontal" or "vertical", if it happens."""

    def build(p: Picture, flag: Any) -> None:
        p.settle()
        p.node = fn.flip(p.node, **{"horizontal": 0, "vertical": 0, axis: flag})

    steps.add((t._key, axis), t._line, build, (FLAG,), (int(happens),), happens)


@dataclass(eq=False, repr=False)
class Resize(Transform):
    """Resizes to ``size``: (height, width), or the length of the shorter edge."""

    size: Any
    interpolation: Interpolation = "bilinear"
    max_size: int | None = None
    antialias: bool | None = True

    def check(self) -> None:
        if isinstance(self.size, int):
            self.size = [self.size]
        elif isinstance(self.size, (list, tuple)) and len(self.size) in (1, 2):
            self.size = list(self.size)
        elif self.size is not None or not isinstance(self.max_size, int):
            refuse(
                f"size expects a number, (height, width), or None with max_size; got {self.size!r}"
            )
        if self.max_size is not None and self.size is not None:
            if len(self.size) != 1:
                refuse("max_size needs a size of the shorter edge alone, or None")
            if self.max_size <= self.size[0]:
                refuse(f"max_size={self.max_size} expects more than size={self.size[0]}")
        filter_name(self.interpolation)

    def step(self, steps: Steps) -> None:
        size = resized(steps.height, steps.width, self.size, self.max_size)
        scale(self, steps, size, self.interpolation, self.antialias)


@dataclass(eq=False, repr=False)
class CenterCrop(Transform):
    """Cuts out the centre. A picture that is smaller gets a border of 0."""

    size: Any

    def check(self) -> None:
        self.size = pair(self.size, "size")

    def step(self, steps: Steps) -> None:
        cut(self, steps, centred(steps.height, steps.width, self.size))


def centred(height: int, width: int, size: tuple[int, int]) -> tuple[int, int, int, int]:
    """The window in the centre, in torchvision's rounding."""

    def start(have: int, want: int) -> int:
        return -((want - have) // 2) if want > have else round((have - want) / 2.0)

    return start(height, size[0]), start(width, size[1]), *size


@dataclass(eq=False, repr=False)
class RandomCrop(Transform):
    """Cuts a window of ``size`` out, anywhere in the picture or in what ``padding`` adds to it."""

    size: Any
    padding: Any = None
    pad_if_needed: bool = False
    fill: Fill = 0
    padding_mode: str = "constant"

    def check(self) -> None:
        self.size = pair(self.size, "size")
        if self.padding is not None:
            borders(self.padding)
        constant_mode(self.padding_mode)
        fill_values(self.fill)

    def step(self, steps: Steps) -> None:
        left, top, right, bottom = borders(self.padding or 0)
        (height, width), size = self.size, (steps.height + top + bottom, steps.width + left + right)
        if self.pad_if_needed:
            more = max(0, height - size[0]), max(0, width - size[1])
            top, left = top + more[0], left + more[1]
            size = size[0] + 2 * more[0], size[1] + 2 * more[1]
        if size[0] < height or size[1] < width:
            refuse(f"a window of {self.size} is larger than the picture, {size}")
        y = draws.whole(size[0] - height + 1) if size[0] > height else 0
        x = draws.whole(size[1] - width + 1) if size[1] > width else 0
        cut(self, steps, (y - top, x - left, height, width), fill_values(self.fill))


@dataclass(eq=False, repr=False)
class RandomResizedCrop(Transform):
    """Cuts out a window of random area and aspect ratio, and resizes it to ``size``."""

    size: Any
    scale: Sequence[float] = (0.08, 1.0)
    ratio: Sequence[float] = (3.0 / 4.0, 4.0 / 3.0)
    interpolation: Interpolation = "bilinear"
    antialias: bool | None = True

    def check(self) -> None:
        self.size = pair(self.size, "size")
        interval(self.scale, "scale")
        interval(self.ratio, "ratio")
        filter_name(self.interpolation)

    def step(self, steps: Steps) -> None:
        window = draws.window(
            steps.height, steps.width, interval(self.scale, "scale"), interval(self.ratio, "ratio")
        )
        cut(self, steps, window)
        scale(self, steps, self.size, self.interpolation, self.antialias)


class _RandomFlip(Transform):
    """One graph serves both outcomes: the draw is a number for it."""

    p: float
    axis: ClassVar[str]

    def check(self) -> None:
        probability(self.p)

    def step(self, steps: Steps) -> None:
        flip(self, steps, self.axis, draws.happens(self.p))


@dataclass(eq=False, repr=False)
class RandomHorizontalFlip(_RandomFlip):
    """Mirrors left and right, with probability ``p``."""

    p: float = 0.5
    axis = "horizontal"


@dataclass(eq=False, repr=False)
class RandomVerticalFlip(_RandomFlip):
    """Mirrors top and bottom, with probability ``p``."""

    p: float = 0.5
    axis = "vertical"


@dataclass(eq=False, repr=False)
class Pad(Transform):
    """Adds borders of ``fill``: one number, (x, y), or (left, top, right, bottom)."""

    padding: Any
    fill: Fill = 0
    padding_mode: str = "constant"

    def check(self) -> None:
        borders(self.padding)
        constant_mode(self.padding_mode)
        fill_values(self.fill)

    def step(self, steps: Steps) -> None:
        left, top, right, bottom = borders(self.padding)
        size = steps.height + top + bottom, steps.width + left + right
        cut(self, steps, (-top, -left, *size), fill_values(self.fill))


@dataclass(eq=False, repr=False)
class RandomZoomOut(RandomTransform):
    """Puts the picture somewhere on a larger canvas of ``fill``, with probability ``p``."""

    fill: Fill = 0
    side_range: Sequence[float] = (1.0, 4.0)
    p: float = 0.5

    def check(self) -> None:
        super().check()
        fill_values(self.fill)
        low, high = interval(self.side_range, "side_range")
        if low < 1.0 or low > high:
            refuse(f"side_range expects 1 <= least <= most, got {self.side_range!r}")

    def change(self, steps: Steps) -> None:
        by = _between(self.side_range)
        size = int(np.float32(steps.height) * by), int(np.float32(steps.width) * by)
        left = int(np.float32(size[1] - steps.width) * np.float32(draws.share()))
        top = int(np.float32(size[0] - steps.height) * np.float32(draws.share()))
        cut(self, steps, (-top, -left, *size), fill_values(self.fill))


def _between(of: Sequence[float]) -> Any:
    """A draw, in single precision as torchvision has it."""
    return np.float32(of[0]) + np.float32(draws.share()) * np.float32(of[1] - of[0])


@dataclass(eq=False, repr=False)
class ScaleJitter(Transform):
    """Resizes to fit ``target_size``, (width, height), times a number from ``scale_range``."""

    target_size: tuple[int, int]
    scale_range: Sequence[float] = (0.1, 2.0)
    interpolation: Interpolation = "bilinear"
    antialias: bool | None = True

    def check(self) -> None:
        pair(self.target_size, "target_size")
        interval(self.scale_range, "scale_range")
        filter_name(self.interpolation)

    def step(self, steps: Steps) -> None:
        fits = min(self.target_size[1] / steps.height, self.target_size[0] / steps.width)
        by = np.float32(fits) * _between(self.scale_range)
        size = int(np.float32(steps.height) * by), int(np.float32(steps.width) * by)
        scale(self, steps, size, self.interpolation, self.antialias)


@dataclass(eq=False, repr=False)
class RandomShortestSize(Transform):
    """Resizes the shorter edge to one of ``min_size``, the longer one to at most ``max_size``."""

    min_size: Any
    max_size: int | None = None
    interpolation: Interpolation = "bilinear"
    antialias: bool | None = True

    def check(self) -> None:
        self.min_size = [self.min_size] if isinstance(self.min_size, int) else list(self.min_size)
        filter_name(self.interpolation)

    def step(self, steps: Steps) -> None:
        by = self.min_size[draws.whole(len(self.min_size))] / min(steps.height, steps.width)
        if self.max_size is not None:
            by = min(by, self.max_size / max(steps.height, steps.width))
        size = int(steps.height * by), int(steps.width * by)
        scale(self, steps, size, self.interpolation, self.antialias)


@dataclass(eq=False, repr=False)
class RandomResize(Transform):
    """Resizes the shorter edge to a length from ``min_size`` up to less than ``max_size``."""

    min_size: int
    max_size: int
    interpolation: Interpolation = "bilinear"
    antialias: bool | None = True

    def check(self) -> None:
        filter_name(self.interpolation)

    def step(self, steps: Steps) -> None:
        short = self.min_size + draws.whole(self.max_size - self.min_size)
        size = resized(steps.height, steps.width, [short], None)
        scale(self, steps, size, self.interpolation, self.antialias)
