# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The functions ``fn.*``, which take old arguments and lists of nodes as well."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from stoker._describe.registry import Operator
from stoker._graph.calls import add
from stoker._graph.current import manner
from stoker._graph.node import DataNode
from stoker._graph.old_arguments import modern_arguments
from stoker._graph.outside import anywhere
from stoker._messages import Place, user_line

Adding = Callable[..., DataNode | tuple[DataNode, ...] | None]
Result = DataNode | tuple[DataNode, ...] | list[DataNode] | tuple[list[DataNode], ...] | None


def make_function(op: Operator) -> Callable[..., Result]:
    """Makes the function ``fn.<name>`` of an operator, with its signature and docstring."""

    @anywhere
    def function(*inputs: Any, **arguments: Any) -> Result:
        return call(op, inputs, arguments)

    document(function, op)
    return function


def document(function: Any, op: Operator) -> None:
    """Gives a function the name, signature and docstring of an operator."""
    from stoker._describe import signatures  # imports inspect, which is slow

    folder, _, name = op["name"].rpartition(".")
    function.__name__ = function.__qualname__ = name
    function.__module__ = "stoker.fn" + (f".{folder}" if folder else "")
    function.__doc__ = signatures.docstring(op)
    function.__signature__ = signatures.signature(op)


def call(
    op: Operator, inputs: Sequence[Any], arguments: Mapping[str, Any], adding: Adding = add
) -> Result:
    """Adds the operator to the current pipeline and returns its outputs.

    If inputs are lists of nodes, adds the operator once for each element and returns lists. All
    elements get the same arguments, and those of a random operator get the same draws. A
    ``GraphError`` names the caller's line. ``adding`` adds it once.
    """
    given = modern_arguments(op["name"], arguments)
    inputs = [list.copy(value) if isinstance(value, list) else value for value in inputs]
    if any(_is_list_of_nodes(value) for value in inputs):
        result: Any = _add_each(op, inputs, given, adding)
    else:
        result = adding(op, inputs, given)
    return list(result) if isinstance(result, tuple) and manner().lists_outputs else result


def _add_each(
    op: Operator, inputs: Sequence[Any], given: Mapping[str, Any], adding: Adding
) -> Result:
    counts = {i: len(value) for i, value in enumerate(inputs) if _is_list_of_nodes(value)}
    if len(set(counts.values())) > 1:
        lengths = ", ".join(f"{count} (input {i})" for i, count in counts.items())
        place = Place(op["name"], None, user_line())
        place.refuse(f"lists of inputs expect one length, got {lengths}")
    results: list[Any] = []
    key = ""
    for k in range(next(iter(counts.values()))):
        element = [value[k] if i in counts else value for i, value in enumerate(inputs)]
        result = adding(op, element, given, key)
        results.append(result)
        if k == 0:
            given = {name: value for name, value in given.items() if name != "name"}
            key = _key_of(result) if op["is_random"] else ""
    if len(results) == 1 and manner().unpacks_lists_of_one:
        return cast(Result, results[0])
    if results[0] is None:
        return None
    if isinstance(results[0], tuple):
        return tuple(map(list, zip(*results, strict=True)))
    return results


def _key_of(result: Any) -> str:
    node = result[0] if isinstance(result, tuple) else result
    return str(node._definition.graph.node(node._node)["key"])


def _is_list_of_nodes(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(v, DataNode) for v in value)
