# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""resize: by Pillow for uint8 pictures, else by matrices of weights in NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from PIL import Image

from .common import Array, Tolerance, half_away, numbers, shortest, to_dtype

TOLERANCE = Tolerance(levels=1, share=1e-6)
LETTERS = {"D": "resize_z", "H": "resize_y", "W": "resize_x"}
# Without Pillow's nearest neighbour, whose sums of positions err on borders.
PILLOW = {
    "INTERP_LINEAR": Image.Resampling.BILINEAR,
    "INTERP_CUBIC": Image.Resampling.BICUBIC,
    "INTERP_LANCZOS3": Image.Resampling.LANCZOS,
}


def _cubic(x: Array) -> Array:
    x, a = np.abs(x), -0.5
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return np.where(x < 1, near, np.where(x < 2, far, 0))


# Each filter's weight function, and half of its width at scale 1.
FILTERS: dict[str, tuple[Callable[[Array], Array], float]] = {
    "INTERP_TRIANGULAR": (lambda x: np.maximum(0, 1 - np.abs(x)), 1),
    "INTERP_CUBIC": (_cubic, 2),
    "INTERP_LANCZOS3": (lambda x: np.where(np.abs(x) < 3, np.sinc(x) * np.sinc(x / 3), 0), 3),
    "INTERP_GAUSSIAN": (lambda x: np.where(np.abs(2 * x) < 2, np.exp(-4 * x * x), 0), 1),
}


def weights(extent: int, out: int, lo: float, hi: float, name: str, antialias: bool) -> Array:
    """One axis' matrix of weights, of shape (out, extent)."""
    scale = abs(hi - lo) / out
    centres = lo + (np.arange(out) + 0.5) * (hi - lo) / out
    matrix = np.zeros((out, extent))
    if name == "INTERP_NN":
        matrix[np.arange(out), np.clip(np.floor(centres), 0, extent - 1).astype(int)] = 1
        return matrix
    widened = antialias and scale > 1
    if name in ("INTERP_LINEAR", "INTERP_TRIANGULAR") and not widened:
        first = np.floor(centres - 0.5).astype(int)
        share = centres - 0.5 - first
        for o in range(out):
            matrix[o, np.clip(first[o], 0, extent - 1)] += 1 - share[o]
            matrix[o, np.clip(first[o] + 1, 0, extent - 1)] += share[o]
        return matrix
    function, _ = FILTERS["INTERP_TRIANGULAR" if name == "INTERP_LINEAR" else name]
    distance = np.arange(extent) + 0.5 - centres[:, None]
    matrix = function(distance / (scale if widened else 1))
    sums = matrix.sum(1, keepdims=True)
    nearest = np.abs(distance).argmin(1)
    empty = np.abs(sums[:, 0]) < 1e-9
    matrix = matrix / np.where(np.abs(sums) < 1e-9, 1, sums)
    matrix[empty] = 0
    matrix[empty, nearest[empty]] = 1
    return matrix


def tabled_gaussian(extent: int, out: int, lo: float, hi: float, antialias: bool) -> Array:
    """The weights of the Gaussian under border="clamp", as NVIDIA DALI computes their places."""
    number = np.float32
    scale = number(number(hi) - number(lo)) / number(out)
    radius = max(abs(scale), number(1)) if antialias else number(1)
    width = number(number(float(radius) / math.sqrt(8)) * number(math.sqrt(8)))
    reach = number(32) / (number(32) / width)
    first = number(lo) + number(0.5) * scale - number(0.5) - reach
    begins = np.ceil(np.arange(out, dtype=number) * scale + first).astype(int)
    centres = lo + (np.arange(out) + 0.5) * (hi - lo) / out
    entries = np.append(np.exp(-4 * (np.arange(33) / 32) ** 2), 0)
    matrix = np.zeros((out, extent))
    for o in range(out):
        taken = begins[o] + np.arange(math.ceil(2 * reach))
        distance = np.abs(taken + 0.5 - centres[o]) / float(radius)
        weight = np.interp(distance, np.arange(34) / 32, entries)
        np.add.at(matrix[o], np.clip(taken, 0, extent - 1), weight / weight.sum())
    return matrix


def along(
    values: Array,
    axis: int,
    step: tuple[int, float, float],
    name: str,
    antialias: bool,
    clamp: bool,
) -> Array:
    """The values resized along an axis; under `clamp` those of an array with a wide enough edge."""
    out, lo, hi = step
    pad = 0
    if clamp and name == "INTERP_GAUSSIAN":
        matrix = tabled_gaussian(values.shape[axis], out, lo, hi, antialias)
        return np.moveaxis(np.tensordot(matrix, values, (1, axis)), 0, axis)
    if clamp:
        reach = 3 * max(1.0, abs(hi - lo) / out) + 1
        pad = math.ceil(reach + max(0.0, -min(lo, hi), max(lo, hi) - values.shape[axis]))
        pads = [(pad, pad) if a == axis else (0, 0) for a in range(values.ndim)]
        values = np.pad(values, pads, "edge")
    matrix = weights(values.shape[axis], out, lo + pad, hi + pad, name, antialias)
    return np.moveaxis(np.tensordot(matrix, values, (1, axis)), 0, axis)


