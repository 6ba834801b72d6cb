# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Which readers a graph has, and where their orders stand."""

from __future__ import annotations

import json
from collections.abc import Container
from typing import Any

from stoker import _core
from stoker._describe.registry import operators


def reader_names(graph: _core.Graph) -> list[str]:
    """The readers by their names, in the order of the graph."""
    table = operators()
    return [n["name"] for n in graph.nodes() if table[n["op"]]["kind"] == "read"]


def orders(engine: _core.Pipeline) -> dict[str, Any]:
    """What the state says of every reader that feeds an output, and of nothing else."""
    found: dict[str, Any] = json.loads(engine.state())["orders"]
    return found


def lead_reader(graph: _core.Graph, feeding: Container[str]) -> str | None:
    """The reader whose samples make the epoch: of those that feed an output the one that was
    called with ``lead=True``, else the first. None without such a reader.
    """
    readers = [name for name in reader_names(graph) if name in feeding]
    leads = {n["name"] for n in graph.nodes() if n["lead"]}
    return next((r for r in readers if r in leads), readers[0] if readers else None)
