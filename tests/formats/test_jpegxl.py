# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""JPEG XL: pixels as djxl, Pillow and imagecodecs have them, turned pictures, and what is wrong."""

from __future__ import annotations

import io
import subprocess
from pathlib import Path

import cv2
import imagecodecs
import numpy as np
import pytest
from PIL import Image

import jpegs
from helpers import Array
from pictures import assert_as_pillow, decode, error_of, needs, pillow, saved
from stoker import types

pytestmark = needs("JPEG XL")

PHOTO = jpegs.picture(61, 83, 4)
ALPHA = np.dstack([PHOTO, PHOTO[..., 1]])
MODES = ("L", "LA", "RGB", "RGBA")


def by_djxl(file: bytes, folder: Path) -> Array:
    """What the format's own tool writes into a PNG, with as many channels as that has."""
    encoded, decoded = folder / "picture.jxl", folder / "picture.png"
    encoded.write_bytes(file)
    subprocess.run(["djxl", encoded, decoded], check=True, capture_output=True)
    pixels = cv2.imread(str(decoded), cv2.IMREAD_UNCHANGED)
    if pixels.dtype == np.uint16:  # Pillow would make them 8 bits
        return cv2.cvtColor(pixels, cv2.COLOR_BGR2RGB)
    with Image.open(decoded) as image:
        return np.asarray(image).reshape(image.height, image.width, -1)


def test_jpegxl_without_loss_is_as_pillow_decodes_it() -> None:
    files = {m: saved(ALPHA, "JXL", m, lossless=True) for m in MODES}
    files |= {f"{m} in a file": saved(ALPHA, "JXL", m, lossless=True, use_container=True)
              for m in MODES}  # fmt: skip
    files["an animation"] = imagecodecs.jpegxl_encode(np.stack([PHOTO, PHOTO[::-1]]), lossless=True)
    assert_as_pillow({n: f for n, f in files.items() if n != "an animation"})
    for mode in MODES:
        (got,) = decode([files[mode]], output_type=types.ANY_DATA)
        assert np.array_equal(got, pillow(files[mode], mode)), mode
    assert np.array_equal(decode([files["an animation"]])[0], PHOTO)


def test_jpegxl_with_loss_is_as_djxl_decodes_it(tmp_path: Path) -> None:
    files = {f"{m} {q}": saved(ALPHA, "JXL", m, quality=q) for m in MODES for q in (30, 90)}
    files["16 bits"] = imagecodecs.jpegxl_encode(PHOTO.astype(np.uint16) * 257, level=80)
    for name, file in files.items():
        dtype = types.UINT16 if name == "16 bits" else types.UINT8
        (got,) = decode([file], output_type=types.ANY_DATA, dtype=dtype)
        assert np.array_equal(got, by_djxl(file, tmp_path)), name
        if name != "16 bits":
            near = pillow(file, name.split()[0]).astype(int)
            assert np.abs(near - got).max() <= 1, name


@pytest.mark.parametrize("bits", [8, 10, 12, 16])
def test_jpegxl_depths_are_scaled(bits: int) -> None:
    most, full = (1 << bits) - 1, 255 if bits == 8 else 65535
    kind = np.uint8 if bits == 8 else np.uint16
    stored = np.random.default_rng(bits).integers(0, most + 1, (61, 83, 3), kind)
    file = imagecodecs.jpegxl_encode(stored, lossless=True, bitspersample=bits)
    want = (stored.astype(np.int64) * full + most // 2) // most
    (got,) = decode([file], dtype=types.UINT8 if bits == 8 else types.UINT16)
    # libjxl scales by floats.
    assert np.abs(got - want).max() <= (1 if bits == 12 else 0)


def test_jpegxl_of_floats() -> None:
    stored = (PHOTO / np.float32(255)).astype(np.float32)
    file = imagecodecs.jpegxl_encode(stored, lossless=True)
    (got,) = decode([file], dtype=types.UINT16)
    assert np.array_equal(got, PHOTO.astype(np.uint16) * 257)


def test_jpegxl_is_turned_as_it_says(tmp_path: Path) -> None:
    for orientation in range(1, 9):
        exif = Image.Exif()
        exif[0x0112] = orientation
        photo, encoded = tmp_path / "photo.jpg", tmp_path / "photo.jxl"
        Image.fromarray(PHOTO).save(photo, quality=90, exif=exif)
        subprocess.run(["cjxl", photo, encoded], check=True, capture_output=True)
        file = encoded.read_bytes()
        (got,) = decode([file])
        assert got.shape[:2] == (PHOTO.shape[:2] if orientation < 5 else PHOTO.shape[1::-1])
        assert np.array_equal(got, by_djxl(file, tmp_path)), orientation
        (stored,) = decode([file], adjust_orientation=False)
        assert stored.shape == PHOTO.shape


def test_jpegxl_names_what_is_wrong() -> None:
    file = saved(PHOTO, "JXL", lossless=True)
    half = file[: len(file) // 2]
    message = error_of(half)
    assert f"at byte {len(half)}" in message and "JPEG XL data ends prematurely" in message
    assert "JPEG XL header ends prematurely" in error_of(file[:5])
    bad = bytearray(file)
    bad[20:60] = bytes(b ^ 0xFF for b in bad[20:60])
    assert "JPEG XL data is damaged" in error_of(bytes(bad))
    assert (decode([bytes(bad)], tolerate_corrupt=True)[0] == 0).all()


def test_jpegxl_tolerates_a_cut() -> None:
    photo = jpegs.picture(400, 500, 4)
    file = io.BytesIO()
    Image.fromarray(photo).save(file, "JXL", lossless=True, effort=2)
    (got,) = decode([file.getvalue()[: len(file.getvalue()) * 3 // 4]], tolerate_corrupt=True)
    assert np.array_equal(got[:256, :256], photo[:256, :256])
    assert (got[256:, 256:] == 0).all()