def _sizes(
    extents: Sequence[float], requested: Sequence[float], mode: str, limits: Sequence[float]
) -> list[float]:
    scales = [abs(r) / n for r, n in zip(requested, extents, strict=True) if r]
    sizes = list(requested)
    if mode in ("not_smaller", "not_larger"):
        scale = (max if mode == "not_smaller" else min)(scales) if scales else 1
        scale = min([scale, *(m / n for m, n in zip(limits, extents, strict=True) if m)])
        return [math.copysign(n * scale, r) for r, n in zip(requested, extents, strict=True)]
    common = math.prod(scales) ** (1 / len(scales)) if scales and mode == "default" else 1
    sizes = [r if r else n * common for r, n in zip(requested, extents, strict=True)]
    return [
        math.copysign(min(abs(s), m or math.inf), s) for s, m in zip(sizes, limits, strict=True)
    ]


def plan(
    shape: Sequence[int],
    letters: Sequence[str],
    size: Any = None,
    mode: str = "default",
    max_size: Any = None,
    subpixel_scale: bool = True,
    roi_start: Any = None,
    roi_end: Any = None,
    roi_relative: bool = False,
    resize_shorter: float = 0,
    resize_longer: float = 0,
    **trio: float,
) -> list[tuple[int, float, float]]:
    """For each axis: the output's extent, and the interval of the input that it shows."""
    rank = len(shape)
    requested = [float(trio.get(LETTERS[c], 0)) for c in letters]
    if size is not None:
        requested = [float(s) for s in np.broadcast_to(np.asarray(size), (rank,))]
    if resize_shorter:
        requested, mode = [resize_shorter] * rank, "not_smaller"
    if resize_longer:
        requested, mode = [resize_longer] * rank, "not_larger"
    limits = np.broadcast_to(np.asarray(0 if max_size is None else max_size), (rank,)).tolist()
    units = [n if roi_relative else 1 for n in shape]
    start = [0.0] * rank if roi_start is None else [shortest(s) for s in roi_start]
    end = list(shape) if roi_end is None else [shortest(e) for e in roi_end]
    if roi_start is not None:
        start = [s * u for s, u in zip(start, units, strict=True)]
        end = [e * u for e, u in zip(end, units, strict=True)]
    sizes = _sizes([abs(e - s) for s, e in zip(start, end, strict=True)], requested, mode, limits)
    result = []
    for want, lo, hi in zip(sizes, start, end, strict=True):
        out = max(1, half_away(abs(want)))
        if want < 0:
            lo, hi = hi, lo
        if subpixel_scale:
            half = (hi - lo) / 2 * min(out / abs(want), 10)
            middle = (lo + hi) / 2
            lo, hi = middle - half, middle + half
        result.append((out, lo, hi))
    return result


def _by_pillow(data: Array, steps: Sequence[tuple[int, float, float]], name: str) -> Array:
    (h, top, bottom), (w, left, right) = steps
    box = (min(left, right), min(top, bottom), max(left, right), max(top, bottom))
    picture = Image.fromarray(data.squeeze(2) if data.shape[2] == 1 else data)
    made = np.asarray(picture.resize((w, h), PILLOW[name], box=box)).reshape(h, w, -1)
    return made[:: -1 if bottom < top else 1, :: -1 if right < left else 1]


def expected(
    inputs: list[Array], layout: str, save_attrs: bool = False, **arguments: Any
) -> Array | list[Array]:
    resized = _resized(inputs[0], layout, **arguments)
    extents = [n for n, c in zip(inputs[0].shape, layout, strict=True) if c in "DHW"]
    return [resized, np.array(extents, np.int32)] if save_attrs else resized


