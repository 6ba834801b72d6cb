# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""PNM and PAM: pixels as Pillow and OpenCV have them, metadata, and words for what is wrong."""

from __future__ import annotations

import cv2
import numpy as np

import jpegs
from helpers import Array
from pictures import assert_as_pillow, decode, error_of, needs, saved
from stoker import types


def pnm(header: str, samples: Array) -> bytes:
    return header.encode() + samples.tobytes()


@needs("PNM")
def test_pnm_is_as_pillow_decodes_it() -> None:
    rng = np.random.default_rng(7)
    photo = jpegs.picture(23, 37, 2)
    low = rng.integers(0, 8, (6, 5, 3), np.uint8)
    bits = "0 1 1 0\n1 0 1 1 # a comment\n 0 0 0 1"
    assert_as_pillow(
        {
            "RGB": saved(photo, "PPM"),
            "L": saved(photo, "PPM", "L"),
            "1": saved(photo, "PPM", "1"),
            "OpenCV": cv2.imencode(".ppm", photo)[1].tobytes(),
            "OpenCV gray": cv2.imencode(".pgm", photo[..., 0])[1].tobytes(),
            "up to 7": pnm("P6\n5 6 7\n", low),
            "up to 10": pnm("P5 3 1 10 ", np.array([1, 3, 9], np.uint8)),
            "beyond": pnm("P5 3 1 10 ", np.array([11, 200, 10], np.uint8)),
            "comments": pnm("P6 #a\n5 #b\r6\n# c\n255\n", low),
            "text": b"P2 3 2 9\n" + b"1 2 3\n9 8 7",
            "text of colours": b"P3 2 1 255 " + b"1 2 3 250 251 252",
            "text of bits": f"P1 4 3\n{bits}".encode(),
            "text of bits without blanks": b"P1 4 3 011010110001",
        }
    )


@needs("PNM")
def test_pnm_of_16_bits_and_pam() -> None:
    rng = np.random.default_rng(8)
    wide = rng.integers(0, 1 << 16, (7, 9, 3), np.uint16)
    file = pnm("P6 9 7 65535\n", wide.astype(">u2"))
    (got,) = decode([file], dtype=types.UINT16)
    assert np.array_equal(got, wide)
    assert np.array_equal(got[..., ::-1], cv2.imdecode(np.frombuffer(file, np.uint8), -1))
    (narrow,) = decode([file])
    assert np.array_equal(narrow, (wide.astype(int) + 128) // 257)
    deep = rng.integers(0, 1024, (7, 9), np.uint16)
    (got,) = decode(
        [pnm("P5 9 7 1023\n", deep.astype(">u2"))], output_type=types.ANY_DATA, dtype=types.UINT16
    )
    assert np.array_equal(got[..., 0], np.round(deep / 1023 * 65535))
    pam = "P7\nWIDTH 9\nHEIGHT 7\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n"
    four = rng.integers(0, 256, (7, 9, 4), np.uint8)
    kept, rgb = (decode([pnm(pam, four)], output_type=t)[0] for t in (types.ANY_DATA, types.RGB))
    assert np.array_equal(kept, four) and np.array_equal(rgb, four[..., :3])


@needs("PNM")
def test_pnm_names_what_is_wrong() -> None:
    file = saved(jpegs.picture(60, 80, 1), "PPM")
    assert "PNM data ends prematurely" in error_of(file[:-1])
    assert "more than the limit" in error_of(b"P6 40000 40000 255\n")
    assert "it claims 0 x 5 pixels" in error_of(b"P6 0 5 255\n")
    assert "values up to 65536" in error_of(b"P6 5 5 65536\n")
    assert "expected a number" in error_of(b"P6 5 five 255\n")
    assert "no line ENDHDR" in error_of(b"P7\nWIDTH 5\nHEIGHT 5\n")
    assert "the value 12 is more than the most, 9" in error_of(b"P2 2 1 9 3 12")
