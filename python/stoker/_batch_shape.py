# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The shape of a batch, which is that of an array and, called, those of the samples."""

from __future__ import annotations

__all__ = ["BatchShape"]


class BatchShape(tuple[int | None, ...]):
    """The number of samples, then their extents, with None where samples differ.

    ``batch.shape()`` is the list of the samples' own shapes.
    """

    samples: list[tuple[int, ...]]

    def __new__(cls, samples: list[tuple[int, ...]]) -> BatchShape:
        extents = (set(axis) for axis in zip(*samples, strict=True))
        same = (min(e) if len(e) == 1 else None for e in extents)
        shape = super().__new__(cls, (len(samples), *same))
        shape.samples = samples
        return shape

    def __call__(self) -> list[tuple[int, ...]]:
        return self.samples

    def __getnewargs__(self) -> tuple[list[tuple[int, ...]]]:
        """What pickle makes it of."""
        return (self.samples,)
