# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""stoker.images.save: what it writes is what Pillow and OpenCV read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from PIL import Image

import jpegs
import stoker
from helpers import make
from stoker import fn


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
def test_a_png_holds_every_pixel(tmp_path: Path, dtype: str, channels: int) -> None:
    rng = np.random.default_rng(channels)
    smooth = np.add.outer(np.arange(37), np.arange(53))[..., None] * (np.arange(channels) + 1)
    for picture in (
        (smooth % np.iinfo(dtype).max).astype(dtype),
        rng.integers(0, np.iinfo(dtype).max, (5, 1, channels)).astype(dtype),
    ):
        path = tmp_path / "picture.png"
        stoker.images.save(path, picture)
        if dtype == "uint8":
            read = np.asarray(Image.open(path)).reshape(picture.shape)
            assert np.array_equal(read, picture)
        elif channels != 2:  # which OpenCV reads as four
            read = cv2.imread(str(path), cv2.IMREAD_UNCHANGED).reshape(picture.shape)
            order = [2, 1, 0, 3][:channels] if channels > 2 else [0]
            assert np.array_equal(read[..., order], picture)


def test_a_jpeg_is_that_of_pillow(tmp_path: Path) -> None:
    photo = jpegs.picture(50, 61, 3)
    for quality, subsampling in ((75, 2), (90, 2), (95, 0)):
        path = tmp_path / f"{quality}.jpg"
        stoker.images.save(path, photo, quality=quality)
        other = tmp_path / "pillow.jpg"
        Image.fromarray(photo).save(other, quality=quality, subsampling=subsampling)
        read, expected = (np.asarray(Image.open(p)) for p in (path, other))
        assert np.array_equal(read, expected)
    gray = tmp_path / "gray.JPEG"
    stoker.images.save(gray, photo[..., 0])
    assert Image.open(gray).mode == "L"


def test_samples_of_batches_are_written_by_their_layout(tmp_path: Path) -> None:
    photo = jpegs.picture(20, 31, 3)

    def define() -> Any:
        picture = fn.external_source(lambda info: photo, batch=False, layout="HWC")
        return picture, fn.crop_mirror_normalize(picture, dtype="uint8", output_layout="CHW")

    for name, batch in zip("ab", make(define).run(), strict=True):
        stoker.images.save(tmp_path / f"{name}.png", batch[0])
        assert np.array_equal(np.asarray(Image.open(tmp_path / f"{name}.png")), photo)
    stoker.images.save(tmp_path / "c.png", photo.transpose(2, 0, 1), layout="CHW")
    assert np.array_equal(np.asarray(Image.open(tmp_path / "c.png")), photo)


@pytest.mark.parametrize(
    "name,shape,dtype,words",
    [
        ("a.png", (2, 2, 3), "float32", "PNG does not hold float32 with 3 channels"),
        ("a.png", (2, 2, 5), "uint8", "PNG does not hold uint8 with 5 channels"),
        ("a.jpg", (2, 2, 4), "uint8", "JPEG does not hold uint8 with 4 channels"),
        ("a.jpg", (2, 2), "uint16", "JPEG does not hold uint16 with 1 channels"),
        ("a.webp", (2, 2), "uint8", "ends in '.webp', expected '.png'"),
        ("a.png", (2, 0, 3), "uint8", "so it has no pixels"),
        ("a.png", (2,), "uint8", "the shape .2,., which is not HWC"),
        ("a.jpg", (1, 70000), "uint8", "65500 pixels"),
    ],
)
def test_what_a_file_cannot_hold_is_refused(
    tmp_path: Path, name: str, shape: tuple[int, ...], dtype: str, words: str
) -> None:
    with pytest.raises((ValueError, stoker.errors.Error), match=words):
        stoker.images.save(tmp_path / name, np.zeros(shape, dtype))
    assert not (tmp_path / name).exists()


def test_wrong_options_are_refused(tmp_path: Path) -> None:
    picture = np.zeros((2, 2, 3), np.uint8)
    with pytest.raises(ValueError, match="quality is 0"):
        stoker.images.save(tmp_path / "a.jpg", picture, quality=0)
    with pytest.raises(ValueError, match="the layout is 'WHC'"):
        stoker.images.save(tmp_path / "a.png", picture, layout="WHC")
