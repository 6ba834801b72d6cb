# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Pipelines with ``on_error="drop"``, and what they give."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from helpers import SIMPLE, make
from stoker import Pipeline, fn

EXECUTORS: list[dict[str, Any]] = [{}, SIMPLE]
BATCH = 2


class Numbered:
    """Makes pipelines over files 0 .. n-1 whose output is their numbers; some are not there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(
        self, n: int, bad: Iterable[int], reader: dict[str, Any] | None = None, **settings: Any
    ) -> Pipeline:
        files = [self.folder / f"{i}" for i in range(n)]
        gone = set(bad)
        for i, file in enumerate(files):
            if i in gone:
                file.unlink(missing_ok=True)
            elif not file.exists():  # other pipelines may be reading it ahead
                file.write_bytes(bytes([i]))

        def define() -> Any:
            encoded, label = fn.readers.file(
                files=files, labels=list(range(n)), name="reader", **(reader or {})
            )
            return label, encoded, fn.random.uniform()

        return make(define, **{"batch_size": BATCH, "on_error": "drop", **settings})


def labels(batches: Any) -> list[int]:
    return [int(np.array(x)[0]) for x in batches[0]]


def runs(pipe: Pipeline, count: int) -> list[list[int]]:
    return [labels(pipe.run()) for _ in range(count)]


def epoch(pipe: Pipeline) -> list[list[int]]:
    return [labels(batches) for batches in pipe]


def steps_of(iterator: Any) -> list[list[int]]:
    return [step["label"].reshape(-1).tolist() for step in iterator]


def sliced(row: Any) -> Any:
    """Bad for a negative number."""
    return fn.slice(fn.constant(idata=list(range(9))), row, [1], axes=[0])
