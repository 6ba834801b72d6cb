# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Inputs that differ between samples, for operators that see whole batches.

This module has a scope of its own, so the nodes that it adds move no draw of others.
"""

from __future__ import annotations

import numpy as np

from helpers import Array
from stoker import DataNode, fn


def either(one: DataNode, other: DataNode, number: int) -> DataNode:
    """The first node for some samples and the second for others; `number` says for which."""
    return fn.merge(one, other, _coin(number))


def _coin(number: int) -> DataNode:
    """The scope. Where a lambda defines the pipeline, either() itself passes for its function."""
    return fn.random.coin_flip(seed=900 + number)


def other_values(array: Array) -> Array:
    """An array of the same type and shape, with other values if there are any."""
    turned = np.flip(array)
    return np.zeros_like(array) if np.array_equal(turned, array) else turned
