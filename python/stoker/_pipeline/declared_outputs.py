# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Checks the outputs against ``output_dtype``, ``output_ndim`` and ``output_layout``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker._graph.definition import Definition
from stoker._graph.node import DataNode
from stoker.errors import GraphError


def check_declared_outputs(definition: Definition, settings: Mapping[str, Any]) -> None:
    """Raises a ``GraphError`` that names the first output that differs from its declaration."""
    places = [
        f"output {i} ({DataNode(definition, *edge, '').name})"
        for i, edge in enumerate(definition.outputs)
    ]
    for i, (dtype, layout, shape) in enumerate(definition.output_types()):
        for what, came in (("dtype", dtype), ("ndim", len(shape)), ("layout", layout)):
            expected = _declared_for(settings[f"output_{what}"], i, places, what)
            if expected is not None and expected != came:
                raise GraphError(f"{places[i]}: output_{what} expects {expected!r}, got {came!r}")


def _declared_for(declared: Any, index: int, places: list[str], what: str) -> Any:
    """The declaration for one output, from a single one for all outputs or a list."""
    if not isinstance(declared, list):
        return declared
    if len(declared) != len(places):
        raise GraphError(
            f"output_{what} expects an entry for each of {', '.join(places)}, got {len(declared)}"
        )
    return declared[index]
