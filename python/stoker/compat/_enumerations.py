# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Types that no tensor has, and which outputs claim to be of one.

Members of the enumerations of ``types`` are numbers in a pipeline. Operators that only pass values
on pass on what these claim to be.
"""

from __future__ import annotations

import json
import weakref
from collections.abc import Mapping, Sequence
from typing import Any

from stoker._graph.definition import Definition
from stoker._graph.edge import edge
from stoker._graph.node import DataNode
from stoker.types import DType, ImageType, InterpType


class NotATensors(str):
    """A type that no tensor has. Scripts name it; operators refuse it."""

    def __new__(cls, text: str, number: int) -> NotATensors:
        made = super().__new__(cls, text)
        made._number = number
        return made

    _number: int

    @property
    def name(self) -> str:
        """Its name in ``types``."""
        return self.upper().replace(" ", "_")

    @property
    def value(self) -> str:
        """Its text, as members of ``DType`` have one."""
        return str(self)

    def __int__(self) -> int:
        return self._number

    def __repr__(self) -> str:
        return f"types.{self.name}"


IMAGE_TYPE = NotATensors("image type", 20)
DATA_TYPE = NotATensors("data type", 21)
INTERP_TYPE = NotATensors("interp type", 22)

# What members of these are as tensors: numbers of type int32, which claim to be of this type.
_OF_MEMBERS: dict[type, NotATensors] = {
    DType: DATA_TYPE,
    ImageType: IMAGE_TYPE,
    InterpType: INTERP_TYPE,
}
_BY_TEXT = {str(kind): kind for kind in _OF_MEMBERS.values()}

# Operators that make numbers of a type that they are given.
_TYPED = ("cast", "constant", "reinterpret")
# Operators that pass values on, and the input that has them.
_PASSES = {
    **dict.fromkeys(("copy", "expand_dims", "merge", "permute_batch", "random.choice"), 0),
    **dict.fromkeys(("reinterpret", "reshape", "squeeze", "subscript"), 0),
    "cast_like": 1,
}

# By the number of a node: what it claims to be.
_marked: weakref.WeakKeyDictionary[Definition, dict[int, NotATensors]] = weakref.WeakKeyDictionary()
_found: weakref.WeakKeyDictionary[Definition, list[NotATensors | None]] = (
    weakref.WeakKeyDictionary()
)


def kind_of(value: Any) -> NotATensors | None:
    """What a member of an enumeration, or a list of members of one, claims to be."""
    members = value if isinstance(value, (list, tuple)) and value else [value]
    found = {_OF_MEMBERS.get(type(member)) for member in members}
    return found.pop() if len(found) == 1 else None


def as_numbers(op: str, constants: dict[str, Any]) -> dict[str, Any]:
    """The arguments of an operator, with ``INT32`` where these claim another type."""
    if op in _TYPED and constants.get("dtype") in _BY_TEXT:
        return constants | {"dtype": "int32"}
    return constants


def mark(nodes: Sequence[DataNode], constants: Mapping[str, Any]) -> None:
    """Keeps what the nodes that were made of these arguments claim to be."""
    dtype = constants.get("dtype")
    kind = _BY_TEXT.get(dtype) if isinstance(dtype, str) else None
    if kind is not None and nodes:
        _marked.setdefault(edge(nodes[0]).definition, {})[edge(nodes[0]).node] = kind


def types_of_outputs(definition: Definition) -> Sequence[NotATensors | None]:
    """For each output of a built pipeline the type that its batches claim, other than their own."""
    if definition not in _marked:
        return [None] * len(definition.outputs)
    if definition not in _found:
        kinds = _kinds_of_nodes(definition)
        _found[definition] = [kinds[node] for node, _ in definition.outputs]
    return _found[definition]


def _kinds_of_nodes(definition: Definition) -> list[NotATensors | None]:
    """What each node claims to be."""
    kinds: list[NotATensors | None] = []
    for number, node in enumerate(json.loads(definition.graph.save("{}"))["nodes"]):
        kind = _marked[definition].get(number)
        if kind is None and _passes(node):
            came_from, _ = node["inputs"][_PASSES[node["op"]]]
            kind = kinds[came_from]
        kinds.append(kind)
    return kinds


def _passes(node: Mapping[str, Any]) -> bool:
    is_new = node["op"] == "reinterpret" and node["arguments"]["dtype"] is not None
    return node["op"] in _PASSES and not is_new
