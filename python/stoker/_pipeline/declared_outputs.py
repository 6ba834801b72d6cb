# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Checks the outputs against ``output_dtype``, ``output_ndim`` and ``output_layout``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker._graph.definition import Definition
from stoker._graph.node import DataNode
from stoker.errors import GraphError


def check_count_of_declarations(definition: Definition, settings: Mapping[str, Any]) -> None:
    """Raises a ``GraphError`` for a list that has no entry for each output."""
    places = _places(definition)
    for what in ("dtype", "ndim", "layout"):
        declared = settings[f"output_{what}"]
        if isinstance(declared, list) and len(declared) != len(places):
            raise GraphError(
                f"output_{what} expects an entry for each of {', '.join(places)}, got "
                f"{len(declared)}"
            )


def _places(definition: Definition) -> list[str]:
    return [
        f"output {i} ({DataNode(definition, *edge, '').name})"
        for i, edge in enumerate(definition.outputs)
    ]


def check_declared_outputs(definition: Definition, settings: Mapping[str, Any]) -> None:
    """Raises a ``GraphError`` that names the first output that differs from its declaration.

    Requires: the counts of declarations are right.
    """
    places = _places(definition)
    listed = enumerate(definition.output_types())
    for i, (dtype, layout, shape) in ((i, one) for i, types in listed for one in types):
        for what, came in (("dtype", dtype), ("ndim", len(shape)), ("layout", layout)):
            declared = settings[f"output_{what}"]
            expected = declared[i] if isinstance(declared, list) else declared
            if expected is not None and expected != came:
                raise GraphError(f"{places[i]}: output_{what} expects {expected!r}, got {came!r}")
