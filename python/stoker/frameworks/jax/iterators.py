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
from stoker.frameworks._epochs import LastBatchPolicy as LastBatchPolicy
from stoker.frameworks._host_arrays import host_array, host_samples
from stoker.frameworks._iterator import BaseIterator
from stoker.frameworks._iterator_kinds import Looping
from stoker.frameworks.jax.gpu_copies import Copies
from stoker.frameworks.jax.placement import (
    assemble,
    devices_in_a_row,
    local_blocks,
    on_gpu,
    put,
    refuse_narrowing,
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

    def __next__(self) -> Any:
        self._copies.begin_step()
        return super().__next__()

    def _converted(self, batch: Batch, count: int, output: int, place: str) -> Any:
        refuse_narrowing(batch.dtype, place)
        value = super()._converted(batch, count, output, place)
        if self._sharding is not None:
            return value
        if isinstance(value, list):
            return [put(sample, self._device) for sample in value]
        return put(value, self._device)

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

    def _check_blocks(self) -> None:
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


class DataIterator(_JaxIterator, Looping):
    __doc__ = f"""{Looping.__doc__}
    Two arguments are for JAX alone:

    - ``sharding``: makes each output one array over several devices, so that a step is one dict
      even for a list of pipelines. There must be a pipeline for each block of rows that the
      sharding puts on this process's devices, in the order of the rows.
    - ``device``: where the arrays go without a sharding; default: JAX's default device. By default
      the arrays are not committed to it, so JAX may move them to where a computation runs.

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

    def __init__(
        self,
        pipelines: Pipeline | Sequence[Pipeline],
        output_map: Sequence[str],
        *,
        reader_name: str | None = None,
        size: int = -1,
        last_batch_policy: LastBatchPolicy = LastBatchPolicy.FILL,
        auto_reset: bool = True,
        ragged: Sequence[str] = (),
        prepare_first_batch: bool = True,
        compare_ranks: bool = True,
        sharding: Sharding | None = None,
        device: jax.Device | None = None,
    ) -> None:
        if sharding is not None and (device is not None or ragged):
            wrong = "device" if device is not None else "ragged"
            raise GraphError(f"sharding= and {wrong}= exclude each other")
        self._sharding, self._device = sharding, device
        super().__init__(
            pipelines,
            output_map,
            reader_name=reader_name,
            size=size,
            last_batch_policy=last_batch_policy,
            auto_reset=auto_reset,
            ragged=ragged,
            prepare_first_batch=prepare_first_batch,
            compare_ranks=compare_ranks,
        )

    def _check_pipelines(self) -> None:
        super()._check_pipelines()
        self._check_blocks()

    def _arranged(self, dicts: list[dict[str, Any]]) -> Any:
        if self._sharding is None:
            return super()._arranged(dicts)
        return self._assembled(dicts, self._sharding)


class DALIGenericIterator(_JaxIterator):
    """DALI's iterator: each step is one dict of arrays.

    The arguments are those of ``stoker.numpy.DALIGenericIterator`` and these:

    - ``sharding``: see ``DataIterator``.
    - ``devices``: without a sharding, the outputs of several pipelines are stacked on a new leading
      axis, as ``jax.pmap`` takes them, with one entry on each of these devices; default: the first
      of this process's devices.

    PARTIAL is refused for several pipelines.
    """

    def __init__(
        self,
        pipelines: Pipeline | Sequence[Pipeline],
        output_map: Sequence[str],
        size: int = -1,
        reader_name: str | None = None,
        auto_reset: str | bool | None = False,
        last_batch_padded: bool = False,
        last_batch_policy: LastBatchPolicy = LastBatchPolicy.FILL,
        prepare_first_batch: bool = True,
        sharding: Sharding | None = None,
        *,
        devices: Sequence[jax.Device] | None = None,
        compare_ranks: bool = True,
    ) -> None:
        if sharding is not None and devices is not None:
            raise GraphError("sharding= and devices= exclude each other")
        count = 1 if isinstance(pipelines, Pipeline) else len(pipelines)
        self._is_stacked = sharding is None and (count > 1 or devices is not None)
        if self._is_stacked:
            sharding = devices_in_a_row(_as_many(devices, count))
        self._sharding = sharding
        super().__init__(
            pipelines,
            output_map,
            size,
            reader_name,
            auto_reset,
            None,
            last_batch_padded,
            last_batch_policy,
            prepare_first_batch,
            compare_ranks,
        )

    def _check_pipelines(self) -> None:
        super()._check_pipelines()
        self._check_blocks()

    def _arranged(self, dicts: list[dict[str, Any]]) -> Any:
        if self._sharding is None:
            return dicts[0]
        if self._is_stacked:
            dicts = [{name: part[None] for name, part in one.items()} for one in dicts]
        return self._assembled(dicts, self._sharding)


def _as_many(devices: Sequence[jax.Device] | None, count: int) -> list[jax.Device]:
    given = list(jax.local_devices() if devices is None else devices)
    if len(given) < count or (devices is not None and len(given) > count):
        there = "devices=" if devices is not None else "only "
        raise GraphError(f"{count} pipelines need a device each, there are {there}{given}")
    return given[:count]
