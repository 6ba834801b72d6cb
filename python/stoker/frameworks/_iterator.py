# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The base of every framework's iterators: names, sizes, policies, resets and state."""

from __future__ import annotations

import json
import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, NoReturn, TypeVar, cast

from stoker import Batch, Pipeline, _state_entries
from stoker._messages import user_level
from stoker._pipeline.drop_counter import EmptyEpochError
from stoker._pipeline.pipeline_def import is_factory
from stoker.errors import GraphError, GraphTypeError, StateError
from stoker.frameworks import _ranks
from stoker.frameworks._epochs import (
    ITERATORS,
    Counted,
    Epochs,
    LastBatchPolicy,
    counted_of_reader,
    shard_sizes,
)

Self = TypeVar("Self", bound="BaseIterator")

_VERSION = 1
_POLICIES = ", ".join(f"LastBatchPolicy.{policy.name}" for policy in LastBatchPolicy)
_NO, _YES = (False, None, "no"), (True, "yes", "True")


class BaseIterator(ABC):
    """The base of iterators that give steps of one or several pipelines as a framework's tensors.

    A framework implements ``to_tensor`` and, in its iterators, ``_arranged``, which makes the form
    of a step. The arguments are those of DALI's iterators and ``compare_ranks``: whether sharded
    readers are compared over the ranks of the process group, which is a collective call. Used by
    one thread at a time.

    Epochs are counted in steps. A step that ``on_error="drop"`` leaves out counts, and the next one
    is given instead: an epoch ends at the same sample as ever, after fewer steps than ``len()``.
    """

    def __init__(
        self,
        pipelines: Pipeline | Sequence[Pipeline],
        output_map: Sequence[str],
        size: int = -1,
        reader_name: str | None = None,
        auto_reset: str | bool | None = False,
        fill_last_batch: bool | None = None,
        last_batch_padded: bool = False,
        last_batch_policy: LastBatchPolicy = LastBatchPolicy.FILL,
        prepare_first_batch: bool = True,
        compare_ranks: bool = True,
    ) -> None:
        if is_factory(pipelines):
            name = pipelines.__name__  # type: ignore[union-attr]
            raise GraphTypeError(f"{name} is a function that makes pipelines; call it: {name}()")
        self._pipelines = [pipelines] if isinstance(pipelines, Pipeline) else list(pipelines)
        self._names = _checked_names(output_map)
        self._auto_reset = _is_yes(auto_reset)
        self._policy = _policy(last_batch_policy, fill_last_batch)
        self._check_pipelines()
        self._shards = list(range(len(self._pipelines)))
        self._size = size
        self._exhausted_times = 0  # how often a pipeline itself ended an epoch
        self._is_exhausted = False
        # The parts of a step that some pipeline could not make yet: what the pipelines before it
        # gave, or their errors.
        self._given: list[tuple[Batch, ...] | Exception | None] = []
        self._epochs: Epochs | None
        if reader_name is not None:
            if size != -1 or last_batch_padded:
                wrong = "size" if size != -1 else "last_batch_padded"
                raise GraphError(f"reader_name tells the size and the padding: leave {wrong}= out")
            self._epochs = self._of_reader(reader_name, compare_ranks)
        else:
            self._epochs = self._of_size(size, last_batch_padded)
        self._restore_from_checkpoint()
        if prepare_first_batch:
            for pipe in self._pipelines:
                pipe._prepare()

    # What a framework implements.

    @abstractmethod
    def to_tensor(self, batch: Batch, count: int) -> Any:
        """The first ``count`` samples of a batch as one tensor, without a copy if possible.

        Requires: the batch has at least ``count`` samples, all of one shape.
        """

    def _converted(self, batch: Batch, count: int, output: int, place: str) -> Any:
        """The value of one output in a step; ``place`` names the output in messages."""
        if not batch.is_dense and len(shapes := sorted(set(batch.shape()))) > 1:
            shown = ", ".join(map(str, shapes[:4])) + (", ..." if len(shapes) > 4 else "")
            raise GraphError(
                f"{place}: the samples differ in shape ({shown}), so they are no single tensor; "
                f"make them equal with resize or crop, or {self._ragged_advice}"
            )
        return self.to_tensor(batch, count)

    _ragged_advice = "take the samples of the pipeline's batches one by one"

    def _arranged(self, dicts: list[dict[str, Any]]) -> Any:
        """The step as the user gets it; here a list with one dict per pipeline."""
        return dicts

    # Iterating.

    def __repr__(self) -> str:
        outputs = ", ".join(self._names)
        return f"<{type(self).__name__} of {outputs}, batch_size {self.batch_size}>"

    def __iter__(self: Self) -> Self:
        """Returns the iterator itself. After the end of an epoch it begins the next epoch."""
        if self._is_finished():
            self._begin_next()
        return self

    def __next__(self) -> Any:
        while not self._is_finished():
            batches, keep = self._run()
            if len(batches) < len(self._pipelines):  # one of them ended the epoch itself
                break
            if not self._is_dropped(batches[0], keep[0]):
                return self._arranged(
                    [
                        self._dict(i, b, k)
                        for i, (b, k) in enumerate(zip(batches, keep, strict=True))
                    ]
                )
        if self._auto_reset:
            self._begin_next()
        raise StopIteration

    def __getitem__(self, key: object) -> NoReturn:
        raise TypeError(
            f"a {type(self).__name__} has no items: a loop over it gives whole batches in order, "
            "so it needs no DataLoader around it"
        )

    def next(self) -> Any:
        """Does what ``next(iterator)`` does."""
        return self.__next__()

    def reset(self) -> None:
        """Begins the next epoch after the end of one. In the middle of an epoch it only warns."""
        if self._is_finished():
            self._begin_next()
        elif self._epochs is not None and self._epochs.is_begun:
            warnings.warn(
                "reset() in the middle of an epoch has no effect: the next step goes on in it",
                stacklevel=2,
            )

    def __len__(self) -> int:
        """How many steps this epoch has, including those already made and those dropped.

        Raises ``TypeError`` if only the pipeline knows where its epoch ends.
        """
        if self._epochs is None:
            raise TypeError("the number of steps is not known: give reader_name or size")
        return self._epochs.steps

    @property
    def size(self) -> int:
        """How many samples the shards of these pipelines have together.

        -1 if only the pipeline knows where its epoch ends.
        """
        return self._size

    @property
    def batch_size(self) -> int:
        """How many samples a batch of one pipeline has."""
        return cast(int, self._pipelines[0].max_batch_size)

    @property
    def epoch(self) -> int:
        """The epoch that the next step belongs to, counted from 0. It is part of the state."""
        if self._epochs is None:
            return self._exhausted_times + self._is_exhausted
        return self._epochs.number + self._is_exhausted

    # State.

    def state_dict(self) -> dict[str, Any]:
        """The state after the steps given so far, as a small dict that JSON can hold.

        Raises ``StateError`` after a step for which one of several pipelines found no memory. The
        pipelines before it have given their part already, so that step must be taken first.
        """
        states = [pipe.state() for pipe in self._pipelines]
        return {"version": _VERSION, "pipelines": states, "iterator": self._own_state()}

    def load_state_dict(self, state: Mapping[str, Any], force: bool = False) -> None:
        """Continues after a state; with ``force`` also where the pipelines have changed.

        Raises and warns as ``Pipeline.restore`` does. Raises ``StateError`` for the state of an
        iterator with another number of pipelines.
        """
        _state_entries.check_iterators(state)
        version = _state_entries.count(state, "version", ITERATORS)
        states = _state_entries.entry(state, "pipelines", list, ITERATORS)
        if version > _VERSION:
            raise StateError(f"the state is of version {version}, this Stoker reads {_VERSION}")
        if len(states) != len(self._pipelines):
            raise StateError(
                f"the state is of {len(states)} pipelines, this iterator has {len(self._pipelines)}"
            )
        own = self._own_in(state)  # first, so that a wrong state changes no pipeline
        for pipe, one in zip(self._pipelines, states, strict=True):
            pipe.restore(one, force)
        self._given = []
        self._epochs, self._is_exhausted, self._exhausted_times = own

    def checkpoints(self) -> list[str]:
        """A text for each pipeline, to give to ``Pipeline(checkpoint=)``.

        An iterator over pipelines that begin there continues where this iterator stands.
        """
        own = self._own_state()
        return [json.dumps({**pipe.state(), "iterator": own}) for pipe in self._pipelines]

    def _own_state(self) -> dict[str, Any]:
        if self._given:
            raise StateError(
                f"only {len(self._given)} of {len(self._pipelines)} pipelines have given their "
                "part of the next step: take it before the state"
            )
        return {
            "epochs": None if self._epochs is None else self._epochs.state(),
            "exhausted": self._is_exhausted,
            "exhausted_times": self._exhausted_times,
        }

    def _own_in(self, state: Mapping[str, Any]) -> tuple[Epochs | None, bool, int]:
        """Reads ``_own_state()`` from a state. Raises ``StateError`` if it does not fit."""
        own = _state_entries.entry(state, "iterator", dict, ITERATORS)
        is_exhausted = _state_entries.flag(own, "exhausted", ITERATORS)
        exhausted_times = _state_entries.count(own, "exhausted_times", ITERATORS)
        epochs: Any = _state_entries.entry(own, "epochs", object, ITERATORS)
        if (epochs is None) != (self._epochs is None):
            raise StateError(
                "the state is of an iterator of a known size, this one goes on until its pipeline "
                "ends (give reader_name or size), or the other way round"
            )
        restored = copy(self._epochs)
        if restored is not None:
            restored.restore(epochs)
        return restored, is_exhausted, exhausted_times

    def _restore_from_checkpoint(self) -> None:
        """Restores the iterator from a checkpoint if the pipelines still stand there."""
        given = self._pipelines[0]._settings["checkpoint"]
        checkpoint = (
            None if given is None else _state_entries.of_pipeline(_state_entries.text(given))
        )
        if checkpoint is None or "iterator" not in checkpoint:
            return
        if self._pipelines[0]._orders() == checkpoint.get("orders"):
            own = self._own_in(checkpoint)
            self._epochs, self._is_exhausted, self._exhausted_times = own

    # Inside.

    def _check_pipelines(self) -> None:
        if not self._pipelines:
            raise GraphError("an iterator expects at least one pipeline")
        for number, pipe in enumerate(self._pipelines):
            pipe.build()
            if pipe.num_outputs != len(self._names):
                raise GraphError(
                    f"output_map names {len(self._names)} outputs ({', '.join(self._names)}), "
                    f"pipeline {number} has {pipe.num_outputs}"
                )
            if len(self._pipelines) > 1 and pipe.on_error == "drop":
                raise GraphError(
                    "a step of an iterator over several pipelines has a batch of each, so none "
                    f"can be left out: pipeline {number} has on_error='drop'; take 'replace' or "
                    "'skip'"
                )
        sizes = [pipe.max_batch_size for pipe in self._pipelines]
        if len(set(sizes)) > 1:
            raise GraphError(f"all pipelines of an iterator need one batch_size, got {sizes}")

    def _of_size(self, size: int, padded: bool) -> Epochs | None:
        if size == -1:
            if len(self._pipelines) > 1:
                raise GraphError("an iterator over several pipelines needs reader_name or size")
            return None
        if size < 1:
            raise GraphError(f"size expects a number of samples, or -1, got {size!r}")
        stride = self.batch_size * len(self._pipelines)
        counted = Counted((size,), stride, self.batch_size, "pad" if padded else "continue")
        return Epochs(counted, self._policy)

    def _of_reader(self, name: str, compare_ranks: bool) -> Epochs:
        facts = [_ranks.facts_of(pipe, name) for pipe in self._pipelines]
        if compare_ranks:  # first, so that all ranks raise when one has wrong pipelines
            _ranks.compare(facts)
        _ranks.check({f"pipeline {i}": fact for i, fact in enumerate(facts)})
        self._shards = [fact.shard_id for fact in facts]
        shards = facts[0].num_shards
        sizes = shard_sizes(facts[0].order["size"], shards)
        self._size = sum(sizes[s] for s in self._shards)
        epochs = Epochs(counted_of_reader(facts[0].order, shards, self.batch_size), self._policy)
        epochs.go_to(facts[0].cursor)
        return epochs

    def _is_finished(self) -> bool:
        return self._is_exhausted or (self._epochs is not None and self._epochs.steps_left == 0)

    def _begin_next(self) -> None:
        if self._is_exhausted:
            self._given = []
            for pipe in self._pipelines:
                pipe.reset()
            self._is_exhausted = False
            self._exhausted_times += 1
            if self._epochs is not None:
                self._epochs.end_early()
        elif self._epochs is not None:
            failure: Exception | None = None
            while self._epochs.steps_to_drop():
                _, failure = self._run_all()
                self._epochs.step()
            self._epochs.begin_next()
            if isinstance(failure, EmptyEpochError):
                raise failure  # it is of the epoch that has ended, not of a step

    def _run(self) -> tuple[list[tuple[Batch, ...]], list[int]]:
        """The batches of every pipeline, and how many of their samples belong to the epoch."""
        epochs = self._epochs
        keep = [self.batch_size if epochs is None else epochs.keep(s) for s in self._shards]
        batches, failure = self._run_all()
        if epochs is not None and not self._is_exhausted:
            epochs.step()
        if failure is not None:
            raise failure
        return batches, keep

    def _run_all(self) -> tuple[list[tuple[Batch, ...]], Exception | None]:
        # A failed batch counts as given, so the other pipelines must still give their batches.
        for pipe in self._pipelines[len(self._given) :]:
            steps = pipe._steps
            try:
                self._given.append(self._step_of(pipe))
            except StopIteration:
                self._is_exhausted = True
                self._given.append(None)
            except Exception as e:
                if pipe._steps == steps:  # no step was made: the next call tries it again
                    if isinstance(e, EmptyEpochError):
                        self._is_exhausted = not self._is_end_behind()
                    raise
                self._given.append(e)
        given, self._given = self._given, []
        failures = [one for one in given if isinstance(one, Exception)]
        return [one for one in given if isinstance(one, tuple)], next(iter(failures), None)

    def _step_of(self, pipe: Pipeline) -> tuple[Batch, ...]:
        run = pipe._run_step if pipe.on_error == "drop" else pipe.run
        try:
            return run()
        except StopIteration:
            if not self._is_end_behind():
                raise
            pipe.reset()
            return run()

    def _is_end_behind(self) -> bool:
        """Whether a source's end that is met now is that of the epoch that ``size=`` has ended."""
        epochs = self._epochs
        return epochs is not None and not epochs.is_begun and epochs.number > 0

    def _is_dropped(self, batches: Sequence[Batch], keep: int) -> bool:
        """Whether ``on_error="drop"`` leaves nothing of a step that belongs to the epoch."""
        if self._pipelines[0].on_error != "drop":
            return False
        return not batches or (keep > 0 and self._kept(batches[0], keep) == 0)

    def _dict(self, pipeline: int, batches: Sequence[Batch], keep: int) -> dict[str, Any]:
        where = f" of pipeline {pipeline}" if len(self._pipelines) > 1 else ""
        return {
            name: self._converted(
                batch,
                self._kept(batch, keep),
                i,
                f"output '{name}'{where}",
            )
            for i, (name, batch) in enumerate(zip(self._names, batches, strict=True))
        }

    def _kept(self, batch: Batch, keep: int) -> int:
        """How many samples are among the first ``keep`` of the whole batch.

        This may be less than ``keep``, because on_error= may leave samples out.
        """
        if keep == self.batch_size:
            return len(batch)
        return sum(batch.index_in_batch(i) < keep for i in range(len(batch)))


