# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Augmentations of the user's: their parameters, and what is refused where it is given."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from helpers import Array, make
from stoker import errors, fn, types
from stoker.auto_aug import auto_augment as aa
from stoker.auto_aug import rand_augment as ra
from stoker.auto_aug import trivial_augment as ta
from stoker.auto_aug.core import Augmentation, Policy, augmentation, select, signed_bin

IMAGE = np.zeros((4, 5, 3), np.uint8)
COUNT = 24


def fed(numbers: Any) -> Any:
    return fn.external_source(lambda: np.array(numbers, np.int32), dtype="int32", ndim=0)


def params(op: Augmentation, count: int | None = None, signs: bool = False, **made: Any) -> Array:
    """The parameter of each sample, whose magnitude's number is its place in the batch."""

    def define() -> Any:
        places = fed(np.arange(COUNT) % (count or 4))
        negated = fed(np.arange(COUNT) % 2)
        number = signed_bin(places, negated) if signs else places
        return op(types.Constant(1), magnitude_bin=number, num_magnitude_bins=count, **made)

    return make(define, batch_size=COUNT, seed=3).run()[0].as_array()


def given(data: Any, param: Any) -> Any:
    return param


def test_parameters_are_those_of_the_magnitudes() -> None:
    places = np.arange(COUNT)
    linear = params(augmentation(given, mag_range=(100, 110)), 6)
    np.testing.assert_array_equal(linear, np.linspace(100, 110, 6, dtype=np.float32)[places % 6])
    listed = params(augmentation(given, mag_range=np.array([1, 5, 2, 8])))
    np.testing.assert_array_equal(listed, np.array([1, 5, 2, 8])[places % 4])
    signed = augmentation(given, mag_range=(1, 4), randomly_negate=True)
    expected = (1 + places % 4) * np.where(places % 2, -1, 1)
    np.testing.assert_array_equal(params(signed, 4, signs=True), expected)
    unsigned = signed.augmentation(randomly_negate=None)
    np.testing.assert_array_equal(params(unsigned, 4, signs=True), np.abs(expected))


@pytest.mark.parametrize("dtype", ["uint8", "int16", "uint16", "int32", "float16", "float32"])
def test_parameters_have_the_dtype_that_they_were_made_with(dtype: str) -> None:
    def pair(magnitude: float) -> Array:
        return np.array([magnitude, 42], dtype)

    found = params(augmentation(given, mag_range=(1, 4), mag_to_param=pair), 4)
    assert (found.dtype, found.shape) == (dtype, (COUNT, 2)) and (found[:, 1] == 42).all()


def test_signs_that_are_not_given_are_drawn_with_a_warning() -> None:
    op = augmentation(given, mag_range=(1, 4), randomly_negate=True)
    with pytest.warns(UserWarning, match=r"unsigned `magnitude_bin` was passed"):
        found = params(op, 4)
    assert (found < 0).any() and (found > 0).any()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        params(op, 4, signs=True)


def test_signs_of_several_steps_are_drawn_at_once() -> None:
    op = augmentation(given, mag_range=(1, 4), randomly_negate=True)

    def define() -> Any:
        drawn = signed_bin(2, shape=[2], seed=7)
        number = {"num_magnitude_bins": 4}
        both = [op(types.Constant(1), magnitude_bin=drawn.at(k), **number) for k in (0, 1)]
        return (*both, drawn.random_sign)

    first, second, signs = (b.as_array() for b in make(define, batch_size=COUNT).run())
    expected = np.where(signs, -3, 3)
    np.testing.assert_array_equal(np.stack([first, second], 1), expected)
    assert (signs[:, 0] != signs[:, 1]).any()


def test_without_a_range_there_is_no_parameter() -> None:
    seen = []

    @augmentation
    def same(data: Any, param: Any) -> Any:
        seen.append(param)
        return data

    images: Any = object()
    assert same(images, magnitude_bin=42) is images and seen == [None]


def test_settings_go_back_to_their_defaults() -> None:
    plain = augmentation(given)
    settings: dict[str, Any] = {
        "mag_range": (0, 10),
        "randomly_negate": True,
        "mag_to_param": lambda magnitude: magnitude + 1,
        "param_device": "gpu",
        "name": "other",
    }
    full = augmentation(given, **settings)
    for reset in settings:
        changed = full.augmentation(**{reset: None})
        for name, value in settings.items():
            assert getattr(changed, name) == (getattr(plain, name) if name == reset else value)
    assert repr(full).startswith("Augmentation(other, mag_range=(0, 10)") and full.op is given


def no_arguments() -> None: ...
def one_argument(data: Any) -> None: ...
def named_only(*, data: Any, param: Any) -> None: ...


@pytest.mark.parametrize("function", [no_arguments, one_argument, named_only])
def test_functions_take_an_image_and_a_parameter(function: Any) -> None:
    with pytest.raises(errors.GraphError, match=r"accepts [01] positional argument\(s\)"):
        augmentation(function)


def two_more(data: Any, param: Any, extra: Any, other: Any, more: Any = None) -> Any:
    return data


def test_what_a_function_needs_is_told_in_its_order() -> None:
    op = augmentation(two_more)
    for named, missing in (({}, "extra, other"), ({"extra": 1}, "other"), ({"other": 1}, "extra")):
        with pytest.raises(errors.GraphError, match=f"not provided to the call: {missing}$"):
            op(types.Constant(1), **named)
    assert op(fn.constant(idata=1), extra=None, other=2) is not None


