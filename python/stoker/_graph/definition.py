# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The definition of a pipeline, to which operator calls add."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from stoker import _core
from stoker._describe.registry import Operator
from stoker._graph.scopes import Scopes
from stoker._graph.source_group import SourceGroup
from stoker._graph.user_function import UserFunction
from stoker._messages import Place
from stoker.errors import GraphError

OutputType = tuple[str, str, list[int]]  # dtype, layout, shape; -1: the extent is not known yet


class Manner:
    """How a pipeline treats the script that defines it. The compatibility layer has its own way."""

    # Several outputs of an operator come as a list, else as a tuple. A tuple has a type for each
    # output and is refused as an input; a list as an input calls the operator once for each output.
    lists_outputs = False
    # A call with lists of one input gives what that input alone gives, else lists of it.
    unpacks_lists_of_one = False
    # Functions of the user's get arrays of their own, into which they may write.
    copies_inputs = False
    # Frameworks without 64-bit types get 64-bit outputs narrowed, else such outputs are refused.
    narrows_outputs = False

    def defaults(self, op: Operator) -> Mapping[str, Any]:
        """The arguments of an operator that have another default than the operator's own."""
        return {}

    def spelled(
        self, op: Operator, constants: dict[str, Any], computed: Collection[str]
    ) -> dict[str, Any]:
        """The constant arguments of an operator, as the operator spells them.

        ``computed`` are the names of those that other nodes compute.
        """
        return constants

    def dtype_of(self, value: Any) -> str | None:
        """The dtype of a value that becomes a node, where it is not the one that it has."""
        return None

    def added(self, nodes: Sequence[Any], constants: Mapping[str, Any]) -> None:
        """Is told of an operator's outputs and of its arguments, as they were given."""

    def without_effect(self, what: str) -> None:
        """Is told of an argument that is accepted without effect. This one ignores it."""


class Definition:
    """A pipeline's graph, which of its nodes are outputs, its sources and functions.

    Operator calls add to it until the pipeline is built.
    """

    def __init__(self, manner: Manner) -> None:
        self.graph = _core.Graph()
        self.outputs: list[tuple[int, int]] = []  # a node's number and the number of its output
        self._copied: list[bool] = []  # by output: whether it is copied to the host
        self._kept: list[tuple[int, int]] = []  # further outputs of the graph, which nobody gets
        self.sources: list[SourceGroup] = []
        self.fed_as: dict[int, str] = {}  # by the node that a script has in an input's place
        self.functions: list[UserFunction] = []
        self.layouts: list[tuple[Place, int, int, str]] = []  # who expects which of an output
        self.manner = manner
        self.scopes = Scopes()
        self.is_closed = False
        # What calls outside of the pipeline gave here, by their own definitions.
        self.bound: dict[Definition, list[Any]] = {}

    def graph_to_change(self) -> _core.Graph:
        """The graph. Raises ``GraphError`` once the pipeline is built."""
        if self.is_closed:
            raise GraphError("the pipeline is built: its graph cannot be changed any more")
        return self.graph

    def set_outputs(self, outputs: Sequence[tuple[int, int]], copied: Sequence[bool]) -> None:
        self.graph_to_change()
        self.outputs, self._copied = list(outputs), list(copied)
        self._tell_graph()

    def keep(self, node: int) -> None:
        """A function of the user's is called although nothing needs what it returns."""
        if (node, 0) not in self._kept:
            self._kept.append((node, 0))
        if self.outputs:
            self._tell_graph()

    def _tell_graph(self) -> None:
        named = [(*o, copied) for o, copied in zip(self.outputs, self._copied, strict=True)]
        self.graph.set_outputs([*named, *((*o, False) for o in self._kept)])

    def output_types(self) -> list[list[OutputType]]:
        """Checks the graph and returns the types that the batches of each output may have.

        There are several where sides of a conditional differ.
        """
        found = self.graph.check()
        return [found[node][output] for node, output in self.outputs]

    def check_layouts(self) -> None:
        """Raises a ``GraphError`` for the first output whose layout is not as expected."""
        for place, node, output, layout in self.layouts:
            for _, came, shape in self.graph.types_of(node, output):
                if came not in (layout, "") or len(shape) != len(layout):
                    place.refuse(f"expects layout {layout}, got {came or f'{len(shape)} axes'}")

    def take_graph(self, graph: _core.Graph) -> None:
        """Replaces the graph and its outputs by those of another graph."""
        self.graph_to_change()
        self.graph = graph
        self.layouts = []
        self.outputs = list(graph.outputs())
