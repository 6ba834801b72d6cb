# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The functions ``fn.*`` of operators that call functions of the user's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from stoker._describe.registry import Operator
from stoker._functions.forms import form_of
from stoker._graph.calls import add, constant, place_of
from stoker._graph.constants import NotAConstantError, plain
from stoker._graph.current import manner
from stoker._graph.edge import edge
from stoker._graph.functions import Result, call, document
from stoker._graph.node import DataNode
from stoker._graph.outside import anywhere
from stoker._graph.user_function import UserFunction, hooks_of
from stoker._messages import Place, near_or_all, shown, told
from stoker.errors import GraphError, GraphKeyError, GraphTypeError

_FUNCTIONS = ("function", "run_fn", "setup_fn")
_GENERATORS = ("python_function", "dl_tensor_python_function", "torch_python_function")
_LISTS = ("out_types", "in_types", "outs_ndim", "ins_ndim")


def make_function(op: Operator) -> Callable[..., Result]:
    """Makes the function of such an operator, with its signature and docstring."""

    @anywhere
    def function(*inputs: Any, **arguments: Any) -> Result:
        return _call(op, inputs, arguments)

    document(function, op)
    return function


def _call(op: Operator, inputs: Sequence[Any], arguments: Mapping[str, Any]) -> Result:
    place = place_of(op, arguments.get("name"))
    known = [e["name"] for e in op["extra"]] + [a["name"] for a in op["arguments"]]
    known += [*op["ignored"], "name", "device", "seed"]
    for key in arguments:
        if key not in known:
            hint = near_or_all(key, known, "It takes")
            place.refuse(f"no argument named '{key}'.{hint}", GraphKeyError)
    given = dict(arguments)
    takes_nothing = not inputs
    if takes_nothing:
        if op["name"] not in _GENERATORS:
            place.refuse("takes 1 or more inputs, got 0")
        inputs = [constant(0)]  # it says how many samples there are
    is_sink = _plain(given.get("num_outputs"), 1) == 0 and op["name"] in _GENERATORS
    if is_sink:  # the engine gets a number for each sample, which nobody reads
        given |= {"num_outputs": 1, "dtype": "uint8", "ndim": 0, "output_layouts": None}
    if isinstance(given.get("output_layouts"), str):  # of all outputs
        count = _plain(given.get("num_outputs"), 1)
        given["output_layouts"] = [given["output_layouts"]] * (count if type(count) is int else 1)
    for argument in ("dtype", "ndim"):
        if isinstance(given.get(argument), str) or hasattr(given.get(argument), "__index__"):
            given[argument] = [given[argument]]
    _require_cpu(inputs, given.get("device"), place)
    extra = {
        e["name"]: _extra(e["name"], e["default"], given.pop(e["name"], None), place)
        for e in op["extra"]
    }
    function = extra.get("function", extra.get("run_fn"))
    extra |= {"takes_nothing": takes_nothing, "copies_inputs": manner().copies_inputs}
    extra["is_sink"] = is_sink
    is_kept = is_sink or bool(_plain(given.get("preserve"), False))
    plains = {a["name"]: _plain(given.get(a["name"]), a["default"]) for a in op["arguments"]}

    def add_one(
        op: Operator, inputs: Sequence[Any], given: Mapping[str, Any], key: str = ""
    ) -> Any:
        own = _user_function(op, function, {**extra, **plains}, place)
        result = add(op, inputs, given, key, own.core)
        first = result[0] if isinstance(result, tuple) else result
        assert isinstance(first, DataNode)
        own.node, definition = edge(first).node, edge(first).definition
        own.place = place._replace(name=str(definition.graph.node(own.node)["name"]))
        definition.functions.append(own)
        if is_kept:
            _keep(first, own.place)
        return result

    made = call(op, inputs, given, add_one)
    return None if is_sink else made


def _keep(node: DataNode, place: Place) -> None:
    definition = edge(node).definition
    if definition.scopes.guards():
        place.refuse("a function whose outputs nobody needs cannot be in an `if` on a node")
    definition.keep(edge(node).node)


def _require_cpu(inputs: Sequence[Any], device: Any, place: Place) -> None:
    if device not in (None, "cpu"):
        place.refuse(
            f"device={shown(device)}: it runs on the CPU; give it .cpu() of its inputs, and .gpu() "
            "of its outputs to what follows"
        )
    for node in inputs:
        if isinstance(node, DataNode) and node.device == "gpu":
            place.refuse(f"it runs on the CPU, and {node!r} is on the GPU; .cpu() copies it")


def _extra(key: str, default: Any, value: Any, place: Place) -> Any:
    """The value of an argument that only Python knows."""
    if value is None:
        if key in ("function", "run_fn"):
            place.refuse(f"argument '{key}' is required")
        return default
    if key in _FUNCTIONS and not callable(value):
        place.refuse(f"argument '{key}' expects a callable, got {shown(value)}", GraphTypeError)
    if isinstance(default, bool):
        flag = _plain(value, None)
        if type(flag) not in (bool, int) or flag not in (0, 1):
            place.refuse(f"argument '{key}' expects bool, got {shown(value)}")
        return bool(flag)
    return value


def _plain(value: Any, default: Any) -> Any:
    if value is None:
        return default
    try:
        return plain(value)
    except NotAConstantError:  # adding the node says so
        return default


def _user_function(
    op: Operator, function: Any, given: Mapping[str, Any], place: Place
) -> UserFunction:
    lists = {k: v if isinstance(v, list) else [v] for k, v in given.items() if k in _LISTS}
    try:
        form = form_of(op["name"], function, {**given, **lists})
    except ImportError as e:
        raise GraphError(f"{place}: its framework cannot be imported: {told(e)}") from e
    is_stateful = bool(given.get("stateful"))
    return UserFunction(form, place, is_stateful, hooks_of(function) if is_stateful else None)
