# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""reductions.min, by NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from .common import Array
from .reducing import along
from .reducing import tensors as generate

__all__ = ["expected", "generate"]


def end(dtype: np.dtype[Any]) -> Any:
    """The min of no values."""
    if dtype.kind == "f":
        return np.inf
    return True if dtype.kind == "b" else np.iinfo(dtype).max


def expected(inputs: list[Array], layout: str, **where: Any) -> Array:
    data = inputs[0]
    return np.asarray(data.min(**along(data, layout, **where), initial=end(data.dtype)))
