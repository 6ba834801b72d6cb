# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Compiles a function of nodes, to be called with arrays."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from stoker import _core
from stoker._calls.process import Process, keep_from_parent, process
from stoker._graph.calls import as_node, call_one
from stoker._graph.current import inside
from stoker._graph.definition import Definition, Manner
from stoker._graph.edge import edge
from stoker._messages import user_line
from stoker.errors import GraphError

LARGEST_KEY = (1 << 63) - 1


class Input(NamedTuple):
    """The type of an input: its dtype, how many axes a sample has, and perhaps their letters."""

    dtype: str
    ndim: int
    layout: str = ""


class CompiledCall:
    """A graph that is run at once: for one sample in the calling thread, or for a batch.

    Any number of threads may call it. It may be pickled, and be called behind a fork.

    An input is an array (the buffer protocol or DLPack, on the CPU), a tensor of Stoker, a file
    that was read (``read``), or a number or tuple of numbers of an input of float32, int32 or
    int64. It is not copied if it is dense, and must not change meanwhile.

    ``key``, from 0 to ``LARGEST_KEY``, decides everything random: a pipeline of this graph with
    ``seed=key`` gives the same bytes for its sample ``position``.
    """

    def __init__(self, graph: _core.Graph) -> None:
        self._graph = graph
        self._process: Process | None = None
        self._core: _core.Call
        self._made()

    def _made(self) -> _core.Call:
        """The call of this process."""
        now = process()
        if self._process is not now:
            if self._process is not None:
                keep_from_parent(self._core)
            self._core = _core.Call(self._graph, now.memory())
            self._process = now
        return self._core

    def __call__(self, *inputs: Any, key: int = 0, position: int = 0) -> tuple[_core.Tensor, ...]:
        """The outputs for one sample."""
        return self._made().run(inputs, key, position)

    def batch(
        self,
        *inputs: Sequence[Any],
        size: int | None = None,
        key: int = 0,
        position: int = 0,
        threads: int = 1,
    ) -> tuple[_core.Batch, ...]:
        """The outputs for a batch: of each input the samples. So many threads make them.

        ``size`` is needed where there are no inputs. Sample ``i`` is that of ``position + i``.
        """
        if size is None:
            if not inputs:
                raise GraphError("a batch without inputs needs a size")
            size = len(inputs[0])
        crew = process().crew(threads - 1) if threads > 1 else None
        return self._made().run_batch(inputs, size, key, position, crew)

    def __del__(self, pid: Callable[[], int] = os.getpid) -> None:
        # A child must not touch what it inherits: threads of its parent may have held locks of it.
        if self._process is not None and self._process.pid != pid():
            keep_from_parent(self._core)

    def input_types(self) -> list[Input]:
        """The types of its inputs."""
        return [Input(*of) for of in self._made().input_types()]

    def __reduce__(self) -> tuple[Any, ...]:
        return _loaded, (self._graph.save("{}").encode(),)


def _loaded(saved: bytes) -> CompiledCall:
    return CompiledCall(_core.Graph.load(saved)[0])


def compiled(function: Callable[..., Any], inputs: Sequence[Input] = ()) -> CompiledCall:
    """Compiles a function that makes one node, or a tuple or list of them, of a node of each input.

    Raises a ``GraphError`` for a graph that only a pipeline can run: one with readers, functions of
    the user's, or operators on a GPU.
    """
    definition = Definition(Manner())
    with inside(definition):
        nodes = [
            call_one("external_source", dtype=i.dtype, ndim=i.ndim, layout=i.layout or None)
            for i in inputs
        ]
        made = function(*nodes)
        results = made if isinstance(made, (tuple, list)) else (made,)
        outputs = [as_node(r, f"output {k}", _refuse) for k, r in enumerate(results)]
        ends = [(edge(o).node, edge(o).output) for o in outputs]
    definition.set_outputs(ends, [False] * len(ends))
    return CompiledCall(definition.graph)


def _refuse(text: str, kind: type[GraphError] = GraphError) -> Any:
    raise kind(f"a call ({user_line()}): {text}")


def read(paths: Sequence[str], threads: int = 1) -> list[_core.FileBytes]:
    """Reads files. Raises ``SampleError`` for the first that cannot be read."""
    now = process()
    return now.memory().read(list(paths), now.crew(threads - 1) if threads > 1 else None)
