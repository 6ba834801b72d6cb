# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Class numbers on their way through a graph: what keeps them, what reads them, what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers import SIMPLE, Array, assert_same, make, samples_of, take, text_of
from pictures import needs, saved
from stoker import DataNode, Pipeline, fn, types
from stoker.errors import GraphError

NAMES = (0, 3, 7, 19, 255)  # far apart, so that a mixture is none of them
IGNORED = 254


def masks(
    count: int = 3, shape: tuple[int, ...] = (19, 26, 1), dtype: str = "uint8"
) -> list[Array]:
    rng = np.random.default_rng(5)
    return [rng.choice(NAMES, shape).astype(dtype) for _ in range(count)]


def given(layout: str = "HWC", **shape: Any) -> DataNode:
    """Masks from a source, which hold class numbers."""
    batch = masks(**shape)
    return fn.as_classes(fn.external_source(lambda: batch, layout=layout))


def run(define: Callable[[], Any], **settings: Any) -> list[Any]:
    return take(make(define, batch_size=3, **settings), 3)


def assert_classes(got: list[Any], *more: int) -> None:
    for sample in got:
        found = set(np.unique(sample[0]).tolist())
        assert found <= {*NAMES, *more}, sorted(found)
        assert len(found) > 1


def refusal(define: Callable[[], Any]) -> str:
    return text_of(GraphError, define, batch_size=3)


AFFINE = np.array([[1.1, 0.4, -2.5], [-0.3, 0.9, 4.2]], np.float32)
PERSPECTIVE = np.array([[1.1, 0.4, -2.5], [-0.3, 0.9, 4.2], [0.004, 0.01, 1]], np.float32)
GEOMETRY: dict[str, Callable[[DataNode], Any]] = {
    "larger": lambda x: fn.resize(x, size=(41, 33)),
    "smaller": lambda x: fn.resize(x, size=(7, 9)),
    "shorter": lambda x: fn.resize(x, resize_shorter=11, antialias=True),
    "rotate": lambda x: fn.rotate(x, angle=33.0, fill_value=IGNORED),
    "rotate by border": lambda x: fn.rotate(x, angle=-71.0, keep_size=True),
    "warp_affine": lambda x: fn.warp_affine(x, matrix=AFFINE.ravel().tolist(), fill_value=IGNORED),
    "warp_perspective": lambda x: fn.warp_perspective(
        x, matrix=PERSPECTIVE.ravel().tolist(), fill_value=[IGNORED]
    ),
    "random_resized_crop": lambda x: fn.random_resized_crop(x, size=(13, 17)),
    "resize_crop_mirror": lambda x: fn.resize_crop_mirror(x, resize_x=40, crop=(9, 9), mirror=1),
    "crop with pads": lambda x: fn.crop(
        x, crop=(30, 30), out_of_bounds_policy="pad", fill_values=IGNORED
    ),
    "slice": lambda x: fn.slice(x, start=(2, 1), end=(9, 8), axes=(0, 1)),
    "paste": lambda x: fn.paste(x, ratio=1.7, fill_value=IGNORED),
    "pad": lambda x: fn.pad(x, shape=(32, 32, 1), fill_value=IGNORED),
    "erase": lambda x: fn.erase(x, anchor=(1, 1), shape=(4, 4), fill_value=IGNORED),
    "flip": lambda x: fn.flip(x, vertical=1),
    "water": lambda x: fn.water(x, fill_value=IGNORED),
    "sphere": lambda x: fn.sphere(x),
    "jitter": lambda x: fn.jitter(x, nDegree=5),
    "transpose": lambda x: fn.transpose(x, perm=(1, 0, 2)),
    "all of it": lambda x: fn.crop(
        fn.flip(fn.rotate(fn.resize(x, size=(50, 50)), angle=12.0, fill_value=IGNORED)),
        crop=(40, 40),
    ),
}


@pytest.mark.parametrize("name", GEOMETRY)
@pytest.mark.parametrize("dtype", ["uint8", "int32"])
def test_geometry_makes_no_new_numbers(name: str, dtype: str) -> None:
    define = lambda: GEOMETRY[name](given(dtype=dtype))  # noqa: E731
    got = run(define)
    assert got[0][0].dtype == dtype
    assert_classes(got, IGNORED, 0)
    assert_same(got, run(define, **SIMPLE), name)


