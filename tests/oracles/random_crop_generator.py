# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""random_crop_generator: the window, predicted by random_window.py."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .chance import Chance
from .common import Array
from .random_window import random_window


def expected(inputs: list[Array], layout: str, *, chance: Chance, **arguments: Any) -> list[Array]:
    height, width = (int(e) for e in inputs[0][:2])
    y, x, h, w = random_window(chance, height, width, **arguments)
    return [np.array([y, x], np.int32), np.array([h, w], np.int32)]


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    yield [np.array([2**31 - 1, 2**31 - 1])], "", {}
    for shape in ([300, 400, 3], [37, 53], [1, 1], [1, 500], [2000, 3]):
        yield [np.array(shape, np.int64)], "", {}
        yield [np.array(shape, np.int32)], "", {"random_area": [0.3, 0.4], "num_attempts": 2}
        yield [np.array(shape, np.int32)], "", {"random_aspect_ratio": [0.5, 0.6]}


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    yield [np.zeros(4, np.int32)], "", {}, "expected (2) or (3)"
    yield [np.array([0, 5], np.int32)], "", {}, "the picture has an extent of 0"
    yield [np.array([2**31, 2**31])], "", {}, "of 2147483648, expected one between 1 and 2^31 - 1"
