# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Calling an operator while a pipeline is being defined: adds a node to that pipeline's graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from stoker import launcher
from stoker._describe import old_spellings
from stoker._describe.registry import Operator, operators
from stoker._graph import current
from stoker._graph.constants import NotAConstantError, dtype_text, plain
from stoker._graph.node import DataNode
from stoker._messages import user_line
from stoker.errors import GraphError

Result = DataNode | tuple[DataNode, ...] | list[DataNode] | tuple[list[DataNode], ...] | None

_DEVICES = ("cpu", "gpu", "mixed")


def make_function(op: Operator) -> Callable[..., Result]:
    """The function ``fn.<name>`` of an operator, with its real signature and docstring."""
    from stoker._describe import signatures  # imports inspect, which is slow

    def function(*inputs: Any, **arguments: Any) -> Result:
        return call(op, inputs, arguments)

    folder, _, name = op["name"].rpartition(".")
    function.__name__ = function.__qualname__ = name
    function.__module__ = "stoker.fn" + (f".{folder}" if folder else "")
    function.__doc__ = signatures.docstring(op)
    function.__signature__ = signatures.signature(op)  # type: ignore[attr-defined]
    return function


def call(op: Operator, inputs: Sequence[Any], arguments: Mapping[str, Any]) -> Result:
    """Adds the operator to the current pipeline. A ``GraphError`` names the caller's line.

    Where inputs are lists of nodes, adds it once for each element: the results are lists. The
    elements get the same arguments and, of a random operator, the same draws.
    """
    given = old_spellings.modern_arguments(op["name"], arguments)
    if any(_is_list_of_nodes(value) for value in inputs):
        return _add_each(op, inputs, given)
    return _add(op, inputs, given)


def _add_each(op: Operator, inputs: Sequence[Any], given: Mapping[str, Any]) -> Result:
    counts = {i: len(value) for i, value in enumerate(inputs) if _is_list_of_nodes(value)}
    if len(set(counts.values())) > 1:
        lengths = ", ".join(f"{count} (input {i})" for i, count in counts.items())
        raise GraphError(
            f"{op['name']} ({user_line()}): lists of inputs expect one length, got {lengths}"
        )
    results: list[Any] = []
    key = ""
    for k in range(next(iter(counts.values()))):
        element = [value[k] if i in counts else value for i, value in enumerate(inputs)]
        result = _add(op, element, given, key)
        results.append(result)
        if k == 0:
            given = {name: value for name, value in given.items() if name != "name"}
            key = _key_of(result) if op["is_random"] else ""
    if len(op["outputs"]) == 0:
        return None
    return results if len(op["outputs"]) == 1 else tuple(map(list, zip(*results, strict=True)))


def _key_of(result: Any) -> str:
    node = result[0] if isinstance(result, tuple) else result
    return str(node._pipeline._graph.nodes()[node._node]["key"])


def _is_list_of_nodes(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(v, DataNode) for v in value)


def _add(
    op: Operator, inputs: Sequence[Any], arguments: Mapping[str, Any], key: str = ""
) -> DataNode | tuple[DataNode, ...] | None:
    where = user_line()
    given = dict(arguments)
    name = given.pop("name", None)

    def refuse(problem: str) -> NoReturn:
        instance = f"{op['name']} '{name}'" if name else op["name"]
        raise GraphError(f"{instance} ({where}): {problem}")

    pipeline = current.current()
    if pipeline is None:
        refuse(
            "called outside of a pipeline; "
            "call it in a function decorated with @pipeline_def, or in `with pipe:`"
        )
    if name is not None and not isinstance(name, str):
        refuse(f"name expects a str, got {name!r}")
    nodes = [
        None if value is None else as_node(value, f"input {i}", refuse)
        for i, value in enumerate(inputs)
    ]
    device = given.pop("device", None)
    on_gpu = _data_on_gpu(op, nodes)
    if device is None:
        device = "cpu" if on_gpu is None else "gpu"
    if not isinstance(device, str) or device not in _DEVICES:
        refuse(f"device expects 'cpu', 'gpu' or 'mixed', got {device!r}")
    if on_gpu is not None and device != "gpu":
        refuse(
            f"device={device!r} expects data on the CPU, {on_gpu!r} is on the GPU; .cpu() copies it"
        )
    lead = bool(given.pop("lead", False)) if op["kind"] == "read" else False
    if op["kind"] == "read":
        for shard in launcher.SHARD_ARGUMENTS & given.keys():
            try:
                given[shard] = launcher.resolve(shard, given[shard])
            except GraphError as e:
                refuse(f"argument '{shard}': {e}")
    constants, links = _split(given, refuse)
    for a in op["arguments"]:
        if a["required"] and a["name"] not in constants and a["name"] not in links:
            refuse(f"argument '{a['name']}' is required")
    for node in (*nodes, *links.values()):
        if node is not None and node._pipeline is not pipeline:
            refuse(f"{node!r} belongs to another pipeline")
    for ignored in given.keys() & set(op["ignored"]):
        pipeline._note_without_effect(f"{op['name']}({ignored}={given[ignored]!r})")
    graph = pipeline._graph_to_change()
    index = graph.add(
        op["name"],
        [None if n is None else (n._node, n._output) for n in nodes],
        constants,
        {k: (n._node, n._output) for k, n in links.items()},
        name or "",
        device,
        where,
        lead,
        key,
    )
    place = "cpu" if device == "cpu" else "gpu"
    results = tuple(DataNode(pipeline, index, k, place) for k in range(graph.output_count(index)))
    if not results:
        return None
    return results[0] if len(results) == 1 else results


