# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Automatic augmentation, held against Pillow and against how often what is drawn."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageEnhance, ImageOps

import stoker
from helpers import Array, make
from stoker import Pipeline, errors, fn
from stoker.auto_aug import augmentations as a
from stoker.auto_aug import auto_augment as aa
from stoker.auto_aug import rand_augment as ra
from stoker.auto_aug import trivial_augment as ta
from stoker.auto_aug.core import Augmentation, Policy, augmentation, select, signed_bin

IMAGE = np.random.default_rng(3).integers(20, 230, (24, 32, 3)).astype(np.uint8)
PICTURE = Image.fromarray(IMAGE)
COUNT = 60


def images(change: Callable[[Any], Any], count: int = COUNT, seed: int = 5) -> Array:
    def define() -> Any:
        return change(fn.external_source(lambda: [IMAGE] * count, layout="HWC"))

    return make(define, batch_size=count, seed=seed).run()[0].as_array()


def one(op: Augmentation, number: int, **arguments: Any) -> Array:
    """What the augmentation makes with magnitude number k of 11, not negated."""
    plain = op.augmentation(randomly_negate=False)
    named = {"magnitude_bin": number, "num_magnitude_bins": 11, **arguments}
    return images(lambda data: plain(data, **named), 1)[0].astype(int)


def moved(matrix: list[float]) -> Array:
    """Pillow's answer to an affine map from output to input, where 0 is the corner of a pixel."""
    made = PICTURE.transform(
        PICTURE.size,
        Image.Transform.AFFINE,
        matrix,
        Image.Resampling.BILINEAR,
        fillcolor=(128,) * 3,
    )
    return np.asarray(made).astype(int)


@pytest.mark.parametrize("number", [0, 5, 10])
def test_values_are_those_of_pillow(number: int) -> None:
    factor = 1 + 0.09 * number
    grey = np.asarray(PICTURE.convert("F"), float)
    grey3 = grey[:, :, None]
    exact = {
        a.posterize: ImageOps.posterize(PICTURE, max(1, round(0.4 * number))),
        a.solarize: ImageOps.solarize(PICTURE, 256 - 25.6 * number),
        a.invert: ImageOps.invert(PICTURE),
        a.identity: PICTURE,
        a.brightness: ImageEnhance.Brightness(PICTURE).enhance(factor),
        a.contrast: np.clip(np.floor(grey.mean() + factor * (IMAGE - grey.mean()) + 0.5), 0, 255),
        a.color: np.clip(np.floor(grey3 + factor * (IMAGE - grey3) + 0.5), 0, 255),
        a.solarize_add: np.where(IMAGE < 128, np.minimum(IMAGE + 11 * number, 255), IMAGE),
        a.auto_contrast: ImageOps.autocontrast(PICTURE),
    }
    for op, expected in exact.items():
        found = one(op, number)
        assert np.abs(found - np.asarray(expected).astype(int)).max() <= 1, op.name
    inner = slice(1, -1)
    sharp = np.asarray(ImageEnhance.Sharpness(PICTURE).enhance(factor)).astype(int)
    assert np.abs(one(a.sharpness, number) - sharp)[inner, inner].max() <= 2
    assert one(a.equalize, number).std() > IMAGE.std()


def test_places_are_those_of_pillow() -> None:
    shear = 0.3 * 0.5
    inner = (slice(6, -6), slice(6, -6))
    expected = {
        a.shear_x: [1, -shear, 0, 0, 1, 0],
        a.shear_y: [1, 0, 0, -shear, 1, 0],
    }
    for op, matrix in expected.items():
        found = one(op, 5)
        assert np.abs(found - moved(matrix))[inner].max() <= 2, op.name
    whole = a.translate_x_no_shape.augmentation(mag_range=(0, 10))
    right = one(whole, 5)
    assert (right[:, 5:] == IMAGE[:, :-5]).all() and (right[:, :5] == 128).all()
    down = one(a.translate_y, 5, shape=(24, 32), fill_value=7)
    assert (down[12:] == IMAGE[:12]).all() and (down[:12] == 7).all()
    shape = images(
        lambda d: a.translate_x.augmentation(randomly_negate=False)(
            d, magnitude_bin=5, num_magnitude_bins=11, shape=fn.shapes(d)
        ),
        1,
    )[0]
    assert (shape[:, 16:] == IMAGE[:, :16]).all()
    turned = np.asarray(PICTURE.rotate(15, Image.Resampling.BILINEAR, fillcolor=(128,) * 3))
    assert np.abs(one(a.rotate, 5) - turned.astype(int))[8:-8, 8:-8].mean() < 12


