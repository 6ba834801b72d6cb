# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Places arrays in JAX: on one device, or as the parts of an array over several devices."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NoReturn

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec, Sharding

from stoker import Batch
from stoker._messages import user_level
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


def is_narrowed(dtype: str) -> bool:
    """Whether JAX would narrow this type: it has 64 bits, and these types are off."""
    return dtype in _NARROWED and not jax.config.jax_enable_x64


def refuse_narrowing(dtype: str, place: str) -> NoReturn:
    """Raises ``GraphError`` for a type that JAX would narrow. ``place`` names the output."""
    raise GraphError(
        f"{place} is {dtype}, which JAX would narrow: its 64-bit types are off. Turn them on "
        f"by jax.config.update('jax_enable_x64', True), or give fn.cast(..., "
        f"dtype='{dtype.replace('64', '32')}')"
    )


def changed_by_narrowing(values: Array | list[Array]) -> bool:
    """Whether JAX's types of 32 bits hold other numbers: others than before, or no finite ones.

    That floats are rounded does not count.
    """
    return any(_changed_by_narrowing(a) for a in (values if isinstance(values, list) else [values]))


def _changed_by_narrowing(array: Array) -> bool:
    if array.dtype.kind == "f":
        return bool(np.any(np.isfinite(array) & (np.abs(array) > np.finfo(np.float32).max)))
    span = np.iinfo(array.dtype.name.replace("64", "32"))
    return bool(array.size) and bool(array.min() < span.min or array.max() > span.max)


def warn_of_narrowing(dtype: str, place: str, what: str) -> None:
    """Warns that JAX narrows an output. ``what`` says what becomes of its values."""
    narrow = dtype.replace("64", "32")
    warnings.warn(
        f"{place} is {dtype}, and JAX, whose 64-bit types are off, makes it {narrow}: {what}. "
        "jax.config.update('jax_enable_x64', True) turns these types on; fn.cast(..., "
        f"dtype='{narrow}') narrows without a warning, and takes the nearest number",
        stacklevel=user_level(),
    )


def put(array: Array | jax.Array, device: jax.Device | None) -> jax.Array:
    """Puts an array on a device, or on the default device for None.

    On the CPU nothing is copied if the memory is aligned to 64 bytes, as that of batches is.
    """
    return jax.device_put(array, device)


def devices_in_a_row(devices: Sequence[jax.Device]) -> NamedSharding:
    """A sharding that splits a new leading axis, with one entry on each device."""
    return NamedSharding(Mesh(np.array(devices), ("pipelines",)), PartitionSpec("pipelines"))


def blocks_of(sharding: Sharding) -> int:
    """How many blocks of rows a sharding makes of the first axis, over all processes.

    Raises ``GraphError`` if the sharding does not split rows.
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
    """A shape with so many rows that the sharding can split: it has every axis that this names."""
    named = len(sharding.spec) if isinstance(sharding, NamedSharding) else 1
    return (rows, *[len(sharding.device_set)] * (named - 1))


def assemble(parts: Sequence[Array | jax.Array], sharding: Sharding, place: str) -> jax.Array:
    """One array over several devices. ``parts`` are the blocks of rows of this process.

    Requires: as many parts as blocks. Each part goes to every device that holds its rows. Raises
    ``GraphError`` if the parts differ in shape.
    """
    _require_one_shape(parts, place)
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


def stack(parts: Sequence[jax.Array], place: str) -> jax.Array:
    """One array on the parts' own device, with a leading axis for the parts.

    Raises ``GraphError`` if the parts differ in shape.
    """
    _require_one_shape(parts, place)
    return jnp.stack(parts)


def _require_one_shape(parts: Sequence[Array | jax.Array], place: str) -> None:
    if len(shapes := sorted({part.shape for part in parts})) > 1:
        shown = ", ".join(map(str, shapes))
        raise GraphError(f"{place}: the pipelines' batches differ in shape ({shown})")
