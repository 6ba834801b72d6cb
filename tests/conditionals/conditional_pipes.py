# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Pipelines with conditionals, and what their graphs are made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from helpers import Array
from stoker import DataNode, Pipeline, fn, pipeline_def

STEPS = 3


def pipe_of(define: Callable[[], Any], **settings: Any) -> Pipeline:
    given = {"batch_size": 12, "num_threads": 2, "seed": 5, "enable_conditionals": True}
    return pipeline_def(**{**given, **settings})(define)()


def runs(define: Callable[[], Any], **settings: Any) -> list[tuple[Array, ...]]:
    """The samples of some steps, by sample."""
    pipe = pipe_of(define, **settings)
    found = []
    for _ in range(STEPS):
        batches = [batch.as_cpu() for batch in pipe.run()]
        found += list(zip(*[[np.array(x) for x in batch] for batch in batches], strict=True))
    return found


def flips(count: int) -> list[DataNode]:
    return [fn.random.coin_flip() for _ in range(count)]


def picture() -> DataNode:
    return fn.random.uniform(range=(0.0, 1.0), shape=[6, 8, 3])


def crop(x: DataNode, size: int) -> DataNode:
    return fn.crop(x, crop=(size, size))


def cropped(x: Array, size: int) -> Array:
    top, left = (6 - size) // 2, (8 - size) // 2
    return x[top : top + size, left : left + size]
