# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Transforms that change colours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from stoker import fn, math
from stoker.transforms import _draws as draws
from stoker.transforms._arguments import fill_values, interval, pair
from stoker.transforms._refused import refuse
from stoker.transforms._steps import INTEGERS, NUMBER, NUMBERS, Picture, Steps
from stoker.transforms._transform import RandomTransform, Transform
from stoker.types import ImageType


def gray(t: Transform, steps: Steps, channels: int) -> None:
    """Makes the picture gray, with one channel or with three equal ones."""
    if steps.channels not in (1, 3) or channels not in (1, 3):
        refuse(f"gray pictures have 1 or 3 channels, made of 1 or 3; got {steps.channels}")

    def build(p: Picture) -> None:
        p.settle()
        if p.channels == 3:
            p.node = _converted(p.node, ImageType.RGB, ImageType.GRAY)
        if channels == 3:
            p.node = _converted(p.node, ImageType.GRAY, ImageType.RGB)
        p.channels = channels

    has_effect = steps.channels != channels or channels == 3
    steps.add((t._key, "gray", channels), t._line, build, has_effect=has_effect)
    steps.channels = channels


def _converted(node: Any, of: ImageType, to: ImageType) -> Any:
    return fn.color_space_conversion(node, image_type=of, output_type=to)


@dataclass(eq=False, repr=False)
class Grayscale(Transform):
    """Makes a picture gray, with 1 or 3 channels."""

    num_output_channels: int = 1

    def check(self) -> None:
        if self.num_output_channels not in (1, 3):
            refuse(f"num_output_channels expects 1 or 3, got {self.num_output_channels!r}")

    def step(self, steps: Steps) -> None:
        gray(self, steps, self.num_output_channels)


@dataclass(eq=False, repr=False)
class RandomGrayscale(RandomTransform):
    """Makes a picture gray, with probability ``p``, and with as many channels as before."""

    p: float = 0.1

    def change(self, steps: Steps) -> None:
        gray(self, steps, steps.channels)


@dataclass(eq=False, repr=False)
class RGB(Transform):
    """Makes three channels of one."""

    def step(self, steps: Steps) -> None:
        if steps.channels == 3:
            return
        if steps.channels != 1:
            refuse(f"RGB takes 1 or 3 channels, got {steps.channels}")

        def build(p: Picture) -> None:
            p.settle()
            p.node = _converted(p.node, ImageType.GRAY, ImageType.RGB)
            p.channels = 3

        steps.add(self._key, self._line, build)
        steps.channels = 3


def _gray(p: Picture, is_tensor: bool) -> Any:
    """The gray that saturation and contrast lead to: Pillow's, or torchvision's for tensors."""
    if p.channels == 1:
        return p.node
    if not is_tensor:
        return _converted(p.node, ImageType.RGB, ImageType.GRAY)
    red, green, blue = (
        p.node[..., c : c + 1] if p.layout == "HWC" else p.node[c : c + 1] for c in range(3)
    )
    mixed = red * 0.2989 + green * 0.587 + blue * 0.114
    return mixed if p.dtype == "float32" else math.floor(mixed)


def _blend(p: Picture, other: Any, by: Any, rest: Any, is_tensor: bool) -> Any:
    """The picture times a factor, and another times the rest, each in its own arithmetic."""
    if is_tensor:
        return p.node * by + other * rest
    other = fn.cast(other, dtype="float32")  # a difference of uint8 would have no sign
    return (p.node - other) * by + other


def _brightness(p: Picture, by: Any, rest: Any, is_tensor: bool) -> Any:
    return p.node * by


def _contrast(p: Picture, by: Any, rest: Any, is_tensor: bool) -> Any:
    mean = fn.reductions.mean(_gray(p, is_tensor), keep_dims=True)
    if not is_tensor:
        mean = math.floor(mean + 0.5)
    return _blend(p, mean, by, rest, is_tensor)


def _saturation(p: Picture, by: Any, rest: Any, is_tensor: bool) -> Any:
    gray = _gray(p, is_tensor)
    if not is_tensor:  # three equal channels are computed with faster than one for all
        gray = _converted(gray, ImageType.GRAY, ImageType.RGB)
    return _blend(p, gray, by, rest, is_tensor)


_FACTORS: dict[str, Callable[[Picture, Any, Any, bool], Any]] = {
    "brightness": _brightness,
    "contrast": _contrast,
    "saturation": _saturation,
}


