# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""remap, by NumPy. OpenCV must agree as far as its places, multiples of 1/32, allow.

It does so only without a wide filter: its cubic is that with a = -0.75, and its Lanczos has four
lobes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import cv2
import numpy as np

from .common import Array, numbers, to_dtype
from .displaced import TOLERANCE as TOLERANCE
from .displaced import images, take


def _compare_with_opencv(image: Array, made: Array, x: Array, y: Array, linear: bool) -> None:
    how = cv2.INTER_LINEAR if linear else cv2.INTER_NEAREST
    for c in range(image.shape[2]):
        plane = np.ascontiguousarray(image[..., c])
        theirs = cv2.remap(plane, x - np.float32(0.5), y - np.float32(0.5), how, borderValue=0)
        apart = np.abs(made[..., c].astype(float) - theirs.astype(float))
        assert np.mean(apart) <= 0.04 * max(float(np.ptp(plane)), 1), np.mean(apart)


def _cubic(t: Array) -> Array:
    t = np.abs(t)
    far = np.where(t < 2, -0.5 * t**3 + 2.5 * t**2 - 4 * t + 2, 0)
    return np.where(t <= 1, 1.5 * t**3 - 2.5 * t**2 + 1, far)


def _lanczos(t: Array) -> Array:
    return np.where(np.abs(t) < 3, np.sinc(t) * np.sinc(t / 3), 0)


def _weighed(image: Array, y: Array, x: Array, interp: str) -> Array:
    """What lies at coordinates whose (0, 0) is the image's corner, by a filter."""
    weight = {"INTERP_CUBIC": _cubic, "INTERP_LANCZOS3": _lanczos}[interp]
    edge = 4
    padded = np.pad(image.astype(np.float64), ((edge, edge), (edge, edge), (0, 0)))

    def taps(coordinates: Array, extent: int) -> tuple[Array, Array]:
        at = np.clip(np.nan_to_num(coordinates, nan=-9) - 0.5, -3.5, extent + 3.5)[..., None]
        positions = np.floor(at) + np.arange(-2, 4)
        weights = weight(positions - at)
        weights[np.abs(weights) < 1e-12] = 0
        inside = np.clip(positions, -edge, extent + edge - 1).astype(np.int64) + edge
        return inside, weights / weights.sum(axis=-1, keepdims=True)

    (rows, down), (columns, right) = taps(y, image.shape[0]), taps(x, image.shape[1])
    values = padded[rows[..., :, None], columns[..., None, :]]
    both = (down[..., :, None] * right[..., None, :])[..., None]
    made = np.where(both == 0, 0, both * np.where(both == 0, 0, values)).sum(axis=(-3, -2))
    return to_dtype(made, str(image.dtype))


def expected(
    inputs: list[Array],
    layout: str,
    interp: str = "INTERP_LINEAR",
    pixel_origin: str = "corner",
) -> Array:
    data = inputs[0]
    linear, shift = interp == "INTERP_LINEAR", 0.5 if pixel_origin == "center" else 0.0
    is_sequence = data.ndim == 4

    def frame(f: int) -> Array:
        image = data[f] if is_sequence else data
        maps = []
        for given in inputs[1:]:
            has_frames = (
                is_sequence and given.ndim > 2 and given.shape[-1] != 1
            ) or given.ndim == 4
            one = given[f if given.shape[0] > 1 else 0] if has_frames else given
            maps.append(one.reshape(one.shape[:2]))
        y, x = (m.astype(np.float64) + shift for m in maps[::-1])
        if interp not in ("INTERP_NN", "INTERP_LINEAR"):
            return _weighed(image, y, x, interp)
        made = take(image, y, x, linear, 0.0)
        if str(image.dtype) in ("uint8", "float32") and np.isfinite(maps).all() and not shift:
            _compare_with_opencv(image, made, maps[0], maps[1], linear)
        return made

    return np.stack([frame(f) for f in range(len(data))]) if is_sequence else frame(0)


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    for image in images(rng):
        layout = "FHWC"[4 - image.ndim :]
        height, width = image.shape[-3:-1]
        for size in ((height, width), (5, 31)):
            y, x = np.indices(size).astype(np.float32)
            x = (x * (width / size[1]) + rng.uniform(-1.5, 2, size)).astype(np.float32)
            y = (y * (height / size[0]) + rng.uniform(-1.5, 2, size)).astype(np.float32)
            for interp in ("INTERP_NN", "INTERP_LINEAR", "INTERP_CUBIC", "INTERP_LANCZOS3"):
                yield [image, x, y], layout, {"interp": interp}
            yield [image, x[..., None], y], [layout, "HWC", "HW"], {"pixel_origin": "center"}
    far = np.float32([[np.nan, 1e30, -np.inf, np.inf, 1]])
    whole = np.float32([[0.5, 1.5, 2.5, 8.5]])  # the centres of pixels
    for interp in ("INTERP_LINEAR", "INTERP_CUBIC", "INTERP_LANCZOS3"):
        yield [image, far, far[:, ::-1]], "HWC", {"interp": interp}
        yield [image, whole, whole], "HWC", {"interp": interp}
    clip = numbers(rng, (3, 6, 7, 3), "uint8")
    maps = rng.uniform(0, 6, (2, 3, 4, 5)).astype(np.float32)
    yield [clip, maps[0], maps[1]], "FHWC", {}
    yield [clip, maps[0], maps[1, :1]], ["FHWC", "FHW", "FHW"], {"interp": "INTERP_NN"}
    yield [clip, maps[0, ..., None], maps[1, 0]], ["FHWC", "FHWC", "HW"], {}
    yield [image, maps[0, 0, :0], maps[0, 0, :0]], "HWC", {}
    yield [image[:0], maps[0, 0], maps[1, 0]], "HWC", {}


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    image, x = np.zeros((2, 2, 1), np.uint8), np.zeros((4, 5), np.float32)
    clip = np.stack([image, image])
    yield (
        [image, x, x],
        "HWC",
        {"interp": "INTERP_GAUSSIAN"},
        "INTERP_CUBIC or INTERP_LANCZOS3 here",
    )
    yield [image, x, x[:2]], "HWC", {}, "mapx is of shape (4, 5), and mapy of (2, 5)"
    yield [image, x[0], x], "HWC", {}, "mapx is of shape (5,), expected (H, W) or (H, W, 1)"
    yield [image, x, x[None, None]], ["HWC", "", ""], {}, "mapy has frames, and the input has none"
    yield [clip, np.stack([x, x, x]), x], "FHWC", {}, "mapx has 3 frames, and the input 2"
