# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""What the peers of bench/cliff_rows.py do to a picture, where that is more than one call."""

from __future__ import annotations

import io
from collections import deque
from functools import cache

import numpy as np
from cliff_clock import Array
from cliff_row import PAD, cv2, other
from PIL import Image


def resized(x: Array, out: Array, filter: str = "LINEAR") -> None:
    method = getattr(cv2, f"INTER_{filter}")
    cv2.resize(x, (out.shape[1], out.shape[0]), dst=out, interpolation=method)


def resized_integers(x: Array, out: Array) -> None:
    size = out.shape[1], out.shape[0]
    np.copyto(out, np.rint(cv2.resize(x.astype(np.float64), size)), casting="unsafe")


CHANNELS = np.array([0.5, 2.0, 0.25], np.float32)


MEAN, STD = [123.675, 116.28, 103.53], [58.395, 57.12, 57.375]


def cropped_normalised(x: Array, out: Array) -> None:
    top, left = (x.shape[0] - 224 + 1) // 2, (x.shape[1] - 224 + 1) // 2
    mirrored = cv2.flip(x[top : top + 224, left : left + 224], 1)
    for plane, to, mean, std in zip(cv2.split(mirrored), out, MEAN, STD, strict=True):
        np.copyto(to, plane)
        np.multiply(to, np.float32(1 / std), out=to)
        np.subtract(to, np.float32(mean / std), out=to)


def bordered(x: Array, out: Array) -> None:
    cv2.copyMakeBorder(x, PAD, PAD, PAD, PAD, cv2.BORDER_CONSTANT, dst=out)


CHANCE = np.random.Generator(np.random.Philox(1))


SHUFFLED = np.random.default_rng(1).permutation(256).astype(np.uint8)


ANGLE = 30.0


def turned(x: Array, out: Array, border: str, filter: str = "LINEAR") -> None:
    height, width = x.shape[:2]
    matrix = cv2.getRotationMatrix2D(((width - 1) / 2, (height - 1) / 2), ANGLE, 1.0)
    flags, mode = getattr(cv2, f"INTER_{filter}"), getattr(cv2, f"BORDER_{border}")
    cv2.warpAffine(x, matrix, (width, height), dst=out, flags=flags, borderMode=mode)


SHEAR = [0.9, 0.3, -20.0, -0.2, 1.1, 15.0]


def sheared(x: Array, out: Array) -> None:
    """OpenCV's places are those of centres."""
    matrix = np.reshape(SHEAR, (2, 3))
    offset = matrix[:, :2].sum(1) / 2 + matrix[:, 2] - 0.5
    matrix = np.column_stack([matrix[:, :2], offset])
    flags = cv2.WARP_INVERSE_MAP | cv2.INTER_LINEAR
    cv2.warpAffine(x, matrix, (x.shape[1], x.shape[0]), dst=out, flags=flags)


TILT = [1.1, 0.2, -40.0, -0.1, 0.9, 30.0, 0.0004, 0.0003, 0.9]


def tilted(x: Array, out: Array, border: str, filter: str = "LINEAR") -> None:
    half = np.array([[1, 0, 0.5], [0, 1, 0.5], [0, 0, 1]])
    matrix = np.linalg.inv(half) @ np.reshape(TILT, (3, 3)) @ half
    flags = cv2.WARP_INVERSE_MAP | getattr(cv2, f"INTER_{filter}")
    mode = getattr(cv2, f"BORDER_{border}")
    cv2.warpPerspective(x, matrix, (x.shape[1], x.shape[0]), dst=out, flags=flags, borderMode=mode)


@cache
def _waves(height: int, width: int) -> tuple[Array, Array]:
    y, x = np.indices((height, width)).astype(np.float32)
    return x + 10 * np.sin(0.049087 * y) - 0.5, y + 10 * np.cos(0.049087 * x) - 0.5


def waves(x: Array) -> tuple[Array, Array]:
    """The maps of water, from the centre of the first pixel on."""
    return _waves(*x.shape[:2])


