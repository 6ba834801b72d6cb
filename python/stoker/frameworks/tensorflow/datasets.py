# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Makes a pipeline a ``tf.data.Dataset``, without a copy."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import tensorflow as tf

from stoker import Pipeline
from stoker.errors import GraphError, StateError
from stoker.frameworks._epochs import LastBatchPolicy as LastBatchPolicy
from stoker.frameworks.numpy import DataIterator
from stoker.frameworks.tensorflow.feed import Feed
from stoker.frameworks.tensorflow.specs import declared, specs_of


class _PipelineDataset(tf.data.Dataset):  # type: ignore[misc]
    """The base of this module's datasets: a generator of arrays that TensorFlow does not copy."""

    def __init__(self, feed: Feed, signature: Any, is_endless: bool) -> None:
        self._feed = feed
        # TensorFlow keeps every generator until the process ends, so the generator refers to the
        # feed weakly.
        weak = weakref.ref(feed)
        inner = tf.data.Dataset.from_generator(lambda: _begun(weak), output_signature=signature)
        if is_endless:
            inner = inner.apply(
                tf.data.experimental.assert_cardinality(tf.data.INFINITE_CARDINALITY)
            )
        # Steps that TensorFlow prefetches by itself would count as drawn, and Stoker prefetches.
        options = tf.data.Options()
        options.experimental_optimization.inject_prefetch = False
        self._inner = inner.with_options(options)
        super().__init__(self._inner._variant_tensor)

    def _inputs(self) -> list[Any]:
        return [self._inner]

    @property
    def element_spec(self) -> Any:
        """The type and shape of each part of an element."""
        return self._inner.element_spec

    @property
    def steps_per_epoch(self) -> int:
        """How many steps the epoch of the next step has, for ``model.fit(steps_per_epoch=)``.

        Raises ``TypeError`` if only the pipeline knows where its epoch ends.
        """
        return self._feed.steps_per_epoch

    @property
    def epoch(self) -> int:
        """The epoch that the next step drawn belongs to, counted from 0. Part of the state."""
        return self._feed.epoch

    def state_dict(self) -> dict[str, Any]:
        """The state after the steps drawn so far, as a small dict that JSON can hold.

        Steps that ``prefetch`` and similar datasets have drawn ahead count as drawn.
        """
        return self._feed.state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continues after a state. Iterators that were begun before end with an error."""
        self._feed.load_state_dict(state)


class Dataset(_PipelineDataset):
    """A ``tf.data.Dataset`` of a pipeline's batches: ``for image, label in Dataset(pipe)``.

    Each iterator over the dataset lasts one epoch. The next iterator gives the next epoch, in
    another order if the reader shuffles; after a ``break`` it continues in the same epoch. Only one
    iterator may be in use at a time. The tensors are on the batch's own memory.

    - ``output_map``: the names of the outputs, for elements that are dicts. Without names elements
      are tuples, or the tensor itself if the pipeline has one output.
    - ``epochs``: how many epochs an iterator lasts; None: it never ends.
    - ``reader_name``: the reader whose samples make the epoch; default: the pipeline's lead reader.
      ``size``: how many samples an epoch has; replaces the reader's number.
    - ``last_batch_policy``: what happens to an epoch's last batch.
    - ``output_dtypes``, ``output_shapes``: the types and shapes that the tensors must have, for
      shapes that the pipeline knows only when it runs. Give one for all outputs, or a tuple.
    - ``prepare_first_batch``: True prepares batches from now on, False from the first step on.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        output_map: Sequence[str] | None = None,
        *,
        epochs: int | None = 1,
        reader_name: str | None = None,
        size: int = -1,
        last_batch_policy: LastBatchPolicy = LastBatchPolicy.FILL,
        output_dtypes: Any = None,
        output_shapes: Any = None,
        prepare_first_batch: bool = True,
    ) -> None:
        if epochs is not None and epochs < 1:
            raise GraphError(f"epochs expects a number from 1 on, or None, got {epochs!r}")
        _check_one(pipeline)
        pipeline.build()
        names = _numbered(pipeline) if output_map is None else list(output_map)
        steps = DataIterator(
            pipeline,
            names,
            reader_name=reader_name,
            size=size,
            last_batch_policy=last_batch_policy,
            auto_reset=False,
            prepare_first_batch=prepare_first_batch,
        )
        is_full = last_batch_policy is not LastBatchPolicy.PARTIAL and _keeps_full(pipeline)
        specs = specs_of(pipeline, pipeline.max_batch_size if is_full else None)
        specs = declared(specs, output_dtypes, output_shapes)
        if output_map is not None:
            named = dict(zip(names, specs, strict=True))
            super().__init__(Feed(steps, epochs, dict), named, epochs is None)
        elif len(names) > 1:
            super().__init__(Feed(steps, epochs, _tuple), tuple(specs), epochs is None)
        else:
            super().__init__(Feed(steps, epochs, _only), specs[0], epochs is None)


