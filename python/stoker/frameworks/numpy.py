# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Gives batches as NumPy arrays, without a copy."""

from __future__ import annotations

from typing import Any

import numpy as np

from stoker import Batch, Tensor
from stoker.errors import GraphError
from stoker.frameworks._arguments.constructors import documented
from stoker.frameworks._epochs import LastBatchPolicy as LastBatchPolicy
from stoker.frameworks._host_arrays import Array, host_array, host_samples
from stoker.frameworks._iterator import BaseIterator
from stoker.frameworks._iterator_kinds import Classification, Established, Looping


class _NumpyIterator(BaseIterator):
    """The base of this module's iterators."""

    def to_tensor(self, batch: Batch, count: int) -> Array:
        return host_array(batch, count, "NumPy")

    def _samples(self, batch: Batch, count: int) -> list[Array]:
        return host_samples(batch, count, "NumPy")


@documented
class DataIterator(_NumpyIterator, Looping):
    __doc__ = f"""{Looping.__doc__}
    The arrays are on the batch's own memory. They may be written, and the memory lives as long as
    they do. ``state_dict()`` and ``load_state_dict()`` also work in the middle of an epoch.
    """


class DALIGenericIterator(_NumpyIterator, Established):
    __doc__ = Established.__doc__


class DALIClassificationIterator(Classification, DALIGenericIterator):
    __doc__ = Classification.__doc__


def feed_ndarray(dali_tensor: Batch | Tensor, arr: Array, cuda_stream: Any = None) -> Array:
    """Copies a batch or sample into an array of the same shape and type, and returns the array.

    ``cuda_stream`` is accepted without effect. Raises ``GraphError`` if shapes or types differ.
    """
    source = (
        host_array(dali_tensor, len(dali_tensor), "NumPy")
        if isinstance(dali_tensor, Batch)
        else dali_tensor.as_array()
    )
    if source.shape != arr.shape or source.dtype != arr.dtype:
        raise GraphError(
            f"feed_ndarray expects an array of {source.dtype} {source.shape}, "
            f"got {arr.dtype} {arr.shape}"
        )
    np.copyto(arr, source)
    return arr
