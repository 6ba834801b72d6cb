# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Batches as JAX arrays: on the CPU without a copy, on a GPU as a copy in its memory."""

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
    """What the iterators of this module share.

    With a sharding the outputs stay NumPy arrays until those of all pipelines are there.
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
        """One dict of arrays over all devices; ``dicts`` has the parts of each pipeline."""
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
    And for JAX:

    - ``sharding``: makes each output one array over several devices, so that a step is one dict
      also for a list of pipelines: one for each block of rows that the sharding puts on this
      process's devices, in the order of rows.
    - ``device``: where the arrays go without a sharding; default: JAX's default device, and there
      they are not committed to it, so that JAX may move them to where a computation is.

    On CPU devices the arrays are the batch's own memory, which must not be written from then on.
    JAX copies what does not begin at a multiple of 64 bytes: samples of a ``ragged`` output, and
    parts that do not hold whole rows. 64-bit types are refused unless JAX's are turned on.

    Outputs on a GPU are copied there by JAX, in the order of its own work, since it does not say
    when that is done with memory of others. The batch's memory is free one or two steps later. The
    copies stay there where ``device`` and ``sharding`` let them. Samples of a ``ragged`` output
    that do not begin at a multiple of 16 bytes, which JAX refuses, are copied twice, and ``next()``
    waits for the first copy.

    ``state_dict()`` and ``load_state_dict()`` go on in the middle of an epoch.
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
    """The established iterator: each step is one dict of arrays.

    The arguments are those of ``stoker.numpy.DALIGenericIterator``, and

    - ``sharding``: see ``DataIterator``.
    - ``devices``: without a sharding, the outputs of several pipelines are stacked on a new leading
      axis, one entry on each of these devices, as ``jax.pmap`` takes them; default: the first of
      this process's devices.

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
