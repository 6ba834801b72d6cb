# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Where arrays go in JAX: on one device, or as the parts of an array over several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec, Sharding

from stoker import Batch
from stoker.errors import DeviceError, GraphError
from stoker.frameworks._host_arrays import Array

_NARROWED = ("int64", "uint64", "float64")


def on_gpu(batch: Batch) -> bool:
    """Whether a batch is in the memory of a GPU. Raises ``DeviceError`` if JAX has none."""
    if not batch.device.startswith("cuda"):
        return False
    try:
        jax.local_devices(backend="gpu")
    except RuntimeError as e:
        raise DeviceError(
            f"the batch is in the memory of {batch.device}, and JAX has no GPU ({e}); "
            "give the pipeline's outputs by .cpu(), or copy them: batch.as_cpu()"
        ) from None
    return True


def refuse_narrowing(dtype: str, place: str) -> None:
    """Raises ``GraphError`` on a 64-bit type where JAX would narrow it.

    ``place`` names the output.
    """
    if dtype in _NARROWED and not jax.config.jax_enable_x64:
        raise GraphError(
            f"{place} is {dtype}, which JAX would narrow: its 64-bit types are off. Turn them on "
            f"by jax.config.update('jax_enable_x64', True), or give fn.cast(..., "
            f"dtype='{dtype.replace('64', '32')}')"
        )


def put(array: Array | jax.Array, device: jax.Device | None) -> jax.Array:
    """An array on a device; None: on the default one.

    On the CPU without a copy, if the memory is aligned to 64 bytes, as that of batches is.
    """
    return jax.device_put(array, device)


def devices_in_a_row(devices: Sequence[jax.Device]) -> NamedSharding:
    """A new leading axis with one entry on each device."""
    return NamedSharding(Mesh(np.array(devices), ("pipelines",)), PartitionSpec("pipelines"))


def blocks_of(sharding: Sharding) -> int:
    """Into how many blocks of rows a sharding splits the first axis, over all processes.

    Raises ``GraphError`` if it is none that splits rows.
    """
    rows = len(sharding.device_set)
    try:
        return rows // int(sharding.shard_shape(_probe(sharding, rows))[0])
    except (TypeError, ValueError) as e:
        raise GraphError(f"sharding expects one that splits the first axis: {e}") from None


def local_blocks(sharding: Sharding) -> list[int]:
    """The numbers of the blocks that are on this process's devices, ascending."""
    blocks = blocks_of(sharding)
    indices = sharding.addressable_devices_indices_map(_probe(sharding, blocks))
    return sorted({rows[0].start or 0 for rows in indices.values() if rows is not None})


def _probe(sharding: Sharding, rows: int) -> tuple[int, ...]:
    """A shape of so many rows that can be split: every axis that the sharding names is there."""
    named = len(sharding.spec) if isinstance(sharding, NamedSharding) else 1
    return (rows, *[len(sharding.device_set)] * (named - 1))


def assemble(parts: Sequence[Array | jax.Array], sharding: Sharding, place: str) -> jax.Array:
    """One array over several devices, of which ``parts`` are this process's blocks of rows.

    Requires: as many parts as blocks. Each is put on every device that has its rows. Raises
    ``GraphError`` if the parts differ in shape.
    """
    if len(shapes := sorted({part.shape for part in parts})) > 1:
        shown = ", ".join(map(str, shapes))
        raise GraphError(f"{place}: the pipelines' batches differ in shape ({shown})")
    rows, *rest = parts[0].shape
    shape = (rows * blocks_of(sharding), *rest)
    number = {block * rows: i for i, block in enumerate(local_blocks(sharding))}
    pieces = []
    for device, index in sharding.addressable_devices_indices_map(shape).items():
        assert index is not None
        inside: tuple[Any, ...] = (slice(None), *index[1:])
        part = parts[number[index[0].start or 0]][inside]
        pieces.append(put(part, device))
    return jax.make_array_from_single_device_arrays(shape, sharding, pieces)