class DALIDataset(_PipelineDataset):
    """DALI's dataset: it gives a pipeline's batches and never ends.

    An iterator continues where the one before it stopped. Only one may be in use at a time.

    - ``output_dtypes``, ``output_shapes``: the types and shapes that the tensors must have; a tuple
      makes elements that are tuples. The default is what the pipeline tells.
    - ``batch_size``: must be that of the pipeline, which is the default.
    - ``fail_on_device_mismatch`` and the settings that a pipeline already has (``num_threads``,
      ``device_id``, ``exec_separated``, ``exec_dynamic``, ``prefetch_queue_depth`` and others) are
      accepted without effect.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        output_dtypes: Any = None,
        output_shapes: Any = None,
        fail_on_device_mismatch: bool = True,
        *,
        batch_size: int | None = None,
        num_threads: int = 4,
        device_id: int = 0,
        exec_separated: bool = False,
        exec_dynamic: bool = False,
        prefetch_queue_depth: Any = 2,
        cpu_prefetch_queue_depth: int = 2,
        gpu_prefetch_queue_depth: int = 2,
        dtypes: Any = None,
        shapes: Any = None,
    ) -> None:
        _check_one(pipeline)
        pipeline.build()
        if batch_size not in (None, pipeline.max_batch_size):
            raise GraphError(
                f"batch_size={batch_size}, but the pipeline's is {pipeline.max_batch_size}: "
                "a built pipeline keeps its own"
            )
        output_dtypes = dtypes if output_dtypes is None else output_dtypes
        output_shapes = shapes if output_shapes is None else output_shapes
        steps = DataIterator(pipeline, _numbered(pipeline), auto_reset=False)
        specs = specs_of(pipeline, pipeline.max_batch_size if _keeps_full(pipeline) else None)
        specs = declared(specs, output_dtypes, output_shapes)
        if len(specs) > 1 or isinstance(output_dtypes, (list, tuple)):
            super().__init__(Feed(steps, None, _tuple), tuple(specs), True)
        else:
            super().__init__(Feed(steps, None, _only), specs[0], True)


def _begun(feed: weakref.ref[Feed]) -> Iterator[Any]:
    """Begins one iterator over the elements. The iterator keeps the feed alive."""
    there = feed()
    if there is None:
        raise StateError("the dataset is gone: keep the Dataset for as long as it is iterated over")
    return there()


def _keeps_full(pipeline: Pipeline) -> bool:
    """Whether batches are full although samples are bad."""
    return pipeline.on_error not in ("skip", "drop")


def _check_one(pipeline: Any) -> None:
    if not isinstance(pipeline, Pipeline):
        raise GraphError(f"a dataset expects one pipeline, got {type(pipeline).__name__}")


def _numbered(pipeline: Pipeline) -> list[str]:
    return [str(i) for i in range(pipeline.num_outputs)]


def _tuple(step: dict[str, Any]) -> Any:
    return tuple(step.values())


def _only(step: dict[str, Any]) -> Any:
    return next(iter(step.values()))
