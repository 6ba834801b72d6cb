# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""per_frame: the same values, of which only the layout changes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .common import Array, numbers


def expected(inputs: list[Array], layout: str, replace: bool = False) -> Array:
    del layout, replace
    return inputs[0]


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    yield [numbers(rng, (4,), "float32")], "", {}
    yield [numbers(rng, (4, 2), "uint8")], "FC", {}
    yield [numbers(rng, (3, 2), "int32")], "HW", {"replace": True}
