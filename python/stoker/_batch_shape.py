# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The shape of a batch, which is that of an array and, called, those of the samples."""

from __future__ import annotations

from stoker import _core

__all__ = ["BatchShape"]


class BatchShape(tuple[int | None, ...]):
    """The number of samples, then their extents, with None where samples differ.

    ``batch.shape()`` is the list of the samples' own shapes.
    """

    samples: list[tuple[int, ...]]

    def __call__(self) -> list[tuple[int, ...]]:
        return self.samples


def _shape(batch: _core.Batch) -> BatchShape:
    samples = batch._sample_shapes()
    extents = (set(axis) for axis in zip(*samples, strict=True))
    shape = BatchShape((len(samples), *(min(e) if len(e) == 1 else None for e in extents)))
    shape.samples = samples
    return shape


_core.Batch.shape = property(_shape, doc=BatchShape.__doc__)  # type: ignore[misc,assignment]
