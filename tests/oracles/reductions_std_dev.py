# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""reductions.std_dev, by NumPy in long double."""

from __future__ import annotations

from typing import Any

import numpy as np

from .common import Array, Tolerance
from .reducing import refused_spreads as refused
from .reducing import rounded, variance_of
from .reducing import spreads as generate

__all__ = ["expected", "generate", "refused"]

TOLERANCE = Tolerance()  # the rounding of the dtype


def expected(inputs: list[Array], layout: str, ddof: int = 0, **where: Any) -> Array:
    return rounded(np.sqrt(variance_of(inputs, layout, ddof, **where)), inputs[0])