def test_signs_are_drawn_for_each_sample() -> None:
    found = images(
        lambda d: a.translate_x_no_shape(d, magnitude_bin=10, num_magnitude_bins=251), 400
    )
    right = (found[:, :, :10] == 128).all((1, 2, 3))
    left = (found[:, :, -10:] == 128).all((1, 2, 3))
    assert (right ^ left).all() and 150 < right.sum() < 250
    same = images(
        lambda d: fn.cat(
            *(
                a.translate_x_no_shape(d, magnitude_bin=signed, num_magnitude_bins=251)
                for signed in [signed_bin(10)] * 2
            ),
            axis=0,
        ),
        20,
    )
    assert (same[:, :24] == same[:, 24:]).all()


def test_one_of_several_is_selected() -> None:
    ops = [lambda d, k=k: fn.cast(d * 0 + k, dtype="uint8") for k in range(5)]
    found = images(
        lambda d: select(ops, fn.random.uniform(values=[0, 1, 4], dtype="int32"), d), 300
    )
    counts = Counter(found[:, 0, 0, 0].tolist())
    assert set(counts) == {0, 1, 4} and min(counts.values()) > 60


def test_own_augmentations_and_policies() -> None:
    @augmentation(mag_range=(0, 10), mag_to_param=lambda m: np.array(int(m), np.int32))
    def darker(data: Any, by: Any, floor: int) -> Any:
        return fn.cast(data - by + floor, dtype="uint8")

    never = darker.augmentation(name="never", mag_range=np.array([7.0, 9.0]))
    lists = [[(darker, 1.0, 1), (never, 0.0, 0)], [(never, 1.0, 1)]]
    with pytest.warns(UserWarning, match="never has probability 0 in one of the sub-policies"):
        policy = Policy("mine", 2, lists)
    assert set(policy.augmentations) == {"darker", "never"}
    found = images(lambda d: aa.apply_auto_augment(policy, d, floor=3), 200)
    counts = Counter((IMAGE.astype(int) - found).max((1, 2, 3)).tolist())
    assert set(counts) == {7, 6} and min(counts.values()) > 60
    for wrong, words in (
        (
            lambda d: darker(d, magnitude_bin=1, num_magnitude_bins=2),
            "darker needs .* not provided to the call: floor",
        ),
        (
            lambda d: darker(d, floor=1, num_magnitude_bins=2),
            "darker: magnitude_bin is missing",
        ),
        (lambda d: darker(d, floor=1, magnitude_bin=1), "darker: num_magnitude_bins is missing"),
        (
            lambda d: never(d, floor=1, magnitude_bin=1, num_magnitude_bins=3),
            "expects 3 magnitudes",
        ),
        (
            lambda d: aa.apply_auto_augment(policy, d, floor=3, other=1),
            "takes the argument 'other'",
        ),
        (lambda d: aa.auto_augment(d, "mine"), "policy_name expects one of image_net"),
        (lambda d: ra.rand_augment(d, 2, 31), "m expects a whole number from 0 to 30, got 31"),
        (lambda d: ra.rand_augment(d, 2, 3, excluded=["blur"]), "excluded has 'blur'"),
        (
            lambda d: ra.rand_augment(d, 2, 3, max_translate_rel=0.5),
            "max_translate_rel needs shape",
        ),
        (lambda d: ta.trivial_augment_wide(d, shape=(2, 2), max_translate_abs=5), "without shape"),
        (lambda d: ra.rand_augment(d, 2, 9.5), "m expects a whole number from 0 to 30, got 9.5"),
        (lambda d: ra.rand_augment(d, 2.0, 9), "n expects a whole number of at least 0, got 2.0"),
        (lambda d: ra.rand_augment(d, None, 9), "n expects a whole number"),
        (lambda d: ra.rand_augment(d, 2, 0, 0), "num_magnitude_bins expects a whole number of at"),
        (lambda d: ta.trivial_augment_wide(d, 0), "num_magnitude_bins expects"),
        (lambda d: ra.rand_augment(d, 2, 9, excluded="rotate"), "a list of names, got 'rotate'"),
        (
            lambda d: ra.rand_augment(d, 2, 9, max_translate_abs=(1, 2, 3)),
            "max_translate_abs expects a number, or a pair",
        ),
        (lambda d: ra.apply_rand_augment([], d, 2, 9), "at least one augmentation"),
        (lambda d: ta.apply_trivial_augment(["rotate"], d), "expected augmentations, got 'rotate'"),
        (lambda d: select([], fn.random.coin_flip(), d), "at least one function"),
        (lambda d: aa.apply_auto_augment("svhn", d), "policy expects a Policy, got 'svhn'"),
        (lambda d: aa.auto_augment(IMAGE), "auto_augment .*: data expects a node"),
    ):
        with pytest.raises(errors.GraphError, match=words):
            images(wrong, 1)
    with pytest.raises(errors.GraphError, match="probability of darker is 2"):
        Policy("mine", 2, [[(darker, 2, 1)]])
    with pytest.raises(
        errors.GraphError, match="number of darker expects a whole number from 0 to 1, got 2"
    ):
        Policy("mine", 2, [[(darker, 1, 2)]])
    with pytest.raises(errors.GraphError, match="mine expects an augmentation, got 'rotate'"):
        Policy("mine", 2, [[("rotate", 1, 1)]])
    with pytest.raises(errors.GraphError, match=r"expects \(augmentation, probability, number"):
        Policy("mine", 2, [["rotate"]])  # type: ignore[list-item]


