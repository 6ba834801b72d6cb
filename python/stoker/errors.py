# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The exceptions that Stoker raises. ``Error`` is the base of all.

- ``GraphError`` (also a ``ValueError``): a wrong graph, e.g. an unknown argument or types that do
  not fit, or a saved one that cannot be read.
- ``SampleError``: samples that cannot be delivered; ``.samples`` lists each with file, offset and
  operator.
- ``BudgetError`` (also a ``MemoryError``): a memory limit does not suffice.
- ``DeviceError``: a device is missing, or work on it failed.
- ``SourceError``: data that was to be fed did not come: nothing was fed, or a source failed; then
  ``__cause__`` is what it raised.
- ``StateError``: a state that does not fit or that a source cannot give, or a pipeline used after
  a fork or from two threads at once.
"""

from __future__ import annotations

from stoker._core import (
    BudgetError,
    DeviceError,
    Error,
    GraphError,
    SampleError,
    SourceError,
    StateError,
)

__all__ = [
    "BudgetError",
    "DeviceError",
    "Error",
    "GraphError",
    "SampleError",
    "SourceError",
    "StateError",
]
