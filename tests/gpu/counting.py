# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""A pipeline of batches on a GPU, whose elements tell their step and row."""

from __future__ import annotations

from typing import Any

import numpy as np

from helpers import Array, make
from stoker import Pipeline, fn

ROWS, COLUMNS = 16, 50_000


def step_of(number: int) -> list[Array]:
    return [np.full(COLUMNS, number * ROWS + i, np.float32) for i in range(ROWS)]


def counting(**settings: Any) -> Pipeline:
    """Each step is one batch on the GPU with numbered rows."""
    return make(
        lambda: fn.cast(
            fn.external_source(source=step_of, device="gpu", batch=True), dtype="float32"
        ),
        batch_size=ROWS,
        device_id=0,
        **settings,
    )


def expected(number: int) -> Array:
    return np.stack(step_of(number))