@cache
def _ball(height: int, width: int) -> tuple[Array, Array]:
    y, x = np.indices((height, width)).astype(np.float32) + np.float32(0.5)
    down, right = y - height / 2, x - width / 2
    factor = np.sqrt(down**2 + right**2) / max(height // 2, width // 2)
    maps = width / 2 + right * factor - 0.5, height / 2 + down * factor - 0.5
    return maps[0].astype(np.float32), maps[1].astype(np.float32)


def ball(x: Array) -> tuple[Array, Array]:
    """The maps of sphere, likewise."""
    return _ball(*x.shape[:2])


def remapped(x: Array, out: Array, columns: Array, rows: Array, filter: str) -> None:
    cv2.remap(x, columns, rows, getattr(cv2, f"INTER_{filter}"), dst=out)


RNG = np.random.default_rng(0)


def shaken(x: Array, out: Array) -> None:
    columns, rows = (m + RNG.integers(-2, 3, m.shape, np.int8) for m in _still(*x.shape[:2]))
    cv2.remap(x, columns, rows, cv2.INTER_NEAREST, dst=out)


@cache
def _still(height: int, width: int) -> tuple[Array, Array]:
    y, x = np.indices((height, width)).astype(np.float32)
    return x, y


def pasted_twice(x: Array, out: Array) -> None:
    out[:] = 0
    out[:100, :100] = x[:100, :100]
    out[50:150, 80:180] = x[:100, :100]


def drawn_pixel(x: Array, out: Array) -> None:
    places = np.flatnonzero(x > 128)
    out[:] = np.unravel_index(places[RNG.integers(len(places))], x.shape)


def drawn_object(x: Array, out: Array) -> None:
    label = RNG.choice(np.flatnonzero(np.bincount(x.reshape(-1)))[1:])
    _, _, boxes, _ = cv2.connectedComponentsWithStats((x == label).astype(np.uint8), connectivity=4)
    out[:] = boxes[1:][RNG.integers(len(boxes) - 1)][1::-1]


def weights(size: int) -> Array:
    bell = np.hanning(size + 2)[1:-1]
    return (np.outer(bell, bell) / bell.sum() ** 2).astype(np.float32)


def morphed(x: Array, out: Array, name: str, size: int) -> None:
    getattr(cv2, name)(x, np.ones((size, size), np.uint8), dst=out)


def equalised(x: Array, out: Array) -> None:
    cv2.merge([cv2.equalizeHist(plane) for plane in cv2.split(x)], dst=out)


def compressed(x: Array, out: Array) -> None:
    file = io.BytesIO()
    Image.fromarray(x).save(file, "JPEG", quality=50, subsampling=2)
    out[...] = np.asarray(Image.open(file))


def erased(x: Array, out: Array) -> None:
    np.copyto(out, x)
    out[40:140, 60:160] = 0


def aligned(x: Array, out: Array) -> None:
    bottom, right = out.shape[0] - x.shape[0], out.shape[1] - x.shape[1]
    cv2.copyMakeBorder(x, 0, bottom, 0, right, cv2.BORDER_CONSTANT, dst=out)


RECENT: deque[Array] = deque(maxlen=16)


def blended(x: Array, out: Array) -> None:
    """With the sample of some calls ago, which the caches hold no longer, as a partner is."""
    if RECENT and (RECENT[0].shape, RECENT[0].dtype) != (x.shape, x.dtype):
        RECENT.clear()
    RECENT.append(x)
    cv2.addWeighted(x, 0.3, RECENT[0], 0.7, 0, dst=out)


def patched(x: Array, out: Array) -> None:
    np.copyto(out, x)
    height, width = x.shape[0] // 2, x.shape[1] // 2
    out[:height, :width] = x[height : 2 * height, width : 2 * width]


def normalised(x: Array, out: Array) -> None:
    mean, deviation = cv2.meanStdDev(x)
    cv2.subtract(x, (*mean.ravel(), 0), dst=out, dtype=cv2.CV_32F)
    cv2.multiply(out, (*(1 / deviation).ravel(), 0), dst=out)


MAP, SHIFT = np.float32([[0.5, 1.0], [-1.0, 2.0]]), np.float32([3.0, 4.0])


def shot_noise(x: Array, out: Array) -> None:
    np.copyto(out, np.minimum(20 * CHANCE.poisson(x / 20), 255), "unsafe")


def pasted(x: Array, out: Array) -> None:
    top, left = ((o - e) // 2 for o, e in zip(out.shape[:2], x.shape[:2], strict=True))
    below, right = out.shape[0] - x.shape[0] - top, out.shape[1] - x.shape[1] - left
    cv2.copyMakeBorder(x, top, below, left, right, cv2.BORDER_CONSTANT, dst=out)


def masked_by_grid(x: Array, out: Array) -> None:
    down, across = np.ogrid[: x.shape[0], : x.shape[1]]
    u = (across * np.cos(0.5) - down * np.sin(0.5)) / 20 % 1
    v = (across * np.sin(0.5) + down * np.cos(0.5)) / 20 % 1
    np.multiply(x, ((u >= 0.5) | (v >= 0.5))[..., None], out=out)


def resized_cropped_mirrored(x: Array, out: Array) -> None:
    height, width = other(x)
    top, left = (height - 199) // 2, (width - 199) // 2
    resized = cv2.resize(x, (width, height), interpolation=cv2.INTER_LINEAR)
    cv2.flip(resized[top : top + 200, left : left + 200], 1, dst=out)


def gaussian_noise(x: Array, out: Array) -> None:
    noise = CHANCE.standard_normal(x.shape, np.float32)
    cv2.add(x, noise * 5, dst=out, dtype=cv2.CV_8U)


def salted(x: Array, out: Array) -> None:
    draws = CHANCE.random(x.shape[:2], np.float32)
    np.copyto(out, x)
    out[draws < 0.05], out[draws > 0.95] = 0, 255


COLOUR = np.array([[1.2, -0.1, 0.1, 3], [0.1, 1.1, -0.1, 3], [-0.1, 0.1, 1.0, 3]])
