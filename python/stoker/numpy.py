# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Iterators that give NumPy arrays without a copy: ``DataIterator``, and those that DALI names."""

from __future__ import annotations

from stoker.frameworks.numpy import (
    DALIClassificationIterator,
    DALIGenericIterator,
    DataIterator,
    LastBatchPolicy,
    feed_ndarray,
)

__all__ = [
    "DALIClassificationIterator",
    "DALIGenericIterator",
    "DataIterator",
    "LastBatchPolicy",
    "feed_ndarray",
]
