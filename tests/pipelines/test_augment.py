# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Augmentations of pictures, compared with Pillow and NumPy."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from PIL import Image

import jpegs
from helpers import Array, difference, make, max_difference, same, take
from stoker import DataNode, fn, types
from stoker.errors import GraphError, SampleError

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


def test_a_video_without_frames_takes_arguments_without_frames() -> None:
    def define(frames: int) -> Any:
        video = fn.external_source(source=lambda: [np.ones((frames, 2, 2, 3))], layout="FHWC")
        mirror = fn.external_source(source=lambda: [np.zeros(0, np.int32)])
        return fn.flip(video, horizontal=fn.per_frame(mirror))

    (batch,) = make(lambda: define(0)).run()
    assert np.array(batch[0]).shape == (0, 2, 2, 3)
    with pytest.raises(SampleError, match="has values for 0 frames, and there are 4"):
        make(lambda: define(4)).run()


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


@pytest.mark.parametrize("device", ["cpu", "gpu"])
@pytest.mark.parametrize("executor", ["simple", "pipelined"])
def test_frames_with_angles_of_their_own_are_rotated_to_one_size(
    monkeypatch: pytest.MonkeyPatch, executor: str, device: str
) -> None:
    """The size is the largest, and odd or even as most frames would be by themselves."""
    monkeypatch.setenv("STOKER_SIMULATED_DEVICES", "1")
    angles = [10.0, -80.0, 0.0, 30.0]
    clip = np.stack([soft(41, 58) + i for i in range(4)]).astype(np.uint8)
    size = [65, 72]  # of 41 x 58: 64.5 and 70.7 at most, odd and even for three angles of four

    def define() -> list[Any]:
        turns = fn.per_frame(fn.constant(fdata=angles, shape=[4]))
        rotated = fn.rotate(feed(clip, "FHWC"), angle=turns, device=device)
        cut = fn.crop(rotated, crop=[21, 30])
        frames = [
            fn.rotate(feed(frame, "HWC"), angle=angle, size=size)
            for frame, angle in zip(clip, angles, strict=True)
        ]
        return [rotated.cpu(), cut.cpu(), *frames]

    ((got, cut, *frames),) = take(make(define, executor=executor, device_id=0), 1)
    assert same(got, np.stack(frames)), difference(got, np.stack(frames))
    assert same(cut, np.ascontiguousarray(got[:, 22:43, 21:51]))


# Windows, over whatever axes there are.


@pytest.mark.parametrize("device", ["cpu", "gpu"])
@pytest.mark.parametrize("layout", ["FHWC", "HWC"])
def test_each_frame_may_have_a_filter_of_its_own(
    monkeypatch: pytest.MonkeyPatch, device: str, layout: str
) -> None:
    monkeypatch.setenv("STOKER_SIMULATED_DEVICES", "1")
    filters = np.float32([[[0, 1, 2]], [[1, 0, 1]], [[3, 0, 0]]])
    beyond = [1.0, 2.0, 3.0]
    clip = np.stack([soft(9, 7) + i for i in range(3)]).astype(np.uint8)
    given = clip if layout == "FHWC" else clip[0]

    def define() -> list[Any]:
        def filtered(pixels: Array, letters: str, weights: DataNode, fill: DataNode) -> DataNode:
            if device == "gpu":
                weights, fill = weights.gpu(), fill.gpu()
            data = feed(pixels, letters)
            return fn.filter(data, weights, fill, border="constant", device=device).cpu()

        frames = given if layout == "FHWC" else [given] * 3
        return [
            filtered(given, layout, fed(filters, "FHW"), fed(beyond, "F")),
            *(
                filtered(frame, "HWC", fed(f), fed(b))
                for frame, f, b in zip(frames, filters, beyond, strict=True)
            ),
        ]

    ((got, *frames),) = take(make(define, device_id=0), 1)
    assert same(got, np.stack(frames)), difference(got, np.stack(frames))


@pytest.mark.parametrize("layout", ["HWC", "CFHW", ""])
def test_values_for_frames_need_frames_that_come_first(layout: str) -> None:
    def define() -> Any:
        data = fed(np.zeros([3] * (len(layout) or 2)), layout)
        return fn.gaussian_blur(data, sigma=by_frame([1.0, 2.0, 3.0]))

    found = re.escape(f"got float32 {layout} (".replace("  ", " "))
    with pytest.raises(GraphError, match="expected an input whose first axis is frames.*" + found):
        make(define).run()


# Maps that differ from frame to frame.

