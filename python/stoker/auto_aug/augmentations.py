# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The augmentations that the automatic ones draw from, of RGB images: uint8, of layout HWC."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy

from stoker import fn, math
from stoker._graph.calls import constant
from stoker._graph.node import DataNode
from stoker.auto_aug.core import Augmentation, augmentation
from stoker.errors import GraphError

Pair = tuple[float, float]


def along_x(magnitude: float) -> Any:
    """A pair for x and y."""
    return numpy.array([magnitude, 0], numpy.float32)


def along_y(magnitude: float) -> Any:
    """A pair for x and y."""
    return numpy.array([0, magnitude], numpy.float32)


def around_one(magnitude: float) -> float:
    """The factor that changes nothing at magnitude 0."""
    return 1 + magnitude


def sharpening(factor: float) -> Any:
    """The kernel that goes from a smoothed image at factor 0 by the image itself at 1 on."""
    smooth = numpy.ones((3, 3)) / 13
    smooth[1, 1] = 5 / 13
    same = numpy.zeros((3, 3))
    same[1, 1] = 1
    return (smooth + factor * (same - smooth)).astype(numpy.float32)


def sharpening_around_one(magnitude: float) -> Any:
    """The kernel that changes nothing at magnitude 0."""
    return sharpening(1 + magnitude)


def kept_bits(magnitude: float) -> Any:
    """The mask of the highest bits that stay, at least one."""
    kept = max(1, round(magnitude))
    return numpy.array(0xFF ^ (0xFF >> kept), numpy.uint8)


def whole_number(magnitude: float) -> Any:
    """The magnitude without its fraction."""
    return numpy.array(int(magnitude), numpy.int32)


def _warped(data: DataNode, matrix: DataNode, fill_value: Any, interp_type: Any) -> DataNode:
    return fn.warp_affine(
        data, matrix=matrix, fill_value=fill_value, interp_type=interp_type, inverse_map=False
    )


@augmentation(mag_range=(0, 0.3), randomly_negate=True, mag_to_param=along_x)
def shear_x(data: Any, shear: Any, fill_value: Any = 128, interp_type: Any = None) -> Any:
    """Moves rows to the side, the more the lower they are."""
    return _warped(data, fn.transforms.shear(shear=shear), fill_value, interp_type)


# Moves columns up or down, the more the further right they are.
shear_y = shear_x.augmentation(mag_to_param=along_y, name="shear_y")


def _translated(data: Any, offset: Any, fill_value: Any, interp_type: Any) -> Any:
    return _warped(data, fn.transforms.translation(offset=offset), fill_value, interp_type)


def _pixels(rel_offset: Any, shape: Any) -> Any:
    """An offset in pixels, of one relative to the extents (H, W, ...)."""
    if not isinstance(shape, DataNode):
        shape = constant(numpy.asarray(shape, numpy.float32)[:2])
    return rel_offset * fn.stack(shape[1], shape[0])


@augmentation(mag_range=(0.0, 1.0), randomly_negate=True, mag_to_param=along_x)
def translate_x(
    data: Any, rel_offset: Any, shape: Any, fill_value: Any = 128, interp_type: Any = None
) -> Any:
    """Moves the image to the side, by a part of its width."""
    return _translated(data, _pixels(rel_offset, shape), fill_value, interp_type)


@augmentation(mag_range=(0, 250), randomly_negate=True, mag_to_param=along_x, name="translate_x")
def translate_x_no_shape(
    data: Any, offset: Any, fill_value: Any = 128, interp_type: Any = None
) -> Any:
    """Moves the image to the side, by pixels."""
    return _translated(data, offset, fill_value, interp_type)


# Move the image up or down, by a part of its height and by pixels.
translate_y = translate_x.augmentation(mag_to_param=along_y, name="translate_y")
translate_y_no_shape = translate_x_no_shape.augmentation(mag_to_param=along_y, name="translate_y")


@augmentation(mag_range=(0, 30), randomly_negate=True)
def rotate(
    data: Any,
    angle: Any,
    fill_value: Any = 128,
    interp_type: Any = None,
    rotate_keep_size: bool = True,
) -> Any:
    """Turns the image by degrees."""
    return fn.rotate(
        data,
        angle=angle,
        fill_value=fill_value,
        interp_type=interp_type,
        keep_size=rotate_keep_size,
    )


@augmentation(mag_range=(0, 0.9), randomly_negate=True, mag_to_param=around_one)
def brightness(data: Any, parameter: Any) -> Any:
    """Multiplies all values."""
    return fn.brightness(data, brightness=parameter)


