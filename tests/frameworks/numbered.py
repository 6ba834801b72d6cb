# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Samples that are numbers: file i of a folder has the label i, counted from 1."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

from helpers import make
from stoker import Pipeline, fn

PIPELINE = ("seed", "checkpoint", "on_error", "prefetch_queue_depth")  # settings of the pipeline


class Numbers:
    """Makes pipelines whose only output is the labels 1 .. n of n files."""

    def __init__(self, folder: Path) -> None:
        self._files = [folder / f"{i}" for i in range(1, 41)]
        for i, file in enumerate(self._files, 1):
            file.write_bytes(b"x" * i)

    def __call__(
        self,
        n: int,
        batch: int,
        shard: int = 0,
        shards: int = 1,
        bad: Collection[int] = (),
        **settings: Any,
    ) -> Pipeline:
        """Settings that are not in PIPELINE are the reader's. ``key`` is its seed.

        ``bad``: which files are not there.
        """
        own = {k: settings.pop(k) for k in PIPELINE if k in settings}
        key = settings.pop("key", -1)

        def define() -> Any:
            return fn.readers.file(
                files=[
                    file.with_suffix(".gone") if i in bad else file
                    for i, file in enumerate(self._files[:n], 1)
                ],
                labels=list(range(1, n + 1)),
                shard_id=shard,
                num_shards=shards,
                name="reader",
                seed=key,
                **settings,
            )[1]

        return make(define, batch_size=batch, num_threads=1, **own)