def test_nearest_neighbour_is_the_default_and_gives_its_pixels() -> None:
    def define() -> Any:
        plain = fn.external_source(lambda: masks(), layout="HWC")
        x = fn.as_classes(plain)
        nearest = {"interp_type": types.INTERP_NN}
        return (
            fn.resize(x, size=(7, 30)),
            fn.resize(plain, size=(7, 30), **nearest),
            fn.rotate(x, angle=20.0),
            fn.rotate(plain, angle=20.0, **nearest),
            fn.resize(plain, size=(7, 30)),
        )

    for a, b, c, d, linear in run(define):
        assert np.array_equal(a, b) and np.array_equal(c, d)
        assert not set(np.unique(linear).tolist()) <= set(NAMES), "pictures are still interpolated"


def test_remap_takes_the_nearest_pixel() -> None:
    rng = np.random.default_rng(8)
    places = [rng.uniform(0, 19, (6, 8)).astype(np.float32) for _ in range(2)]

    def define() -> Any:
        maps = [fn.constant(fdata=p.ravel().tolist(), shape=[6, 8]) for p in places]
        return fn.remap(given(), *maps)

    assert_classes(run(define), 0)


def test_frames_keep_them() -> None:
    def define() -> Any:
        x = given("FHWC", shape=(4, 9, 11, 1))
        angle = fn.per_frame(fn.constant(fdata=[0.0, 10.0, 20.0, 30.0]))
        return fn.resize(fn.rotate(x, angle=angle, fill_value=IGNORED), size=(20, 20))

    assert_classes(run(define), IGNORED)
    words = refusal(lambda: fn.gaussian_blur(given("FHWC", shape=(4, 9, 11, 1)), sigma=1.0))
    assert "class numbers" in words


def test_the_device_keeps_them_and_refuses_the_same() -> None:
    words = refusal(lambda: fn.gaussian_blur(given().gpu(), sigma=1.0))
    assert "gaussian_blur '" in words and "class numbers" in words
    words = refusal(lambda: fn.resize(given().gpu(), size=9, interp_type=types.INTERP_CUBIC))
    assert "'INTERP_CUBIC' would mix" in words


