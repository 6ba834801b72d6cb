# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""erode, as dilate."""

from __future__ import annotations

from typing import Any

from .common import Array
from .dilate import generate, morphed

__all__ = ["expected", "generate"]


def expected(inputs: list[Array], layout: str, **arguments: Any) -> Array:
    return morphed(inputs[0], layout, False, **arguments)
