# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""cutmix, by NumPy's slices."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .chance import Chance
from .common import Array, Tolerance
from .mixing import batches as generate_batches
from .mixing import calls as generate
from .mixing import draw_share, draws_of, partners, refused, refused_batches, shares_of

__all__ = ["expected_batch", "generate", "generate_batches", "refused", "refused_batches"]

TOLERANCE = Tolerance(share=1e-6)  # of shares; a pixel that is wrong is far off


def expected_batch(
    samples: list[list[Array]],
    layout: str,
    *,
    chances: Sequence[Chance],
    alpha: float = 1.0,
    probability: float = 1.0,
    label_smoothing: float = 0.0,
    num_classes: int | None = None,
    mode: str = "batch",
    partner: str = "roll",
) -> list[list[Array]]:
    order, draws = partners(chances, partner), draws_of(chances, mode)
    found = []
    for i, (image, label) in enumerate(samples):
        half = 0.5 * math.sqrt(1 - draw_share(draws[i], alpha, probability))
        other, other_label = samples[order[i]]
        place: list[slice] = [slice(None)] * image.ndim
        area = 1.0
        for letter in "HW":
            axis = layout.index(letter)
            extent = image.shape[axis]
            centre, reach = int(draws[i].share() * extent), int(half * extent)
            begin, end = max(centre - reach, 0), min(centre + reach, extent)
            place[axis] = slice(begin, end)
            area *= (end - begin) / extent
        mixed = image.copy()
        mixed[tuple(place)] = other[tuple(place)]
        both = [shares_of(x, num_classes, label_smoothing) for x in (label, other_label)]
        found.append([mixed, ((1 - area) * both[0] + area * both[1]).astype(np.float32)])
    return found
