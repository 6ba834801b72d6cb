# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""RandAugment: each image gets some augmentations of one common magnitude.

It is that of Cubuk et al., "RandAugment: Practical automated data augmentation with a reduced
search space", 2019 (https://arxiv.org/abs/1909.13719).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from stoker import fn
from stoker._graph.node import DataNode
from stoker._graph.outside import anywhere
from stoker._messages import user_level
from stoker.auto_aug import augmentations as a
from stoker.auto_aug.core import Augmentation, select, signed_bin
from stoker.auto_aug.core.arguments import (
    drawn_seed,
    expect_images,
    refuse_unknown,
    taken,
    whole_number,
    without,
)


@anywhere
def rand_augment(
    data: DataNode,
    n: int,
    m: int,
    num_magnitude_bins: int = 31,
    shape: Any = None,
    fill_value: Any = 128,
    interp_type: Any = None,
    max_translate_abs: Any = None,
    max_translate_rel: Any = None,
    seed: int | None = None,
    monotonic_mag: bool = True,
    excluded: Sequence[str] | None = None,
) -> DataNode:
    """The images after ``n`` augmentations, drawn one by one, of magnitude number ``m``.

    Magnitudes are numbered from 0 to ``num_magnitude_bins`` - 1. With ``shape``, the extents
    (H, W) of the images, translations are relative to it: at most ``max_translate_rel``, by default
    100 / 224. Without it they are at most ``max_translate_abs`` pixels, by default 100.
    ``monotonic_mag=False`` takes ranges from one extreme to the other, whose middle changes least.
    ``excluded`` are names of augmentations that are never drawn. ``fill_value`` fills what is moved
    into the image, None repeats its border. Raises ``GraphError`` for a number out of range, and at
    the build for images of another layout.
    """
    expect_images("rand_augment", data)
    suite = get_rand_augment_suite if monotonic_mag else get_rand_augment_non_monotonic_suite
    ops = without(suite(shape is not None, max_translate_abs, max_translate_rel), excluded)
    given = taken(ops, fill_value, shape, interp_type)
    return apply_rand_augment(ops, data, n, m, num_magnitude_bins, seed, **given)


@anywhere
def apply_rand_augment(
    augmentations: Sequence[Augmentation],
    data: DataNode,
    n: int,
    m: int,
    num_magnitude_bins: int = 31,
    seed: int | None = None,
    **arguments: Any,
) -> DataNode:
    """The images after ``n`` of these augmentations, which get those arguments that they take.

    Raises ``GraphError`` for a number out of range, and for what are no augmentations.
    """
    n = whole_number("n", n, 0)
    num_magnitude_bins = whole_number("num_magnitude_bins", num_magnitude_bins, 1)
    m = whole_number("m", m, 0, num_magnitude_bins - 1)
    refuse_unknown(augmentations, arguments, "apply_rand_augment")
    if n == 0:
        warnings.warn("apply_rand_augment: n=0 changes no image", stacklevel=user_level())
    for k in range(n):
        own = drawn_seed(seed, k)
        drawn = fn.random.uniform(values=list(range(len(augmentations))), seed=own, dtype="int32")
        data = select(
            augmentations,
            drawn,
            data,
            magnitude_bin=signed_bin(m, seed=own),
            num_magnitude_bins=num_magnitude_bins,
            **arguments,
        )
    return data


def get_rand_augment_suite(
    use_shape: bool = False, max_translate_abs: Any = None, max_translate_rel: Any = None
) -> list[Augmentation]:
    """The augmentations whose magnitude goes from none to the strongest."""
    return [
        *a.translations(use_shape, 100, 100 / 224, max_translate_abs, max_translate_rel),
        a.shear_x,
        a.shear_y,
        a.rotate,
        a.brightness,
        a.contrast,
        a.color,
        a.sharpness,
        a.posterize.augmentation(mag_range=(8, 4)),
        a.solarize,
        a.equalize,
        a.auto_contrast,
        a.identity,
    ]


def get_rand_augment_non_monotonic_suite(
    use_shape: bool = False, max_translate_abs: Any = None, max_translate_rel: Any = None
) -> list[Augmentation]:
    """The augmentations whose magnitude goes from one extreme to the other."""
    rest = [op for op in a.non_monotonic() if op.name not in ("solarize_add", "invert")]
    move = a.translations(use_shape, 100, 100 / 224, max_translate_abs, max_translate_rel)
    return [*move, *rest]
