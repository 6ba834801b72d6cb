# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The pipelines of an iterator: each gives its part of every step."""

from __future__ import annotations

from collections.abc import Sequence

from stoker import Batch, Pipeline
from stoker._messages import warn_of_epoch
from stoker._pipeline.drop_counter import EmptyEpochError
from stoker._pipeline.internals import internals
from stoker.errors import GraphError, SourceError, StateError
from stoker.frameworks._place import Place

Part = tuple[Batch, ...]


class SideBySide:
    """Takes one step of all pipelines at a time. Keeps the parts of one that is not whole yet.

    Raises ``GraphError`` for pipelines that cannot make steps together.
    """

    def __init__(self, pipelines: Sequence[Pipeline], names: Sequence[str]) -> None:
        _check(pipelines, names)
        self._pipelines = pipelines
        # What pipelines gave before another failed to make its part of the step: batches, an error,
        # or None at the end of its epoch.
        self._given: list[Part | Exception | None] = []
        self._steps_seen = [internals(pipe).steps for pipe in pipelines]

    def take(self, place: Place) -> tuple[list[Part], Exception | None]:
        """The parts of the next step, and the error of the first that failed.

        There are fewer parts than pipelines where one ended the epoch; ``place`` is told. Raises
        what a pipeline raises that made no step: the next call tries that part again.
        """
        # A failed batch counts as given: the others must still give theirs.
        for number in range(len(self._given), len(self._pipelines)):
            self._given.append(self._part(number, place))
        given, self._given = self._given, []
        failures = [one for one in given if isinstance(one, Exception)]
        return [one for one in given if isinstance(one, tuple)], next(iter(failures), None)

    def begin_next_epoch(self, steps: int) -> None:
        """Goes on behind so many steps, which are not made."""
        for number, pipe in enumerate(self._pipelines):
            internals(pipe).begin_next_epoch(steps - (number < len(self._given)))
        self._given = []

    def reset(self) -> None:
        """Begins the next epoch of pipelines that have ended theirs."""
        self._given = []
        for pipe in self._pipelines:
            pipe.reset()

    def begin_anew(self) -> None:
        """Notes that the pipelines were restored."""
        self._given = []
        self._steps_seen = [internals(pipe).steps for pipe in self._pipelines]

    def require_whole(self) -> None:
        """Raises ``StateError`` if some pipelines have given a part of a step and others not."""
        if self._given:
            raise StateError(
                f"only {len(self._given)} of {len(self._pipelines)} pipelines have given their "
                "part of the next step: take it before the state"
            )

    def _part(self, number: int, place: Place) -> Part | Exception | None:
        pipe = self._pipelines[number]
        steps = internals(pipe).steps
        _warn_of_others(steps - self._steps_seen[number])
        try:
            return _step_of(pipe, place)
        except StopIteration:
            if internals(pipe).steps == 0 and (notes := internals(pipe).engine.notes_of_end):
                raise SourceError(f"the pipeline gives no step at all: {notes[0]}") from None
            place.is_exhausted = True
            _warn_of_size(pipe, place)
            return None
        except Exception as e:
            if internals(pipe).steps != steps:
                return e
            if isinstance(e, EmptyEpochError):
                place.is_exhausted = not place.is_end_behind
            raise
        finally:
            self._steps_seen[number] = internals(pipe).steps


def _check(pipelines: Sequence[Pipeline], names: Sequence[str]) -> None:
    if not pipelines:
        raise GraphError("an iterator expects at least one pipeline")
    for number, pipe in enumerate(pipelines):
        pipe.build()
        if pipe.num_outputs != len(names):
            raise GraphError(
                f"output_map names {len(names)} outputs ({', '.join(names)}), "
                f"pipeline {number} has {pipe.num_outputs}"
            )
        if len(pipelines) > 1 and pipe.error_policy.drops_empty_steps:
            raise GraphError(
                "a step of an iterator over several pipelines has a batch of each, so none "
                f"can be left out: pipeline {number} has on_error='drop'; take 'replace' or "
                "'skip'"
            )
    sizes = [pipe.max_batch_size for pipe in pipelines]
    if len(set(sizes)) > 1:
        raise GraphError(f"all pipelines of an iterator need one batch_size, got {sizes}")


def _step_of(pipe: Pipeline, place: Place) -> Part:
    try:
        return internals(pipe).take()
    except StopIteration:
        if not place.is_end_behind:
            raise
        pipe.reset()
        return internals(pipe).take()


def _warn_of_size(pipe: Pipeline, place: Place) -> None:
    """Warns if an epoch that ``size=`` counts was ended before by a source."""
    epochs = place.epochs
    if epochs is not None and epochs.is_begun and internals(pipe).engine.lead_reader is None:
        warn_of_epoch(
            f"a source ended this epoch{place.left_in_words(epochs.steps_left)} by size=: give the "
            "number of samples that the source has for an epoch, or leave size= out"
        )


def _warn_of_others(steps: int) -> None:
    """Warns if a pipeline has made so many other steps since this iterator's last one."""
    if steps:
        warn_of_epoch(
            f"{steps} steps were taken from this iterator's pipeline since its own last step, "
            "by run(), a loop over the pipeline or another iterator. So they are missing here, "
            "and this epoch is not whole: take all steps by one iterator"
        )