ANGLES = [0.0, 90.0, 200.0]
OFFSETS = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
MAPS = np.float32([[[1, 0, 5], [0, 1, 7]], [[2, 0, 1], [1, 2, 0]], [[3, 1, 0], [0, 1, 4]]])
POINTS = np.arange(12, dtype=np.float32).reshape(3, 2, 2)


def by_frame(values: Any) -> DataNode:
    return fn.per_frame(fed(values))


def fed(values: Any, layout: str = "") -> DataNode:
    return fn.external_source(source=lambda: [np.asarray(values, np.float32)], layout=layout)


def made(define: Callable[[], Any], **settings: Any) -> tuple[str, Array]:
    """The layout and the values of one sample."""
    (batch,) = make(define, **settings).run()
    return batch.layout, np.array(batch.as_cpu()[0])


def assert_by_frame(define: Callable[[], Any], frames: list[Callable[[], Any]]) -> None:
    """Whether each frame is what its own call makes."""
    layout, got = made(define)
    assert layout == "F**"
    assert np.array_equal(got, np.stack([made(f)[1] for f in frames]))


def test_arguments_make_frames() -> None:
    assert_by_frame(
        lambda: fn.transforms.rotation(angle=by_frame(ANGLES), center=by_frame(OFFSETS)),
        [
            lambda a=a, c=c: fn.transforms.rotation(angle=a, center=c)
            for a, c in zip(ANGLES, OFFSETS, strict=True)
        ],
    )


def test_arguments_make_frames_of_one_map() -> None:
    assert_by_frame(
        lambda: fn.transforms.translation(fed(MAPS[0]), offset=by_frame(OFFSETS)),
        [lambda c=c: fn.transforms.translation(fed(MAPS[0]), offset=c) for c in OFFSETS],
    )


def test_maps_of_frames_go_through_transforms() -> None:
    assert_by_frame(
        lambda: fn.transforms.scale(by_frame(MAPS), scale=[2.0, 3.0]),
        [lambda m=m: fn.transforms.scale(fed(m), scale=[2.0, 3.0]) for m in MAPS],
    )


def test_maps_of_frames_are_joined_with_maps_of_samples() -> None:
    for order in (1, -1):
        assert_by_frame(
            lambda order=order: fn.transforms.combine(*[by_frame(MAPS), fed(MAPS[1])][::order]),
            [
                lambda m=m, order=order: fn.transforms.combine(*[fed(m), fed(MAPS[1])][::order])
                for m in MAPS
            ],
        )


