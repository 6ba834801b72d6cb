# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Decoded pixels are Pillow's, bit for bit, and those of a window are the whole picture's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageOps

import jpegs
from helpers import Array, difference, make, same, samples_of
from stoker import fn, types

SIZES = ((64, 64), (41, 67), (97, 43), (80, 121), (45, 45))


@pytest.fixture(scope="module")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Every kind of JPEG file in two odd sizes."""
    root = tmp_path_factory.mktemp("kinds")
    found = []
    for k, kind in enumerate(jpegs.KINDS):
        for j in range(2):
            height, width = SIZES[(k + j) % len(SIZES)]
            path = root / f"{kind.replace(' ', '_')}_{height}x{width}.jpg"
            path.write_bytes(jpegs.encode(jpegs.picture(height, width, k), kind))
            found.append(path)
    return found


def test_the_kinds_are_what_they_say() -> None:
    sampled = {
        kind: jpegs.subsampling(jpegs.encode(jpegs.picture(40, 40), kind))
        for kind in ("444", "422", "440", "420", "411", "gray", "cmyk")
    }
    assert sampled["444"][0] == (1, 1)
    assert sampled["422"][0] == (2, 1)
    assert sampled["440"][0] == (1, 2)
    assert sampled["420"][0] == (2, 2)
    assert sampled["411"][0] == (4, 1)
    assert len(sampled["gray"]) == 1
    assert len(sampled["cmyk"]) == 4
    assert b"\xff\xdd" in jpegs.encode(jpegs.picture(40, 40), "restart")
    assert b"\xff\xc2" in jpegs.encode(jpegs.picture(40, 40), "progressive")


def decoded(paths: Sequence[Path], **arguments: Any) -> list[Array]:
    """All files, decoded as whole pictures, in order."""

    def define() -> Any:
        encoded, _ = fn.readers.file(files=[str(p) for p in paths])
        return fn.decoders.image(encoded, **arguments)

    pipe = make(define, batch_size=len(paths))
    return [s[0] for s in samples_of(pipe.run())]


@pytest.mark.parametrize(
    ("output_type", "mode"), [("RGB", "RGB"), ("GRAY", "L"), ("ANY_DATA", None), ("BGR", "RGB")]
)
def test_whole_pictures_equal_pillow(kinds: list[Path], output_type: str, mode: str) -> None:
    for path, got in zip(kinds, decoded(kinds, output_type=output_type), strict=True):
        with Image.open(path) as image:
            native = image.mode
            if output_type == "GRAY" and native != "L":
                continue  # of colour: libjpeg's luma, which Pillow computes again from RGB
            if output_type == "ANY_DATA" and native == "CMYK":
                assert got.shape[2] == 4
                continue
            expected = np.array(image if mode is None else image.convert(mode))
        expected = expected.reshape(*expected.shape[:2], -1)
        if output_type == "BGR":
            expected = expected[..., ::-1]
        assert same(got, np.ascontiguousarray(expected)), (
            f"{path.name}: {difference(got, expected)}"
        )


def test_gray_from_colour_is_the_stored_luma(kinds: list[Path]) -> None:
    for path, got in zip(kinds, decoded(kinds, output_type=types.GRAY), strict=True):
        with Image.open(path) as image:
            if image.mode != "RGB":
                continue
            image.draft("L", image.size)
            expected = np.array(image)
        assert expected.ndim == 2
        assert same(got[..., 0], expected), f"{path.name}: {difference(got[..., 0], expected)}"


def test_all_real_pictures_equal_pillow(test_data: Path) -> None:
    paths = sorted((test_data / "imagenet").rglob("*.JPEG"))
    paths += sorted((test_data / "images" / "jpeg").glob("*.jpg"))
    assert len(paths) >= 400
    for start in range(0, len(paths), 20):
        some = paths[start : start + 20]
        for path, got in zip(some, decoded(some, adjust_orientation=False), strict=True):
            assert same(got, jpegs.pillow(path)), f"{path}: {difference(got, jpegs.pillow(path))}"


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int16", "float32", "float16"])
def test_other_types_are_rescaled(kinds: list[Path], dtype: str) -> None:
    bytes_ = decoded(kinds[:4])
    full = {"int8": 127, "uint16": 65535, "int16": 32767}.get(dtype, 1)
    for got, level in zip(decoded(kinds[:4], dtype=dtype), bytes_, strict=True):
        expected = level.astype(np.float64) / 255 * full
        step = 1 if dtype.startswith(("int", "uint")) else 1e-3
        assert (
            np.abs(got.astype(np.float64) - expected).max() <= step * 0.51
        )  # computed in single precision
        assert str(got.dtype) == dtype


PER_FILE = 34  # 2 sizes of 15 kinds, 34 pictures each, in 2 ways: more than 2,000 windows
LARGEST = 41


def window_arguments() -> dict[str, Any]:
    one = {"range": [1.0, LARGEST - 0.5], "dtype": types.INT32}
    return {
        "crop_h": fn.random.uniform(**one, seed=1),
        "crop_w": fn.random.uniform(**one, seed=2),
        "crop_pos_y": fn.random.uniform(range=[0.0, 1.0], seed=3),
        "crop_pos_x": fn.random.uniform(range=[0.0, 1.0], seed=4),
    }


def start_of(pos: np.float32, extent: int, window: int) -> int:
    return math.floor(float(pos) * (extent - window) + 0.5)


@pytest.mark.parametrize("settings", [{}, {"executor": "simple"}], ids=["demand", "simple"])
def test_windows_equal_whole_then_cut(kinds: list[Path], settings: dict[str, Any]) -> None:
    whole = {str(p): jpegs.pillow(p) for p in kinds}
    count = 0

    def define() -> list[Any]:
        encoded, _ = fn.readers.file(files=[str(p) for p in kinds])
        window = window_arguments()
        cut = fn.crop(fn.decoders.image(encoded), **window)
        direct = fn.decoders.image_crop(encoded, **window)
        return [cut, direct, *window.values()]

    pipe = make(define, batch_size=len(kinds), **settings)
    for _ in range(PER_FILE if not settings else 2):
        batches = pipe.run()
        for i in range(len(kinds)):
            cut, direct, h, w, y, x = (np.array(b[i]) for b in batches)
            name = batches[0].source_info(i)
            picture = whole[name]
            top = start_of(y[()], picture.shape[0], int(h))
            left = start_of(x[()], picture.shape[1], int(w))
            expected = np.ascontiguousarray(picture[top : top + int(h), left : left + int(w)])
            for how, got in (("decoders.image and crop", cut), ("decoders.image_crop", direct)):
                assert same(got, expected), (
                    f"{name}, {how}, window {int(h)}x{int(w)} at {top}, {left}: "
                    f"{difference(got, expected)}"
                )
                count += 1
    assert settings or count >= 2000


def test_random_windows_lie_in_the_picture(kinds: list[Path]) -> None:
    def define() -> list[Any]:
        encoded, _ = fn.readers.file(files=[str(p) for p in kinds])
        return [
            fn.decoders.image_random_crop(encoded, random_area=[0.1, 0.6]),
            fn.decoders.image(encoded),
        ]

    pipe = make(define, batch_size=len(kinds))
    for _ in range(3):
        for window, picture in samples_of(pipe.run()):
            share = window.shape[0] * window.shape[1] / (picture.shape[0] * picture.shape[1])
            assert 0.05 < share < 0.7
            views = np.lib.stride_tricks.sliding_window_view(picture, window.shape)
            assert (views[..., 0, :, :, :] == window).all((2, 3, 4)).any(), (
                "not part of the picture"
            )


def test_demand_decodes_less(test_data: Path) -> None:
    """Only a small window of a large picture is decoded, as the plan says."""
    path = sorted((test_data / "images" / "jpeg").glob("*.jpg"))[0]

    def define() -> Any:
        encoded, _ = fn.readers.file(files=[str(path)])
        return fn.crop(fn.decoders.image(encoded), crop=[16, 16])

    pipe = make(define)
    assert "window" in pipe.plan()
    (got,) = samples_of(pipe.run())
    whole = jpegs.pillow(path)
    top, left = (
        start_of(np.float32(0.5), whole.shape[0], 16),
        start_of(np.float32(0.5), whole.shape[1], 16),
    )
    assert same(got[0], np.ascontiguousarray(whole[top : top + 16, left : left + 16]))


@pytest.mark.parametrize("kind", ["420", "gray", "progressive"])
def test_exif_orientation_of_made_pictures(tmp_path: Path, kind: str) -> None:
    encoding = "444" if kind == "420" else kind
    paths = []
    for orientation in range(1, 9):
        data = (
            jpegs.encode(jpegs.picture(37, 53, orientation), "coarse", orientation)
            if kind == "420"
            else jpegs.encode(jpegs.picture(37, 53), encoding, orientation)
        )
        path = tmp_path / f"{orientation}.jpg"
        path.write_bytes(data)
        paths.append(path)
    assert_oriented(paths)


def test_exif_orientation_of_real_pictures(test_data: Path) -> None:
    paths = sorted((test_data / "images" / "orientation").glob("*.jpg"))
    assert len(paths) >= 8
    assert_oriented(paths)


def assert_oriented(paths: Sequence[Path]) -> None:
    for path, turned, stored in zip(
        paths, decoded(paths), decoded(paths, adjust_orientation=False), strict=True
    ):
        with Image.open(path) as image:
            expected = np.array(ImageOps.exif_transpose(image).convert("RGB"))
        assert same(turned, expected), f"{path.name}: {difference(turned, expected)}"
        assert same(stored, jpegs.pillow(path)), path.name


def test_windows_of_oriented_pictures(tmp_path: Path) -> None:
    paths = []
    for orientation in range(1, 9):
        path = tmp_path / f"{orientation}.jpg"
        path.write_bytes(jpegs.encode(jpegs.picture(61, 83, orientation), "coarse", orientation))
        paths.append(path)

    def define() -> list[Any]:
        encoded, _ = fn.readers.file(files=[str(p) for p in paths])
        window = window_arguments()
        image = fn.decoders.image(encoded)
        return [
            fn.crop(image, **window),
            fn.decoders.image_crop(encoded, **window),
            fn.crop(fn.decoders.image(encoded), **window),
        ]

    judge = make(define, batch_size=8, executor="simple")
    pipe = make(define, batch_size=8)
    for _ in range(12):
        for got, expected in zip(samples_of(pipe.run()), samples_of(judge.run()), strict=True):
            assert all(same(a, expected[0]) for a in (*got, *expected))