def _data_on_gpu(op: Operator, nodes: list[DataNode | None]) -> DataNode | None:
    """The first input that is there; values are read on the CPU anyway."""
    for node, port in zip(nodes, op["inputs"], strict=False):  # a wrong count is refused later
        if node is not None and node.device == "gpu" and not port["is_value"]:
            return node
    return None


def call_one(name: str, *inputs: Any, **arguments: Any) -> DataNode:
    """Calls an operator of one output by its name."""
    result = call(operators()[name], inputs, arguments)
    assert isinstance(result, DataNode)
    return result


def constant(
    value: Any,
    dtype: Any = None,
    shape: Any = None,
    layout: str | None = None,
    device: str | None = None,
) -> DataNode:
    """A node that gives this value for every sample."""
    try:
        data = _numbers(value)
    except NotAConstantError as e:
        raise GraphError(f"constant ({user_line()}): the value {e}") from None
    elements = data if isinstance(data, list) else [data]
    if shape is None:
        shape = _shape_of(value)
    if dtype is None:
        dtype = dtype_text(getattr(value, "dtype", None)) or _natural_dtype(value, elements)
    if all(isinstance(x, (bool, int)) for x in elements):
        numbers = {"idata": [int(x) for x in elements]}
    else:
        numbers = {"fdata": elements}  # type: ignore[dict-item]
    return call_one("constant", **numbers, dtype=dtype, shape=shape, layout=layout, device=device)


def as_node(value: Any, what: str, refuse: Callable[[str], NoReturn]) -> DataNode:
    """A node as it is, numbers as a constant; anything else is refused."""
    if isinstance(value, DataNode):
        return value
    if isinstance(value, (list, tuple)) and any(isinstance(v, DataNode) for v in value):
        refuse(f"{what} {_about_nodes(value)}")
    try:
        _numbers(value)
    except NotAConstantError:
        refuse(f"{what} is of type {type(value).__name__}, not a node")
    return constant(value)


def _about_nodes(values: Sequence[Any]) -> str:
    """What such a list is, and what to do instead."""
    first = values[0]
    if isinstance(first, DataNode):
        op = first._pipeline._graph.nodes()[first._node]["op"]
        names = [port["name"] for port in operators()[op]["outputs"]]
        own = [v for v in values if isinstance(v, DataNode) and v._node == first._node]
        if len(own) == len(values) == len(names) > 1:
            return f"holds the {len(names)} outputs of {op}; unpack them: {', '.join(names)} = ..."
    return "is a tuple of nodes; a list of them calls the operator once for each"


def _numbers(value: Any) -> bool | int | float | list[Any]:
    data = plain(value)
    if (
        data is None
        or isinstance(data, str)
        or (isinstance(data, list) and any(isinstance(x, str) for x in data[:1]))
    ):
        raise NotAConstantError(f"expects numbers, got {value!r}")
    return data


def _split(
    given: Mapping[str, Any], refuse: Callable[[str], NoReturn]
) -> tuple[dict[str, Any], dict[str, DataNode]]:
    constants: dict[str, Any] = {}
    links: dict[str, DataNode] = {}
    for key, value in given.items():
        if isinstance(value, DataNode):
            links[key] = value
        elif value is not None:
            try:
                constants[key] = plain(value)
            except NotAConstantError as e:
                refuse(f"argument '{key}' {e}")
    return constants, links


def _shape_of(value: Any) -> list[int]:
    if hasattr(value, "shape"):
        return [int(n) for n in value.shape]
    shape = []
    while isinstance(value, (list, tuple)):
        shape.append(len(value))
        value = value[0] if value else None
    return shape


def _natural_dtype(value: Any, elements: Sequence[Any]) -> str:
    if elements and all(isinstance(x, bool) for x in elements):
        return "bool"
    return "int32" if all(isinstance(x, int) for x in elements) else "float32"
