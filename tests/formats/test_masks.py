# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Masks: output_type=CLASSES gives the numbers that a file holds, whatever its format and depth."""

from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tifffile
from PIL import Image

import jpegs
import pngs
import tiffs
from bmps import bmp
from helpers import Array, make, samples_of
from pictures import decode, error_of, needs, pillow, saved, source
from stoker import fn, types
from stoker.errors import GraphError

RNG = np.random.default_rng(11)
SIZE = (13, 21)


def numbers(bits: int) -> Array:
    dtype = np.uint16 if bits > 8 else np.uint8
    return RNG.integers(0, 1 << bits, SIZE, np.uint16).astype(dtype)


def paletted(indices: Array, format_: str, **options: Any) -> bytes:
    """With colours that are not in the order of their indices, and of which some are alike."""
    image = Image.fromarray(indices, "P")
    colors = np.random.default_rng(3).integers(0, 256, (256, 3), np.uint8)
    colors[5:9] = colors[4]
    image.putpalette(colors[: options.pop("colors", 256)].tobytes())
    file = io.BytesIO()
    image.save(file, format_, **options)
    return file.getvalue()


def stored(file: bytes) -> Array:
    """What Pillow has, without a conversion."""
    with Image.open(io.BytesIO(file)) as image:
        return np.asarray(image)


def classes(file: bytes, **arguments: Any) -> Array:
    (got,) = decode([file], output_type=types.CLASSES, **arguments)
    assert got.shape[2] == 1
    return got[..., 0]


@needs("PNG")
@pytest.mark.parametrize("bits", [1, 2, 4, 8])
def test_indices_of_a_png_of_each_depth(bits: int) -> None:
    want = numbers(bits)
    file = paletted(want, "PNG", bits=bits, colors=1 << bits)
    assert file[24:26] == bytes([bits, 3]), "bits, and the colour type of palettes"
    assert np.array_equal(classes(file), want)
    assert np.array_equal(stored(file), want)


@needs("PNG")
@pytest.mark.parametrize("interlaced", [False, True])
@pytest.mark.parametrize("bits", [1, 2, 4, 8, 16])
def test_gray_levels_of_a_png_are_not_scaled(bits: int, interlaced: bool) -> None:
    want = numbers(bits)
    file = pngs.encode(want[..., None], "gray", bits, interlaced=interlaced)
    got = classes(file, dtype=types.UINT16 if bits > 8 else types.UINT8)
    assert np.array_equal(got, want)
    if bits >= 8 and not interlaced:
        assert np.array_equal(stored(file), want)


@needs("PNG")
def test_transparency_and_alpha_change_no_number() -> None:
    want = numbers(8)
    assert np.array_equal(classes(paletted(want, "PNG", transparency=0)), want)
    assert np.array_equal(classes(saved(want, "PNG", transparency=3)), want)
    alpha = np.dstack([want, numbers(8)])
    assert np.array_equal(classes(pngs.encode(alpha, "gray alpha", 8)), want)


@needs("PNG")
def test_an_index_beyond_the_palette_is_its_number() -> None:
    want = numbers(8)
    assert want.max() > 100
    assert np.array_equal(
        classes(pngs.encode(want[..., None], "palette", 8, palette=np.zeros((100, 3)))), want
    )


@needs("BMP")
@pytest.mark.parametrize("bits", [1, 4, 8])
def test_indices_of_a_bmp(bits: int) -> None:
    want = numbers(bits)
    rows = np.unpackbits(want[::-1, :, None], axis=2)[..., 8 - bits :].reshape(len(want), -1)
    rows = np.pad(rows, ((0, 0), (0, -rows.shape[1] % 32)))
    palette = RNG.integers(0, 256, 4 << bits, np.uint8).tobytes()
    assert np.array_equal(
        classes(bmp(np.packbits(rows).tobytes(), SIZE, bits, palette=palette)), want
    )


@needs("BMP")
def test_indices_of_a_bmp_by_pillow() -> None:
    want = numbers(8)
    for file in (paletted(want, "BMP"), saved(want, "BMP")):
        assert np.array_equal(classes(file), want)
        assert np.array_equal(stored(file), want)


