# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""saturation: a part of color_twist."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .color_twist import TOLERANCE as TOLERANCE
from .color_twist import calls
from .color_twist import expected as expected
from .common import Array


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    yield from calls(
        rng,
        {},
        {"saturation": 0.6},
        {"saturation": -30.5, "dtype": "float32"},
        {"saturation": 2.0, "image_type": "BGR"},
    )
