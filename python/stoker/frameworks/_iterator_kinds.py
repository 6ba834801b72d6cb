# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The kinds of iterators that every framework has: Stoker's own, and those of DALI.

These classes hold the constructors and the form of a step. A framework adds how a batch becomes a
tensor (``to_tensor``, ``_samples``).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

from stoker import Batch, Pipeline
from stoker.errors import GraphError
from stoker.frameworks._epochs import LastBatchPolicy
from stoker.frameworks._iterator import BaseIterator, lead_reader


class Looping(BaseIterator):
    """The base of a framework's ``DataIterator``: loops over a pipeline's epochs.

    Each step is a dict of tensors with the names of ``output_map`` as keys. For a list of pipelines
    each step is a list of such dicts.

    - ``reader_name``: the reader whose samples make the epoch; default: the pipeline's lead reader.
      A pipeline without a reader ends its epoch itself, by ``StopIteration``.
    - ``size``: how many samples an epoch has in all these pipelines together; replaces the reader's
      number.
    - ``last_batch_policy``: what happens to an epoch's last batch.
    - ``auto_reset``: whether the end of an epoch begins the next one. If not, ``reset()`` or a new
      loop begins it.
    - ``ragged``: names of outputs that are given as a list of tensors, one per sample.
    - ``prepare_first_batch``: True prepares batches from now on, False from the first step on.
    - ``compare_ranks``: whether sharded readers are compared over the ranks of
      ``torch.distributed`` if that is in use. This is a collective call: all ranks must make such
      an iterator, or none.
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
    ) -> None:
        if unknown := [name for name in ragged if name not in output_map]:
            raise GraphError(f"ragged names {unknown}, which are not in output_map {output_map}")
        self._ragged = frozenset(ragged)
        self._is_single = isinstance(pipelines, Pipeline)
        if reader_name is None and size == -1:
            reader_name = lead_reader(pipelines)
        super().__init__(
            pipelines,
            output_map,
            size=size,
            reader_name=reader_name,
            auto_reset=auto_reset,
            last_batch_policy=last_batch_policy,
            prepare_first_batch=prepare_first_batch,
            compare_ranks=compare_ranks,
        )

    @abstractmethod
    def _samples(self, batch: Batch, count: int) -> list[Any]:
        """The first ``count`` samples, each as a tensor."""

    _ragged_advice = "name the output in ragged= to get a list with one entry per sample"

    def _converted(self, batch: Batch, count: int, output: int, place: str) -> Any:
        if self._names[output] in self._ragged:
            return self._samples(batch, count)
        return super()._converted(batch, count, output, place)

    def _arranged(self, dicts: list[dict[str, Any]]) -> Any:
        return dicts[0] if self._is_single else dicts


class Established(BaseIterator):
    """The base of a framework's ``DALIGenericIterator``: each step is a list of dicts of tensors.

    The list has one dict per pipeline.

    - ``pipelines``, ``output_map``: one pipeline or a list, and a name for each output.
    - ``size``: how many samples an epoch has in all these pipelines together. ``reader_name``: the
      reader that tells this number instead. With neither, an epoch ends when the pipeline raises
      ``StopIteration``.
    - ``auto_reset``: with True or "yes", the end of an epoch begins the next one; with False or
      "no", ``reset()`` or a new loop begins it.
    - ``last_batch_policy``: what happens to an epoch's last batch. ``last_batch_padded``: together
      with ``size``, whether the reader has ``pad_last_batch``.
    - ``fill_last_batch``: deprecated; True means FILL and False means PARTIAL.
    - ``dynamic_shape``: accepted without effect; shapes may differ from step to step.
    - ``prepare_first_batch``, ``compare_ranks``: see ``DataIterator``.
    """

    def __init__(
        self,
        pipelines: Pipeline | Sequence[Pipeline],
        output_map: Sequence[str],
        size: int = -1,
        reader_name: str | None = None,
        auto_reset: str | bool | None = False,
        fill_last_batch: bool | None = None,
        dynamic_shape: bool | None = False,
        last_batch_padded: bool = False,
        last_batch_policy: LastBatchPolicy = LastBatchPolicy.FILL,
        prepare_first_batch: bool = True,
        *,
        compare_ranks: bool = True,
    ) -> None:
        super().__init__(
            pipelines,
            output_map,
            size,
            reader_name,
            auto_reset,
            fill_last_batch,
            last_batch_padded,
            last_batch_policy,
            prepare_first_batch,
            compare_ranks,
        )


# What Python says of a missing argument names the class that users know.
Established.__init__.__qualname__ = "DALIGenericIterator.__init__"


class Classification(Established):
    """A ``DALIGenericIterator`` for pipelines with two outputs, named "data" and "label"."""

    def __init__(
        self,
        pipelines: Pipeline | Sequence[Pipeline],
        size: int = -1,
        reader_name: str | None = None,
        auto_reset: str | bool | None = False,
        fill_last_batch: bool | None = None,
        dynamic_shape: bool | None = False,
        last_batch_padded: bool = False,
        last_batch_policy: LastBatchPolicy = LastBatchPolicy.FILL,
        prepare_first_batch: bool = True,
        *,
        compare_ranks: bool = True,
    ) -> None:
        super().__init__(
            pipelines,
            ["data", "label"],
            size,
            reader_name,
            auto_reset,
            fill_last_batch,
            dynamic_shape,
            last_batch_padded,
            last_batch_policy,
            prepare_first_batch,
            compare_ranks=compare_ranks,
        )
