# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Makes a pipeline a ``tf.data.Dataset``, without a copy."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping
from typing import Any

import tensorflow as tf

from stoker import Pipeline
from stoker.errors import GraphError, StateError
from stoker.frameworks._arguments.constructors import (
    TensorflowGeneric,
    TensorflowLooping,
    documented,
)
from stoker.frameworks._epochs import LastBatchPolicy as LastBatchPolicy
from stoker.frameworks.numpy import DataIterator
from stoker.frameworks.tensorflow.feed import Feed
from stoker.frameworks.tensorflow.specs import declared, specs_of


class _PipelineDataset(tf.data.Dataset):  # type: ignore[misc]
    """The base of this module's datasets: a generator of arrays that TensorFlow does not copy."""

    def _begin(self, feed: Feed, signature: Any, is_endless: bool) -> None:
        """Makes this the dataset of what ``feed`` gives. Called once, by the constructor."""
        self._feed = feed
        # TensorFlow keeps every generator until the process ends, so it refers to the feed weakly.
        weak = weakref.ref(feed)
        inner = tf.data.Dataset.from_generator(lambda: _begun(weak), output_signature=signature)
        if is_endless:
            inner = inner.apply(
                tf.data.experimental.assert_cardinality(tf.data.INFINITE_CARDINALITY)
            )
        # Steps that TensorFlow prefetches would count as drawn; Stoker prefetches by itself.
        options = tf.data.Options()
        options.experimental_optimization.inject_prefetch = False
        self._inner = inner.with_options(options)
        tf.data.Dataset.__init__(self, self._inner._variant_tensor)

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


@documented
class Dataset(TensorflowLooping, _PipelineDataset):
    """A ``tf.data.Dataset`` of a pipeline's batches: ``for image, label in Dataset(pipe)``.

    Each iterator over the dataset lasts one epoch. The next iterator gives the next epoch, in
    another order if the reader shuffles, also after a ``break`` or ``take``. Only one iterator may
    be in use at a time. The tensors are on the batch's own memory. Without ``reader_name`` and
    ``size`` the epoch is that of the pipeline's lead reader.
    """

    def _take(self, given: dict[str, Any]) -> None:
        pipeline, names, epochs = (given[name] for name in ("pipeline", "output_map", "epochs"))
        policy = given["last_batch_policy"]
        if epochs is not None and epochs < 1:
            raise GraphError(f"epochs expects a number from 1 on, or None, got {epochs!r}")
        _check_one(pipeline)
        pipeline.build()
        steps = DataIterator(
            pipeline,
            _numbered(pipeline) if names is None else list(names),
            reader_name=given["reader_name"],
            size=given["size"],
            last_batch_policy=policy,
            auto_reset=False,
            prepare_first_batch=given["prepare_first_batch"],
        )
        is_full = policy is not LastBatchPolicy.PARTIAL and _keeps_full(pipeline)
        specs = specs_of(pipeline, pipeline.max_batch_size if is_full else None)
        specs = declared(specs, given["output_dtypes"], given["output_shapes"])
        if names is not None:
            named = dict(zip(names, specs, strict=True))
            self._begin(Feed(steps, epochs, dict), named, epochs is None)
        elif len(specs) > 1:
            self._begin(Feed(steps, epochs, _tuple), tuple(specs), epochs is None)
        else:
            self._begin(Feed(steps, epochs, _only), specs[0], epochs is None)


@documented
class DALIDataset(TensorflowGeneric, _PipelineDataset):
    """DALI's dataset: it gives a pipeline's batches and never ends.

    An iterator continues where the one before it stopped. Only one may be in use at a time. A tuple
    of ``output_dtypes`` or ``output_shapes`` makes elements that are tuples.
    """

    def _take(self, given: dict[str, Any]) -> None:
        pipeline, batch_size = given["pipeline"], given["batch_size"]
        _check_one(pipeline)
        pipeline.build()
        if batch_size not in (None, pipeline.max_batch_size):
            raise GraphError(
                f"batch_size={batch_size}, but the pipeline's is {pipeline.max_batch_size}: "
                "a built pipeline keeps its own"
            )
        dtypes = given["dtypes"] if given["output_dtypes"] is None else given["output_dtypes"]
        shapes = given["shapes"] if given["output_shapes"] is None else given["output_shapes"]
        steps = DataIterator(pipeline, _numbered(pipeline), auto_reset=False)
        specs = specs_of(pipeline, pipeline.max_batch_size if _keeps_full(pipeline) else None)
        specs = declared(specs, dtypes, shapes)
        if len(specs) > 1 or isinstance(dtypes, (list, tuple)):
            self._begin(Feed(steps, None, _tuple), tuple(specs), True)
        else:
            self._begin(Feed(steps, None, _only), specs[0], True)


def _begun(feed: weakref.ref[Feed]) -> Iterator[Any]:
    """Begins one iterator over the elements. The iterator keeps the feed alive."""
    there = feed()
    if there is None:
        raise StateError("the dataset is gone: keep the Dataset for as long as it is iterated over")
    return there()


def _keeps_full(pipeline: Pipeline) -> bool:
    """Whether batches are full although samples are bad."""
    return not pipeline.error_policy.leaves_samples_out


def _check_one(pipeline: Any) -> None:
    if not isinstance(pipeline, Pipeline):
        raise GraphError(f"a dataset expects one pipeline, got {type(pipeline).__name__}")


def _numbered(pipeline: Pipeline) -> list[str]:
    return [str(i) for i in range(pipeline.num_outputs)]


def _tuple(step: dict[str, Any]) -> Any:
    return tuple(step.values())


def _only(step: dict[str, Any]) -> Any:
    return next(iter(step.values()))
