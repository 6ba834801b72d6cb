# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Gives batches as NumPy arrays on the same memory, for frameworks that take these."""

from __future__ import annotations

from typing import Any

import numpy as np

from stoker import Batch
from stoker.errors import DeviceError

Array = np.ndarray[Any, np.dtype[Any]]


def host_array(batch: Batch, count: int, who: str) -> Array:
    """The first ``count`` samples as one array, which keeps the batch's memory alive.

    Nothing is copied if the samples lie one behind the other. ``who`` names the framework in
    messages.
    """
    _require_host(batch, who)
    return batch.as_array()[:count]


def host_samples(batch: Batch, count: int, who: str) -> list[Array]:
    """The first ``count`` samples, each an array on the batch's memory."""
    _require_host(batch, who)
    return [batch.at(i) for i in range(count)]


def _require_host(batch: Batch, who: str) -> None:
    if batch.device != "cpu":
        raise DeviceError(
            f"the batch is in the memory of {batch.device}, which {who} cannot see; "
            "give the pipeline's outputs by .cpu(), or copy them: batch.as_cpu()"
        )
