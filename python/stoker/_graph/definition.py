# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""What a pipeline is to do, while that is being defined."""

from __future__ import annotations

from stoker import _core
from stoker._graph.source_group import SourceGroup
from stoker.errors import GraphError

OutputType = tuple[str, str, list[int]]  # dtype, layout and shape; an extent of -1 is not known yet


class Notes:
    """Is told of what was asked for in vain, and does nothing about it. For deriving from."""

    def without_effect(self, what: str) -> None:
        """An argument that is accepted without effect."""

    def missing(self, what: str) -> None:
        """Something that nodes cannot do yet."""


class Definition:
    """A pipeline's graph, which of its nodes are outputs, and the sources that feed it.

    Operator calls add to it until the pipeline is built.
    """

    def __init__(self, notes: Notes) -> None:
        self.graph = _core.Graph()
        self.outputs: list[tuple[int, int]] = []  # node, and which of its outputs
        self.sources: list[SourceGroup] = []
        self.notes = notes
        self.is_closed = False

    def graph_to_change(self) -> _core.Graph:
        """The graph; raises ``GraphError`` once the pipeline is built."""
        if self.is_closed:
            raise GraphError("the pipeline is built: its graph cannot be changed any more")
        return self.graph

    def output_types(self) -> list[OutputType]:
        """The type of each output. Checks the graph."""
        found = self.graph.check()
        return [found[node][output] for node, output in self.outputs]

    def take_graph(self, graph: _core.Graph) -> None:
        """Takes a whole graph, with its outputs, for its own."""
        self.graph_to_change()
        self.graph = graph
        self.outputs = list(graph.outputs())
