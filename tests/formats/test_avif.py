# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""AVIF: pixels as Pillow and imagecodecs have them, turned pictures, and what is wrong."""

from __future__ import annotations

import imagecodecs
import numpy as np
import pytest
from PIL import Image

import jpegs
from pictures import assert_as_pillow, decode, error_of, needs, pillow, saved
from stoker import types

pytestmark = needs("AVIF")

PHOTO = jpegs.picture(61, 83, 4)
ALPHA = np.dstack([PHOTO, PHOTO[..., 1]])


def kinds() -> dict[str, bytes]:
    files = {}
    for chroma in ("4:4:4", "4:2:2", "4:2:0", "4:0:0"):
        for mode in ("RGB", "RGBA"):
            for range_ in ("full", "limited"):
                options = {"subsampling": chroma, "range": range_, "quality": 80, "speed": 8}
                files[f"{mode} {chroma} {range_}"] = saved(ALPHA, "AVIF", mode, **options)
    more = [Image.fromarray(PHOTO[::-1])]
    return files | {
        "gray": saved(PHOTO, "AVIF", "L", speed=8),
        "even": saved(PHOTO[:60, :82], "AVIF", speed=8),
        "premultiplied": saved(ALPHA, "AVIF", speed=8, alpha_premultiplied=True),
        "a sequence": saved(PHOTO, "AVIF", speed=8, save_all=True, append_images=more),
        "another writer's": imagecodecs.avif_encode(PHOTO, level=70),
    }


def test_avif_is_as_pillow_decodes_it() -> None:
    files = kinds()
    assert_as_pillow(files)
    names = [n for n in files if n.startswith("RGBA") or n == "premultiplied"]
    got = decode([files[n] for n in names], output_type=types.ANY_DATA)
    for name, g in zip(names, got, strict=True):
        want = pillow(files[name], "LA" if "4:0:0" in name else "RGBA")
        assert np.array_equal(g, want), name


def test_avif_without_loss() -> None:
    file = imagecodecs.avif_encode(PHOTO, level=100)
    assert np.array_equal(decode([file])[0], PHOTO)


@pytest.mark.parametrize("bits", [10, 12])
def test_avif_of_more_bits(bits: int) -> None:
    most = (1 << bits) - 1
    stored = np.random.default_rng(bits).integers(0, most + 1, (61, 83, 4)).astype(np.uint16)
    for channels in (1, 3, 4):
        file = imagecodecs.avif_encode(stored[..., :channels], level=100, bitspersample=bits)
        want = (imagecodecs.avif_decode(file).astype(np.int64) * 65535 + most // 2) // most
        want = want[..., :1] if channels == 1 and want.ndim == 3 else want.reshape(61, 83, -1)
        (got,) = decode([file], dtype=types.UINT16, output_type=types.ANY_DATA)
        assert np.array_equal(got, want), channels
        (got,) = decode([file], output_type=types.ANY_DATA)
        assert np.array_equal(got, (want + 128) // 257), channels


def test_avif_is_turned_as_it_says() -> None:
    for orientation in range(1, 9):
        exif = Image.Exif()
        exif[0x0112] = orientation
        file = saved(jpegs.picture(21, 37, 4), "AVIF", exif=exif, speed=8)
        assert np.array_equal(decode([file])[0], pillow(file)), orientation


def test_avif_names_what_is_wrong() -> None:
    file = saved(PHOTO, "AVIF", speed=8)
    half = file[: len(file) // 2]
    message = error_of(half)
    assert f"at byte {len(half)}" in message and "AVIF data ends prematurely" in message
    at = file.index(b"mdat") + 4
    assert "AVIF data is damaged: Decoding of color planes failed" in error_of(
        file[:at] + bytes(len(file) - at)
    )
    assert (decode([file[:at] + bytes(len(file) - at)], tolerate_corrupt=True)[0] == 0).all()
    size = file.index(b"ispe") + 8
    huge = file[:size] + b"\x00\x01\x00\x00" * 2 + file[size + 8 :]
    assert "AVIF header is damaged" in error_of(huge)
