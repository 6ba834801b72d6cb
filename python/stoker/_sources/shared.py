# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Memory into which worker processes write arrays for the pipeline to read.

A slot of this memory is an anonymous file: no name can be left behind. It grows when a writer needs
more, and only one process at a time uses it.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable
from multiprocessing import reduction
from typing import Any, NamedTuple

from stoker._sources.caller import CallError, Data

_ALIGN = 64


class Entry(NamedTuple):
    """An array in a slot."""

    dtype: str
    shape: tuple[int, ...]
    offset: int


# For each output the array of the whole batch, or an array for each sample.
Table = list[Entry | list[Entry]]


class Slot:
    """A slot as one process sees it. It can be sent to a process that is being started."""

    file = -1

    def __init__(self, file: int | None = None) -> None:
        self.file = os.memfd_create("stoker") if file is None else file
        self._map: mmap.mmap | None = None

    def __reduce__(self) -> tuple[Callable[..., Slot], tuple[Any]]:
        return _received, (reduction.DupFd(self.file),)

    def __del__(self) -> None:
        if self.file >= 0:  # else Ctrl-C came while it was made
            os.close(self.file)

    @property
    def size(self) -> int:
        """How many bytes it has now."""
        return os.fstat(self.file).st_size

    def write(self, data: Data, first: int = 0) -> Table:
        """Copies arrays, or lists of them, into the slot. Lists begin with sample ``first``."""
        import numpy

        columns = [_arrays(column, first) for column in data]
        end = 0
        table: Table = []
        for column in columns:
            entries = []
            for a in column if isinstance(column, list) else [column]:
                end = -(-end // _ALIGN) * _ALIGN
                entries.append(Entry(a.dtype.str, a.shape, end))
                end += a.nbytes
            table.append(entries if isinstance(column, list) else entries[0])
        memory = self._mapped(end)
        for column, entry in zip(columns, table, strict=True):
            if isinstance(entry, Entry):
                numpy.copyto(_array(memory, entry), column)
            else:
                for a, e in zip(column, entry, strict=True):
                    numpy.copyto(_array(memory, e), a)
        return table

    def read(self, table: Table) -> Data:
        """The arrays of a table, on the slot's own memory."""
        memory = self._mapped(self.size)
        return [
            _array(memory, entry)
            if isinstance(entry, Entry)
            else [_array(memory, e) for e in entry]
            for entry in table
        ]

    def _mapped(self, size: int) -> mmap.mmap:
        if self._map is None or len(self._map) < size or size == 0:
            room = max(size, self.size, mmap.PAGESIZE)
            if room > self.size:
                room = -(-room * 5 // 4 // mmap.PAGESIZE) * mmap.PAGESIZE
                os.ftruncate(self.file, room)
            self._map = mmap.mmap(self.file, room)
        return self._map


def _received(handle: Any) -> Slot:
    return Slot(handle.detach())


def _arrays(column: Any, first: int) -> Any:
    """Converts what a source gave for one output to NumPy arrays.

    Raises CallError if it is no array.
    """
    import numpy

    if isinstance(column, (list, tuple)):
        return [_one(numpy, x, f", sample {first + i}") for i, x in enumerate(column)]
    return _one(numpy, column, "")


def _one(numpy: Any, value: Any, where: str) -> Any:
    try:
        return _as_array(numpy, value)
    except Exception as e:  # the user's __array__ or __dlpack__ may raise anything
        raise CallError(where) from e


def _as_array(numpy: Any, value: Any) -> Any:
    if isinstance(value, (bytes, bytearray)):
        return numpy.frombuffer(value, numpy.uint8)
    if hasattr(value, "__dlpack__") and not hasattr(value, "__array__"):
        return numpy.from_dlpack(value)
    array = numpy.asarray(value)
    if array.dtype.hasobject or array.dtype.kind not in "biuf":
        raise TypeError(f"expected an array of numbers, got a {type(value).__name__}")
    return array


def _array(memory: mmap.mmap, entry: Entry) -> Any:
    import numpy

    return numpy.ndarray(entry.shape, entry.dtype, buffer=memory, offset=entry.offset)