def adjust(t: Transform, steps: Steps, what: str, factor: float) -> None:
    """Multiplies brightness, contrast or saturation; what is gray has no saturation.

    As in Pillow and torchvision, uint8 loses what comes after the point.
    """
    if steps.channels not in (1, 3):
        refuse(f"colours need 1 or 3 channels, got {steps.channels}")
    is_tensor = steps.form in ("tensor", "image")
    if what == "saturation" and steps.channels == 1:
        return

    def build(p: Picture, by: Any, rest: Any) -> None:
        p.settle()
        full = 1.0 if p.dtype == "float32" else 255.0
        values = math.clamp(_FACTORS[what](p, by, rest, is_tensor), 0.0, full)
        p.node = values if p.dtype == "float32" else fn.cast(math.floor(values), dtype="uint8")

    steps.add((t._key, what, is_tensor), t._line, build, (NUMBER, NUMBER), (factor, 1 - factor))


@dataclass(eq=False, repr=False)
class ColorJitter(Transform):
    """Changes brightness, contrast and saturation by factors that are drawn, in any order.

    A number ``x`` stands for factors from ``1 - x`` to ``1 + x``. Unlike torchvision's, it does not
    change the hue yet.
    """

    brightness: Any = None
    contrast: Any = None
    saturation: Any = None
    hue: Any = None

    def check(self) -> None:
        for name in _FACTORS:
            setattr(self, name, _factors(getattr(self, name), name))
        if self.hue not in (None, 0, 0.0):
            refuse(
                "ColorJitter(hue=...) is not here yet; torchvision's ColorJitter may stand "
                "beside Stoker's transforms in a Compose"
            )

    def step(self, steps: Steps) -> None:
        order = draws.order(4)
        factors = {
            name: draws.uniform(*of) for name in _FACTORS if (of := getattr(self, name)) is not None
        }
        for i in order:
            name = [*_FACTORS, "hue"][i]
            if name in factors:
                adjust(self, steps, name, factors[name])


def _factors(given: Any, name: str) -> tuple[float, float] | None:
    if given is None:
        return None
    if isinstance(given, (int, float)):
        if given < 0:
            refuse(f"{name} expects a number of at least 0, got {given!r}")
        low, high = max(1.0 - given, 0.0), 1.0 + given
    else:
        low, high = interval(given, name)
    if not 0 <= low <= high:
        refuse(f"{name} expects 0 <= least <= most, got {given!r}")
    return None if low == high == 1.0 else (low, high)


def look_up(t: Transform, steps: Steps, values: Sequence[int]) -> None:
    """Replaces each of the 256 values of uint8 by another."""
    table = [float(v) for v in values]

    def build(p: Picture) -> None:
        p.settle()
        p.node = fn.lookup_table(p.node, keys=list(range(256)), values=table, dtype="uint8")

    steps.add((t._key, "table"), t._line, build)


def _need_uint8(steps: Steps, name: str) -> None:
    if steps.dtype != "uint8":
        refuse(f"{name} is for uint8 here, got {steps.dtype}", TypeError)


@dataclass(eq=False, repr=False)
class RandomInvert(RandomTransform):
    """Inverts the values, with probability ``p``."""

    p: float = 0.5

    def change(self, steps: Steps) -> None:
        def build(p: Picture) -> None:
            p.settle()
            p.node = fn.brightness(p.node, brightness=-1.0, brightness_shift=1.0)

        steps.add(self._key, self._line, build)


@dataclass(eq=False, repr=False)
class RandomSolarize(RandomTransform):
    """Inverts the values from ``threshold`` on, with probability ``p``."""

    threshold: float
    p: float = 0.5

    def change(self, steps: Steps) -> None:
        _need_uint8(steps, "RandomSolarize")
        look_up(self, steps, [255 - v if v >= self.threshold else v for v in range(256)])


@dataclass(eq=False, repr=False)
class RandomPosterize(RandomTransform):
    """Keeps the ``bits`` highest bits of each value, with probability ``p``."""

    bits: int
    p: float = 0.5

    def check(self) -> None:
        super().check()
        if not 0 <= self.bits <= 8:
            refuse(f"bits expects 0 to 8, got {self.bits!r}")

    def change(self, steps: Steps) -> None:
        _need_uint8(steps, "RandomPosterize")
        mask = 255 & ~(2 ** (8 - self.bits) - 1)
        look_up(self, steps, [v & mask for v in range(256)])