def _resized(
    data: Array,
    layout: str,
    interp_type: str = "INTERP_LINEAR",
    min_filter: str | None = None,
    mag_filter: str | None = None,
    antialias: bool = True,
    border: str = "omit",
    dtype: str | None = None,
    **size: Any,
) -> Array:
    axes = [a for a, c in enumerate(layout) if c in "DHW"]
    if data.size == 0:  # axes without pixels stay so, and the others follow the given scale
        others = [a for a in axes if data.shape[a]]
        steps = plan([data.shape[a] for a in others], [layout[a] for a in others], **size)
        shape = list(data.shape)
        for a, (out, _, _) in zip(others, steps, strict=True):
            shape[a] = out
        return np.zeros(shape, dtype or data.dtype)
    steps = plan([data.shape[a] for a in axes], [layout[a] for a in axes], **size)
    shrinks = [abs(hi - lo) > out for out, lo, hi in steps]
    names = [(min_filter if s else mag_filter) or interp_type for s in shrinks]
    inside = all(
        min(lo, hi) >= 0 and max(lo, hi) <= data.shape[a]
        for a, (_, lo, hi) in zip(axes, steps, strict=True)
    )
    antialiased = (antialias or not any(shrinks)) and border == "omit"
    same = len(set(names)) == 1 and names[0] in PILLOW
    levels = layout == "HWC" and data.dtype == np.uint8 and dtype in (None, "uint8")
    if levels and inside and antialiased and same:
        return np.ascontiguousarray(_by_pillow(data, steps, names[0]))
    values = data.astype(np.float64)
    for axis, name, step in zip(axes, names, steps, strict=True):
        values = along(values, axis, step, name, antialias, border == "clamp")
    return to_dtype(values, dtype or str(data.dtype))


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    picture, gray = numbers(rng, (41, 57, 3), "uint8"), numbers(rng, (23, 16, 1), "uint8")
    # Pillow saturates between the axes; these do not overshoot that far.
    quiet, quiet_gray = picture // 3 + 85, gray // 3 + 85
    for name in ("INTERP_NN", *PILLOW):
        for height, width in ((17, 20), (64, 100), (41, 9), (70, 30)):
            yield [quiet], "HWC", {"size": [height, width], "interp_type": name}
            yield [quiet_gray], "HWC", {"size": [height, width], "interp_type": name}
    exact = {"subpixel_scale": False}
    yield [picture], "HWC", {"resize_shorter": 20.0, **exact}
    yield [picture], "HWC", {"resize_longer": 33.0, **exact}
    yield [picture], "HWC", {"resize_x": 31.0, **exact}
    yield [picture], "HWC", {"resize_y": 31.0}
    yield [picture], "HWC", {"resize_x": -30.0, "resize_y": 20.0}
    yield [picture], "HWC", {"size": [0, 25], "mode": "stretch"}
    yield [picture], "HWC", {"size": [30, 30], "mode": "not_larger", **exact}
    yield [picture], "HWC", {"size": [30, 30], "mode": "not_smaller", "max_size": [35.0, 33.0]}
    yield [picture], "HWC", {"size": [90, 20], "max_size": [60.0]}
    region = {"roi_start": [3.5, 10.0], "roi_end": [30.25, 47.0]}
    yield [picture], "HWC", {**region, "size": [20, 20]}
    yield [quiet], "HWC", {**region, "size": [50, 15], "interp_type": "INTERP_CUBIC"}
    turned = {"roi_start": [1.0, 0.25], "roi_end": [0.0, 0.75], "roi_relative": True}
    yield [picture], "HWC", {**turned, "size": [25, 25]}
    yield [picture], "HWC", {"size": [20, 20], "antialias": False}
    yield [picture], "HWC", {"size": [20, 80], "min_filter": "INTERP_NN"}
    yield [picture], "HWC", {"size": [20, 80], "mag_filter": "INTERP_CUBIC"}
    # With these sizes no input pixel lies on the edge of a filter, where the Gaussian is not 0.
    for name in ("INTERP_LINEAR", "INTERP_CUBIC", "INTERP_LANCZOS3", "INTERP_GAUSSIAN"):
        planes = numbers(rng, (2, 19, 22), "int16")
        yield [planes], "CHW", {"size": [8, 40], "interp_type": name}
        large = numbers(rng, (15, 12), "float32") * np.float32(30)
        yield [large], "HW", {"size": [22, 5], "interp_type": name}
        yield [gray], "HWC", {"size": [8, 30], "interp_type": name, "dtype": "float32"}
        clamp = {"interp_type": name, "border": "clamp"}
        yield [picture], "HWC", {"size": [16, 90], **clamp}
        yield [large], "HW", {"size": [22, 5], **clamp}
        yield [planes], "CHW", {"size": [5, 9], **region, **clamp}
        yield [picture], "HWC", {"size": [41, 19], **clamp}
        yield [large], "HW", {"size": [15, 36], "antialias": False, **clamp}
    clamp = {"border": "clamp"}
    beyond = {"roi_start": [-9.5, 3.0], "roi_end": [60.0, -70.0]}
    for name in ("INTERP_LINEAR", "INTERP_CUBIC", "INTERP_LANCZOS3"):
        yield [picture], "HWC", {**beyond, "size": [20, 31], "interp_type": name, **clamp}
    yield [picture], "HWC", {"size": [20, 80], "antialias": False, **clamp}
    yield [picture], "HWC", {"size": [20, 80], "interp_type": "INTERP_NN", **clamp}
    volume = numbers(rng, (6, 9, 8, 2), "uint16")
    yield [volume], "DHWC", {"size": [9, 4, 3], "interp_type": "INTERP_CUBIC", **clamp}
    yield [volume], "DHWC", {"size": [9, 4, 8]}
    yield [volume], "DHWC", {"resize_z": 3.0, "resize_x": -8.0, "interp_type": "INTERP_TRIANGULAR"}
    yield [volume], "FHWC", {"size": [5, 11], "interp_type": "INTERP_NN"}
    for layout in ("DHWC", "FHWC"):
        yield [volume], layout, {"resize_x": 5.0, "save_attrs": True}
    yield [picture], "HWC", {"size": [20, 30], "save_attrs": True}
    for shape in ((0, 0, 3), (0, 5, 3)):
        yield [np.zeros(shape, np.uint8)], "HWC", {"resize_shorter": 8.0}
        yield [np.zeros(shape, np.uint8)], "HWC", {"dtype": "float32"}
