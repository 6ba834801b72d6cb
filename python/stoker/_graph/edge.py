# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Where a node that the user holds lies in the graph, for other folders."""

from __future__ import annotations

from stoker._graph.definition import Definition
from stoker._graph.node import DataNode


class Edge:
    """An output of a node in a definition's graph. Asking for it may add the node."""

    def __init__(self, node: DataNode) -> None:
        self._node = node

    @property
    def definition(self) -> Definition:
        """The definition of a pipeline, or that of a call outside of one."""
        return self._node._definition

    @property
    def node(self) -> int:
        """The number of the node in the graph."""
        return self._node._node

    @property
    def output(self) -> int:
        """The number of the output."""
        return self._node._output


def edge(node: DataNode) -> Edge:
    """Where a node's output lies."""
    return Edge(node)
