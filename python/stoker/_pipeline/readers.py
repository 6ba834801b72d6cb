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


def class_names(graph: _core.Graph, engine: _core.Pipeline) -> dict[str, list[str]]:
    """For readers whose labels are the numbers of folders: the names of these, now, by label."""
    numbers = {
        node["name"]: number
        for number, node in enumerate(graph.nodes())
        if node["op"] == "readers.file"
    }
    fed = orders(engine) if numbers else ()
    found = {name: _folders(graph, number) for name, number in numbers.items() if name in fed}
    return {reader: names for reader, names in found.items() if names}


def _folders(graph: _core.Graph, reader: int) -> list[str]:
    """The folders of a ``file_root`` that are classes; none where labels do not come from them."""
    root = graph.argument(reader, "file_root")
    if not root or any(graph.argument(reader, a) for a in ("files", "file_list")):
        return []
    filters = graph.argument(reader, "dir_filters") or []
    case_sensitive = bool(graph.argument(reader, "case_sensitive_filter"))
    return _core.class_folders(root, list(filters), case_sensitive)


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
