# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The decorator that makes JAX iterators out of a function that defines a pipeline."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import jax
from jax.sharding import Sharding

from stoker import Pipeline
from stoker._pipeline.pipeline_def import Definition, pipeline_def
from stoker.errors import GraphError
from stoker.frameworks.jax.placement import blocks_of, local_blocks

Iterator = TypeVar("Iterator")


def decorator(
    make_iterator: Callable[..., Iterator],
    definition: Definition | None,
    sharding: Sharding | None,
    devices: Sequence[jax.Device] | None,
    **of_iterator: Any,
) -> Any:
    """Functions that take a definition's arguments and a pipeline's settings, and give iterators.

    ``definition`` None: a decorator. See ``stoker.jax.data_iterator``.
    """
    if sharding is not None and devices is not None:
        raise GraphError("sharding= and devices= exclude each other")

    def decorate(function: Definition) -> Callable[..., Iterator]:
        @functools.wraps(function)
        def create(*args: Any, checkpoints: Sequence[str] | None = None, **keywords: Any) -> Any:
            pipes = _pipelines(function, args, keywords, sharding, devices, checkpoints)
            if sharding is not None:
                return make_iterator(pipes, sharding=sharding, **of_iterator)
            if devices is not None:
                return make_iterator(pipes, devices=devices, **of_iterator)
            return make_iterator(pipes, **of_iterator)

        return create

    return decorate if definition is None else decorate(definition)


def _pipelines(
    function: Definition,
    args: tuple[Any, ...],
    keywords: dict[str, Any],
    sharding: Sharding | None,
    devices: Sequence[jax.Device] | None,
    checkpoints: Sequence[str] | None,
) -> list[Pipeline]:
    shards, total = [0], 1
    if sharding is not None:
        shards, total = local_blocks(sharding), blocks_of(sharding)
    elif devices is not None:
        shards, total = list(range(len(devices))), len(devices)
    if checkpoints is not None and len(checkpoints) != len(shards):
        raise GraphError(f"{len(shards)} pipelines expect as many checkpoints: {len(checkpoints)}")
    if sharding is not None or devices is not None:
        keywords["batch_size"] = _divided(keywords.get("batch_size"), total)
    pipes = []
    for i, shard in enumerate(shards):
        own = dict(keywords)
        if total > 1:
            own.update(shard_id=shard, num_shards=total)
        if checkpoints is not None:
            own["checkpoint"] = checkpoints[i]
        pipes.append(pipeline_def(function)(*args, **own))
        _check_shards(pipes[-1], function.__name__, shard, total)
    return pipes


def _divided(batch_size: Any, total: int) -> int:
    if not isinstance(batch_size, int) or batch_size % total:
        raise GraphError(
            f"batch_size expects the size of the global batch, a multiple of the {total} parts "
            f"that go to the devices, got {batch_size!r}"
        )
    return batch_size // total


def _check_shards(pipe: Pipeline, name: str, shard: int, total: int) -> None:
    """Every device its own samples: the reader must have been given its shard."""
    reader = pipe.lead_reader
    if total == 1 or reader is None:
        return
    meta = pipe.reader_meta(reader)
    if (meta["shard_id"], meta["number_of_shards"]) != (shard, total):
        raise GraphError(
            f"reader '{reader}' of {name} reads shard {meta['shard_id']} of "
            f"{meta['number_of_shards']}, expected shard {shard} of {total}: take the arguments "
            "shard_id and num_shards in the function and hand them to the reader"
        )
