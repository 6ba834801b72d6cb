# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Turns one call of an operator into a node, while a pipeline is being defined."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, Protocol, cast

from stoker import _core, launcher
from stoker._describe.registry import Operator, Plain, operators, ports, settings_of_engine
from stoker._graph.constants import (
    NotAConstantError,
    constant_arguments,
    numbers,
    plain,
    shape_of,
    with_numbers,
)
from stoker._graph.current import manner
from stoker._graph.node import Call, DataNode, add_node, current_definition
from stoker._graph.outside import anywhere, bound_here
from stoker._graph.unusable import refuse_unusable
from stoker._messages import Place, shown, user_level, user_line
from stoker.errors import GraphError, GraphTypeError

_DEVICES = ("cpu", "gpu", "mixed")


class Refuse(Protocol):
    """Raises the error with this text."""

    def __call__(self, text: str, kind: type[GraphError] = GraphError, /) -> NoReturn: ...


def add(
    op: Operator,
    inputs: Sequence[Any],
    arguments: Mapping[str, Any],
    key: str = "",
    function: _core.UserFunction | None = None,
) -> DataNode | tuple[DataNode, ...] | None:
    """Adds the operator to the current pipeline and returns its outputs.

    ``function`` is for an operator that calls one of the user's. Raises a ``GraphError`` that names
    the user's line.
    """
    given = dict(arguments)
    place = place_of(op, given.pop("name", None))
    definition = current_definition(place)
    nodes = [
        None if value is None else as_node(value, f"input {i}", place.refuse)
        for i, value in enumerate(inputs)
    ]
    given = {**definition.manner.defaults(op), **given}
    device = _device(op, given.pop("device", None), nodes, place)
    lead = op["kind"] == "read" and bool(given.pop("lead", False))
    _resolve_shards(op, given, place)
    constants, computed = _split(op, given, place)
    spelled = definition.manner.spelled(op, constants, computed)
    _require_arguments(op, constants.keys() | computed.keys(), place)
    for ignored in given.keys() & set(op["ignored"]):
        definition.manner.without_effect(f"{op['name']}({ignored}={shown(given[ignored])})")
    results = add_node(
        definition, Call(place, nodes, spelled, computed, device, lead, function, key)
    )
    definition.manner.added(results, constants)
    return results[0] if len(results) == 1 else results or None


def place_of(op: Operator, name: Any) -> Place:
    """The user's call of the operator. Refuses a name that is no text."""
    place = Place(op["name"], None, user_line())
    if name is None:
        return place
    if not _is_text(name):
        place.refuse(
            f"name expects a str that can be written as UTF-8, got {shown(name)}", GraphTypeError
        )
    return place._replace(name=str.__str__(name))


def _is_text(value: Any) -> bool:
    """Whether C++ can take the value as a text."""
    if not isinstance(value, str):
        return False
    try:
        str.encode(value, errors="surrogateescape")
    except UnicodeEncodeError:
        return False
    return True


def _device(op: Operator, device: Any, nodes: Sequence[DataNode | None], place: Place) -> str:
    """Where the operator runs: on the given device, else where its data is."""
    on_gpu = _data_on_gpu(op, nodes)
    if device is None:
        return "cpu" if on_gpu is None else "gpu"
    if not isinstance(device, str) or device not in _DEVICES:
        place.refuse(f"device expects 'cpu', 'gpu' or 'mixed', got {shown(device)}")
    if on_gpu is not None and device != "gpu":
        place.refuse(
            f"device={device!r} expects data on the CPU, {on_gpu!r} is on the GPU; .cpu() copies it"
        )
    return device


def _data_on_gpu(op: Operator, nodes: Sequence[DataNode | None]) -> DataNode | None:
    """The first input that lies on the GPU; inputs that hold values are read on the CPU anyway."""
    for node, port in zip(nodes, ports(op), strict=False):  # a wrong count is refused later
        if node is not None and node.device == "gpu" and not port["is_value"]:
            return node
    return None


def _resolve_shards(op: Operator, given: dict[str, Any], place: Place) -> None:
    """Replaces a reader's "auto" by the numbers of this process."""
    if op["kind"] != "read":
        return
    for shard in launcher.SHARD_ARGUMENTS & given.keys():
        try:
            given[shard] = launcher.resolve(shard, given[shard])
        except GraphError as e:
            place.refuse(f"argument '{shard}': {e}")
    shards = given.get("num_shards")
    if isinstance(shards, int) and shards > 1 and given.get("shard_id") is None:
        warnings.warn(
            f"{place}: with num_shards={shards} but no shard_id every process reads the first "
            "part; give its rank, or 'auto' for both",
            stacklevel=user_level(),
        )


