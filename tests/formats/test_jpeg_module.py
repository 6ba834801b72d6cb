# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""stoker.jpeg: the pixels of the decoder in pipelines, with an index or without."""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import jpegs
from helpers import Array, make, samples_of
from pictures import decode as by_pipeline
from pictures import source
from stoker import _core, fn, jpeg, types
from stoker.errors import SampleError

PICTURE = jpegs.picture(150, 210)
PLAIN = ("444", "422", "440", "420", "411", "gray", "restart", "restart rows", "optimised")
WINDOWS = ((0, 0, 150, 210), (100, 50, 131, 203), (149, 209, 150, 210), (33, 0, 97, 17))


def uses_index(file: bytes, window: Sequence[int], index: bytes) -> bool:
    """What decode() does, which does not tell."""
    request = {
        "output_type": "RGB",
        "adjust_orientation": True,
        "window": tuple(window),
        "size": None,
    }
    shape, dtype = _core.jpeg_output(file, request)
    return _core.jpeg_decode(file, request, index, np.empty(shape, dtype))


@pytest.mark.parametrize("kind", jpegs.KINDS)
def test_pixels_are_those_of_a_pipeline(kind: str) -> None:
    file = jpegs.encode(PICTURE, kind)
    [whole] = by_pipeline([file])
    assert np.array_equal(jpeg.decode(file), whole)
    index = jpeg.build_index(file) if kind in PLAIN or kind == "coarse" else None
    for y0, x0, y1, x1 in WINDOWS:
        want = whole[y0:y1, x0:x1]
        assert np.array_equal(jpeg.decode(file, (y0, x0, y1, x1)), want)
        if index:
            assert np.array_equal(jpeg.decode(file, (y0, x0, y1, x1), index=index), want)
            assert uses_index(file, (y0, x0, y1, x1), index) == (want.shape != whole.shape)


@pytest.mark.parametrize("output", ["RGB", "BGR", "GRAY", "YCbCr", "ANY_DATA"])
def test_output_types_and_orientations_are_those_of_a_pipeline(output: str) -> None:
    for turned in range(9):
        file = jpegs.encode(PICTURE, exif_orientation=turned)
        index = jpeg.build_index(file, every=4)
        for adjusts in (True, False):
            wanted: dict[str, Any] = {"output_type": output, "adjust_orientation": adjusts}
            [whole] = by_pipeline([file], **wanted)
            got = jpeg.decode(file, (70, 20, 140, 149), index=index, **wanted)
            assert np.array_equal(got, whole[70:140, 20:149])
    assert np.array_equal(jpeg.decode(file, output_type=types.BGR), jpeg.decode(file)[..., ::-1])


@pytest.mark.parametrize("size", [(32, 40), (300, 17), (1, 1), (60, 60)])
def test_sizes_are_those_of_fn_resize(size: tuple[int, int]) -> None:
    file = jpegs.encode(PICTURE)

    def define() -> Any:
        picture = fn.decoders.image(fn.external_source(source([file]), batch=False))
        return fn.resize(fn.crop(picture, crop=[60, 60], crop_pos_x=0, crop_pos_y=1), size=size)

    want: Array = samples_of(make(define).run())[0][0]
    window = (90, 0, 150, 60)
    assert np.array_equal(jpeg.decode(file, window, size), want)
    assert np.array_equal(jpeg.decode(file, window, size, index=jpeg.build_index(file)), want)


def test_info_is_that_of_the_file() -> None:
    file = jpegs.encode(PICTURE, "420", exif_orientation=6)
    assert jpeg.peek(file) == jpeg.Info(210, 150, 3, 6, "uint8", False, True)
    assert jpeg.peek(file, adjust_orientation=False)[:2] == (150, 210)
    assert jpeg.peek(file[: jpegs.scan_start(file)]).is_plain
    assert jpeg.peek(jpegs.encode(PICTURE, "progressive")).is_progressive
    assert not jpeg.peek(jpegs.encode(PICTURE, "progressive")).is_plain
    assert jpeg.peek(jpegs.encode(PICTURE, "gray")).channels == 1
    assert jpeg.peek(jpegs.encode(PICTURE, "cmyk")).channels == 4


def test_any_buffer_is_a_file(tmp_path: Path) -> None:
    file = jpegs.encode(PICTURE)
    want = jpeg.decode(file)
    index = jpeg.build_index(np.frombuffer(file, np.uint8))
    assert index == jpeg.build_index(file)
    (tmp_path / "a.jpg").write_bytes(file)
    with open(tmp_path / "a.jpg", "rb") as opened:
        mapped = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
    for buffer in (bytearray(file), memoryview(file), mapped, np.frombuffer(file, np.uint8)):
        assert np.array_equal(jpeg.decode(buffer, index=bytearray(index)), want)
    with pytest.raises(TypeError):
        jpeg.decode("a.jpg")  # type: ignore[arg-type]


