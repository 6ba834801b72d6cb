# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Frames of sequences: which data have them, and arguments and inputs with a value for each."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import jpegs
from helpers import Array, difference, make, same, take
from stoker import DataNode, fn, types
from stoker.errors import GraphError, SampleError

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


@pytest.fixture(params=["cpu", "gpu"])
def device(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Where operators run; the GPU is a simulated one, with ``device_id=0``."""
    monkeypatch.setenv("STOKER_SIMULATED_DEVICES", "1")
    return request.param


def test_four_axes_without_a_layout_are_frames(device: str) -> None:
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

    bare, named = (make(define(layout), device_id=0).run() for layout in ("", "FHWC"))
    for got, right in zip(bare[:-1], named[:-1], strict=True):
        assert got.layout == right.layout == "FHWC"
        assert np.array_equal(np.array(got.as_cpu()[0]), np.array(right.as_cpu()[0]))
    assert bare[-1].layout == "DHWC", "crop lists the layouts of frames itself"


def test_a_video_without_frames_takes_arguments_without_frames() -> None:
    def define(frames: int) -> Any:
        video = fn.external_source(source=lambda: [np.ones((frames, 2, 2, 3))], layout="FHWC")
        mirror = fn.external_source(source=lambda: [np.zeros(0, np.int32)])
        return fn.flip(video, horizontal=fn.per_frame(mirror))

    (batch,) = make(lambda: define(0)).run()
    assert np.array(batch[0]).shape == (0, 2, 2, 3)
    with pytest.raises(SampleError, match="has values for 0 frames, and there are 4"):
        make(lambda: define(4)).run()


def test_one_value_holds_for_all_frames(device: str) -> None:
    video = np.random.default_rng(3).integers(0, 255, (3, 8, 9, 3)).astype(np.uint8)

    def rotated(angle: Callable[[], Any]) -> Callable[[], DataNode]:
        def define() -> DataNode:
            images = fn.external_source(source=lambda: [video], layout="FHWC")
            images = images.gpu() if device == "gpu" else images
            return fn.rotate(images, angle=angle(), keep_size=True, device=device)

        return define

    _, one = made(rotated(lambda: by_frame([30.0])), device_id=0)
    _, each = made(rotated(lambda: by_frame([30.0] * 3)), device_id=0)
    assert np.array_equal(one, each)
    with pytest.raises(SampleError, match="'angle' has values for 4 frames, and there are 3"):
        made(rotated(lambda: by_frame([30.0] * 4)), device_id=0)


@pytest.mark.parametrize("executor", ["simple", "pipelined"])
def test_frames_with_angles_of_their_own_are_rotated_to_one_size(
    executor: str, device: str
) -> None:
    """The size is the largest, and odd or even as most frames would be by themselves."""
    angles = [10.0, -80.0, 0.0, 30.0]
    clip = np.stack([jpegs.picture(41, 58) + i for i in range(4)]).astype(np.uint8)
    size = [65, 72]  # of 41 x 58: 64.5 and 70.7 at most, odd and even for three angles of four

    def define() -> list[Any]:
        turns = fn.per_frame(fn.constant(fdata=angles, shape=[4]))
        rotated = fn.rotate(types.Constant(clip, layout="FHWC"), angle=turns, device=device)
        cut = fn.crop(rotated, crop=[21, 30])
        frames = [
            fn.rotate(types.Constant(frame, layout="HWC"), angle=angle, size=size)
            for frame, angle in zip(clip, angles, strict=True)
        ]
        return [rotated.cpu(), cut.cpu(), *frames]

    ((got, cut, *frames),) = take(make(define, executor=executor, device_id=0), 1)
    assert same(got, np.stack(frames)), difference(got, np.stack(frames))
    assert same(cut, np.ascontiguousarray(got[:, 22:43, 21:51]))


@pytest.mark.parametrize("layout", ["FHWC", "HWC"])
def test_each_frame_may_have_a_filter_of_its_own(device: str, layout: str) -> None:
    filters = np.float32([[[0, 1, 2]], [[1, 0, 1]], [[3, 0, 0]]])
    beyond = [1.0, 2.0, 3.0]
    clip = np.stack([jpegs.picture(9, 7) + i for i in range(3)]).astype(np.uint8)
    given = clip if layout == "FHWC" else clip[0]

    def define() -> list[Any]:
        def filtered(pixels: Array, letters: str, weights: DataNode, fill: DataNode) -> DataNode:
            if device == "gpu":
                weights, fill = weights.gpu(), fill.gpu()
            data = types.Constant(pixels, layout=letters)
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


@pytest.mark.parametrize("layout", ["FNC", ""])
def test_points_move_with_their_frame(device: str, layout: str) -> None:
    points = POINTS if layout else POINTS[0]

    def define() -> Any:
        given = fed(points, layout)
        given = given.gpu() if device == "gpu" else given
        return fn.coord_transform(given, MT=by_frame(MAPS), device=device)

    got_layout, got = made(define, device_id=0)
    assert got_layout == layout  # what had none has none
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


def test_each_frame_is_warped_by_its_row_of_an_input(device: str) -> None:
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

    _, got = made(warped(MAPS, True), device_id=0)
    _, right = made(warped(MAPS, False), device_id=0)
    assert np.array_equal(got, right)
    with pytest.raises(SampleError, match="input 1 has values for 2 frames, and there are 3"):
        made(warped(MAPS[:2], True), device_id=0)


def test_counts_of_frames_agree() -> None:
    few = OFFSETS[:2]
    with pytest.raises(SampleError, match="'center' has values for 2 frames, and there are 3"):
        made(lambda: fn.transforms.rotation(angle=by_frame(ANGLES), center=by_frame(few)))
    with pytest.raises(SampleError, match="'offset' has values for 2 frames, and there are 3"):
        made(lambda: fn.transforms.translation(by_frame(MAPS), offset=by_frame(few)))
    with pytest.raises(SampleError, match="input 1 has 2 frames, and there are 3"):
        made(lambda: fn.transforms.combine(by_frame(MAPS), by_frame(MAPS[:2])))


def test_one_value_holds_for_the_frames_of_another_argument() -> None:
    assert_by_frame(
        lambda: fn.transforms.rotation(angle=by_frame(ANGLES[:1]), center=by_frame(OFFSETS)),
        [lambda c=c: fn.transforms.rotation(angle=ANGLES[0], center=c) for c in OFFSETS],
    )


def test_rules_hold_for_each_frame() -> None:
    axes = [[0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]
    with pytest.raises(SampleError, match="which has no direction"):
        made(lambda: fn.transforms.rotation(angle=30.0, axis=by_frame(axes)))
    with pytest.raises(GraphError, match="the matrix has the shape"):
        made(lambda: fn.transforms.scale(fed(MAPS), scale=2.0))