def _split(
    op: Operator, given: Mapping[str, Any], place: Place
) -> tuple[dict[str, Plain], dict[str, DataNode]]:
    """The arguments that are constants, and those that other nodes compute.

    An array of several axes is computed by a constant node, as constants have one axis at most.
    """
    shaped = {a["name"] for a in op["arguments"] if a["keeps_shape"]}
    constants: dict[str, Plain] = {}
    computed: dict[str, DataNode] = {}
    for key, value in given.items():
        refuse_unusable(value)
        if key in settings_of_engine() and not _takes(op, key):
            place.refuse(
                f"no argument named '{key}': it is a setting of the pipeline, for pipeline_def or "
                "the call of the function that it decorates"
            )
        if isinstance(value, DataNode):
            computed[key] = value
        elif value is not None:
            try:
                constants[key] = plain(value)
            except NotAConstantError as e:
                place.refuse(f"argument '{key}' {e}", GraphTypeError)
            if key in shaped and len(shape_of(value)) > 1:
                del constants[key]
                computed[key] = constant(value)
    return constants, computed


def _takes(op: Operator, name: str) -> bool:
    return name in op["ignored"] or any(a["name"] == name for a in op["arguments"])


def _require_arguments(op: Operator, given: set[str], place: Place) -> None:
    for a in op["arguments"]:
        if a["required"] and a["name"] not in given:
            place.refuse(f"argument '{a['name']}' is required")


def call_one(op: str, /, *inputs: Any, **arguments: Any) -> DataNode:
    """Adds an operator that has one output, by its name."""
    result = add(operators()[op], inputs, arguments)
    assert isinstance(result, DataNode)
    return result


# Numbers as nodes.


@anywhere
def constant(
    value: Any,
    dtype: Any = None,
    shape: Any = None,
    layout: str | None = None,
    device: str | None = None,
    name: str | None = None,
) -> DataNode:
    """A node that gives this value for every sample."""
    dtype = manner().dtype_of(value) if dtype is None else dtype
    try:
        given = constant_arguments(value, dtype, shape)
    except NotAConstantError as e:
        raise GraphTypeError(f"constant ({user_line()}): the value {e}") from None
    return call_one("constant", **given, layout=layout, device=device, name=name)


def as_node(
    value: Any,
    what: str,
    refuse: Refuse,
    several: str = "a list of them calls the operator once for each",
) -> DataNode:
    """Returns a node as it is and numbers and enumerations as a constant node; else refuses it.

    ``several`` says what can be done with several nodes.
    """
    if isinstance(value, DataNode):
        return cast(DataNode, bound_here(value))
    refuse_unusable(value)
    if isinstance(value, (list, tuple)) and any(isinstance(v, DataNode) for v in value):
        refuse(f"{what} {_about_nodes(value, several)}", GraphTypeError)
    if _is_list_of_arrays(value):
        refuse(
            f"{what} is a list of {len(value)} arrays, not a node; fn.external_source(source=...) "
            "makes a node of arrays of yours, one for each sample",
            GraphTypeError,
        )
    try:
        numbers(with_numbers(value))
    except NotAConstantError:
        refuse(
            f"{what} is of type {type(value).__name__}, not a node{_way_in(value)}", GraphTypeError
        )
    return constant(value)


def _is_list_of_arrays(value: Any) -> bool:
    """Whether it is a batch rather than the numbers of one constant."""
    return isinstance(value, (list, tuple)) and any(
        getattr(v, "shape", ()) != () and hasattr(v, "dtype") for v in value
    )


def _way_in(value: Any) -> str:
    """How data of this kind comes into a pipeline, as far as there is a way."""
    if isinstance(value, (str, os.PathLike)):
        return "; fn.readers.file(files=[...]) reads files and gives nodes"
    if hasattr(value, "__array__") or hasattr(value, "__dlpack__") or isinstance(value, bytes):
        return "; fn.external_source(source=...) makes a node of arrays of yours"
    return ""


def _about_nodes(values: Sequence[Any], several: str) -> str:
    """Says what is wrong with a list of nodes, and what to write instead."""
    first = values[0]
    if isinstance(first, DataNode):
        graph = first._definition.graph
        op = graph.node(first._node)["op"]
        names = [re.sub(r"\W", "_", name) for name in graph.output_names(first._node)]
        own = [v for v in values if isinstance(v, DataNode) and v._node == first._node]
        if len(own) == len(values) == len(names) > 1:
            return f"holds the {len(names)} outputs of {op}; unpack them: {', '.join(names)} = ..."
    return f"is a {'list' if isinstance(values, list) else 'tuple'} of nodes; {several}"