@dataclass(eq=False, repr=False)
class RandomAutocontrast(RandomTransform):
    """Stretches each channel to the full range, with probability ``p``."""

    p: float = 0.5

    def change(self, steps: Steps) -> None:
        def build(p: Picture) -> None:
            p.settle()
            full = 1.0 if p.dtype == "float32" else 255.0
            axes = [0, 1] if p.layout == "HWC" else [1, 2]
            least = fn.cast(fn.reductions.min(p.node, axes=axes), dtype="float32")
            most = fn.cast(fn.reductions.max(p.node, axes=axes), dtype="float32")
            is_flat = most == least
            p.node = fn.crop_mirror_normalize(
                p.node,
                mean=least * (1.0 - is_flat),
                std=(most - least) / full + 1.0 * is_flat,
                shift=0.0 if p.dtype == "float32" else -0.498,  # for what rounds: cuts off
                dtype=p.dtype,
                output_layout=p.layout,
            )

        steps.add(self._key, self._line, build)


@dataclass(eq=False, repr=False)
class RandomChannelPermutation(Transform):
    """Puts the channels into an order that is drawn."""

    def step(self, steps: Steps) -> None:
        order = tuple(draws.order(steps.channels))

        def build(p: Picture) -> None:
            p.settle()
            axis = p.layout.index("C")
            one = [p.node[c : c + 1] if axis == 0 else p.node[..., c : c + 1] for c in order]
            p.node = fn.cat(*one, axis=axis)

        steps.add((self._key, order), self._line, build, has_effect=order != tuple(sorted(order)))


@dataclass(eq=False, repr=False)
class RandomErasing(RandomTransform):
    """Sets a box of a picture to ``value``, with probability ``p``.

    ``value`` is a number or one for each channel; torchvision's "random" is not here.
    """

    p: float = 0.5
    scale: Sequence[float] = (0.02, 0.33)
    ratio: Sequence[float] = (0.3, 3.3)
    value: Any = 0.0
    inplace: bool = False

    def check(self) -> None:
        super().check()
        low, high = interval(self.scale, "scale")
        interval(self.ratio, "ratio")
        if low < 0 or high > 1:
            refuse(f"scale expects numbers from 0 to 1, got {self.scale!r}")
        self.value = fill_values(self.value, "value")

    def change(self, steps: Steps) -> None:
        if len(self.value) not in (1, steps.channels):
            refuse(f"value expects a number, or {steps.channels} of them, got {self.value!r}")
        scale, ratio = interval(self.scale, "scale"), interval(self.ratio, "ratio")
        box = draws.box(steps.height, steps.width, scale, ratio)
        if box is None:
            return
        values = self.value

        def build(p: Picture, anchor: Any, shape: Any) -> None:
            p.settle()
            p.node = fn.erase(
                p.node, anchor=anchor, shape=shape, axis_names="HW", fill_value=values
            )

        top, left, height, width = map(float, box)
        key = (self._key, *values)
        steps.add(key, self._line, build, (NUMBERS, NUMBERS), ((top, left), (height, width)))


@dataclass(eq=False, repr=False)
class GaussianBlur(Transform):
    """Blurs with a bell of ``kernel_size``; ``sigma`` is a number, or two to draw between."""

    kernel_size: Any
    sigma: Any = (0.1, 2.0)

    def check(self) -> None:
        self.kernel_size = pair(self.kernel_size, "kernel_size")
        if any(k <= 0 or k % 2 == 0 for k in self.kernel_size):
            refuse(f"kernel_size expects odd numbers above 0, got {self.kernel_size!r}")
        given = self.sigma
        self.sigma = (given, given) if isinstance(given, (int, float)) else interval(given, "sigma")
        if not 0 < self.sigma[0] <= self.sigma[1]:
            refuse(f"sigma expects 0 < least <= most, got {given!r}")

    def step(self, steps: Steps) -> None:
        sigma = draws.uniform(*self.sigma)
        # torchvision gives (x, y), other than for most sizes
        size = self.kernel_size[1], self.kernel_size[0]

        def build(p: Picture, by: Any, window: Any) -> None:
            p.settle()
            p.node = fn.gaussian_blur(p.node, sigma=by, window_size=window)

        steps.add(self._key, self._line, build, (NUMBER, INTEGERS), (sigma, size))
