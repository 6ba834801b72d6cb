# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Iterators for the Common Loop Utils (CLU): ``peekable_data_iterator``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
from jax.sharding import Sharding

from stoker._pipeline.pipeline_def import Definition
from stoker.frameworks.jax.decorator import decorator
from stoker.frameworks.jax.iterators import LastBatchPolicy
from stoker.frameworks.jax.peekable import DALIGenericPeekableIterator

__all__ = ["DALIGenericPeekableIterator", "peekable_data_iterator"]


def peekable_data_iterator(
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
    """``stoker.jax.data_iterator`` whose iterators are ``DALIGenericPeekableIterator``."""
    return decorator(
        DALIGenericPeekableIterator,
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