def by_node(magnitude: float) -> Any:
    return fn.transforms.shear(shear=[magnitude, 0])


def by_shape(magnitude: float) -> Array:
    return np.zeros(2 if magnitude < 5 else 3)


def by_dtype(magnitude: float) -> Array:
    return np.zeros(2, "uint8" if magnitude < 3 else "uint16")


@pytest.mark.parametrize(
    ("settings", "call", "words"),
    [
        ({"mag_to_param": by_node}, {}, "must return parameter that is `np.ndarray`"),
        ({"mag_to_param": by_shape}, {}, r"it has shape \(3,\) and type float64"),
        ({"mag_to_param": by_dtype}, {}, "arrays of the same type and shape .* type uint16"),
        ({"mag_range": (1, 2, 3)}, {}, r"mag_range expects \(low, high\) or an array"),
        ({"mag_range": 5}, {}, r"mag_range expects \(low, high\) or an array"),
        ({"mag_range": np.arange(3)}, {}, "mag_range expects 11 magnitudes, got 3"),
        ({}, {"magnitude_bin": 11}, "magnitude_bin expects a number from 0 to 10, got 11"),
        ({}, {"magnitude_bin": 1.5}, "magnitude_bin expects a whole number or a node, got 1.5"),
        ({}, {"magnitude_bin": None}, "magnitude_bin is missing"),
    ],
)
def test_wrong_parameters_are_refused(
    settings: dict[str, Any], call: dict[str, Any], words: str
) -> None:
    op = augmentation(given, **{"mag_range": (0, 10), "name": "mine", **settings})

    def define() -> Any:
        number = fed([0])
        return op(types.Constant(1), **{"magnitude_bin": number, "num_magnitude_bins": 11, **call})

    with pytest.raises(errors.GraphError, match=f"the augmentation mine.*{words}"):
        make(define, batch_size=1)


def test_wrong_signs_are_refused() -> None:
    for number in (1.5, "3", None, True):
        with pytest.raises(errors.GraphTypeError, match="magnitude_bin expects a whole number"):
            signed_bin(number)  # type: ignore[arg-type]
    for more in ({"seed": 1}, {"shape": [2]}):
        with pytest.raises(errors.GraphError, match="are for signs to draw"):
            signed_bin(1, fn.random.coin_flip(), **more)  # type: ignore[arg-type]


def test_an_augmentation_is_decorated_once() -> None:
    op = augmentation(given, name="mine")
    with pytest.raises(errors.GraphError, match="mine is an augmentation already"):
        augmentation(op, mag_range=(5, 10))  # type: ignore[arg-type]
    with pytest.raises(errors.GraphTypeError, match="augmentation expects a function, got 5"):
        augmentation(mag_range=(5, 10))(5)  # type: ignore[arg-type]


def test_policies_are_checked_where_they_are_made() -> None:
    ranged, bare = augmentation(given, mag_range=(0, 9)), augmentation(given)
    for wrong, words in (
        ((9, ranged), "expects a list as sub_policies"),
        ((9, [ranged]), "expects a list as a sub-policy"),
        ((9, [(ranged, ranged)]), r"expects \(augmentation, probability, number or None\)"),
        ((9, [[(0.5, ranged, 3)]]), "expects an augmentation, got 0.5"),
        ((9, [[(ranged, 1, -1)]]), "expects a whole number from 0 to 8, got -1"),
        ((9, [[(ranged, 1, None)]]), "the magnitude's number is required"),
        ((0.25, []), "num_magnitude_bins expects a whole number of at least 1, got 0.25"),
    ):
        with pytest.raises(errors.GraphError, match=words):
            Policy("mine", *wrong)  # type: ignore[arg-type]
    with pytest.warns(UserWarning, match="the number 5 has no effect, as given has no mag_range"):
        Policy("mine", 7, [[(bare, 1.0, 5)]])
    empty = Policy("mine", 7, [])
    assert "sub_policies=[], augmentations={}" in repr(empty)
    with pytest.raises(errors.GraphError, match=r"with sub-policies, got Policy\(name='mine'"):
        aa.apply_auto_augment(empty, IMAGE)  # type: ignore[arg-type]


def test_unused_arguments_are_named_with_the_call() -> None:
    suite = ra.get_rand_augment_suite()
    for call in (
        lambda d: ra.apply_rand_augment(suite, d, 1, 20, shhape=42),
        lambda d: ta.apply_trivial_augment(suite, d, shhape=42),
    ):
        words = r"apply_\w+_augment: no augmentation takes the argument 'shhape'"
        with pytest.raises(errors.GraphError, match=words):
            make(lambda call=call: call(fn.constant(idata=[0], shape=[1, 1, 1])))


def test_no_augmentation_at_all_warns() -> None:
    with pytest.warns(UserWarning, match="n=0 changes no image"):
        pipe = make(lambda: ra.apply_rand_augment([augmentation(given)], types.Constant(5), 0, 3))
    assert (pipe.run()[0].as_array() == 5).all()


def test_selected_functions_get_all_arguments() -> None:
    ops = [augmentation(lambda d, p, k=k: d + p * k, mag_range=(0, 3), name="x") for k in (1, 10)]

    def define() -> Any:
        place = fed(np.arange(8))
        number = {"magnitude_bin": place % 4, "num_magnitude_bins": 4}
        return select(ops, place // 4, fn.cast(place, dtype="float32"), **number)

    found = make(define, batch_size=8).run()[0].as_array()
    assert found.tolist() == [0, 2, 4, 6, 4, 15, 26, 37]
