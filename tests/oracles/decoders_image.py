# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""decoders.image, by Pillow."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from typing import Any

import numpy as np
from PIL import Image, ImageOps

import stoker

from .common import Array, Tolerance, crop_window, full, to_dtype

TOLERANCE = Tolerance(share=1e-6)


def decode(
    encoded: Array,
    output_type: str = "RGB",
    dtype: str = "uint8",
    adjust_orientation: bool = True,
    page: int = 0,
    **unused: Any,
) -> Array:
    """All pixels, of shape (height, width, channels)."""
    del unused
    picture = Image.open(BytesIO(encoded.tobytes()))
    picture.seek(page)
    stored = picture.mode
    if output_type == "GRAY" or (output_type == "ANY_DATA" and stored == "L"):
        picture.draft("L", picture.size)  # the file's own luminance
    if adjust_orientation:
        picture = ImageOps.exif_transpose(picture)
    gray = output_type == "GRAY" or (output_type == "ANY_DATA" and stored == "L")
    pixels = np.asarray(picture.convert("L" if gray else "RGB"))
    if gray:
        pixels = pixels[..., None]
    if output_type == "BGR":
        pixels = pixels[..., ::-1]
    if dtype == "uint8":
        return np.ascontiguousarray(pixels)
    factor = np.float32(full(dtype) / full("uint8"))
    return to_dtype(pixels.astype(np.float32) * factor, dtype)


def expected(inputs: list[Array], layout: str, **arguments: Any) -> Array:
    del layout
    return decode(inputs[0], **arguments)


def window(inputs: list[Array], crop: dict[str, Any], arguments: dict[str, Any]) -> Array:
    """The cropped picture, as the operator gives it."""
    pixels = decode(inputs[0], **arguments)
    begin, end = crop_window(pixels.shape, "HWC", **crop)
    return np.ascontiguousarray(pixels[tuple(map(slice, begin, end))])


def of_pages(rng: np.random.Generator) -> list[Array]:
    """A TIFF file of three pages, if this build reads TIFF."""
    if not any(c.format == "TIFF" and c.is_there for c in stoker.codecs()):
        return []
    pages = [Image.fromarray(rng.integers(0, 255, (9 + i, 14, 3), np.uint8)) for i in range(3)]
    file = BytesIO()
    pages[0].save(file, "TIFF", save_all=True, append_images=pages[1:])
    return [np.frombuffer(file.getvalue(), np.uint8)]


def encoded(rng: np.random.Generator) -> Iterator[Array]:
    for height, width, sampling, orientation in (
        (37, 53, 0, 1),
        (40, 64, 2, 1),
        (29, 31, 1, 6),
        (16, 9, 2, 3),
        (5, 7, 0, 8),
    ):
        slope = np.add.outer(np.arange(height), np.arange(width))[..., None] * [2.0, 1.0, 3.0]
        noise = rng.uniform(0, 60, (height, width, 3))
        picture = Image.fromarray(np.clip(slope + noise, 0, 255).astype(np.uint8))
        exif = Image.Exif()
        exif[0x0112] = orientation
        file = BytesIO()
        picture.save(file, "JPEG", quality=90, subsampling=sampling, exif=exif)
        yield np.frombuffer(file.getvalue(), np.uint8)
    file = BytesIO()
    Image.fromarray(rng.integers(0, 255, (21, 18), np.uint8)).save(file, "JPEG")
    yield np.frombuffer(file.getvalue(), np.uint8)
    for format_, shape in (("PNG", (19, 27, 3)), ("WEBP", (20, 26, 3)), ("BMP", (23, 17))):
        if format_.upper() in {c.format.upper() for c in stoker.codecs() if c.is_there}:
            file = BytesIO()
            Image.fromarray(rng.integers(0, 255, shape, np.uint8)).save(file, format_)
            yield np.frombuffer(file.getvalue(), np.uint8)


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    for i, file in enumerate(encoded(rng)):
        yield [file], "", {}
        yield [file], "", {"output_type": ("GRAY", "BGR", "ANY_DATA")[i % 3]}
        yield [file], "", {"dtype": ("float32", "uint16", "int8", "float16", "int16")[i % 5]}
        yield [file], "", {"adjust_orientation": False}
    for file in of_pages(rng):
        for page in range(3):
            yield [file], "", {"page": page}
