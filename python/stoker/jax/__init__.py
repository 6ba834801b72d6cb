# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""JAX arrays: ``DataIterator``, and the iterators and the decorator of the established names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, overload

import jax
from jax.sharding import Sharding

from stoker._pipeline.pipeline_def import Definition
from stoker.frameworks.jax.decorator import decorator
from stoker.frameworks.jax.iterators import DALIGenericIterator, DataIterator, LastBatchPolicy

__all__ = ["DALIGenericIterator", "DataIterator", "LastBatchPolicy", "data_iterator"]


@overload
def data_iterator(
    pipeline_fn: Definition,
    output_map: Sequence[str] = ...,
    size: int = ...,
    reader_name: str | None = ...,
    auto_reset: str | bool | None = ...,
    last_batch_padded: bool = ...,
    last_batch_policy: LastBatchPolicy = ...,
    prepare_first_batch: bool = ...,
    sharding: Sharding | None = ...,
    devices: Sequence[jax.Device] | None = ...,
) -> Callable[..., DALIGenericIterator]: ...


@overload
def data_iterator(
    pipeline_fn: None = None,
    output_map: Sequence[str] = ...,
    size: int = ...,
    reader_name: str | None = ...,
    auto_reset: str | bool | None = ...,
    last_batch_padded: bool = ...,
    last_batch_policy: LastBatchPolicy = ...,
    prepare_first_batch: bool = ...,
    sharding: Sharding | None = ...,
    devices: Sequence[jax.Device] | None = ...,
) -> Callable[[Definition], Callable[..., DALIGenericIterator]]: ...


def data_iterator(
    pipeline_fn: Definition | None = None,
    output_map: Sequence[str] = (),
    size: int = -1,
    reader_name: str | None = None,
    auto_reset: str | bool | None = False,
    last_batch_padded: bool = False,
    last_batch_policy: LastBatchPolicy = LastBatchPolicy.FILL,
    prepare_first_batch: bool = True,
    sharding: Sharding | None = None,
    devices: Sequence[jax.Device] | None = None,
) -> Any:
    """Makes a function that defines a pipeline into one that gives a ``DALIGenericIterator``.

    The new function takes the arguments of the old one and, as keywords, the settings of
    ``Pipeline``. With ``sharding`` or ``devices`` there is a pipeline for each part; ``batch_size``
    is then that of the whole batch, and the function takes ``shard_id`` and ``num_shards`` for its
    reader. ``checkpoints=`` begins where an iterator's ``checkpoints()`` were taken.

        @data_iterator(output_map=["image", "label"], reader_name="reader")
        def training(root):
            encoded, label = fn.readers.file(file_root=root, name="reader")
            return fn.resize(fn.decoders.image(encoded), size=[224, 224]), label

        for step in training("pictures", batch_size=32):
            ...
    """
    return decorator(
        DALIGenericIterator,
        pipeline_fn,
        sharding,
        devices,
        output_map=output_map,
        size=size,
        reader_name=reader_name,
        auto_reset=auto_reset,
        last_batch_padded=last_batch_padded,
        last_batch_policy=last_batch_policy,
        prepare_first_batch=prepare_first_batch,
    )
