# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""mixup, by NumPy in float64."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .chance import Chance
from .common import Array, Tolerance, to_dtype
from .mixing import batches as generate_batches
from .mixing import calls as generate
from .mixing import draw_share, draws_of, partners, refused, refused_batches, shares_of

__all__ = ["expected_batch", "generate", "generate_batches", "refused", "refused_batches"]

TOLERANCE = Tolerance(levels=1, share=1e-5)


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
    del layout
    order, draws = partners(chances, partner), draws_of(chances, mode)
    found = []
    for i, (image, label) in enumerate(samples):
        share = draw_share(draws[i], alpha, probability)
        other, other_label = samples[order[i]]
        mixed = share * image.astype(np.float64) + (1 - share) * other.astype(np.float64)
        both = [shares_of(x, num_classes, label_smoothing) for x in (label, other_label)]
        shares = share * both[0] + (1 - share) * both[1]
        found.append([to_dtype(mixed, str(image.dtype)), shares.astype(np.float32)])
    return found
