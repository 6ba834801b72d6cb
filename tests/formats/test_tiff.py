# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""TIFF: pixels as Pillow and OpenCV have them, metadata, and words for what is wrong."""

from __future__ import annotations

import io
import struct

import cv2
import numpy as np
import tifffile
from PIL import Image

import jpegs
import tiffs
from helpers import Array
from pictures import assert_as_pillow, decode, error_of, needs, pillow, saved
from stoker import types

# BT.601 of full intensities, with head and foot room.
YCBCR = [[65.481, 128.553, 24.966], [-37.797, -74.203, 112], [112, -93.786, -18.214]]


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
    tiles = tiffs.encode(photo, tile=16)
    for tag in (322, 323):
        size = struct.pack("<HHII", tag, 4, 1, 16)
        for large in (1 << 20, 1 << 28, (1 << 32) - 16):
            claims = tiles.replace(size, struct.pack("<HHII", tag, 4, 1, large))
            said = error_of(claims)
            assert "TIFF" in said or "memory" in said, said
    whole = saved(np.zeros((5, 5), np.int32), "TIFF")
    assert "TIFF of 1 samples of 32 bits" in error_of(whole)
    assert "is not supported" in error_of(saved(photo, "TIFF", "LAB"))


@needs("TIFF")
def test_tiff_of_floats() -> None:
    floats = np.array([[-1, 0, 0.25, 0.5], [0.999, 1, 7, np.inf]], np.float32)
    for dtype in (np.float16, np.float32, np.float64):
        file = by_tifffile(floats.astype(dtype))
        (got,) = decode([file], output_type=types.GRAY, dtype=types.FLOAT)
        assert np.array_equal(got[..., 0], floats.astype(dtype).astype(np.float32))
        (eight,) = decode([file], output_type=types.GRAY)
        assert eight[..., 0].tolist() == [[0, 0, 64, 128], [255, 255, 255, 255]]
        (deep,) = decode([file], output_type=types.GRAY, dtype=types.UINT16)
        assert deep[1, 1:].ravel().tolist() == [65535] * 3
    photo = np.random.default_rng(3).random((9, 7, 3), np.float32)
    file = by_tifffile(photo, photometric="rgb")
    for output, want in {
        types.BGR: photo[..., ::-1],
        types.GRAY: (photo @ [0.299, 0.587, 0.114])[..., None],
        types.YCbCr: (photo @ np.transpose(YCBCR) + [16, 128, 128]) / 255,
    }.items():
        (got,) = decode([file], output_type=output, dtype=types.FLOAT)
        assert np.allclose(got, want, atol=1e-6)


@needs("TIFF")
def test_tiff_of_many_channels() -> None:
    rng = np.random.default_rng(5)
    for dtype in (np.uint8, np.uint16, np.float32):
        for channels in (2, 4, 5, 6, 12):
            pixels = (rng.random((13, 17, channels)) * 200).astype(dtype)
            for planar in ("contig", "separate"):
                stored = pixels if planar == "contig" else np.moveaxis(pixels, 2, 0)
                kinds = {"minisblack": [0, 0, 0]} | ({"rgb": [0, 1, 2]} if channels > 3 else {})
                for photometric, colors in kinds.items():
                    file = by_tifffile(stored, photometric=photometric, planarconfig=planar)
                    dtype_ = {1: types.UINT8, 2: types.UINT16, 4: types.FLOAT}[pixels.itemsize]
                    (got,) = decode([file], output_type=types.ANY_DATA, dtype=dtype_)
                    assert np.array_equal(got, pixels)
                    (rgb,) = decode([file], dtype=dtype_)
                    assert np.array_equal(rgb, pixels[..., colors]), (channels, photometric)


@needs("TIFF")
def test_tiff_of_ink() -> None:
    rng = np.random.default_rng(6)
    ink = rng.integers(0, 256, (13, 17, 4), np.uint8)
    file = by_tifffile(ink, photometric="separated")
    assert_as_pillow({"CMYK": file})
    (got,) = decode([file], output_type=types.ANY_DATA)
    assert np.array_equal(got, ink)
    (deep,) = decode(
        [by_tifffile(ink.astype(np.uint16) * 257, photometric="separated")], dtype=types.UINT16
    )
    assert np.abs(deep / 257 - pillow(file)).max() <= 0.51


@needs("TIFF")
def test_tiff_has_pages() -> None:
    pages = [jpegs.picture(20 + i, 30 - i, i) for i in range(4)]
    first, *others = (Image.fromarray(p) for p in pages)
    for big in (False, True):
        file = io.BytesIO()
        first.save(file, "TIFF", save_all=True, append_images=others, big_tiff=big)
        for i, page in enumerate(pages):
            assert np.array_equal(decode([file.getvalue()], page=i)[0], page)
        said = error_of(file.getvalue(), page=4)
        assert "TIFF has no page 4, its last one is page 3" in said
    assert "PNG has no pages, but page 1 was asked for" in error_of(saved(pages[0], "PNG"), page=1)


def by_tifffile(pixels: Array, **options: object) -> bytes:
    file = io.BytesIO()
    tifffile.imwrite(file, pixels, **{"photometric": "minisblack", "metadata": None} | options)
    return file.getvalue()
