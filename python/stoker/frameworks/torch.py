# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Gives batches as PyTorch tensors on the CPU or on a GPU, without a copy."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Sequence
from typing import Any

import torch

from stoker import Batch, Tensor
from stoker.errors import DeviceError, GraphError
from stoker.frameworks._arguments.constructors import TorchLooping, TorchRagged, documented
from stoker.frameworks._epochs import LastBatchPolicy as LastBatchPolicy
from stoker.frameworks._iterator import BaseIterator
from stoker.frameworks._iterator_kinds import Classification, Established, Looping
from stoker.types import DType

# DALI's table, extended by the unsigned types: types.FLOAT -> torch.float32.
to_torch_type: dict[DType, torch.dtype] = {
    dtype: getattr(torch, dtype.value) for dtype in DType if dtype is not DType.NO_TYPE
}


class _Torch(BaseIterator):
    """Turns batches into PyTorch tensors."""

    _pins = False

    def to_tensor(self, batch: Batch, count: int) -> torch.Tensor:
        return self._placed(_whole(batch, count))

    def _placed(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor.pin_memory() if self._pins and tensor.device.type == "cpu" else tensor

    def _samples(self, batch: Batch, count: int) -> list[torch.Tensor]:
        _require_visible(batch)
        return [self._placed(torch.from_dlpack(batch[i])) for i in range(count)]


@documented
class DataIterator(TorchLooping, _Torch, Looping):
    """Loops over a pipeline's epochs: ``for batch in DataIterator(pipe, ["image", "label"])``.

    Each step is a dict of tensors with the names of ``output_map`` as keys. For a list of pipelines
    each step is a list of such dicts. Without ``reader_name`` and ``size`` the epoch is that of the
    pipeline's lead reader; a pipeline without a reader ends its epoch itself, by ``StopIteration``.

    The tensors are on the batch's own memory, which lives as long as they do. Outputs on a GPU
    become tensors there. Work on torch's current stream waits for the batch on the GPU, and no host
    thread waits. Before you drop a tensor that you used on another stream, let the stream that it
    came on wait for an event of the other stream.

    ``state_dict()`` and ``load_state_dict()`` also work in the middle of an epoch. ``epoch`` is the
    epoch that the next step belongs to.
    """

    def _take(self, given: dict[str, Any]) -> None:
        self._pins = given["pin_memory"]
        if self._pins and not torch.cuda.is_available():
            raise DeviceError(
                "pin_memory=True needs a CUDA device that torch can use, and there is none "
                "(torch.cuda.is_available() is False)"
            )
        super()._take(given)


class DALIGenericIterator(_Torch, Established):
    __doc__ = Established.__doc__

    _ragged_advice = (
        "take DALIRaggedIterator, which gives a list of tensors (dynamic_shape=True lets shapes "
        "differ between steps, not within a batch)"
    )


class DALIClassificationIterator(Classification, DALIGenericIterator):
    __doc__ = Classification.__doc__


@documented
class DALIRaggedIterator(TorchRagged, _Torch, Established):
    """A ``DALIGenericIterator`` for samples of different shapes.

    ``output_types`` has a tag for each output. With ``DENSE_TAG`` (the default) the output becomes
    one tensor, with ``SPARSE_LIST_TAG`` a list with one tensor per sample, and with
    ``SPARSE_COO_TAG`` one sparse tensor, which has no entries beyond the end of a smaller sample.
    """

    DENSE_TAG = "dense"
    SPARSE_LIST_TAG = "sparse_list"
    SPARSE_COO_TAG = "sparse_coo"

    def _take(self, given: dict[str, Any]) -> None:
        count, types = len(given["output_map"]), given["output_types"]
        tags = (self.DENSE_TAG, self.SPARSE_LIST_TAG, self.SPARSE_COO_TAG)
        self._types: Sequence[str] = [self.DENSE_TAG] * count if types is None else types
        if len(self._types) != count or any(t not in tags for t in self._types):
            raise GraphError(
                f"output_types expects one of {', '.join(tags)} for each of the {count} outputs, "
                f"got {types!r}"
            )
        super()._take(given)

    _ragged_advice = "mark the output in output_types as DALIRaggedIterator.SPARSE_LIST_TAG"

    def _converted(self, batch: Batch, count: int, output: int, place: str) -> Any:
        kind = self._types[output]
        if kind == self.DENSE_TAG:
            return super()._converted(batch, count, output, place)
        if kind == self.SPARSE_LIST_TAG:
            return self._samples(batch, count)
        return _sparse(self._samples(batch, count), torch.from_dlpack(batch[0]))


def feed_ndarray(
    dali_tensor: Batch | Tensor, arr: torch.Tensor, cuda_stream: Any = None
) -> torch.Tensor:
    """Copies a batch or sample into a tensor of the same shape and type, and returns the tensor.

    ``cuda_stream`` is the stream that copies a batch on a GPU: a ``torch.cuda.Stream`` or a
    stream's handle (an int or a ``c_void_p``); default: torch's current stream. Raises
    ``GraphError`` if shapes or types differ, and ``DeviceError`` for memory that torch cannot see.
    """
    _require_visible(dali_tensor)
    with _on(cuda_stream if dali_tensor.device != "cpu" else None):
        return _fed(torch.from_dlpack(dali_tensor), arr)


def _fed(source: torch.Tensor, arr: torch.Tensor) -> torch.Tensor:
    if source.shape != arr.shape or source.dtype != arr.dtype:
        raise GraphError(
            f"feed_ndarray expects a tensor of {source.dtype} {tuple(source.shape)}, "
            f"got {arr.dtype} {tuple(arr.shape)}"
        )
    return arr.copy_(source)


def _whole(batch: Batch, count: int) -> torch.Tensor:
    _require_visible(batch)
    tensor = torch.from_dlpack(batch)
    return tensor if count == len(batch) else tensor[:count]


def _on(stream: Any) -> Any:
    """A context in which the stream is torch's current one; with None nothing changes."""
    if stream is None:
        return contextlib.nullcontext()
    if not isinstance(stream, torch.cuda.Stream):
        handle = stream.value or 0 if isinstance(stream, ctypes.c_void_p) else int(stream)
        stream = torch.cuda.ExternalStream(handle) if handle else torch.cuda.default_stream()
    return torch.cuda.stream(stream)


def _require_visible(data: Batch | Tensor) -> None:
    """Raises ``DeviceError`` for memory that torch cannot see."""
    if data.device == "cpu":
        return
    if data.device.startswith("simulated"):
        why = "which torch cannot see"
    elif not torch.cuda.is_available():
        why = f"and this torch ({torch.__version__}) sees no GPU"
    else:
        return
    raise DeviceError(
        f"the batch is in the memory of {data.device}, {why}; "
        "give the pipeline's outputs by .cpu(), or copy them: batch.as_cpu()"
    )


def _sparse(samples: Sequence[torch.Tensor], like: torch.Tensor) -> torch.Tensor:
    """One sparse tensor of all samples, as large as their largest extents.

    Every element of a sample has an entry, zeros as well. Without samples the result is an empty
    tensor of the type of ``like``.
    """
    if not samples:
        return like.new_zeros([0] * (1 + like.dim())).to_sparse()
    extents = [max(extent) for extent in zip(*(s.shape for s in samples), strict=True)]
    indices = []
    for number, sample in enumerate(samples):
        where = torch.ones(sample.shape, dtype=torch.bool, device=sample.device).nonzero().T
        numbers = torch.full((1, where.shape[1]), number, device=sample.device)
        indices.append(torch.cat([numbers, where]))
    values = torch.cat([s.reshape(-1) for s in samples])
    shape = [len(samples), *extents]
    return torch.sparse_coo_tensor(torch.cat(indices, 1), values, shape, check_invariants=False)
