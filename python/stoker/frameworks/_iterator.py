# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The base of every framework's iterators: names, sizes, policies, resets and state."""

from __future__ import annotations

import json
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import FrameType
from typing import Any, NoReturn, TypeVar, cast

from stoker import Batch, Pipeline, _state_entries
from stoker._messages import warn_of_epoch
from stoker._pipeline.drop_counter import EmptyEpochError
from stoker._pipeline.internals import internals
from stoker._pipeline.pipeline_def import is_factory
from stoker.errors import GraphError, GraphTypeError, StateError
from stoker.frameworks import _counting, _ranks
from stoker.frameworks._arguments.checks import checked_names, checked_policy, is_yes
from stoker.frameworks._arguments.constructors import Constructed
from stoker.frameworks._epochs import ITERATORS
from stoker.frameworks._place import Place
from stoker.frameworks._side_by_side import Part, SideBySide
from stoker.frameworks._unpacking import names_in_loop

Self = TypeVar("Self", bound="BaseIterator")

_VERSION = 1


class BaseIterator(Constructed, ABC):
    """The base of iterators that give steps of one or several pipelines as a framework's tensors.

    A framework implements ``to_tensor`` and, in its iterators, ``_arranged``, which makes the form
    of a step. Used by one thread at a time.

    Epochs are counted in steps. A step that ``on_error='drop'`` leaves out counts, and the next one
    is given instead: an epoch ends at the same sample as ever, after fewer steps than ``len()``.
    """

    def _take(self, given: dict[str, Any]) -> None:
        """Takes the arguments of the constructor; those that a kind does not have count as None."""
        pipelines = given["pipelines"]
        if is_factory(pipelines):
            name = pipelines.__name__
            raise GraphTypeError(f"{name} is a function that makes pipelines; call it: {name}()")
        self._pipelines = [pipelines] if isinstance(pipelines, Pipeline) else list(pipelines)
        self._names = checked_names(given["output_map"])
        self._auto_reset = is_yes(given["auto_reset"])
        self._policy = checked_policy(given["last_batch_policy"], given.get("fill_last_batch"))
        self._parts = SideBySide(self._pipelines, self._names)
        self._check_pipelines()
        for pipe in self._pipelines:
            internals(pipe).begin_loop()
        self._is_left = False  # steps were given of an epoch, and not its end
        counting = self._counting(given)
        self._size, self._shards = counting.size, counting.shards
        self._place = Place(counting.epochs)
        self._restore_from_checkpoint()
        _ranks.warn_of_steps(self._pipelines, self._has_epochs() and self._place.epochs is None)
        self._parts.begin_anew()
        if given["prepare_first_batch"]:
            for pipe in self._pipelines:
                internals(pipe).prepare()

    def _counting(self, given: dict[str, Any]) -> _counting.Counting:
        size, name, is_padded = given["size"], given["reader_name"], given.get("last_batch_padded")
        if name is None:
            return _counting.of_size(self._pipelines, size, bool(is_padded), self._policy)
        if size != -1 or is_padded:
            wrong = "size" if size != -1 else "last_batch_padded"
            raise GraphError(f"reader_name tells the size and the padding: leave {wrong}= out")
        return _counting.of_reader(self._pipelines, name, given["compare_ranks"], self._policy)

    def _check_pipelines(self) -> None:
        """Checks what only a kind of iterator asks of its pipelines, which are built."""

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
        """Returns the iterator itself. After the end of an epoch it begins the next epoch.

        In the middle of an epoch the loop goes on there, as with DALI's iterators, and a warning
        says so.
        """
        self._refuse_unpacking(sys._getframe(1))
        if self._is_finished():
            self._begin_next()
        elif self._is_left and self._has_epochs():
            warn_of_epoch(
                f"this loop goes on in the middle of an epoch{self._left_in_words()}; reset() "
                "before the loop begins the next epoch"
            )
        return self

    def _refuse_unpacking(self, loop: FrameType) -> None:
        """Raises ``GraphTypeError`` for a loop that takes steps apart into another number."""
        names, parts = names_in_loop(loop), self._parts_of_step
        if names in (0, parts):
            return
        what, item = "a dict with the names of output_map as keys", f"step['{self._names[0]}']"
        if parts is not None:
            what, item = (
                f"a list of {parts} dicts, one per pipeline",
                f"step[0]['{self._names[0]}']",
            )
        raise GraphTypeError(
            f"a step of {type(self).__name__} is {what}, and the loop unpacks it into {names} "
            f"names: write `for step in ...`, and {item} is the first output"
        )

    @property
    def _parts_of_step(self) -> int | None:
        """The length of a step that is a list; None where it is a dict."""
        return len(self._pipelines)

    def __next__(self) -> Any:
        return self._given_step()

    def _given_step(self) -> Any:
        """The next step. Notes that its epoch was begun, or that its end was met."""
        try:
            step = self._next_step()
        except Exception:  # also at the end; and who sees another exception knows enough
            self._note_left(False)
            raise
        self._note_left(not self._is_finished())
        return step

    def _note_left(self, is_left: bool) -> None:
        """Notes whether whoever leaves the loop now leaves a part of an epoch."""
        self._is_left = is_left
        for pipe in self._pipelines:
            internals(pipe).note_left(is_left)  # for other iterators and loops over it

    def _next_step(self) -> Any:
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
        """Begins the next epoch, also in the middle of one; at its beginning it does nothing.

        What comes is what would come if the rest had been taken. Where a source cannot begin anew,
        or inputs are fed by hand, it warns, and the next step goes on in the same epoch.
        """
        if self._is_finished():
            self._begin_next()
        elif self._is_begun():
            self._leave()

    def __len__(self) -> int:
        """How many steps this epoch has, including those already made and those dropped.

        Raises ``TypeError`` if only the pipeline knows where its epoch ends.
        """
        if self._place.epochs is None:
            raise TypeError("the number of steps is not known: give reader_name or size")
        return self._place.epochs.steps

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
        return self._place.epoch

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
        place = self._place.of_state(state)  # first, so that a wrong state changes no pipeline
        for pipe, one in zip(self._pipelines, states, strict=True):
            pipe.restore(one, force)
        self._place = place
        self._is_left = False
        self._parts.begin_anew()

    def checkpoints(self) -> list[str]:
        """A text for each pipeline, to give to ``Pipeline(checkpoint=)``.

        An iterator over pipelines that begin there continues where this iterator stands.
        """
        own = self._own_state()
        return [json.dumps({**pipe.state(), "iterator": own}) for pipe in self._pipelines]

    def _own_state(self) -> dict[str, Any]:
        self._parts.require_whole()
        return self._place.state()

    def _restore_from_checkpoint(self) -> None:
        """Restores the iterator from a checkpoint if the pipelines still stand there."""
        given = internals(self._pipelines[0]).checkpoint
        checkpoint = (
            None if given is None else _state_entries.of_pipeline(_state_entries.text(given))
        )
        if checkpoint is None or "iterator" not in checkpoint:
            return
        if internals(self._pipelines[0]).orders == checkpoint.get("orders"):
            self._place = self._place.of_state(checkpoint)

    # Inside.

    def _is_finished(self) -> bool:
        return self._place.is_finished

    def _has_epochs(self) -> bool:
        """Whether there is an end to come, rather than an endless stream."""
        return self._place.epochs is not None or any(
            internals(p).ends_itself for p in self._pipelines
        )

    def _is_begun(self) -> bool:
        """Whether a step of this epoch was given."""
        if self._place.epochs is not None:
            return self._place.epochs.is_begun
        return not internals(self._pipelines[0]).engine.begins_epoch

    def _steps_left(self) -> int:
        """How many steps of this epoch were not given; 0 where epochs are not counted."""
        return 0 if self._place.epochs is None else self._place.epochs.steps_left

    def _left_in_words(self) -> str:
        return self._place.left_in_words(self._steps_left())

    def _leave(self) -> None:
        """Begins the next epoch in the middle of this one, or says who cannot."""
        if not self._has_epochs():
            return
        if who := next(filter(None, (internals(pipe).who_goes_on for pipe in self._pipelines)), ""):
            warn_of_epoch(
                f"{who} cannot begin anew before its epoch has ended, so the next step goes on in "
                f"this one{self._left_in_words()}"
            )
        else:
            self._end_early()

    def _end_early(self) -> None:
        epochs = self._place.epochs
        self._parts.begin_next_epoch(0 if epochs is None else epochs.skip())
        self._note_left(False)
        self._place.leave(sources_begin_anew=internals(self._pipelines[0]).engine.inputs.end_epochs)

    def _begin_next(self) -> None:
        self._note_left(False)
        epochs = self._place.epochs
        if self._place.is_exhausted:
            self._parts.reset()
            self._place.begin_next_after_end()
        elif epochs is not None:
            failure: Exception | None = None
            while epochs.steps_to_drop():
                _, failure = self._parts.take(self._place)
                epochs.step()
            epochs.begin_next()
            if isinstance(failure, EmptyEpochError):
                raise failure  # it is of the epoch that has ended, not of a step

    def _run(self) -> tuple[list[Part], list[int]]:
        """The batches of every pipeline, and how many of their samples belong to the epoch."""
        keep = self._place.keep(self._shards, self.batch_size)
        batches, failure = self._parts.take(self._place)
        self._place.count_step()
        if failure is not None:
            raise failure
        return batches, keep

    def _is_dropped(self, batches: Sequence[Batch], keep: int) -> bool:
        """Whether ``on_error='drop'`` leaves nothing of a step that belongs to the epoch."""
        if not self._pipelines[0].error_policy.drops_empty_steps:
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
