# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""HEIF: pixels as libheif's own tool and Pillow have them, turned pictures, a missing library."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pillow_heif
import pytest
from PIL import Image

import jpegs
from helpers import Array
from pictures import decode, error_of, needs, pillow, saved
from stoker import types

pytestmark = needs("HEIF")

PHOTO = jpegs.picture(61, 83, 4)
ALPHA = np.dstack([PHOTO, PHOTO[..., 1]])


def kinds() -> dict[str, bytes]:
    files = {
        f"{mode} {chroma}": saved(ALPHA, "HEIF", mode, subsampling=chroma, quality=80)
        for mode in ("RGB", "RGBA")
        for chroma in ("4:4:4", "4:2:2", "4:2:0")
    }
    files["gray"] = saved(PHOTO, "HEIF", "L")
    files["even"] = saved(PHOTO[:60, :82], "HEIF")
    return files


def by_libheif(file: bytes, folder: Path) -> Array:
    """What the library's own tool writes into a PNG."""
    encoded, decoded = folder / "picture.heic", folder / "picture.png"
    encoded.write_bytes(file)
    subprocess.run(["heif-convert", encoded, decoded], check=True, capture_output=True)
    with Image.open(decoded) as image:
        return np.asarray(image)


def test_heif_is_as_its_own_tool_decodes_it(tmp_path: Path) -> None:
    for name, file in kinds().items():
        want = by_libheif(file, tmp_path)
        (got,) = decode([file], output_type=types.ANY_DATA)
        assert np.array_equal(got, want), name
        assert np.array_equal(decode([file])[0], want[..., :3]), name


def test_heif_without_loss() -> None:
    lossless = {"quality": -1, "subsampling": "4:4:4", "matrix_coefficients": 0}
    file = saved(PHOTO, "HEIF", **lossless)
    assert np.array_equal(decode([file])[0], PHOTO)
    assert np.array_equal(pillow(file), PHOTO)


@pytest.mark.parametrize("bits", [10, 12])
def test_heif_of_more_bits(bits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pillow_heif.options, "SAVE_HDR_TO_12_BIT", bits == 12)
    stored = np.random.default_rng(bits).integers(0, 65536, (61, 83, 3)).astype(np.uint16)
    file, most = io.BytesIO(), (1 << bits) - 1
    heif = pillow_heif.from_bytes("RGB;16", (83, 61), stored.tobytes())
    heif.save(file, quality=-1, chroma=444, matrix_coefficients=0)
    (got,) = decode([file.getvalue()], dtype=types.UINT16)
    want = ((stored >> (16 - bits)).astype(np.int64) * 65535 + most // 2) // most
    assert np.array_equal(got, want)


def test_heif_divides_by_premultiplied_alpha() -> None:
    alpha = ALPHA.copy()
    alpha[..., 3] = np.clip(alpha[..., 3], 100, 255)
    file = io.BytesIO()
    lossless = {"quality": -1, "subsampling": "4:4:4", "matrix_coefficients": 0}
    premultiplied = Image.fromarray(alpha).convert("RGBa")
    premultiplied.save(file, "HEIF", **lossless)
    (got,) = decode([file.getvalue()], output_type=types.ANY_DATA)
    assert np.array_equal(got, np.asarray(premultiplied.convert("RGBA")))


def test_heif_is_turned_as_it_says() -> None:
    for orientation in range(1, 9):
        exif = Image.Exif()
        exif[0x0112] = orientation
        photo = jpegs.picture(21, 37, 4)
        lossless = {"quality": -1, "subsampling": "4:4:4", "matrix_coefficients": 0}
        file = saved(photo, "HEIF", exif=exif, **lossless)
        assert np.array_equal(decode([file])[0], pillow(file)), orientation
        (still,) = decode([file], adjust_orientation=False)
        assert np.array_equal(still, pillow(file)), orientation


def test_heif_names_what_is_wrong() -> None:
    file = saved(PHOTO, "HEIF")
    half = file[: len(file) // 2]
    message = error_of(half)
    assert f"at byte {len(half)}" in message and "HEIF data ends prematurely" in message
    at = file.index(b"mdat") + 4
    bad = file[:at] + bytes(len(file) - at)
    assert "HEIF data is damaged" in error_of(bad)


def test_heif_says_that_its_library_is_missing() -> None:
    program = """
import stoker
from pictures import decode
from stoker.errors import SampleError
(heif,) = (c for c in stoker.codecs() if c.format == "HEIF")
assert not heif.is_there and heif.package == "libheif1"
try:
    decode([b"\\0\\0\\0\\x14ftypheic\\0\\0\\0\\0mif1"])
except SampleError as error:
    assert "found a HEIF image; HEIF needs Debian's libheif1, which is not there" in str(error)
else:
    raise AssertionError("it was decoded")
"""
    for place in ("", "/nowhere/libheif.so.1"):
        environment = {**os.environ, "STOKER_LIBHEIF": place}
        subprocess.run(
            [sys.executable, "-c", program],
            check=True,
            env=environment,
            cwd=Path(__file__).resolve().parent.parent,
        )