def test_the_array_is_the_callers() -> None:
    pixels = jpeg.decode(jpegs.encode(PICTURE))
    pixels[:] = 7
    assert pixels.flags.owndata and pixels.flags.c_contiguous


def test_an_index_of_another_file_is_refused() -> None:
    file, other = jpegs.encode(PICTURE), jpegs.encode(PICTURE[::-1])
    with pytest.raises(SampleError, match="the index is of another JPEG file: expected one of"):
        jpeg.decode(file, index=jpeg.build_index(other))
    changed = bytearray(file)
    changed[-40] ^= 1  # of the same size
    with pytest.raises(SampleError, match="of another JPEG file"):
        jpeg.decode(changed, (0, 0, 9, 9), index=jpeg.build_index(file))
    with pytest.raises(SampleError, match="of another JPEG file"):
        jpeg.decode(jpegs.encode(PICTURE, "progressive"), index=jpeg.build_index(file))


def test_a_damaged_index_is_refused() -> None:
    file = jpegs.encode(PICTURE)
    index = jpeg.build_index(file, every=0)
    for size in range(len(index)):
        with pytest.raises(SampleError, match="the index of a JPEG file is damaged"):
            jpeg.decode(file, index=index[:size])
    for at in range(len(index)):
        flipped = bytearray(index)
        flipped[at] ^= 1 << at % 8
        with pytest.raises(SampleError, match="index"):
            jpeg.decode(file, index=flipped)
    with pytest.raises(SampleError, match=r"does not begin as an index of version 1, at byte 0"):
        jpeg.decode(file, index=b"STJX\2" + index[5:])


@pytest.mark.parametrize(
    ("kind", "found"), [("progressive", "a progressive one"), ("cmyk", "another kind")]
)
def test_only_baseline_files_have_an_index(kind: str, found: str) -> None:
    with pytest.raises(SampleError, match=f"found {found}"):
        jpeg.build_index(jpegs.encode(PICTURE, kind))


def test_damage_is_told_with_its_place() -> None:
    file = jpegs.encode(PICTURE)
    with pytest.raises(SampleError, match="found damage or surplus bytes in its data"):
        jpeg.build_index(jpegs.truncated(file))
    with pytest.raises(SampleError, match=r", at byte \d+$"):
        jpeg.decode(jpegs.truncated(file))
    assert jpeg.decode(jpegs.truncated(file), (0, 0, 20, 20)).shape == (20, 20, 3)
    for wrong in (b"", b"GIF89a", b"\x89PNG\r\n\x1a\n" + bytes(40)):
        for function in (jpeg.decode, jpeg.peek, jpeg.build_index):
            with pytest.raises(SampleError):
                function(wrong)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"window": (0, 0, 151, 10)}, r"y1 <= 150 and 0 <= x0 < x1 <= 210"),
        ({"window": (5, 0, 5, 10)}, "window is \\(5, 0, 5, 10\\)"),
        ({"window": (-1, 0, 5, 10)}, "expected \\(y0, x0, y1, x1\\)"),
        ({"window": (1, 2, 3)}, "window is \\(1, 2, 3\\), expected"),
        ({"size": (0, 5)}, "size has 0, expected 1 to 65500"),
        ({"size": (1, 2, 3)}, "expected \\(height, width\\)"),
        ({"mode": "fast"}, "mode is 'fast', expected 'strict'"),
        ({"output_type": "CLASSES"}, "CLASSES, which JPEG cannot hold"),
        ({"output_type": "HSV"}, "HSV"),
    ],
)
def test_wrong_calls_are_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        jpeg.decode(jpegs.encode(PICTURE), **wrong)


def test_wrong_numbers_of_places_are_refused() -> None:
    for every in (-1, 8189):
        with pytest.raises(ValueError, match=f"every is {every}, expected 0 to 8188"):
            jpeg.build_index(jpegs.encode(PICTURE), every=every)


def test_threads_may_share_an_index() -> None:
    file = jpegs.encode(PICTURE)
    index, want = jpeg.build_index(file), jpeg.decode(file)
    with ThreadPoolExecutor(4) as pool:
        parts = pool.map(lambda y: jpeg.decode(file, (y, 9, y + 1, 200), index=index), range(150))
    assert np.array_equal(np.concatenate(list(parts)), want[:, 9:200])
