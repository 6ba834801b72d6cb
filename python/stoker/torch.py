# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Iterators that give PyTorch tensors without a copy: ``DataIterator``, and those DALI names."""

from __future__ import annotations

from stoker.frameworks.torch import (
    DALIClassificationIterator,
    DALIGenericIterator,
    DALIRaggedIterator,
    DataIterator,
    LastBatchPolicy,
    feed_ndarray,
    to_torch_type,
)

__all__ = [
    "DALIClassificationIterator",
    "DALIGenericIterator",
    "DALIRaggedIterator",
    "DataIterator",
    "LastBatchPolicy",
    "feed_ndarray",
    "to_torch_type",
]
