# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""reductions.mean_square, by NumPy in long double."""

from __future__ import annotations

from typing import Any

from .common import Array, Tolerance
from .reducing import along, mean_square_of, rounded
from .reducing import squares as generate

__all__ = ["expected", "generate"]

TOLERANCE = Tolerance()  # the rounding of the dtype


def expected(inputs: list[Array], layout: str, dtype: str | None = None, **where: Any) -> Array:
    data = inputs[0]
    return rounded(mean_square_of(data, **along(data, layout, **where)), data, dtype)
