# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""reductions.max, by NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from .common import Array
from .reducing import along
from .reducing import tensors as generate

__all__ = ["expected", "generate"]


def end(dtype: np.dtype[Any]) -> Any:
    """The max of no values."""
    if dtype.kind == "f":
        return -np.inf
    return False if dtype.kind == "b" else np.iinfo(dtype).min


def expected(inputs: list[Array], layout: str, **where: Any) -> Array:
    data = inputs[0]
    return np.asarray(data.max(**along(data, layout, **where), initial=end(data.dtype)))