@augmentation(mag_range=(0, 0.9), randomly_negate=True, mag_to_param=around_one)
def contrast(data: Any, parameter: Any) -> Any:
    """Moves values away from the mean of the grey image, or towards it."""
    means = fn.reductions.mean(data, axes=[0, 1])
    grey = fn.reductions.sum(means * constant([0.299, 0.587, 0.114]))
    return fn.brightness_contrast(data, contrast=parameter, contrast_center=grey.cpu())


@augmentation(mag_range=(0, 0.9), randomly_negate=True, mag_to_param=around_one)
def color(data: Any, parameter: Any) -> Any:
    """Changes the saturation."""
    return fn.saturation(data, saturation=parameter)


@augmentation(
    mag_range=(0, 0.9),
    randomly_negate=True,
    mag_to_param=sharpening_around_one,
    param_device="auto",
)
def sharpness(data: Any, kernel: Any) -> Any:
    """Sharpens or smooths."""
    return fn.filter(fn.reshape(data, layout="HWC"), kernel)


@augmentation(mag_range=(0, 4), mag_to_param=kept_bits, param_device="auto")
def posterize(data: Any, mask: Any) -> Any:
    """Keeps only the highest bits."""
    return data & mask


@augmentation(mag_range=(256, 0), param_device="auto")
def solarize(data: Any, threshold: Any) -> Any:
    """Inverts the values that are not below a threshold."""
    return fn.cast(math.where(data < threshold, data, 255 - data), dtype="uint8")


@augmentation(mag_range=(0, 110), mag_to_param=whole_number, param_device="auto")
def solarize_add(data: Any, shift: Any) -> Any:
    """Adds to the values that are below the middle."""
    return fn.cast(math.where(data < 128, data + shift, data), dtype="uint8")


@augmentation
def invert(data: Any, _: Any) -> Any:
    """Exchanges dark and bright."""
    return fn.cast(255 - data, dtype="uint8")


@augmentation
def equalize(data: Any, _: Any) -> Any:
    """Spreads the values of each channel evenly."""
    return fn.equalize(data)


@augmentation
def auto_contrast(data: Any, _: Any) -> Any:
    """Stretches the values of each channel to the whole range."""
    low = fn.reductions.min(data, axes=[0, 1], keep_dims=True)
    high = fn.reductions.max(data, axes=[0, 1], keep_dims=True)
    room = fn.cast(high, dtype="int32") - low
    stretched = (data - fn.cast(low, dtype="float32")) * (255 / math.max(room, 1))
    return fn.cast(math.where(room > 0, stretched, data), dtype="uint8")


@augmentation
def identity(data: Any, _: Any) -> Any:
    """The image itself."""
    return data


def translations(
    use_shape: bool,
    default_abs: float,
    default_rel: float,
    max_abs: Any = None,
    max_rel: Any = None,
) -> list[Augmentation]:
    """``translate_x`` and ``translate_y``, with ranges in pixels or relative to the image.

    A maximum is one number, or a pair for height and width. Raises ``GraphError`` for all else.
    """
    if use_shape and max_abs is not None:
        raise GraphError("max_translate_abs is for images without shape=; give max_translate_rel")
    if not use_shape and max_rel is not None:
        raise GraphError("max_translate_rel needs shape=; give max_translate_abs")
    given, default = (max_rel, default_rel) if use_shape else (max_abs, default_abs)
    most = default if given is None else given
    pair = list(most) if isinstance(most, (Sequence, numpy.ndarray)) else [most, most]
    if len(pair) != 2 or not all(isinstance(extent, Real) for extent in pair):
        name = "max_translate_rel" if use_shape else "max_translate_abs"
        raise GraphError(f"{name} expects a number, or a pair for height and width, got {most!r}")
    height, width = pair
    x = translate_x if use_shape else translate_x_no_shape
    y = translate_y if use_shape else translate_y_no_shape
    return [x.augmentation(mag_range=(0, width)), y.augmentation(mag_range=(0, height))]


def non_monotonic() -> list[Augmentation]:
    """All but the translations, with magnitudes from one extreme to the other, not from none on."""
    factor = {"mag_range": (0.1, 1.9), "randomly_negate": False, "mag_to_param": None}
    return [
        shear_x,
        shear_y,
        rotate,
        brightness.augmentation(**factor),
        contrast.augmentation(**factor),
        color.augmentation(**factor),
        sharpness.augmentation(**{**factor, "mag_to_param": sharpening}),
        posterize,
        solarize.augmentation(mag_range=(0, 256)),
        solarize_add,
        invert,
        equalize,
        auto_contrast,
        identity,
    ]