@needs("GIF")
def test_indices_of_a_gif() -> None:
    want = numbers(8)
    file = paletted(want, "GIF", optimize=False, interlace=1)
    assert np.array_equal(classes(file), stored(file))
    assert np.array_equal(classes(file), want)


@needs("TIFF")
@pytest.mark.parametrize("compression", ["raw", "tiff_lzw", "tiff_adobe_deflate", "packbits"])
def test_numbers_of_a_tiff(compression: str) -> None:
    want = numbers(8)
    assert np.array_equal(classes(paletted(want, "TIFF", compression=compression)), want)
    assert np.array_equal(classes(saved(want, "TIFF", compression=compression)), want)
    wide = numbers(16)
    file = saved(wide, "TIFF", compression=compression)
    assert np.array_equal(classes(file, dtype=types.UINT16), wide)
    assert np.array_equal(stored(file), wide)
    bits = numbers(1)
    file = saved(bits * 255, "TIFF", "1", compression=compression)
    assert np.array_equal(classes(file), bits)
    assert np.array_equal(classes(file), stored(file))


@needs("TIFF")
@pytest.mark.parametrize("bits", [1, 8, 16])
def test_black_is_0_in_a_tiff_that_counts_from_white(bits: int) -> None:
    want = numbers(bits)
    most = want.dtype.type((1 << bits) - 1)
    file = io.BytesIO()
    flipped = most - want
    data = flipped.astype(bool) if bits == 1 else flipped
    tifffile.imwrite(file, data, photometric="miniswhite")
    got = classes(file.getvalue(), dtype=types.UINT16)
    assert np.array_equal(got, want)


@needs("PNM")
def test_numbers_of_a_pnm_are_not_scaled() -> None:
    low = numbers(2)
    assert np.array_equal(classes(b"P5 21 13 3 " + low.tobytes()), low)
    text = " ".join(map(str, low.ravel())).encode()
    assert np.array_equal(classes(b"P2 21 13 3\n" + text), low)
    wide = numbers(10)
    file = b"P5 21 13 1023 " + wide.astype(">u2").tobytes()
    assert np.array_equal(classes(file, dtype=types.UINT16), wide)
    pam = b"P7\nWIDTH 21\nHEIGHT 13\nDEPTH 2\nMAXVAL 255\nTUPLTYPE GRAYSCALE_ALPHA\nENDHDR\n"
    eight = numbers(8)
    assert np.array_equal(classes(pam + np.dstack([eight, low]).tobytes()), eight)


@needs("PNM")
def test_white_is_1_in_a_pbm_as_in_pillow() -> None:
    bits = numbers(1)
    file = saved(bits * 255, "PPM", "1")
    assert file.startswith(b"P4")
    assert np.array_equal(classes(file), bits)
    assert np.array_equal(classes(file), stored(file))
    assert classes(b"P1 4 1 0110").tolist() == [[1, 0, 0, 1]]


