# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""What the tests of picture formats share: decoding, and the answers of Pillow."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pillow_heif
import pillow_jxl  # noqa: F401  # teaches Pillow the format
import pytest
from PIL import Image, ImageOps

from helpers import Array, make, samples_of
from stoker import fn, types
from stoker.errors import SampleError

pillow_heif.register_heif_opener()

# Formats left out of the build on purpose, by STOKER_WITHOUT of CMake. Tests of all others fail
# where their codec is missing.
LEFT_OUT = set(os.environ.get("STOKER_WITHOUT", "").split(";")) - {""}


def needs(format_: str) -> pytest.MarkDecorator:
    reason = f"STOKER_WITHOUT says that this build was to have no codec of {format_}"
    return pytest.mark.skipif(format_ in LEFT_OUT, reason=reason)


def formats(*names: str) -> list[Any]:
    """As the values of a parameter."""
    return [pytest.param(n, marks=needs(n)) for n in names]


def decode(
    files: Sequence[bytes], decoder: Callable[..., Any] = fn.decoders.image, **arguments: Any
) -> list[Array]:
    """The pictures, in one pipeline."""

    def define() -> Any:
        return decoder(fn.external_source(source(files), batch=False), **arguments)

    pipe = make(define)
    return [samples_of(pipe.run())[0][0] for _ in files]


def source(files: Sequence[bytes]) -> Callable[[Any], Array]:
    return lambda info: np.frombuffer(files[info.idx_in_epoch], np.uint8)


def error_of(file: bytes, **arguments: Any) -> str:
    with pytest.raises(SampleError) as caught:
        decode([file], **arguments)
    return str(caught.value)


def pillow(file: bytes, mode: str = "RGB") -> Array:
    with Image.open(io.BytesIO(file)) as image:
        pixels = np.asarray(ImageOps.exif_transpose(image).convert(mode))
    return pixels[..., None] if pixels.ndim == 2 else pixels


def pillow_of_inverted_cmyk(ink: Array) -> Array:
    return np.asarray(Image.fromarray(255 - ink, "CMYK").convert("RGB"))


def saved(pixels: Array, format_: str, mode: str | None = None, **options: Any) -> bytes:
    file = io.BytesIO()
    image = Image.fromarray(pixels)
    (image.convert(mode) if mode else image).save(file, format_, **options)
    return file.getvalue()


def assert_as_pillow(files: dict[str, bytes]) -> None:
    """All colours that Pillow knows as well."""
    for output, mode in (("RGB", "RGB"), ("GRAY", "L"), ("BGR", "RGB")):
        got = decode(list(files.values()), output_type=getattr(types, output))
        for (name, file), g in zip(files.items(), got, strict=True):
            want = pillow(file, mode)
            want = want[..., ::-1] if output == "BGR" else want
            assert g.shape == want.shape and np.array_equal(g, want), f"{name} as {output}"