def lead_reader(pipelines: Pipeline | Sequence[Pipeline]) -> str | None:
    """The name of the first pipeline's lead reader; None if there is no reader."""
    pipe = pipelines if isinstance(pipelines, Pipeline) else next(iter(pipelines), None)
    return None if pipe is None else pipe.lead_reader


def _checked_names(output_map: Sequence[str]) -> list[str]:
    names = [output_map] if isinstance(output_map, str) else list(output_map)
    if len(set(names)) != len(names):
        raise GraphError(f"output_map expects distinct names, got {names}")
    return names


def _is_yes(auto_reset: str | bool | None) -> bool:
    if auto_reset not in (*_NO, *_YES):
        raise GraphError(f"auto_reset expects True, 'yes', False or 'no', got {auto_reset!r}")
    return auto_reset in _YES


def _policy(policy: LastBatchPolicy, fill_last_batch: bool | None) -> LastBatchPolicy:
    if fill_last_batch is not None:
        policy = LastBatchPolicy.FILL if fill_last_batch else LastBatchPolicy.PARTIAL
        warnings.warn(
            f"fill_last_batch is deprecated: say last_batch_policy=LastBatchPolicy.{policy.name}",
            DeprecationWarning,
            stacklevel=user_level(),
        )
    if not isinstance(policy, LastBatchPolicy):
        raise GraphError(f"last_batch_policy expects one of {_POLICIES}, got {policy!r}")
    return policy
