# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The definition of a pipeline, to which operator calls add."""

from __future__ import annotations

from typing import Any

from stoker import _core
from stoker._graph.scopes import Scopes
from stoker._graph.source_group import SourceGroup
from stoker._graph.user_function import UserFunction
from stoker._messages import Place
from stoker.errors import GraphError

OutputType = tuple[str, str, list[int]]  # dtype, layout, shape; -1: the extent is not known yet


class Notes:
    """Is told when a script asks for something in vain. This base class ignores it."""

    def without_effect(self, what: str) -> None:
        """Called with an argument that is accepted without effect."""


class Definition:
    """A pipeline's graph, which of its nodes are outputs, its sources and functions.

    Operator calls add to it until the pipeline is built.
    """

    def __init__(self, notes: Notes) -> None:
        self.graph = _core.Graph()
        self.outputs: list[tuple[int, int]] = []  # a node's number and the number of its output
        self.sources: list[SourceGroup] = []
        self.functions: list[UserFunction] = []
        self.layouts: list[tuple[Place, int, int, str]] = []  # who expects which of an output
        self.notes = notes
        self.scopes = Scopes()
        self.is_closed = False
        # What calls outside of the pipeline gave here, by their own definitions.
        self.bound: dict[Definition, list[Any]] = {}

    def graph_to_change(self) -> _core.Graph:
        """The graph. Raises ``GraphError`` once the pipeline is built."""
        if self.is_closed:
            raise GraphError("the pipeline is built: its graph cannot be changed any more")
        return self.graph

    def output_types(self) -> list[OutputType]:
        """Checks the graph and returns the type of each output."""
        found = self.graph.check()
        return [found[node][output] for node, output in self.outputs]

    def check_layouts(self) -> None:
        """Raises a ``GraphError`` for the first output whose layout is not as expected."""
        for place, node, output, layout in self.layouts:
            _, came, shape = self.graph.type_of(node, output)
            if came not in (layout, "") or len(shape) != len(layout):
                place.refuse(f"expects layout {layout}, got {came or f'{len(shape)} axes'}")

    def take_graph(self, graph: _core.Graph) -> None:
        """Replaces the graph and its outputs by those of another graph."""
        self.graph_to_change()
        self.graph = graph
        self.layouts = []
        self.outputs = list(graph.outputs())