def test_augmentations_of_one_name_are_all_in_a_policy() -> None:
    both = (a.translate_x, a.translate_x_no_shape)
    policy = Policy("mine", 3, [[(op, 1.0, 1)] for op in (*both, a.rotate, *both)])
    assert list(policy.augmentations) == ["0__translate_x", "1__translate_x", "2__rotate"]
    assert [op.op for op in policy.augmentations.values()] == [op.op for op in (*both, a.rotate)]
    assert policy.sub_policies[0] == policy.sub_policies[3]
    many = [[(a.rotate.augmentation(mag_range=(0, k)), 1.0, 0)] for k in range(11)]
    assert Policy("many", 3, many).sub_policies[7][0][0].name == "07__rotate"


AUTOMATIC: dict[str, Callable[..., Any]] = {
    "image_net": aa.auto_augment_image_net,
    "reduced_image_net": lambda d, **o: aa.auto_augment(d, "reduced_image_net", **o),
    "reduced_cifar10": lambda d, **o: aa.auto_augment(d, "reduced_cifar10", **o),
    "svhn": lambda d, **o: aa.auto_augment(d, "svhn", **o),
    "rand": lambda d, **o: ra.rand_augment(d, 2, 15, **o),
    "rand not monotonic": lambda d, **o: ra.rand_augment(d, 1, 3, monotonic_mag=False, **o),
    "trivial": ta.trivial_augment_wide,
}


@pytest.mark.parametrize("name", AUTOMATIC)
def test_images_get_augmentations_of_their_own(name: str) -> None:
    found = images(AUTOMATIC[name])
    assert found.shape == (COUNT, *IMAGE.shape) and found.dtype == np.uint8
    assert len({x.tobytes() for x in found}) > 10
    assert (found == images(AUTOMATIC[name])).all()
    assert (found != images(AUTOMATIC[name], seed=6)).any()
    seeded = images(lambda d: AUTOMATIC[name](d, seed=9))
    assert (seeded == images(lambda d: AUTOMATIC[name](d, seed=9), seed=6)).all()
    with_shape = {"shape": fn.constant(idata=[24, 32])} if name != "reduced_image_net" else {}
    assert images(lambda d: AUTOMATIC[name](d, fill_value=None, **with_shape)).shape == found.shape


def test_all_of_a_suite_are_drawn_alike_but_the_excluded() -> None:
    suite = ra.get_rand_augment_suite()
    assert len(suite) == 14 and len(ta.get_trivial_augment_wide_suite(True)) == 14
    assert [op.mag_range for op in suite[:2]] == [(0, 100)] * 2
    wide = a.translations(True, 1, 1.0, max_rel=(0.25, 0.5))
    assert [op.mag_range for op in wide] == [(0, 0.5), (0, 0.25)]
    names = [op.name for op in suite if op.name != "identity"]
    only = images(lambda d: ra.rand_augment(d, 3, 9, excluded=names), 10)
    assert (only == IMAGE).all()
    assert (
        len(aa.get_svhn_policy().sub_policies) == len(aa.get_image_net_policy().sub_policies) == 25
    )


@pytest.mark.parametrize("name", AUTOMATIC)
def test_other_layouts_are_refused(name: str) -> None:
    channels_first = IMAGE.transpose(2, 0, 1)

    def define() -> Any:
        return AUTOMATIC[name](fn.external_source(lambda: [channels_first], layout="CHW"))

    words = r"aug.*\(.*test_auto_aug.py:\d+\): expects layout HWC, got CHW"
    with pytest.raises(errors.GraphError, match=words):
        make(define).run()


def test_three_bare_axes_are_an_image() -> None:
    def define(layout: str) -> Any:
        image = fn.external_source(lambda: [IMAGE], layout=layout)
        return AUTOMATIC["trivial"](image, seed=3)

    (bare,), (named,) = make(lambda: define("")).run(), make(lambda: define("HWC")).run()
    assert (bare.as_array() == named.as_array()).all()


def test_the_package_has_its_modules() -> None:
    code = "import stoker; print(stoker.auto_aug.rand_augment.rand_augment.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "rand_augment\n"
    with pytest.raises(AttributeError, match="has no attribute 'blur_augment'"):
        stoker.auto_aug.blur_augment  # noqa: B018


@pytest.mark.parametrize("name", AUTOMATIC)
def test_outside_of_a_pipeline(name: str) -> None:
    data = fn.external_source(lambda: [IMAGE] * COUNT, layout="HWC")
    pipe = Pipeline(batch_size=COUNT, num_threads=2, seed=5)
    pipe.set_outputs(AUTOMATIC[name](data, seed=9))
    inside = images(lambda d: AUTOMATIC[name](d, seed=9))
    assert (pipe.run()[0].as_array() == inside).all()
