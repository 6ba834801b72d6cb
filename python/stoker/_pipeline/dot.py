# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Draws a graph with Graphviz."""

from __future__ import annotations

import json
from typing import Any

_COLOURS = {"cpu": "lightblue", "gpu": "palegreen", "mixed": "khaki"}


def dot(
    saved: str, *, show_tensors: bool = False, show_ids: bool = False, use_colors: bool = False
) -> str:
    """The text of a .dot file for the saved form of a graph.

    ``show_tensors`` labels edges with the name of the output that flows there, ``show_ids`` labels
    nodes with their number, and ``use_colors`` colours nodes by device. Dashed edges are arguments
    that operators compute.
    """
    graph = json.loads(saved)
    names = [node["name"].replace('"', '\\"') for node in graph["nodes"]]
    lines = ["digraph stoker {"]
    for number, (name, node) in enumerate(zip(names, graph["nodes"], strict=True)):
        label = f"{name}\\n{node['op']}" + (f"\\n{number}" if show_ids else "")
        colour = f", style=filled, fillcolor={_COLOURS[node['device']]}" if use_colors else ""
        lines.append(f'  "{name}" [label="{label}"{colour}];')
    for name, node in zip(names, graph["nodes"], strict=True):
        for edge in filter(None, node["inputs"]):
            lines.append(_edge(names, edge, name, "", show_tensors))
        for argument, edge in node["computed"].items():
            lines.append(_edge(names, edge, name, argument, show_tensors))
    for number, edge in enumerate(graph["outputs"]):
        lines.append(f'  "output {number}" [shape=box];')
        lines.append(_edge(names, edge, f"output {number}", "", show_tensors))
    return "\n".join([*lines, "}"]) + "\n"


def _edge(names: list[str], edge: Any, into: str, argument: str, show_tensors: bool) -> str:
    node, output = edge[:2]  # a third entry only says whether an output is copied to the host
    labels = [argument] if argument else []
    labels += [f"{names[node]}[{output}]"] if show_tensors else []
    style = (["style=dashed"] if argument else []) + (
        [f'label="{" ".join(labels)}"'] if labels else []
    )
    return f'  "{names[node]}" -> "{into}"' + (f" [{', '.join(style)}]" if style else "") + ";"
