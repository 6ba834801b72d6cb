# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Decoders without a dtype, which take that of the first array: what learns it."""

from __future__ import annotations

import io
from typing import Any

from stoker import _core
from stoker._graph.user_function import CallError, Columns, Form, UserFunction
from stoker._messages import Place
from stoker._sources.arrays import as_array

_OP = "decoders.numpy"


def undeclared(graph: _core.Graph) -> list[int]:
    """The nodes that decode arrays of a dtype that is not known."""
    return [
        number
        for number, node in enumerate(graph.nodes())
        if node["op"] == _OP and graph.argument(number, "dtype") is None
    ]


def reading_function(graph: _core.Graph, number: int) -> UserFunction:
    """A function that takes the place of a decoder. It returns scalars of the dtype to learn."""
    node = graph.nodes()[number]
    place = Place(_OP, node["name"], node["where"])
    function = UserFunction(Form(_dtypes, False, as_array), place, False, None)
    function.node = number
    function.keep_calls(True)
    return function


def _dtypes(samples: list[Any]) -> Columns:
    """For each sample a 0 of the dtype of the first array that can be read."""
    import numpy

    why = ""
    for sample in samples:
        try:
            array = numpy.lib.format.read_array(io.BytesIO(sample.tobytes()), allow_pickle=False)
            return ([numpy.zeros((), array.dtype.newbyteorder("="))] * len(samples),)
        except ValueError as e:
            why = why or str(e)
    raise CallError(f"no array of the first batch can be read: {why}")


def declare(graph: _core.Graph, number: int, dtype: str) -> None:
    graph.set_argument(number, "dtype", dtype)
    graph.set_argument(number, "same_dtype", True)
