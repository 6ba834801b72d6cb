# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""TIFF: pixels as Pillow and OpenCV have them, metadata, and words for what is wrong."""

from __future__ import annotations

import cv2
import numpy as np
from PIL import Image

import jpegs
import tiffs
from pictures import (
    assert_as_pillow,
    decode,
    error_of,
    needs,
    pillow,
    saved,
)
from stoker import types


def tiff_files() -> dict[str, bytes]:
    photo = jpegs.picture(61, 83, 4)
    alpha = np.dstack([photo, photo[..., 1]])
    files = {"OpenCV": cv2.imencode(".tiff", photo)[1].tobytes()}
    for compression in ("raw", "tiff_lzw", "tiff_adobe_deflate", "packbits"):
        files[f"RGB {compression}"] = saved(photo, "TIFF", compression=compression)
        files[f"RGBA {compression}"] = saved(alpha, "TIFF", compression=compression)
        files[f"L {compression}"] = saved(photo, "TIFF", "L", compression=compression)
        files[f"P {compression}"] = saved(photo, "TIFF", "P", compression=compression)
        files[f"1 {compression}"] = saved(photo, "TIFF", "1", compression=compression)
    files |= {
        "1 G4": saved(photo, "TIFF", "1", compression="group4"),
        "1 G3": saved(photo, "TIFF", "1", compression="group3"),
        "RGB JPEG": saved(photo, "TIFF", compression="jpeg", quality=85),
        "L JPEG": saved(photo, "TIFF", "L", compression="jpeg", quality=85),
        "strips": saved(photo, "TIFF", compression="tiff_lzw", strip_size=2000),
        "predictor": saved(photo, "TIFF", compression="tiff_lzw", tiffinfo={317: 2}),
        "big": saved(photo, "TIFF", big_tiff=True),
        "pages": saved(photo, "TIFF", save_all=True, append_images=[Image.new("L", (5, 5))]),
        "tiles": tiffs.encode(photo, tile=16),
        "tiles from the other end": tiffs.encode(photo, tile=32, endian=">"),
        "tiles of RGBA": tiffs.encode(alpha, tile=16),
        "gray tiles": tiffs.encode(photo[..., :1], tile=16),
        "from the other end": tiffs.encode(photo, endian=">"),
        "planes": tiffs.encode(photo, planar=True),
    }
    return files


@needs("TIFF")
def test_tiff_is_as_pillow_decodes_it() -> None:
    assert_as_pillow(tiff_files())


@needs("TIFF")
def test_tiff_of_16_bits_planes_and_tiles() -> None:
    rng = np.random.default_rng(10)
    for dtype in (np.uint8, np.uint16):
        pixels = rng.integers(0, np.iinfo(dtype).max, (33, 41, 4), dtype)
        for tile in (0, 16):
            for planar in (False, True):
                for channels in (1, 2, 3, 4):
                    want = pixels[..., :channels]
                    file = tiffs.encode(want, tile=tile, planar=planar, endian="<>"[channels % 2])
                    (got,) = decode(
                        [file],
                        output_type=types.ANY_DATA,
                        dtype=types.UINT8 if dtype == np.uint8 else types.UINT16,
                    )
                    assert np.array_equal(got, want), (dtype, tile, planar, channels)
    deep = pixels[..., :3]
    (got,) = decode([cv2.imencode(".tiff", deep)[1].tobytes()], dtype=types.UINT16)
    assert np.array_equal(got, deep[..., ::-1])


@needs("TIFF")
def test_tiff_is_turned_as_it_says() -> None:
    photo = jpegs.picture(21, 37, 4)
    for orientation in range(1, 9):
        file = tiffs.encode(photo, orientation=orientation)
        assert np.array_equal(decode([file])[0], pillow(file)), orientation


@needs("TIFF")
def test_tiff_names_what_is_wrong() -> None:
    photo = jpegs.picture(60, 80, 1)
    file = tiffs.encode(photo)
    assert "TIFF header is damaged" in error_of(file[: len(file) // 2])
    lzw = bytearray(saved(photo, "TIFF", compression="tiff_lzw"))
    lzw[100:400] = bytes(b ^ 0xFF for b in lzw[100:400])
    assert "TIFF data is damaged" in error_of(bytes(lzw))
    floats = saved(np.zeros((5, 5), np.float32), "TIFF")
    assert "TIFF of 1 samples of 32 bits" in error_of(floats)
    assert "is not supported" in error_of(saved(photo, "TIFF", "CMYK"))