@pytest.mark.parametrize("device", ["cpu", "gpu"])
@pytest.mark.parametrize("layout", ["FNC", ""])
def test_points_move_with_their_frame(
    device: str, layout: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STOKER_SIMULATED_DEVICES", "1")
    points = POINTS if layout else POINTS[0]

    def define() -> Any:
        given = fed(points, layout)
        given = given.gpu() if device == "gpu" else given
        return fn.coord_transform(given, MT=by_frame(MAPS), device=device)

    settings = {"device_id": 0} if device == "gpu" else {}
    got_layout, got = made(define, **settings)
    assert got_layout == (layout or "F**")
    frames = np.broadcast_to(points, (3, 2, 2))
    right = [p @ m[:, :2].T + m[:, 2] for p, m in zip(frames, MAPS, strict=True)]
    assert np.array_equal(got, np.stack(right))


def test_each_frame_of_a_video_is_warped_by_its_map() -> None:
    video = np.random.default_rng(3).integers(0, 255, (3, 8, 9, 3)).astype(np.uint8)

    def warped(frames: Array, angle: Any) -> Any:
        images = fn.external_source(source=lambda: [frames], layout="FHWC")
        return fn.warp_affine(images, matrix=fn.transforms.rotation(angle=angle, center=[4.0, 3.0]))

    _, got = made(lambda: warped(video, by_frame(ANGLES)))
    alone = [made(lambda k=k: warped(video[k : k + 1], ANGLES[k]))[1][0] for k in range(3)]
    assert np.array_equal(got, np.stack(alone))


@pytest.mark.parametrize("device", ["cpu", "gpu"])
def test_each_frame_is_warped_by_its_row_of_an_input(
    device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STOKER_SIMULATED_DEVICES", "1")
    video = np.random.default_rng(3).integers(0, 255, (3, 8, 9, 3)).astype(np.uint8)

    def warped(maps: Array, as_input: bool) -> Callable[[], DataNode]:
        def define() -> DataNode:
            images = fn.external_source(source=lambda: [video], layout="FHWC")
            images = images.gpu() if device == "gpu" else images
            matrix = by_frame(maps)
            given = (images, matrix) if as_input else (images,)
            keywords = {} if as_input else {"matrix": matrix}
            moved = fn.warp_affine(*given, device=device, **keywords)
            return fn.crop_mirror_normalize(moved, mean=[1.0], device=device)

        return define

    settings = {"device_id": 0} if device == "gpu" else {}
    _, got = made(warped(MAPS, True), **settings)
    _, right = made(warped(MAPS, False), **settings)
    assert np.array_equal(got, right)
    with pytest.raises(SampleError, match="input 1 has values for 2 frames, and there are 3"):
        made(warped(MAPS[:2], True), **settings)


def test_counts_of_frames_agree() -> None:
    few = OFFSETS[:2]
    with pytest.raises(SampleError, match="'center' has values for 2 frames, and there are 3"):
        made(lambda: fn.transforms.rotation(angle=by_frame(ANGLES), center=by_frame(few)))
    with pytest.raises(SampleError, match="'offset' has values for 2 frames, and there are 3"):
        made(lambda: fn.transforms.translation(by_frame(MAPS), offset=by_frame(few)))
    with pytest.raises(SampleError, match="input 1 has 2 frames, and there are 3"):
        made(lambda: fn.transforms.combine(by_frame(MAPS), by_frame(MAPS[:2])))


@pytest.mark.parametrize("device", ["cpu", "gpu"])
def test_one_value_holds_for_all_frames(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STOKER_SIMULATED_DEVICES", "1")
    video = np.random.default_rng(3).integers(0, 255, (3, 8, 9, 3)).astype(np.uint8)

    def rotated(angle: Callable[[], Any]) -> Callable[[], DataNode]:
        def define() -> DataNode:
            images = fn.external_source(source=lambda: [video], layout="FHWC")
            images = images.gpu() if device == "gpu" else images
            return fn.rotate(images, angle=angle(), keep_size=True, device=device)

        return define

    settings = {"device_id": 0} if device == "gpu" else {}
    _, one = made(rotated(lambda: by_frame([30.0])), **settings)
    _, each = made(rotated(lambda: by_frame([30.0] * 3)), **settings)
    assert np.array_equal(one, each)
    with pytest.raises(SampleError, match="'angle' has values for 4 frames, and there are 3"):
        made(rotated(lambda: by_frame([30.0] * 4)), **settings)


def test_one_value_holds_for_the_frames_of_another_argument() -> None:
    assert_by_frame(
        lambda: fn.transforms.rotation(angle=by_frame(ANGLES[:1]), center=by_frame(OFFSETS)),
        [lambda c=c: fn.transforms.rotation(angle=ANGLES[0], center=c) for c in OFFSETS],
    )


@pytest.mark.parametrize("device", ["cpu", "gpu"])
def test_four_axes_without_a_layout_are_frames(
    device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STOKER_SIMULATED_DEVICES", "1")
    video = np.random.default_rng(4).integers(0, 255, (3, 8, 9, 3)).astype(np.uint8)

    def define(layout: str) -> Callable[[], tuple[DataNode, ...]]:
        def outputs() -> tuple[DataNode, ...]:
            images = fn.external_source(source=lambda: [video], layout=layout)
            images = images.gpu() if device == "gpu" else images
            return (
                fn.resize(images, size=[5, 4]),
                fn.flip(fn.brightness(images, brightness=0.5), horizontal=1),
                fn.random_resized_crop(images, size=[4, 4], seed=3),
                fn.jpeg_compression_distortion(images, quality=20),
                fn.equalize(images),
                fn.crop(images, crop=[2, 2, 2]) if not layout else images,
            )

        return outputs

    settings = {"device_id": 0} if device == "gpu" else {}
    bare, named = (make(define(layout), **settings).run() for layout in ("", "FHWC"))
    for got, right in zip(bare[:-1], named[:-1], strict=True):
        assert got.layout == right.layout == "FHWC"
        assert np.array_equal(np.array(got.as_cpu()[0]), np.array(right.as_cpu()[0]))
    assert bare[-1].layout == "DHWC", "crop lists the layouts of frames itself"


def test_rules_hold_for_each_frame() -> None:
    axes = [[0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]
    with pytest.raises(SampleError, match="which has no direction"):
        made(lambda: fn.transforms.rotation(angle=30.0, axis=by_frame(axes)))
    with pytest.raises(GraphError, match="the matrix has the shape"):
        made(lambda: fn.transforms.scale(fed(MAPS), scale=2.0))
