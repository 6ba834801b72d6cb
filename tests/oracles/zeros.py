# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""zeros, by NumPy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .common import Array
from .filled import refused
from .filled import shapes as generate

__all__ = ["expected", "generate", "refused"]


def expected(
    inputs: list[Array], _: str, shape: Sequence[int] = (), dtype: str = "int32", layout: str = ""
) -> Array:
    return np.zeros(shape, dtype)
