# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The exceptions that Stoker raises. ``Error`` is the base of all.

- ``GraphError`` (also a ``ValueError``): a graph is wrong, e.g. an argument is unknown or types do
  not fit, or a saved graph cannot be read.
- ``GraphTypeError`` (a ``GraphError``, also a ``TypeError``): what was given is of a type that
  cannot be right there, e.g. an output that is no node and no number.
- ``GraphIndexError`` (a ``GraphError``, also an ``IndexError``): a tensor has no axis of this
  number.
- ``GraphKeyError`` (a ``GraphError``, also a ``KeyError``): no operator, argument, reader or input
  has this name.
- ``SampleError`` (also a ``ValueError``): samples cannot be delivered; ``.samples`` lists each with
  its file, offset and operator.
- ``SampleIndexError`` (a ``SampleError``, also an ``IndexError``): the first of them has no axis of
  a number that was given.
- ``BudgetError`` (also a ``MemoryError``): a memory limit is too small.
- ``DeviceError``: a device is missing, or work on it failed.
- ``SourceError``: the data for an input did not come, because nobody fed it or because its source
  failed. If a source failed, ``__cause__`` is what it raised.
- ``SourceIndexError`` (a ``SourceError``, also an ``IndexError``): nothing was fed for a step.
- ``StateError``: a state does not fit the pipeline, or a source cannot give its state. Also raised
  when a pipeline is used after a fork, from two threads at once, or by a source that it waits for.

``SampleWarning`` is no exception: it tells of the first sample that ``on_error=`` left out or
replaced, once for each pipeline.

``EpochWarning`` is no exception either: it tells of an epoch that is not whole, or that will not be
what a person expects of it.
"""

from __future__ import annotations

from stoker._core import (
    BudgetError,
    DeviceError,
    Error,
    GraphError,
    GraphIndexError,
    GraphKeyError,
    GraphTypeError,
    SampleError,
    SampleIndexError,
    SourceError,
    SourceIndexError,
    StateError,
)


class SampleWarning(UserWarning):
    """The first sample that ``on_error=`` left out or replaced, or that is good but doubtful."""


class EpochWarning(UserWarning):
    """An epoch is not whole, or does not hold what a person expects of it."""


__all__ = [
    "BudgetError",
    "DeviceError",
    "EpochWarning",
    "Error",
    "GraphError",
    "GraphIndexError",
    "GraphKeyError",
    "GraphTypeError",
    "SampleError",
    "SampleIndexError",
    "SampleWarning",
    "SourceError",
    "SourceIndexError",
    "StateError",
]
