# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""BMP: pixels as Pillow and OpenCV have them, metadata, and words for what is wrong."""

from __future__ import annotations

import cv2
import numpy as np

import jpegs
from bmps import bmp
from pictures import assert_as_pillow, decode, error_of, needs, pillow, saved
from stoker import types


def bmp_files(rng: np.random.Generator) -> dict[str, bytes]:
    photo = jpegs.picture(37, 53, 2)
    palette = rng.integers(0, 256, (256, 4), np.uint8).tobytes()
    words = rng.integers(0, 1 << 16, (20, 32), np.uint16).tobytes()
    longs = rng.integers(0, 1 << 32, (20, 31), np.uint32).tobytes()
    nibbles = rng.integers(0, 256, (20, 16), np.uint8).tobytes()
    return {
        "RGB": saved(photo, "BMP"),
        "L": saved(photo, "BMP", "L"),
        "1": saved(photo, "BMP", "1"),
        "P": saved(photo, "BMP", "P"),
        "OpenCV": cv2.imencode(".bmp", photo)[1].tobytes(),
        "OpenCV gray": cv2.imencode(".bmp", photo[..., 0])[1].tobytes(),
        "OpenCV BGRA": cv2.imencode(".bmp", np.dstack([photo, photo[..., 0]]))[1].tobytes(),
        "555": bmp(words, (20, 32), 16),
        "555 from the top": bmp(words, (-20, 32), 16),
        "565": bmp(words, (20, 32), 16, compression=3, masks=(0xF800, 0x7E0, 0x1F)),
        "32": bmp(longs, (20, 31), 32),
        "32 of masks": bmp(
            longs, (20, 31), 32, compression=3, masks=(0xFF << 24, 0xFF0000, 0xFF00)
        ),
        "4": bmp(nibbles, (20, 31), 4, palette=palette[:64]),
        "4 of few colours": bmp(bytes(320), (20, 31), 4, palette=palette[:8]),
        "1 of two colours": bmp(nibbles[:80], (20, 31), 1, palette=palette[:8]),
        "old": bmp(nibbles[:80], (20, 4), 8, palette=palette[: 3 * 256], header=12),
        "RLE8": bmp(
            b"\x05\x07\x00\x05\x01\x02\x03\x04\x05\x00\x00\x00\x0a\x09\x00\x00"
            b"\x03\x08\x00\x00\x00\x02\x02\x01\x04\x06\x00\x00\x00\x01",
            (5, 10),
            8,
            compression=1,
            palette=palette,
        ),
        "RLE4": bmp(
            b"\x05\x71\x00\x05\x12\x34\x50\x00\x00\x00\x0a\x29\x00\x02\x03\x01\x07\x5a\x00\x01",
            (4, 10),
            4,
            compression=2,
            palette=palette[:64],
        ),
    }


@needs("BMP")
def test_bmp_is_as_pillow_decodes_it() -> None:
    assert_as_pillow(bmp_files(np.random.default_rng(5)))


@needs("BMP")
def test_bmp_keeps_its_channels() -> None:
    rng = np.random.default_rng(6)
    longs = rng.integers(0, 1 << 32, (9, 7), np.uint32)
    masks = (0xFF0000, 0xFF00, 0xFF, 0xFF000000)
    file = bmp(longs.tobytes(), (9, 7), 32, compression=3, masks=masks, header=124)
    files = [file, *(bmp_files(rng)[n] for n in ("L", "P", "1", "RGB"))]
    got = decode(files, output_type=types.ANY_DATA)
    assert [g.shape[2] for g in got] == [4, 1, 3, 1, 3]
    assert np.array_equal(got[0], pillow(file, "RGBA"))


@needs("BMP")
def test_bmp_names_what_is_wrong() -> None:
    file = saved(jpegs.picture(60, 80, 1), "BMP")
    assert "BMP data is damaged: it ends prematurely" in error_of(file[:-2])
    assert "BMP header is damaged: it ends too early" in error_of(file[:30])
    assert "more than the limit" in error_of(bmp(b"", (40000, 40000), 24))
    assert "it claims 0 x 5 pixels" in error_of(bmp(b"", (5, 0), 24))
    assert "BMP of 0 bits" in error_of(bmp(b"", (5, 5), 0))
    assert "BMP of 8 bits and the compression 4" in error_of(bmp(b"", (5, 5), 8, compression=4))
    assert "side by side" in error_of(bmp(b"", (5, 5), 16, compression=3, masks=(5, 2, 8)))
    assert "too many pixels" in error_of(
        bmp(b"\0\x1e" + bytes(30), (5, 5), 8, compression=1, palette=bytes(1024))
    )
