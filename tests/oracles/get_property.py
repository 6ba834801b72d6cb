# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""get_property of numbers that come from nowhere: only their layout is known."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .common import Array, numbers


def expected(inputs: list[Array], layout: str, key: str) -> Array:
    return np.frombuffer(layout.encode() if key == "layout" else b"", np.uint8)


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    for layout, shape, dtype in (
        ("HWC", (5, 7, 3), "uint8"),
        ("", (), "float32"),
        ("FHWC", (0, 5, 4, 3), "int16"),
        ("XY", (1, 3), "bool"),
    ):
        for key in ("layout", "source_info"):
            yield [numbers(rng, shape, dtype)], layout, {"key": key}
