# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Gives batches as MXNet arrays, without a copy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mxnet as mx

from stoker import Batch, Tensor
from stoker.errors import GraphError
from stoker.frameworks._arguments.constructors import MxnetClassification, MxnetGeneric, documented
from stoker.frameworks._epochs import LastBatchPolicy as LastBatchPolicy
from stoker.frameworks._host_arrays import host_array
from stoker.frameworks._peekable import Peekable

_BY_DLPACK = ("uint8", "int8", "int32", "int64", "float16", "float32", "float64")


@documented
class DALIGenericIterator(MxnetGeneric, Peekable, mx.io.DataIter):  # type: ignore[misc]
    """DALI's iterator: each step is a list of ``mx.io.DataBatch``, one per pipeline.

    With ``LastBatchPolicy.PARTIAL`` the last batch is full, as is usual in MXNet, and ``batch.pad``
    says how many of its last samples do not count. Without ``size`` and ``reader_name`` an epoch
    ends when the pipeline raises ``StopIteration``.

    The arrays use the batch's own memory, except those of bool, which are copied. MXNet has no
    unsigned integers of 16, 32 and 64 bits and no signed integers of 16 bits. ``peek()`` shows the
    next step.
    """

    DATA_TAG = "data"
    LABEL_TAG = "label"

    def _take(self, given: dict[str, Any]) -> None:
        self._tags = _checked_tags(given["output_map"])
        self._data_layout = given["data_layout"]
        self._squeezes = given["squeeze_labels"]
        super()._take({**given, "output_map": [name for name, _ in given["output_map"]]})

    @property
    def provide_data(self) -> list[mx.io.DataDesc]:
        """Name, shape, type and layout of the data outputs. Makes the next step to learn them."""
        return self._descriptions(self.DATA_TAG, self._data_layout)

    @property
    def provide_label(self) -> list[mx.io.DataDesc]:
        """Name, shape and type of the label outputs. Makes the next step to learn them."""
        return self._descriptions(self.LABEL_TAG, "")

    def to_tensor(self, batch: Batch, count: int) -> mx.nd.NDArray:
        array = host_array(batch, count, "MXNet")
        if batch.dtype == "bool":
            return mx.nd.array(array, dtype=array.dtype)
        if batch.dtype not in _BY_DLPACK:
            raise GraphError(
                f"MXNet has no {batch.dtype}, only bool, {', '.join(_BY_DLPACK)}: "
                "give fn.cast(..., dtype='int32'), or another of these"
            )
        return mx.nd.from_dlpack(batch.__dlpack__())

    def _dict(self, pipeline: int, batches: Sequence[Batch], keep: int) -> dict[str, Any]:
        tensors = super()._dict(pipeline, batches, self.batch_size)  # full batches; see `pad`
        if self._squeezes:
            for name, tag in zip(self._names, self._tags, strict=True):
                if tag == self.LABEL_TAG:
                    tensors[name] = _squeezed(tensors[name])
        return {**tensors, "": len(batches[0]) - self._kept(batches[0], keep)}

    def _arranged(self, dicts: list[dict[str, Any]]) -> list[mx.io.DataBatch]:
        return [
            mx.io.DataBatch(
                data=self._tagged(one, self.DATA_TAG),
                label=self._tagged(one, self.LABEL_TAG),
                pad=one[""],
            )
            for one in dicts
        ]

    def _tagged(self, values: dict[str, Any], tag: str) -> list[Any]:
        return [values[n] for n, t in zip(self._names, self._tags, strict=True) if t == tag]

    def _descriptions(self, tag: str, layout: str) -> list[mx.io.DataDesc]:
        names = [n for n, t in zip(self._names, self._tags, strict=True) if t == tag]
        batch = self.peek()[0]
        arrays = batch.data if tag == self.DATA_TAG else batch.label
        return [
            mx.io.DataDesc(name, array.shape, array.dtype, layout)
            for name, array in zip(names, arrays, strict=True)
        ]


@documented
class DALIClassificationIterator(MxnetClassification, DALIGenericIterator):
    """A ``DALIGenericIterator`` for pipelines with two outputs, one data and one label."""

    def _take(self, given: dict[str, Any]) -> None:
        data = (given["data_name"], self.DATA_TAG)
        label = (given["label_name"], self.LABEL_TAG)
        super()._take({**given, "output_map": [data, label]})


def feed_ndarray(
    dali_tensor: Batch | Tensor, arr: mx.nd.NDArray, cuda_stream: Any = None
) -> mx.nd.NDArray:
    """Copies a batch or sample into an array of the same shape and type, and returns the array.

    ``cuda_stream`` is accepted without effect. Raises ``GraphError`` if shapes or types differ.
    """
    source = (
        host_array(dali_tensor, len(dali_tensor), "MXNet")
        if isinstance(dali_tensor, Batch)
        else dali_tensor.as_array()
    )
    if source.shape != arr.shape or source.dtype != arr.dtype:
        raise GraphError(
            f"feed_ndarray expects an array of {source.dtype} {source.shape}, "
            f"got {arr.dtype.__name__} {arr.shape}"
        )
    arr[:] = mx.nd.array(source, dtype=source.dtype)
    return arr


def _checked_tags(output_map: Sequence[tuple[str, str]]) -> list[str]:
    known = (DALIGenericIterator.DATA_TAG, DALIGenericIterator.LABEL_TAG)
    for entry in output_map:
        if not isinstance(entry, (list, tuple)) or len(entry) != 2 or entry[1] not in known:
            raise GraphError(
                f"output_map expects (name, tag) for each output, with a tag of {known}, "
                f"got {entry!r}"
            )
    return [tag for _, tag in output_map]


def _squeezed(label: mx.nd.NDArray) -> mx.nd.NDArray:
    """The label on the same memory without axes of extent 1; the batch's axis stays."""
    return label.reshape((label.shape[0], *(n for n in label.shape[1:] if n != 1)))
