# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""GIF: pixels as Pillow and OpenCV have them, metadata, and words for what is wrong."""

from __future__ import annotations

import io
import struct

import cv2
import numpy as np
from PIL import Image

import jpegs
from pictures import assert_as_pillow, decode, error_of, needs, pillow, saved
from stoker import types


def gif_files() -> dict[str, bytes]:
    photo = jpegs.picture(61, 83, 4)
    paletted = Image.fromarray(photo).quantize(64)
    small = paletted.crop((10, 12, 40, 50))
    files = {
        "P": saved(photo, "GIF"),
        "L": saved(photo, "GIF", "L"),
        "1": saved(photo, "GIF", "1"),
        "plain": saved(photo, "GIF", interlace=0),
        "transparent": saved(np.asarray(paletted), "GIF", "P", transparency=7),
        "noise": saved(np.random.default_rng(1).integers(0, 256, (200, 200), np.uint8), "GIF"),
        "flat": saved(np.zeros((300, 300), np.uint8), "GIF"),
        "OpenCV": cv2.imencode(".gif", photo)[1].tobytes(),
    }
    for name, options in {"animated": {}, "one of two": {"transparency": 3}}.items():
        file = io.BytesIO()
        paletted.save(file, "GIF", save_all=True, append_images=[paletted.rotate(180)], **options)
        files[name] = file.getvalue()
    # A frame that is smaller than its canvas, with and without transparency.
    for name, options in {"small": {}, "small transparent": {"transparency": 5}}.items():
        file = io.BytesIO()
        small.save(file, "GIF", **options)
        bytes_ = bytearray(file.getvalue())
        bytes_[6:10] = struct.pack("<HH", 50, 60)
        at = bytes_.index(b",\0\0\0\0")
        bytes_[at + 1 : at + 5] = struct.pack("<HH", 11, 13)
        files[name] = bytes(bytes_)
    return files


@needs("GIF")
def test_gif_is_as_pillow_decodes_it() -> None:
    files = gif_files()
    assert_as_pillow(files)
    (got,) = decode([files["transparent"]], output_type=types.ANY_DATA)
    assert np.array_equal(got, pillow(files["transparent"], "RGBA"))


@needs("GIF")
def test_gif_names_what_is_wrong() -> None:
    file = saved(jpegs.picture(60, 80, 1), "GIF")
    assert "GIF data ends prematurely" in error_of(file[: len(file) // 2])
    assert "GIF data ends prematurely" in error_of(file[:8])
    assert "GIF data is damaged: it has no picture" in error_of(b"GIF89a" + bytes(7) + b";")
    at = file.index(b",\0\0\0\0")
    broken = bytearray(file)
    broken[at + 10] = 13
    assert "its codes have 13 bits" in error_of(bytes(broken))
    top = decode([file[: len(file) // 2]], tolerate_corrupt=True)[0]
    assert np.array_equal(top[0], decode([file])[0][0])
