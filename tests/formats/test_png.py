# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""PNG: pixels as Pillow and OpenCV have them, metadata, and words for what is wrong."""

from __future__ import annotations

import io
import struct
import zlib
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from PIL import Image

import jpegs
import pngs
from helpers import Array, make
from pictures import assert_as_pillow, decode, error_of, needs, pillow, saved
from stoker import fn, types
from stoker.errors import SampleError


def png_files(rng: np.random.Generator) -> dict[str, tuple[bytes, Array]]:
    """Files of every kind, and what ANY_DATA gives of each."""
    files = {}
    for color, depths in pngs.DEPTHS.items():
        for depth in depths:
            for interlaced in (False, True):
                height, width = rng.integers(1, 40, 2) if interlaced else rng.integers(30, 90, 2)
                pixels = pngs.samples(rng, int(height), int(width), color, depth)
                palette = rng.integers(0, 256, (1 << depth, 3)) if color == "palette" else None
                file = pngs.encode(pixels, color, depth, interlaced=interlaced, palette=palette)
                if palette is not None:
                    want = palette[pixels[..., 0]].astype(np.uint8)
                elif depth == 16:
                    want = pixels
                else:
                    want = (pixels * (255 // ((1 << depth) - 1))).astype(np.uint8)
                files[f"{color} {depth} {'interlaced' if interlaced else ''}"] = file, want
    return files


@needs("PNG")
def test_png_of_every_kind_is_exact() -> None:
    files = png_files(np.random.default_rng(1))
    assert len(files) == 30
    for depth, dtype in ((8, types.UINT8), (16, types.UINT16)):
        got = decode([f for f, _ in files.values()], output_type=types.ANY_DATA, dtype=dtype)
        for (name, (_, want)), g in zip(files.items(), got, strict=True):
            if depth == 8 and want.dtype == np.uint16:
                want = ((want.astype(np.int64) + 128) // 257).astype(np.uint8)
            elif depth == 16 and want.dtype == np.uint8:
                want = want.astype(np.uint16) * 257
            assert g.dtype == want.dtype and np.array_equal(g, want), name


@needs("PNG")
def test_png_is_as_pillow_and_opencv_decode_it() -> None:
    rng = np.random.default_rng(2)
    photo = jpegs.picture(75, 98, 3)
    alpha = np.dstack([photo, photo[..., :1]])
    files = {n: f for n, (f, _) in png_files(rng).items() if " 16" not in n}
    files |= {
        "saved": saved(photo, "PNG"),
        "saved best": saved(photo, "PNG", optimize=True),
        "saved fast": saved(photo, "PNG", compress_level=1),
        "saved raw": saved(photo, "PNG", compress_level=0),
        "saved RGBA": saved(alpha, "PNG"),
        "saved LA": saved(alpha, "PNG", "LA"),
        "saved 1": saved(photo, "PNG", "1"),
        "saved P": saved(photo, "PNG", "P"),
        "OpenCV": cv2.imencode(".png", photo)[1].tobytes(),
        "OpenCV RGBA": cv2.imencode(".png", alpha)[1].tobytes(),
    }
    for bits in (1, 2, 4):
        few = Image.fromarray(photo).quantize(1 << bits)
        file = io.BytesIO()
        few.save(file, "PNG", bits=bits, transparency=0)
        files[f"saved P of {bits} bits"] = file.getvalue()
    assert_as_pillow(files)
    deep = (photo.astype(np.uint16) * 251) ^ rng.integers(0, 999, photo.shape, np.uint16)
    for pixels in (deep, deep[..., 0], np.dstack([deep, deep[..., :1]])):
        file = cv2.imencode(".png", pixels)[1].tobytes()
        (got,) = decode([file], output_type=types.ANY_DATA, dtype=types.UINT16)
        want = pixels[..., None] if pixels.ndim == 2 else pixels
        assert np.array_equal(
            got, want[..., [2, 1, 0, 3][: want.shape[2]]] if want.shape[2] > 1 else want
        )


@needs("PNG")
def test_png_transparency_is_alpha_where_all_channels_are_kept() -> None:
    rng = np.random.default_rng(3)
    for color, depth in (("gray", 2), ("gray", 8), ("gray", 16), ("rgb", 8), ("rgb", 16)):
        pixels = pngs.samples(rng, 20, 30, color, depth)
        pixels[5:9] = pixels[3, 3]
        key = struct.pack(f">{pngs.CHANNELS[color]}H", *pixels[3, 3].tolist())
        file = pngs.encode(pixels, color, depth, transparency=key)
        dtype = types.UINT16 if depth == 16 else types.UINT8
        (got,) = decode([file], output_type=types.ANY_DATA, dtype=dtype)
        full = np.iinfo(got.dtype).max
        want = np.where((pixels == pixels[3, 3]).all(-1), 0, full)
        assert np.array_equal(got[..., -1], want), (color, depth)
        if depth <= 8:
            assert np.array_equal(decode([file])[0], pillow(file))
    palette = rng.integers(0, 256, (16, 3))
    pixels = pngs.samples(rng, 20, 30, "palette", 4)
    file = pngs.encode(pixels, "palette", 4, palette=palette, transparency=bytes([9, 0, 200]))
    (got,) = decode([file], output_type=types.ANY_DATA)
    assert np.array_equal(got, pillow(file, "RGBA"))
    assert np.array_equal(decode([file])[0], pillow(file))


@needs("PNG")
def profile(exif: bytes, chunk: str) -> bytes:
    """EXIF in a text, as ImageMagick writes it."""
    digits = exif.hex()
    lines = [digits[i : i + 72] for i in range(0, len(digits), 72)]
    text = "\n".join(["", "exif", f"{len(exif):8}", *lines, ""]).encode()
    packed = b"\0" + zlib.compress(text) if chunk == "zTXt" else text
    return pngs.chunk(chunk.encode(), b"Raw profile type exif\0" + packed)


@pytest.mark.parametrize("place", ["before", "behind", "xmp", "tEXt", "zTXt"])
def test_png_is_turned_as_its_metadata_says(place: str) -> None:
    photo = jpegs.picture(31, 47, 5)
    for orientation in range(1, 9):
        exif = Image.Exif()
        exif[0x0112] = orientation
        if place == "xmp":
            words = f'<rdf tiff:Orientation="{orientation}"/>'.encode()
            extra = pngs.chunk(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + words)
        elif place in ("tEXt", "zTXt"):
            extra = profile(exif.tobytes(), place)
        else:
            extra = pngs.chunk(b"eXIf", exif.tobytes()[6:])
        where = {"behind" if place == "behind" else "before": extra}
        file = pngs.encode(photo.astype(np.uint16), "rgb", 8, **where)  # type: ignore[arg-type]
        got, plain = decode([file])[0], decode([file], adjust_orientation=False)[0]
        assert np.array_equal(got, pillow(file)), orientation
        assert np.array_equal(plain, photo)


@needs("PNG")
def test_png_passes_over_texts_that_are_no_profile() -> None:
    photo = jpegs.picture(31, 47, 5)
    exif = Image.Exif()
    exif[0x0112] = 6
    good = profile(exif.tobytes(), "zTXt")
    upright = Image.Exif()
    upright[0x0112] = 1
    modern = pngs.chunk(b"eXIf", upright.tobytes()[6:])
    long = b"Raw profile type exif\0\0" + zlib.compress(b"\nexif\n 9\n" + b"0" * (1 << 20))
    texts = {
        "wrong checksum": good[:-1] + b"\0",
        "cut": pngs.chunk(b"zTXt", good[8:-20]),
        "no digits": pngs.chunk(b"tEXt", b"Raw profile type exif\0\nexif\n 4\n00zz"),
        "no lines": pngs.chunk(b"tEXt", b"Raw profile type exif\0" + exif.tobytes().hex().encode()),
        "empty": pngs.chunk(b"zTXt", b"Raw profile type exif\0"),
        "too long": pngs.chunk(b"zTXt", long),
        "beside eXIf": good + modern,
    }
    for name, text in texts.items():
        file = pngs.encode(photo.astype(np.uint16), "rgb", 8, before=text)
        assert np.array_equal(decode([file])[0], photo), name
    file = pngs.encode(photo.astype(np.uint16), "rgb", 8, before=good)
    assert np.array_equal(decode([file])[0], np.rot90(photo, -1))


@needs("PNG")
def test_png_names_what_is_wrong(tmp_path: Path) -> None:
    file = saved(jpegs.picture(60, 80, 1), "PNG")
    assert "PNG data is damaged: the file ends prematurely" in error_of(file[: len(file) // 2])
    middle = bytearray(file)
    middle[len(file) // 2] ^= 1
    assert "the checksum of a chunk of its data is wrong" in error_of(bytes(middle))
    bomb = pngs.chunk(b"IHDR", struct.pack(">IIBBBBB", 30000, 30000, 8, 2, 0, 0, 0))
    message = error_of(file[:8] + bomb + file[33:])
    assert "30000 x 30000 = 900000000 pixels, more than the limit" in message
    large = pngs.chunk(b"IHDR", struct.pack(">IIBBBBB", 16000, 16000, 8, 2, 0, 0, 0))
    with pytest.raises(SampleError, match="memory"):
        path = tmp_path / "large.png"
        path.write_bytes(file[:8] + large + file[33:])

        def define() -> Any:
            return fn.decoders.image(fn.readers.file(files=[str(path)])[0])

        make(define, memory_limit=64 << 20).run()
