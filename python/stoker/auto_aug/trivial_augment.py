# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""TrivialAugment: each image gets one augmentation, of a magnitude that is drawn too.

It is the wide variant of Müller and Hutter, "TrivialAugment: Tuning-free Yet State-of-the-Art Data
Augmentation", 2021 (https://arxiv.org/abs/2103.10158).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stoker import fn
from stoker._graph.node import DataNode
from stoker._graph.outside import anywhere
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
def trivial_augment_wide(
    data: DataNode,
    num_magnitude_bins: int = 31,
    shape: Any = None,
    fill_value: Any = 128,
    interp_type: Any = None,
    max_translate_abs: Any = None,
    max_translate_rel: Any = None,
    seed: int | None = None,
    excluded: Sequence[str] | None = None,
) -> DataNode:
    """The images after one augmentation, with one of ``num_magnitude_bins`` magnitudes.

    With ``shape``, the extents (H, W) of the images, translations are relative to it: at most
    ``max_translate_rel``, by default 1. Without it they are at most ``max_translate_abs`` pixels,
    by default 32. ``excluded`` are names of augmentations that are never drawn. ``fill_value``
    fills what is moved into the image, None repeats its border. Raises ``GraphError`` for a number
    out of range, and at the build for images of another layout.
    """
    expect_images("trivial_augment_wide", data)
    use_shape = shape is not None
    suite = get_trivial_augment_wide_suite(use_shape, max_translate_abs, max_translate_rel)
    ops = without(suite, excluded)
    given = taken(ops, fill_value, shape, interp_type)
    return apply_trivial_augment(ops, data, num_magnitude_bins, seed, **given)


@anywhere
def apply_trivial_augment(
    augmentations: Sequence[Augmentation],
    data: DataNode,
    num_magnitude_bins: int = 31,
    seed: int | None = None,
    **arguments: Any,
) -> DataNode:
    """The images after one of these augmentations, which get those arguments that they take.

    Raises ``GraphError`` for a number out of range, and for what are no augmentations.
    """
    num_magnitude_bins = whole_number("num_magnitude_bins", num_magnitude_bins, 1)
    refuse_unknown(augmentations, arguments, "apply_trivial_augment")
    op, magnitude = (
        fn.random.uniform(values=list(range(count)), seed=drawn_seed(seed, k), dtype="int32")
        for k, count in enumerate((len(augmentations), num_magnitude_bins))
    )
    return select(
        augmentations,
        op,
        data,
        magnitude_bin=signed_bin(magnitude, seed=seed),
        num_magnitude_bins=num_magnitude_bins,
        **arguments,
    )


def get_trivial_augment_wide_suite(
    use_shape: bool = False, max_translate_abs: Any = None, max_translate_rel: Any = None
) -> list[Augmentation]:
    """The augmentations, with wide ranges of magnitudes."""
    return [
        *a.translations(use_shape, 32, 1.0, max_translate_abs, max_translate_rel),
        a.shear_x.augmentation(mag_range=(0, 0.99)),
        a.shear_y.augmentation(mag_range=(0, 0.99)),
        a.rotate.augmentation(mag_range=(0, 135)),
        a.brightness.augmentation(mag_range=(0.01, 0.99)),
        a.contrast.augmentation(mag_range=(0.01, 0.99)),
        a.color.augmentation(mag_range=(0.01, 0.99)),
        a.sharpness.augmentation(mag_range=(0.01, 0.99)),
        a.posterize.augmentation(mag_range=(8, 2)),
        a.solarize,
        a.equalize,
        a.auto_contrast,
        a.identity,
    ]