@needs("PNG")
@pytest.mark.parametrize("dtype", ["int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_every_whole_dtype_that_holds_the_numbers(dtype: str) -> None:
    want = numbers(8)
    got = classes(saved(want, "PNG"), dtype=dtype)
    assert got.dtype == dtype and np.array_equal(got, want)


@needs("PNG")
def test_a_number_that_does_not_fit_fails_its_sample() -> None:
    wide = np.zeros(SIZE, np.uint16)
    wide[4, 7] = 514
    words = error_of(saved(wide, "PNG"), output_type=types.CLASSES)
    assert "the class number 514 in row 4, column 7 does not fit uint8" in words
    assert "types.UINT16" in words
    assert np.array_equal(classes(saved(wide, "PNG"), dtype=types.INT32), wide)
    wide[4, 7] = 255
    assert np.array_equal(classes(saved(wide, "PNG")), wide), "all of them fit"
    words = error_of(saved(numbers(8) | 128, "PNG"), output_type=types.CLASSES, dtype=types.INT8)
    assert "does not fit int8" in words


@needs("PNG")
def test_what_is_not_wanted_need_not_fit() -> None:
    wide = np.zeros(SIZE, np.uint16)
    wide[4, 7] = 514

    def crop(x: int) -> Any:
        return {"crop": (5, 5), "crop_pos_x": x, "crop_pos_y": 0.0, "output_type": types.CLASSES}

    (right,) = decode([saved(wide, "PNG")], fn.decoders.image_crop, **crop(1))
    assert not right.any()

    def define() -> Any:
        encoded = fn.external_source(source([saved(wide, "PNG")]), batch=False)
        return fn.crop(fn.decoders.image(encoded, output_type=types.CLASSES), crop=(3, 21))

    (middle,) = samples_of(make(define).run())[0]
    assert not middle.any()


@needs("PNG")
def test_floats_hold_no_classes() -> None:
    with pytest.raises(GraphError, match=r"float32, expected an integer type for class numbers"):
        decode([saved(numbers(8), "PNG")], output_type=types.CLASSES, dtype=types.FLOAT)


LOSSY = {"JPEG": "JPEG", "JPEG 2000": "JPEG2000", "AVIF": "AVIF", "HEIF": "HEIF"}


@pytest.mark.parametrize("name", [pytest.param(n, marks=needs(n)) for n in LOSSY])
def test_formats_with_loss_are_refused(name: str) -> None:
    words = error_of(saved(jpegs.picture(24, 16), LOSSY[name], "L"), output_type=types.CLASSES)
    assert "expected a mask" in words and f"this {name} " in words and "save masks as PNG" in words


@needs("JPEG")
def test_a_tiff_with_loss_is_refused() -> None:
    photo = jpegs.picture(24, 16)
    words = error_of(saved(photo, "TIFF", "L", compression="jpeg"), output_type=types.CLASSES)
    assert "this TIFF may have changed the numbers" in words
    file = io.BytesIO()
    tifffile.imwrite(file, photo[..., 0].astype(np.float32))
    assert "this TIFF holds floats" in error_of(file.getvalue(), output_type=types.CLASSES)
    five = tiffs.encode(np.dstack([photo, photo[..., :2]]))
    assert "this TIFF has 5 channels" in error_of(five, output_type=types.CLASSES)


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=needs(n)) for n in ("PNG", "BMP", "TIFF", "PNM", "WebP")]
)
def test_colours_are_refused(name: str) -> None:
    file = saved(jpegs.picture(24, 16), {"PNM": "PPM"}.get(name, name.upper()))
    words = error_of(file, output_type=types.CLASSES)
    assert f"this {name} has 3 channels" in words
    assert "save masks as PNG, with a palette or gray" in words


@needs("PNG")
def test_any_data_still_gives_the_colours() -> None:
    indices = numbers(4)
    file = paletted(indices, "PNG")
    (any_data,) = decode([file], output_type=types.ANY_DATA)
    assert np.array_equal(any_data, pillow(file))


@needs("PNG")
def test_decoders_of_windows_give_the_same_numbers() -> None:
    want = numbers(8)
    file = paletted(want, "PNG")
    (slice_,) = decode(
        [file],
        lambda x, **a: fn.decoders.image_slice(x, start=(2, 1), end=(9, 8), **a),
        output_type=types.CLASSES,
    )
    assert np.array_equal(slice_[..., 0], want[1:8, 2:9])
    (random,) = decode(
        [file],
        fn.decoders.image_random_crop,
        output_type=types.CLASSES,
        random_area=(0.2, 0.5),
        seed=5,
    )
    (gray,) = decode(
        [saved(want, "PNG")],
        fn.decoders.image_random_crop,
        output_type=types.GRAY,
        random_area=(0.2, 0.5),
        seed=5,
    )
    assert np.array_equal(random, gray)


@needs("TIFF")
def test_a_turned_mask_is_turned() -> None:
    want = numbers(8)
    file = paletted(want, "TIFF", tiffinfo={274: 6})
    assert np.array_equal(classes(file), np.rot90(want, -1))
    assert np.array_equal(classes(file, adjust_orientation=False), want)


@needs("PNG")
def test_real_masks(test_data: Path) -> None:
    folder = test_data / "containers" / "masks"
    for record in json.loads((folder / "expected.json").read_text("utf-8"))["records"]:
        dtype = np.dtype(record["dtype"])
        got = classes((folder / record["file"]).read_bytes(), dtype=str(dtype))
        assert list(got.shape) == record["shape"]
        assert sorted(set(got.ravel().tolist())) == record["values"], record["file"]
        digest = hashlib.sha256(np.ascontiguousarray(got.astype(dtype)).tobytes())
        assert digest.hexdigest() == record["sha256"], record["file"]
