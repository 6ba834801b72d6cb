# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Lossless JPEG: samples as they were written, and as imagecodecs writes and reads them."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import imagecodecs
import numpy as np
import pytest

import jpegs
import lossless_jpegs
from helpers import Array, make
from pictures import decode, error_of, pillow_of_inverted_cmyk, source
from stoker import fn, types
from stoker.errors import SampleError


def photo(bits: int, channels: int = 1, size: tuple[int, int] = (25, 37)) -> Array:
    """Slopes and noise that fill all values."""
    rng = np.random.default_rng(bits)
    y, x = np.mgrid[: size[0], : size[1]]
    slope = np.add.outer((y * 3 + x * 5) << max(0, bits - 8), np.arange(channels) * 40)
    noise = rng.integers(0, 1 << bits, slope.shape) >> (bits // 2)
    noise[3, 3] = 0
    noise[3, 4] = (1 << bits) - 1
    return np.asarray((slope * (y + x > 9)[..., None] + noise) % (1 << bits))


def wanted(samples: Array, bits: int) -> Array:
    """Scaled to 8 or 16 bits."""
    full = 65535 if bits > 8 else 255
    scaled = np.rint(samples / ((1 << bits) - 1) * full)
    return scaled.astype(np.uint16 if bits > 8 else np.uint8)


def planes_of(pixels: Array) -> list[Array]:
    return [pixels[..., c] for c in range(pixels.shape[2])]


def raw(file: bytes, bits: int) -> Array:
    dtype = types.UINT16 if bits > 8 else types.UINT8
    return decode([file], output_type=types.ANY_DATA, dtype=dtype)[0]


@pytest.mark.parametrize("bits", range(2, 17))
def test_all_depths(bits: int) -> None:
    for channels in (1, 3):
        pixels = photo(bits, channels)
        file = lossless_jpegs.encode(planes_of(pixels), pixels.shape[:2], bits, predictor=6)
        assert np.array_equal(raw(file, bits), wanted(pixels, bits)), channels
    if bits > 8:
        (got,) = decode([file])
        deep = wanted(pixels, bits).astype(np.int64)
        assert np.array_equal(got, (deep + 128) // 257)


@pytest.mark.parametrize("predictor", range(1, 8))
def test_all_predictors(predictor: int) -> None:
    for bits, shift in ((8, 0), (16, 0), (8, 3), (16, 1), (12, 4)):
        for restart_rows in (0, 1, 3):
            pixels = photo(bits, 3)
            file = lossless_jpegs.encode(
                planes_of(pixels),
                pixels.shape[:2],
                bits,
                predictor=predictor,
                shift=shift,
                restart_rows=restart_rows,
            )
            want = wanted(pixels >> shift << shift, bits)
            assert np.array_equal(raw(file, bits), want), (bits, shift, restart_rows)
            judge = imagecodecs.jpeg8_decode(file)  # libjpeg-turbo 3
            assert np.array_equal(wanted(judge, bits), want), (bits, shift, restart_rows)


SAMPLINGS = [
    [(2, 2), (1, 1), (1, 1)],
    [(1, 2), (1, 1), (1, 1)],
    [(2, 1), (1, 1), (2, 1)],
    [(1, 1), (2, 2), (1, 1)],
    [(4, 1), (2, 1), (1, 1)],
    [(1, 1), (1, 1), (1, 1)],
]


@pytest.mark.parametrize("interleaved", [True, False])
def test_subsampled_components_and_scans(interleaved: bool) -> None:
    for i, sampling in enumerate(SAMPLINGS):
        most = (max(v for v, _ in sampling), max(h for _, h in sampling))
        pixels = photo(8, 3, (23 + i, 30 + i))
        size = pixels.shape[:2]
        planes = [
            lossless_jpegs.subsampled(p, f, most)
            for p, f in zip(planes_of(pixels), sampling, strict=True)
        ]
        file = lossless_jpegs.encode(
            planes,
            size,
            8,
            predictor=1 + i,
            sampling=sampling,
            interleaved=interleaved,
            restart_rows=2 * (i % 2),
        )
        want = np.dstack(
            [
                lossless_jpegs.upsampled(p, size, f, most)
                for p, f in zip(planes, sampling, strict=True)
            ]
        )
        (got,) = decode([file])
        assert np.array_equal(got, want), sampling
        place = {"crop": [9, 11], "crop_pos_x": 0.4, "crop_pos_y": 0.3}
        (part,) = decode([file], fn.decoders.image_crop, **place)
        top, left = int((size[0] - 9) * 0.3 + 0.5), int((size[1] - 11) * 0.4 + 0.5)
        assert np.array_equal(part, want[top : top + 9, left : left + 11])


def test_colours() -> None:
    pixels = photo(8, 4).astype(np.uint8)
    size = pixels.shape[:2]
    ink = lossless_jpegs.encode(planes_of(pixels), size, 8)
    assert np.array_equal(decode([ink], output_type=types.ANY_DATA)[0], 255 - pixels)
    assert np.array_equal(decode([ink])[0], pillow_of_inverted_cmyk(pixels))
    two = lossless_jpegs.encode(planes_of(pixels[..., :2]), size, 8)
    assert np.array_equal(decode([two], output_type=types.ANY_DATA)[0], pixels[..., :2])
    assert "2 components" in error_of(two)
    smooth = np.array(jpegs.picture(*size, 2))
    marked = lossless_jpegs.encode(planes_of(smooth), size, 8, before=lossless_jpegs.ADOBE_YCBCR)
    y, cb, cr = (smooth[..., c].astype(float) for c in range(3))
    want = np.dstack(
        [
            y + 1.402 * (cr - 128),
            y - 0.344136 * (cb - 128) - 0.714136 * (cr - 128),
            y + 1.772 * (cb - 128),
        ]
    ).clip(0, 255)
    (got,) = decode([marked])
    assert np.abs(got - want).max() <= 0.6
    gray = lossless_jpegs.encode([smooth[..., 0]], size, 8)
    assert np.array_equal(decode([gray])[0], np.dstack([smooth[..., 0]] * 3))


def test_files_of_libjpeg() -> None:
    """imagecodecs brings a libjpeg-turbo 3 that writes them."""
    for bits in (2, 5, 8, 10, 12, 14, 16):
        dtype = np.uint8 if bits <= 8 else np.uint16
        for channels in (1, 3):
            pixels = photo(bits, channels, (41, 53)).astype(dtype)
            for predictor in range(1, 8):
                plain = pixels[..., 0] if channels == 1 else pixels
                file = imagecodecs.jpeg8_encode(
                    plain, lossless=True, predictor=predictor, bitspersample=bits
                )
                assert np.array_equal(raw(file, bits), wanted(pixels, bits)), (bits, predictor)
    for bits in (8, 12, 16):
        plain = photo(bits, 1, (41, 53)).astype(np.uint8 if bits == 8 else np.uint16)[..., 0]
        file = imagecodecs.ljpeg_encode(plain, bitspersample=bits)
        assert np.array_equal(raw(file, bits)[..., 0], wanted(plain, bits)), bits


def test_words_for_what_is_wrong() -> None:
    pixels = photo(8, 1)
    file = lossless_jpegs.encode(planes_of(pixels), pixels.shape[:2], 8, restart_rows=5)
    half = len(file) // 2
    said = error_of(file[:half])
    assert "ends prematurely" in said and f"at byte {half}:" in said
    (got,) = decode([file[:-2]])
    assert np.array_equal(got[..., 0], pixels[..., 0])
    scan = file.index(b"\xff\xda")
    assert "Huffman table that is not there" in error_of(
        file[: scan + 6] + b"\x10" + file[scan + 7 :]
    )
    assert "predictor 9" in error_of(file[: scan + 7] + b"\x09" + file[scan + 8 :])
    more = file[:-2] + b"\x55" * 20 + file[-2:]
    assert "goes on behind the picture" in error_of(more)
    restart = file.index(b"\xff\xd1")
    assert "no restart marker" in error_of(file[: restart + 1] + b"\xd5" + file[restart + 2 :])
    rows = file.index(b"\xff\xdd") + 4
    assert "within rows is not supported" in error_of(file[:rows] + b"\0\7" + file[rows + 2 :])
    (part,) = decode([file[: len(file) // 2]], tolerate_corrupt=True)
    assert np.array_equal(part[:5], np.dstack([pixels[:5]] * 3)) and not part[-1].any()
    # Damage behind the wanted rows does no harm.
    (top,) = decode([file[: len(file) // 2]], fn.decoders.image_crop, crop=[5, 37], crop_pos_y=0)
    assert np.array_equal(top[..., 0], pixels[:5, :, 0])


def test_memory_is_that_of_the_sample() -> None:
    """Components in scans of their own are kept as a whole, also for a small window."""
    pixels = photo(8, 3)
    file = lossless_jpegs.encode(planes_of(pixels), pixels.shape[:2], 8, interleaved=False)
    at = file.index(b"\xff\xc3") + 5
    file = file[:at] + struct.pack(">HH", 9000, 9000) + file[at + 4 :]

    def define() -> Any:
        encoded = fn.external_source(source([file]), batch=False)
        return fn.decoders.image_crop(encoded, crop=[16, 16], crop_pos_y=1.0)

    with pytest.raises(SampleError, match="memory_limit"):
        make(define, memory_limit=256 << 20).run()


def test_real_files(test_data: Path) -> None:
    paths = sorted((test_data / "images/jpeg_lossless").glob("*.jpg"))
    assert len(paths) == 2
    for path in paths:
        file = path.read_bytes()
        want = np.asarray(imagecodecs.jpegsof3_decode(file))
        assert np.array_equal(raw(file, 8 * want.itemsize)[..., 0], want), path.name
        (eight,) = decode([file], output_type=types.GRAY)
        right = (want.astype(np.int64) + 128) // 257 if want.itemsize == 2 else want
        assert np.array_equal(eight[..., 0], right), path.name
