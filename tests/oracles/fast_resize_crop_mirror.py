# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""fast_resize_crop_mirror: resize_crop_mirror without antialias."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from . import resize_crop_mirror
from .common import Array

TOLERANCE = resize_crop_mirror.TOLERANCE


def expected(inputs: list[Array], layout: str, antialias: bool = False, **arguments: Any) -> Array:
    return resize_crop_mirror.expected(inputs, layout, antialias=antialias, **arguments)


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    yield from resize_crop_mirror.generate(rng)
