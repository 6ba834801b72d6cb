# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The readers of a graph and the states of their orders."""

from __future__ import annotations

import json
from collections.abc import Container
from typing import Any

from stoker import _core
from stoker._describe.registry import operators


def reader_names(graph: _core.Graph) -> list[str]:
    """The names of the readers, in the order of the nodes in the graph."""
    table = operators()
    return [n["name"] for n in graph.nodes() if table[n["op"]]["kind"] == "read"]


def orders(engine: _core.Pipeline) -> dict[str, Any]:
    """The entries of the state for the readers, by name. Only readers that feed an output count."""
    found: dict[str, Any] = json.loads(engine.state())["orders"]
    return found


def lead_reader(graph: _core.Graph, feeding: Container[str]) -> str | None:
    """The name of the reader whose samples make the epoch; None if no reader feeds an output.

    Of the readers in ``feeding``, this is the one with ``lead=True``, else the first.
    """
    readers = [name for name in reader_names(graph) if name in feeding]
    leads = {n["name"] for n in graph.nodes() if n["lead"]}
    return next((r for r in readers if r in leads), readers[0] if readers else None)
