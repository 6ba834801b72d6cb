# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""JPEG files of every kind that Stoker decodes, made with Pillow and OpenCV, and damaged ones."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from PIL import Image

from helpers import Array

SAMPLINGS = ("444", "422", "440", "420", "411")
KINDS = (
    *SAMPLINGS,
    "gray",
    "cmyk",
    "progressive",
    "progressive 422",
    "progressive gray",
    "restart",
    "restart rows",
    "restart 411",
    "coarse",
    "optimised",
)


def picture(height: int, width: int, seed: int = 0) -> Array:
    """An RGB picture with slopes, edges and grain, as photographs have."""
    rng = np.random.default_rng([seed, height, width])
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    v, u = y / max(height, 2), x / max(width, 2)
    result = np.float32([60, 120, 180]) + 120 * (np.stack([v, u, (v + u) / 2], -1) - 0.5)
    for _ in range(5):
        cy, cx, r = rng.uniform(0, height), rng.uniform(0, width), rng.uniform(2, height / 2 + 3)
        inside = (y - cy) ** 2 + (x - cx) ** 2 < r * r
        result[inside] = rng.uniform(0, 255, 3)
    result += 25 * np.sin(x / rng.uniform(1, 6) + y / rng.uniform(2, 9))[..., None]
    result += rng.normal(0, 6, result.shape)
    return np.clip(result, 0, 255).astype(np.uint8)


def encode(pixels: Array, kind: str = "420", exif_orientation: int = 0, quality: int = 88) -> bytes:
    """A JPEG file of one of KINDS."""
    if kind.split()[-1] in ("440", "411"):
        return _encode_with_opencv(pixels, kind, quality)
    image = Image.fromarray(pixels)
    options: dict[str, object] = {"quality": quality}
    if kind in ("gray", "progressive gray"):
        image = image.convert("L")
    elif kind == "cmyk":
        image = image.convert("CMYK")
    if kind.split()[-1] in SAMPLINGS:
        options["subsampling"] = ":".join(kind.split()[-1])
    if kind.startswith("progressive"):
        options["progressive"] = True
    elif kind == "restart":
        options["restart_marker_blocks"] = 3
    elif kind == "restart rows":
        options["restart_marker_rows"] = 1
    elif kind == "coarse":
        options["quality"] = 12
    elif kind == "optimised":
        options["optimize"] = True
    if exif_orientation:
        exif = Image.Exif()
        exif[0x0112] = exif_orientation
        options["exif"] = exif
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", **options)
    return buffer.getvalue()


def _encode_with_opencv(pixels: Array, kind: str, quality: int) -> bytes:
    """A file with a sampling that Pillow does not write."""
    import cv2

    sampling = getattr(cv2, f"IMWRITE_JPEG_SAMPLING_FACTOR_{kind.split()[-1]}")
    flags = [cv2.IMWRITE_JPEG_QUALITY, quality, cv2.IMWRITE_JPEG_SAMPLING_FACTOR, sampling]
    if kind.startswith("restart"):
        flags += [cv2.IMWRITE_JPEG_RST_INTERVAL, 5]
    ok, data = cv2.imencode(".jpg", cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR), flags)
    assert ok
    return data.tobytes()


def pillow(data: bytes | Path, mode: str = "RGB") -> Array:
    """The pixels that Pillow decodes."""
    with Image.open(io.BytesIO(data) if isinstance(data, bytes) else data) as image:
        return np.array(image.convert(mode))


def subsampling(data: bytes) -> list[tuple[int, int]]:
    """The sampling factors (h, v) of the components, read from the frame header."""
    at = 2
    while data[at] == 0xFF:
        marker, length = data[at + 1], int.from_bytes(data[at + 2 : at + 4], "big")
        if 0xC0 <= marker <= 0xC2:
            count = data[at + 9]
            factors = [data[at + 11 + 3 * k] for k in range(count)]
            return [(f >> 4, f & 15) for f in factors]
        at += 2 + length
    raise AssertionError("no frame header")


def scan_start(data: bytes) -> int:
    """The offset at which the entropy-coded data of the first scan begins."""
    at = 2
    while data[at + 1] != 0xDA:
        at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return at + 2 + int.from_bytes(data[at + 2 : at + 4], "big")


def truncated(data: bytes, share: float = 0.5) -> bytes:
    """The file, cut off within the entropy-coded data."""
    start = scan_start(data)
    return data[: start + int((len(data) - start) * share)]


def scrambled(data: bytes, seed: int = 0, share: float = 0.4) -> bytes:
    """The file with random bytes late in the entropy-coded data, but without new markers."""
    start = scan_start(data)
    at = start + int((len(data) - start) * share)
    rng = np.random.default_rng(seed)
    noise = rng.integers(0, 255, len(data) - at - 2, dtype=np.uint8)  # 255 would begin a marker
    return data[:at] + noise.tobytes() + data[-2:]


def claims(height: int, width: int) -> bytes:
    """A small file whose header claims a picture of this size."""
    data = bytearray(encode(picture(16, 16), "444"))
    at = next(i for i in range(len(data)) if data[i] == 0xFF and data[i + 1] == 0xC0)
    data[at + 5 : at + 9] = height.to_bytes(2, "big") + width.to_bytes(2, "big")
    return bytes(data)


def write_folder(root: Path, files: dict[str, bytes]) -> Path:
    """Writes root/<class>/<name> for each "class/name"."""
    for name, data in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return root
