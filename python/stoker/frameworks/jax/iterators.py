# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Gives batches as JAX arrays: without a copy on the CPU, as a copy in the same GPU's memory."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import jax
from jax.sharding import Sharding

from stoker import Batch, Pipeline
from stoker.errors import GraphError
from stoker.frameworks._arguments.constructors import JaxGeneric, JaxLooping, documented
from stoker.frameworks._epochs import LastBatchPolicy as LastBatchPolicy
from stoker.frameworks._host_arrays import host_array, host_samples
from stoker.frameworks._iterator import BaseIterator
from stoker.frameworks._iterator_kinds import Looping
from stoker.frameworks.jax.gpu_copies import Copies
from stoker.frameworks.jax.placement import (
    assemble,
    changed_by_narrowing,
    devices_in_a_row,
    is_narrowed,
    local_blocks,
    on_gpu,
    put,
    refuse_narrowing,
    stack,
    warn_of_narrowing,
)


class _JaxIterator(BaseIterator):
    """The base of this module's iterators.

    With a sharding the outputs stay NumPy arrays until those of all pipelines are ready.
    """

    _device: jax.Device | None = None
    _sharding: Sharding | None = None

    @cached_property
    def _copies(self) -> Copies:
        return Copies()

    @cached_property
    def _narrowed(self) -> set[int]:
        """The outputs that were warned of."""
        return set()

    def _next_step(self) -> Any:
        self._copies.begin_step()
        return super()._next_step()

    def _converted(self, batch: Batch, count: int, output: int, place: str) -> Any:
        narrows = is_narrowed(batch.dtype)
        if narrows and not all(p._manner.narrows_outputs for p in self._pipelines):
            refuse_narrowing(batch.dtype, place)
        value = super()._converted(batch, count, output, place)
        if narrows:
            self._warn_of_narrowing(batch, value, output, place)
        if self._sharding is not None:
            return value
        if isinstance(value, list):
            return [put(sample, self._device) for sample in value]
        return put(value, self._device)

    def _warn_of_narrowing(self, batch: Batch, value: Any, output: int, place: str) -> None:
        """Warns once of an output whose values change; nobody waits to look at those on a GPU."""
        if output in self._narrowed or not (on_gpu(batch) or changed_by_narrowing(value)):
            return
        self._narrowed.add(output)
        others = (
            "numbers beyond it become others" if on_gpu(batch) else "some numbers become others"
        )
        warn_of_narrowing(batch.dtype, place, others)

    def to_tensor(self, batch: Batch, count: int) -> Any:
        if on_gpu(batch):
            return self._copies.of(batch)[:count]
        return host_array(batch, count, "JAX")

    def _samples(self, batch: Batch, count: int) -> list[Any]:
        if on_gpu(batch):
            return [self._copies.of(batch[i]) for i in range(count)]
        return host_samples(batch, count, "JAX")

    def _assembled(self, dicts: Sequence[dict[str, Any]], sharding: Sharding) -> dict[str, Any]:
        """One dict of arrays over all devices; ``dicts`` holds the parts of each pipeline."""
        return {
            name: assemble([one[name] for one in dicts], sharding, f"output '{name}'")
            for name in self._names
        }

    def _stacked(self, dicts: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """One dict of arrays on one device, with a leading axis for the pipelines."""
        return {
            name: stack([one[name] for one in dicts], f"output '{name}'") for name in self._names
        }

    def _check_pipelines(self) -> None:
        if self._sharding is None:
            return
        blocks = len(local_blocks(self._sharding))
        if blocks != len(self._pipelines):
            raise GraphError(
                f"sharding splits the rows of this process into {blocks} blocks and expects a "
                f"pipeline for each, got {len(self._pipelines)}"
            )
        if self._policy is LastBatchPolicy.PARTIAL:
            raise GraphError(
                "last_batch_policy=PARTIAL cannot be sharded: devices need parts of one shape. "
                "Take FILL or DROP"
            )


@documented
class DataIterator(JaxLooping, _JaxIterator, Looping):
    __doc__ = f"""{Looping.__doc__}
    On CPU devices the arrays are on the batch's own memory, which must not be written any more. JAX
    copies arrays that do not begin at a multiple of 64 bytes: samples of a ``ragged`` output, and
    parts that do not hold whole rows. 64-bit types are refused unless they are turned on in JAX.

    JAX copies outputs on a GPU within the GPU's memory, in the order of its own work, because it
    does not tell when its work is done with memory of others. The batch's memory is free one or two
    steps later. The copies stay on that GPU unless ``device`` or ``sharding`` names another. JAX
    refuses arrays that do not begin at a multiple of 16 bytes, so such samples of a ``ragged``
    output are copied twice, and ``next()`` waits for the first copy.

    ``state_dict()`` and ``load_state_dict()`` also work in the middle of an epoch.
    """

    def _take(self, given: dict[str, Any]) -> None:
        self._sharding, self._device = given["sharding"], given["device"]
        if self._sharding is not None and (self._device is not None or given["ragged"]):
            wrong = "device" if self._device is not None else "ragged"
            raise GraphError(f"sharding= and {wrong}= exclude each other")
        super()._take(given)

    @property
    def _parts_of_step(self) -> int | None:
        return super()._parts_of_step if self._sharding is None else None

    def _arranged(self, dicts: list[dict[str, Any]]) -> Any:
        if self._sharding is None:
            return super()._arranged(dicts)
        return self._assembled(dicts, self._sharding)


@documented
class DALIGenericIterator(JaxGeneric, _JaxIterator):
    """DALI's iterator: each step is one dict of arrays.

    Without ``size`` and ``reader_name`` an epoch ends when the pipeline raises ``StopIteration``.
    PARTIAL is refused for several pipelines.
    """

    def _take(self, given: dict[str, Any]) -> None:
        pipelines, sharding, devices = given["pipelines"], given["sharding"], given["devices"]
        if sharding is not None and devices is not None:
            raise GraphError("sharding= and devices= exclude each other")
        count = 1 if isinstance(pipelines, Pipeline) else len(pipelines)
        pmap_compatible = given["pmap_compatible"]
        has_axis = devices is not None if pmap_compatible is None else pmap_compatible
        self._is_stacked = sharding is None and (count > 1 or has_axis)
        if self._is_stacked and not (devices is None and len(jax.local_devices()) == 1):
            sharding = devices_in_a_row(_as_many(devices, count))
        self._sharding = sharding
        super()._take(given)

    _parts_of_step = None

    def _arranged(self, dicts: list[dict[str, Any]]) -> Any:
        if self._sharding is None:
            return self._stacked(dicts) if self._is_stacked else dicts[0]
        if self._is_stacked:
            dicts = [{name: part[None] for name, part in one.items()} for one in dicts]
        return self._assembled(dicts, self._sharding)


def _as_many(devices: Sequence[jax.Device] | None, count: int) -> list[jax.Device]:
    given = list(jax.local_devices() if devices is None else devices)
    if len(given) < count or (devices is not None and len(given) > count):
        there = "devices=" if devices is not None else "only "
        raise GraphError(f"{count} pipelines need a device each, there are {there}{given}")
    return given[:count]
