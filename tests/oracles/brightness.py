# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""brightness: a part of brightness_contrast."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from . import brightness_contrast
from .brightness_contrast import TOLERANCE as TOLERANCE
from .brightness_contrast import expected as expected
from .common import Array


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    yield from brightness_contrast.calls(rng, *brightness_contrast.BRIGHTER)
