# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""zeros_like, by NumPy."""

from __future__ import annotations

import numpy as np

from .common import Array
from .filled import tensors as generate

__all__ = ["expected", "generate"]


def expected(inputs: list[Array], layout: str, dtype: str | None = None) -> Array:
    return np.zeros_like(inputs[0], dtype)
