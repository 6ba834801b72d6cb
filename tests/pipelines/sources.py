# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Sources whose batches tell their place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from helpers import SIMPLE, make
from stoker import Pipeline, fn

BATCH = 4
EXECUTORS: list[dict[str, Any]] = [{}, SIMPLE, {"prefetch_queue_depth": 1}]


def numbers(i: int, size: int = BATCH) -> np.ndarray[Any, Any]:
    """A batch whose samples tell their iteration and their place in it."""
    return np.stack([np.array([i, k], np.int32) for k in range(size)])


def up_to(end: int, give: Callable[[int], Any] = numbers) -> Callable[[int], Any]:
    """A callable of the iteration, which ends after so many."""

    def source(iteration: int) -> Any:
        if iteration >= end:
            raise StopIteration
        return give(iteration)

    return source


def external(*args: Any, settings: dict[str, Any] | None = None, **keywords: Any) -> Pipeline:
    """A pipeline that hands out what the source gives."""
    return make(
        lambda: fn.external_source(*args, **keywords), **{"batch_size": BATCH, **(settings or {})}
    )


def generator() -> Iterator[Any]:
    for i in range(3):
        yield numbers(i)