LINEAR = {"interp_type": types.INTERP_LINEAR}
REFUSED: dict[str, tuple[Callable[[DataNode], Any], str]] = {
    "linear": (lambda x: fn.resize(x, size=9, **LINEAR), "'INTERP_LINEAR' would mix"),
    "cubic": (lambda x: fn.resize(x, size=9, mag_filter=types.INTERP_CUBIC), "'mag_filter'"),
    "rotate": (lambda x: fn.rotate(x, angle=9.0, **LINEAR), "types.INTERP_NN"),
    "warp": (lambda x: fn.warp_affine(x, matrix=AFFINE.ravel().tolist(), **LINEAR), "INTERP_NN"),
    "water": (lambda x: fn.water(x, **LINEAR), "INTERP_NN"),
    "computed": (
        lambda x: fn.resize(x, size=9, interp_type=fn.random.choice([0, 1])),
        "not what another operator computes",
    ),
    "blur": (lambda x: fn.gaussian_blur(x, sigma=1.0), "would mix them"),
    "median": (lambda x: fn.median_blur(x), "would mix them"),
    "noise": (lambda x: fn.noise.gaussian(x, stddev=2.0), "fn.cast"),
    "brightness": (lambda x: fn.brightness(x, brightness=1.2), "fn.cast"),
    "normalize": (lambda x: fn.normalize(x), "fn.cast"),
    "mixup": (lambda x: fn.mixup(x, fn.constant(fdata=[0.0, 1.0]))[0], "fn.cast"),
    "equalize": (lambda x: fn.equalize(x), "fn.cast"),
    "crop_mirror_normalize": (
        lambda x: fn.crop_mirror_normalize(x, mean=[3.0]),
        "not to be normalised",
    ),
    "half a fill": (lambda x: fn.rotate(x, angle=9.0, fill_value=0.5), "'fill_value'"),
    "a large fill": (lambda x: fn.pad(x, fill_value=256), "uint8 holds, such as 0 or 255, got 256"),
    "a negative fill": (lambda x: fn.paste(x, ratio=2.0, fill_value=-1), "got -1"),
    "a drawn fill": (
        lambda x: fn.erase(x, anchor=0, shape=2, fill_value=fn.random.uniform()),
        "expects a constant",
    ),
    "narrow": (lambda x: fn.crop(x, crop=(4, 4), dtype=types.INT8), "do not all fit"),
    "bytes": (lambda x: fn.reinterpret(x, dtype=types.INT8), "bytes of another dtype"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_would_change_them_is_refused_when_the_graph_is_built(name: str) -> None:
    call, words = REFUSED[name]
    text = refusal(lambda: call(given()))
    assert "class numbers" in text and words in text, text
    assert "test_kept_classes.py" in text, "the user's line"


@pytest.mark.parametrize("name", ["linear", "blur", "noise", "normalize", "mixup"])
def test_quantities_go_wherever_they_went(name: str) -> None:
    call, _ = REFUSED[name]
    define = lambda: call(fn.cast(given(), dtype=types.FLOAT))  # noqa: E731
    if name == "noise":
        define = lambda: call(fn.cast(given(), dtype=types.UINT8))  # noqa: E731
    run(define)


def test_what_is_read_of_them_are_numbers() -> None:
    def define() -> Any:
        x = given()
        one_hot = fn.one_hot(fn.squeeze(x, axes=2), num_classes=256)
        return x == 7, fn.reductions.max(x), one_hot, fn.gaussian_blur(x + 0.0, sigma=1.0)

    for (is_seven, most, hot, _), mask in zip(run(define), masks(), strict=True):
        assert np.array_equal(is_seven, mask == 7)
        assert most == 255
        assert np.array_equal(hot.argmax(-1), mask[..., 0])


def test_a_table_renames_them() -> None:
    table = {"keys": [0, 3, 7, 19, 255], "values": [0, 1, 2, 3, 255]}

    def define() -> Any:
        named = fn.lookup_table(given(), dtype=types.UINT8, **table)
        return fn.resize(named, size=(31, 31))

    for (got,) in run(define):
        assert set(np.unique(got).tolist()) <= {0, 1, 2, 3, 255}
    words = refusal(
        lambda: fn.resize(fn.lookup_table(given(), dtype=types.UINT8, **table), size=9, **LINEAR)
    )
    assert "class numbers" in words
    weights = {**table, "values": [0.5, 1, 1, 1, 0]}
    run(lambda: fn.resize(fn.lookup_table(given(), dtype=types.FLOAT, **weights), size=9, **LINEAR))


def test_either_side_of_a_condition_may_hold_them() -> None:
    @fn_conditional
    def define() -> Any:
        x = given()
        plain = fn.cast(x, dtype=types.UINT8)
        y = fn.flip(x) if fn.random.coin_flip() else plain
        return fn.resize(y, size=(9, 9), **LINEAR)

    with pytest.raises(GraphError, match="class numbers"):
        define().run()


def fn_conditional(define: Callable[[], Any]) -> Callable[[], Pipeline]:
    from stoker import pipeline_def

    return pipeline_def(batch_size=3, num_threads=1, enable_conditionals=True)(define)


def test_a_saved_graph_knows_them() -> None:
    pipe = make(
        lambda: fn.resize(
            fn.as_classes(fn.random.choice(list(NAMES), shape=(5, 5, 1))),
            size=(9, 9),
        ),
        batch_size=3,
    )
    want = take(pipe, 3)
    again = Pipeline.deserialize(pipe.serialize())
    assert_same(take(again, 3), want, "saved")
    assert_classes(want)


@needs("PNG")
def test_a_mask_and_its_picture_from_one_file(tmp_path: Path) -> None:
    (mask,) = masks(1)
    (tmp_path / "mask.png").write_bytes(saved(mask[..., 0], "PNG"))

    def define() -> Any:
        encoded, _ = fn.readers.file(files=[str(tmp_path / "mask.png")])
        numbers = fn.decoders.image(encoded, output_type=types.CLASSES)
        picture = fn.decoders.image(encoded, output_type=types.GRAY)
        return [fn.resize(x, size=(40, 40)) for x in (numbers, picture)]

    ((numbers, picture),) = samples_of(make(define).run())
    assert set(np.unique(numbers).tolist()) <= set(NAMES)
    assert not set(np.unique(picture).tolist()) <= set(NAMES)


def test_only_whole_numbers_name_classes() -> None:
    words = refusal(lambda: fn.as_classes(fn.random.uniform(shape=(3, 3))))
    assert "expects dtype uint8, int8" in words
