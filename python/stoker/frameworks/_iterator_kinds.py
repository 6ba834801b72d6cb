# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The kinds of iterators that every framework has: Stoker's own, and those of DALI.

These classes hold the form of a step and what their constructors check. A framework adds how a
batch becomes a tensor (``to_tensor``, ``_samples``).
"""

from __future__ import annotations

import sys
from abc import abstractmethod
from typing import Any

from stoker import Batch, Pipeline
from stoker.errors import GraphError, StateError
from stoker.frameworks._arguments.checks import lead_reader
from stoker.frameworks._arguments.constructors import Classification as ClassificationArguments
from stoker.frameworks._arguments.constructors import Generic, documented
from stoker.frameworks._arguments.constructors import Looping as LoopingArguments
from stoker.frameworks._iterator import BaseIterator


class Loop:
    """A loop over the next epoch of a ``DataIterator``, which is what its ``iter()`` gives."""

    def __init__(self, steps: Looping) -> None:
        self._steps = steps
        self._number = 0  # among the loops over the iterator; 0: was not asked for a step yet
        self._is_over = False

    def __iter__(self) -> Loop:
        return self

    def __next__(self) -> Any:
        if self._is_over:
            raise StopIteration
        if self._number == 0:
            self._number = self._steps._begin_loop()
        try:
            return self._steps._step_of_loop(self._number)
        except StopIteration:
            self._is_over = True
            raise

    def __len__(self) -> int:
        """How many steps the iterator's epoch has, including those already made."""
        return len(self._steps)


class Looping(LoopingArguments, BaseIterator):
    """The base of a framework's ``DataIterator``: loops over a pipeline's epochs.

    Each step is a dict of tensors with the names of ``output_map`` as keys. For a list of pipelines
    each step is a list of such dicts. Without ``reader_name`` and ``size`` the epoch is that of the
    pipeline's lead reader; a pipeline without a reader ends its epoch itself, by ``StopIteration``.
    """

    def _take(self, given: dict[str, Any]) -> None:
        pipelines, names, ragged = (given[name] for name in ("pipelines", "output_map", "ragged"))
        if unknown := [name for name in ragged if name not in names]:
            raise GraphError(f"ragged names {unknown}, which are not in output_map {names}")
        self._ragged = frozenset(ragged)
        self._is_single = isinstance(pipelines, Pipeline)
        if given["reader_name"] is None and given["size"] == -1:
            given["reader_name"] = lead_reader(pipelines)
        super()._take(given)

    _loops = 0  # how many were begun

    def __iter__(self) -> Loop:  # type: ignore[override]
        """A loop over an epoch: the next one after the end of one, or where a loop was left.

        What comes then is what would come if the rest had been taken. A loop goes on where
        ``next()`` of this iterator itself, a loaded state or a step that failed has led. Where a
        source cannot begin anew, it warns and goes on. Once a newer loop has given a step, an
        older one raises ``StateError``.
        """
        self._refuse_unpacking(sys._getframe(1))
        if self._is_finished():
            self._begin_next()
        return Loop(self)

    @property
    def _parts_of_step(self) -> int | None:
        return None if self._is_single else len(self._pipelines)

    def __next__(self) -> Any:
        return self._next_step()

    def _begin_loop(self) -> int:
        """Begins the next epoch where a loop was left. Returns the number of the new loop."""
        if self._is_left:
            self._leave()
        self._loops += 1
        return self._loops

    def _step_of_loop(self, number: int) -> Any:
        if number != self._loops:
            raise StateError(
                "a newer loop over this iterator has begun, and both would draw from one pipeline: "
                "use one loop at a time, or an iterator and a pipeline for each"
            )
        return self._given_step()

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


@documented
class Established(Generic, BaseIterator):
    """The base of a framework's ``DALIGenericIterator``: each step is a list of dicts of tensors.

    The list has one dict per pipeline. Without ``size`` and ``reader_name`` an epoch ends when the
    pipeline raises ``StopIteration``.
    """


@documented
class Classification(ClassificationArguments, Established):
    """A ``DALIGenericIterator`` for pipelines with two outputs, named "data" and "label"."""

    def _take(self, given: dict[str, Any]) -> None:
        super()._take({**given, "output_map": ["data", "label"]})
