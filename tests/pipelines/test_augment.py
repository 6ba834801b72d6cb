# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Augmentations of pictures, compared with Pillow and NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from PIL import Image

import jpegs
from helpers import Array, difference, make, max_difference, same, take
from stoker import fn, types

FILTERS = {
    "INTERP_NN": Image.Resampling.NEAREST,
    "INTERP_LINEAR": Image.Resampling.BILINEAR,
    "INTERP_CUBIC": Image.Resampling.BICUBIC,
    "INTERP_LANCZOS3": Image.Resampling.LANCZOS,
}
SOURCE = (53, 71)
TARGETS = ((27, 35), (53, 71), (101, 149), (20, 142), (106, 24), (1, 1), (7, 200))


def feed(array: Array, layout: str) -> Any:
    flat = array.reshape(-1)
    numbers = {"fdata" if array.dtype.kind == "f" else "idata": flat.tolist()}
    return fn.constant(**numbers, shape=array.shape, dtype=str(array.dtype), layout=layout)


def soft(height: int, width: int) -> Array:
    """A picture of low contrast. Filters overshoot, and Pillow would clip that between the axes."""
    return (64 + jpegs.picture(height, width) // 2).astype(np.uint8)


@pytest.mark.parametrize("gray", [False, True], ids=["RGB", "gray"])
@pytest.mark.parametrize("interp", FILTERS)
def test_resize_within_one_level_of_pillow(interp: str, gray: bool) -> None:
    pixels = soft(*SOURCE)
    if gray:
        pixels = pixels[..., :1]

    def define() -> list[Any]:
        source = feed(pixels, "HWC")
        return [fn.resize(source, size=list(size), interp_type=interp) for size in TARGETS]

    (got,) = take(make(define), 1)
    for size, result in zip(TARGETS, got, strict=True):
        image = Image.fromarray(pixels[..., 0] if gray else pixels)
        expected = np.array(image.resize(size[::-1], FILTERS[interp]))
        expected = expected.reshape(*size, -1)
        worst = max_difference(result, expected)
        assert worst <= 1, f"{interp} to {size}: {worst} levels, {difference(result, expected)}"


@pytest.mark.parametrize("interp", FILTERS)
def test_resize_of_full_contrast_within_one_level(interp: str) -> None:
    """Where filters overshoot, Pillow's floats are the judge, clipped once, at the end."""
    pixels = jpegs.picture(*SOURCE)
    pixels[10:30, 20:40] = 255
    pixels[30:40, 20:50] = 0

    def define() -> list[Any]:
        source = feed(pixels, "HWC")
        return [fn.resize(source, size=list(size), interp_type=interp) for size in TARGETS]

    (got,) = take(make(define), 1)
    for size, result in zip(TARGETS, got, strict=True):
        for c in range(3):
            plane = Image.fromarray(pixels[..., c].astype(np.float32))
            exact = np.array(plane.resize(size[::-1], FILTERS[interp]))
            assert max_difference(result[..., c], np.clip(exact, 0, 255)) <= 1


@pytest.mark.parametrize("interp", ["INTERP_LINEAR", "INTERP_CUBIC", "INTERP_LANCZOS3"])
def test_resize_of_a_region_within_one_level_of_pillow(interp: str) -> None:
    pixels = soft(*SOURCE)
    regions = [(3.0, 5.0, 40.0, 60.0), (0.5, 10.25, 52.5, 33.75), (20.0, 30.0, 25.0, 35.0)]

    def define() -> list[Any]:
        return [
            fn.resize(
                feed(pixels, "HWC"),
                size=[31, 29],
                roi_start=[top, left],
                roi_end=[bottom, right],
                interp_type=interp,
            )
            for top, left, bottom, right in regions
        ]

    (got,) = take(make(define), 1)
    for (top, left, bottom, right), result in zip(regions, got, strict=True):
        box = (left, top, right, bottom)
        expected = Image.fromarray(pixels).resize((29, 31), FILTERS[interp], box=box)
        assert max_difference(result, np.array(expected)) <= 1


@pytest.mark.parametrize(
    ("arguments", "size"),
    [
        ({"resize_shorter": 20}, (20, 27)),
        ({"resize_longer": 30}, (22, 30)),
        ({"resize_x": 30}, (22, 30)),
        ({"resize_y": 106}, (106, 142)),
        ({"resize_x": 30, "resize_y": 40}, (40, 30)),
        ({"size": [40, 40], "mode": "not_larger"}, (30, 40)),
        ({"size": [40, 40], "mode": "not_smaller"}, (40, 54)),
        ({"resize_x": 30, "mode": "stretch"}, (53, 30)),
        ({"resize_shorter": 20, "max_size": [25]}, (19, 25)),
        ({"resize_shorter": 200, "max_size": 150}, (112, 150)),
        ({}, (53, 71)),
    ],
)
def test_resize_sizes(arguments: dict[str, Any], size: tuple[int, int]) -> None:
    pixels = jpegs.picture(*SOURCE)
    (got,) = take(make(lambda: fn.resize(feed(pixels, "HWC"), **arguments)), 1)
    assert got[0].shape == (*size, 3)


@pytest.mark.parametrize("interp", FILTERS)
def test_random_resized_crop_is_its_window_resized(interp: str) -> None:
    """Equal seeds draw the same window, here of a picture that holds its own coordinates."""
    pixels = soft(*SOURCE)
    places = np.stack(np.indices(SOURCE), -1).astype(np.int16)

    def define() -> list[Any]:
        seen = fn.random_resized_crop(
            feed(places, "HWC"), size=[300, 300], interp_type="INTERP_NN", seed=3
        )
        made = fn.random_resized_crop(
            feed(pixels, "HWC"), size=[32, 40], interp_type=interp, seed=3
        )
        return [seen, made]

    windows = set()
    for seen, made in take(make(define, batch_size=25), 25):
        top, left = (int(v) for v in seen[0, 0])
        bottom, right = (int(v) + 1 for v in seen[-1, -1])
        windows.add((top, left, bottom, right))
        if (
            interp == "INTERP_NN"
        ):  # Pillow adds up positions, so it errs where a centre is on an edge
            rows = [top + (2 * o + 1) * (bottom - top) // 64 for o in range(32)]
            columns = [left + (2 * o + 1) * (right - left) // 80 for o in range(40)]
            assert same(made, np.ascontiguousarray(pixels[rows][:, columns]))
            continue
        image = Image.fromarray(pixels)
        cut = np.array(image.resize((40, 32), FILTERS[interp], box=(left, top, right, bottom)))
        worst = max_difference(made, cut)
        assert worst <= 1, f"window {top, left, bottom, right}: {worst} levels"
        share = (bottom - top) * (right - left) / (SOURCE[0] * SOURCE[1])
        assert 0.06 <= share <= 1.0
        assert 0.7 <= (right - left) / (bottom - top) <= 1.4
    assert len(windows) > 15


EMPTY_WINDOWS = [  # an axis without values before one that is padded
    ("HWC", (30, 30, 3), {"axis_names": "HW", "start": [0, 1], "shape": [0, 600]}, (0, 600, 3)),
    ("CHW", (3, 30, 30), {"axis_names": "HW", "start": [0, 1], "shape": [0, 600]}, (3, 0, 600)),
    ("DHW", (9, 30, 30), {"axis_names": "DW", "start": [2, -5], "shape": [0, 600]}, (0, 30, 600)),
    (
        "FHWC",
        (0, 30, 30, 3),
        {"axis_names": "HW", "start": [0, 1], "shape": [40, 600]},
        (0, 40, 600, 3),
    ),
    (
        "DHWC",
        (2, 3, 30, 3),
        {"axis_names": "HC", "start": [3, -1], "shape": [0, 70000]},
        (2, 0, 30, 70000),
    ),
    ("", (30, 30, 3), {"axes": [0, 2], "start": [0, -1], "shape": [0, 70000]}, (0, 30, 70000)),
]


@pytest.mark.parametrize("device", ["cpu", "gpu"])
@pytest.mark.parametrize(("layout", "shape", "window", "expected"), EMPTY_WINDOWS)
def test_a_padded_window_without_values_is_empty(
    device: str,
    layout: str,
    shape: tuple[int, ...],
    window: dict[str, Any],
    expected: tuple[int, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("STOKER_SIMULATED_DEVICES", "1")

    def define() -> Any:
        picture = fn.external_source(source=lambda: [np.ones(shape, np.uint8)], layout=layout)
        picture = picture.gpu() if device == "gpu" else picture
        return fn.slice(picture, **window, out_of_bounds_policy="pad", device=device)

    (batch,) = make(define, **({"device_id": 0} if device == "gpu" else {})).run()
    assert np.array(batch.as_cpu()[0]).shape == expected


@pytest.mark.parametrize("device", ["cpu", "gpu"])
@pytest.mark.parametrize("channels", [0, 1, 16, 17, 70000])
def test_any_number_of_channels(
    device: str, channels: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STOKER_SIMULATED_DEVICES", "1")
    pixels = np.arange(4 * channels).astype(np.uint8).reshape(2, 2, channels)
    mean = np.arange(channels) % 7 if channels else np.zeros(1)

    def define() -> Any:
        picture = fn.external_source(source=lambda: [pixels], layout="HWC")
        picture = picture.gpu() if device == "gpu" else picture
        return fn.crop_mirror_normalize(
            fn.flip(picture, device=device), mean=mean.tolist(), device=device
        )

    (batch,) = make(define, **({"device_id": 0} if device == "gpu" else {})).run()
    expected = (pixels[:, ::-1] - mean.astype(np.float32)).astype(np.float32).transpose(2, 0, 1)
    assert same(np.array(batch.as_cpu()[0]), np.ascontiguousarray(expected))


@pytest.mark.parametrize(
    ("shape", "resized"),
    [
        ((0, 4, 3), (0, 2, 3)),
        ((4, 0, 3), (2, 0, 3)),
        ((4, 4, 0), (2, 2, 0)),
        ((0, 0, 3), (0, 0, 3)),
    ],
)
def test_a_picture_without_pixels_stays_without(shape: Any, resized: Any) -> None:
    def define() -> Any:
        picture = fn.external_source(source=lambda: [np.ones(shape, np.uint8)], layout="HWC")
        return fn.resize(picture, size=[2, 2])

    assert make(define).run()[0].at(0).shape == resized


MEAN = [123.675, 116.28, 103.53]
STD = [58.395, 57.12, 57.375]


@pytest.mark.parametrize("dtype", ["float32", "float16", "uint8", "int8"])
@pytest.mark.parametrize("layout", ["CHW", "HWC"])
@pytest.mark.parametrize("mirror", [0, 1])
def test_crop_mirror_normalize_equals_numpy(dtype: str, layout: str, mirror: int) -> None:
    pixels = jpegs.picture(*SOURCE)
    crop = (40, 33)
    arguments = {
        "crop": list(crop),
        "mean": MEAN,
        "std": STD,
        "scale": 20.0,
        "shift": 3.5,
        "mirror": mirror,
        "dtype": dtype,
        "output_layout": layout,
        "pad_output": True,
        "fill_values": [0.0, 0.0, 0.0, 5.0],
    }
    (got,) = take(make(lambda: fn.crop_mirror_normalize(feed(pixels, "HWC"), **arguments)), 1)
    top, left = (int((e - c) * 0.5 + 0.5) for e, c in zip(SOURCE, crop, strict=True))
    cut = pixels[top : top + crop[0], left : left + crop[1]].astype(np.float32)
    if mirror:
        cut = cut[:, ::-1]
    factor = np.float32(20.0) / np.float32(STD)
    value = (cut - np.float32(MEAN)) * factor + np.float32(3.5)
    if np.dtype(dtype).kind in "iu":
        limits = np.iinfo(dtype)
        value = np.clip(np.trunc(value + np.copysign(0.5, value)), limits.min, limits.max)
    value = np.concatenate([value, np.full((*crop, 1), 5)], 2).astype(dtype)
    expected = np.ascontiguousarray(value.transpose(2, 0, 1) if layout == "CHW" else value)
    assert same(got[0], expected), difference(got[0], expected)


def test_the_fused_operator_equals_the_plain_ones() -> None:
    """resize, crop, flip and normalise, one by one, give what the combined operator gives."""
    pixels = jpegs.picture(*SOURCE)

    def define() -> list[Any]:
        small = fn.resize(feed(pixels, "HWC"), resize_shorter=40)
        plain = fn.flip(fn.crop(small, crop=[32, 32], crop_pos_x=0.3))
        numbers = {"mean": MEAN, "std": STD, "dtype": types.FLOAT16}
        return [
            fn.crop_mirror_normalize(plain, **numbers),
            fn.crop_mirror_normalize(
                fn.resize(feed(pixels, "HWC"), resize_shorter=40),
                crop=[32, 32],
                crop_pos_x=0.3,
                mirror=1,
                **numbers,
            ),
        ]

    for settings in ({}, {"fuse": False}, {"executor": "simple"}):
        (got,) = take(make(define, **settings), 1)
        assert same(*got)


def test_what_follows_a_rotation_is_one_pass() -> None:
    pixels = soft(90, 120)

    def define() -> list[Any]:
        rotated = fn.rotate(feed(pixels, "HWC"), angle=30.0, fill_value=0.0)
        cropped = fn.crop(rotated, crop=[64, 80], crop_pos_x=0.3)
        return [
            fn.crop_mirror_normalize(
                cropped, crop=[48, 64], mirror=1, mean=[128.0], std=[64.0], dtype=types.FLOAT16
            )
        ]

    fused, separate = make(define), make(define, fuse=False)
    assert fused.plan().count("in one pass with") == 2
    ((result,),), ((right,),) = take(fused, 1), take(separate, 1)
    assert result.shape == (3, 48, 64) and result.dtype == np.float16
    assert same(result, right)
