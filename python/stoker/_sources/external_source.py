# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""``fn.external_source``: nodes whose data comes from the user's own Python code."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NoReturn

from stoker._describe.python_arguments import Extra
from stoker._describe.registry import Operator
from stoker._graph.calls import Refuse, add, place_of
from stoker._graph.constants import NotAConstantError, plain
from stoker._graph.edge import edge
from stoker._graph.functions import document
from stoker._graph.node import DataNode
from stoker._graph.outside import anywhere
from stoker._graph.source_group import SourceGroup
from stoker._messages import Place, near_or_all, raised, shown
from stoker._sources.caller import Caller, Spec
from stoker.errors import GraphError, GraphKeyError, GraphTypeError

_CYCLES = {None: "no", False: "no", "no": "no", True: "quiet", "quiet": "quiet", "raise": "raise"}
_MOST = 10_000  # outputs of a source, and batches ahead
_EACH = ("dtype", "ndim", "layout")  # these may be lists with an entry for each output


def external_source(op: Operator, *inputs: Any, **arguments: Any) -> DataNode | list[DataNode]:
    """Adds the nodes and tells the pipeline which source feeds them.

    ``op`` describes the arguments.
    """
    place = place_of(op, arguments.get("name"))
    refuse = place.refuse
    given = _with_names(op, inputs, arguments, refuse)
    extra = {e["name"]: _extra(e, given.pop(e["name"], None), refuse) for e in op["extra"]}
    count = extra["num_outputs"]
    each = {key: _for_each(key, given.pop(key, None), count or 1, refuse) for key in _EACH}
    given.pop("name", None)
    name, device = place.name, given.pop("device", None)
    if not isinstance(device, (str, type(None))) or device not in (None, "cpu", "gpu"):
        refuse(f"device expects 'cpu' or 'gpu', got {shown(device)}")
    if extra["source"] is None:
        _check_no_source(extra, refuse)
    nodes: list[DataNode] = []
    for k in range(count or 1):
        own = {key: values[k] for key, values in each.items()}
        node = add(op, (), {**given, **own, "name": name if count is None else _name_of(name, k)})
        assert isinstance(node, DataNode)
        nodes.append(node)
    if extra["source"] is not None:
        group = _group(extra, nodes, place)
        edge(nodes[0]).definition.sources.append(group)
    results = [_on_gpu(n) if device == "gpu" else n for n in nodes]
    return results[0] if count is None else results


def _on_gpu(node: DataNode) -> DataNode:
    """The input's copy on the GPU; who feeds this node feeds the input."""
    copied = node.gpu()
    edge(node).definition.fed_as[edge(copied).node] = node.name
    return copied


def make_function(op: Operator) -> Callable[..., Any]:
    """Makes the function ``fn.external_source``."""

    @anywhere
    def function(*inputs: Any, **arguments: Any) -> DataNode | list[DataNode]:
        return external_source(op, *inputs, **arguments)

    document(function, op)
    return function


def _with_names(
    op: Operator,
    inputs: tuple[Any, ...],
    arguments: dict[str, Any],
    refuse: Refuse,
) -> dict[str, Any]:
    names = [e["name"] for e in op["extra"] if e["is_positional"]]
    if len(inputs) > len(names):
        refuse(f"takes {len(names)} arguments by position, {', '.join(names)}; got {len(inputs)}")
    given = dict(zip(names, inputs, strict=False))
    for key in given.keys() & arguments.keys():
        refuse(f"argument '{key}' is given twice")
    known = [e["name"] for e in op["extra"]] + [a["name"] for a in op["arguments"]]
    known += [*op["ignored"], "name", "device", "seed"]
    for key in arguments:
        if key not in known:
            hint = near_or_all(key, known, "It takes")
            refuse(f"no argument named '{key}'.{hint}", GraphKeyError)
    return {**given, **arguments}


def _extra(extra: Extra, value: Any, refuse: Callable[[str], NoReturn]) -> Any:
    """The value of an argument that only Python knows."""
    key, default = extra["name"], extra["default"]
    if value is None:
        return default
    if key == "cycle":
        if not isinstance(value, (str, bool)) or value not in _CYCLES:
            refuse(f"cycle expects 'no', 'quiet', 'raise', True, False or None, got {shown(value)}")
        return None if value is False else value
    if isinstance(default, bool):
        return _flag(key, value, refuse)
    return value if key == "source" else _count(key, value, refuse)


def _count(key: str, value: Any, refuse: Callable[[str], NoReturn]) -> int:
    count = _number(value)
    if type(count) is int and 0 < count <= _MOST:
        return count
    refuse(f"{key} expects an int from 1 to {_MOST}, got {shown(value)}")


def _flag(key: str, value: Any, refuse: Callable[[str], NoReturn]) -> bool:
    flag = _number(value)
    if type(flag) in (bool, int) and flag in (0, 1):
        return bool(flag)
    refuse(f"argument '{key}' expects bool, got {shown(value)}")


def _number(value: Any) -> Any:
    """The value as a plain constant; None if it cannot be one."""
    try:
        return plain(value)
    except NotAConstantError:
        return None


def _for_each(key: str, value: Any, count: int, refuse: Callable[[str], NoReturn]) -> list[Any]:
    if not isinstance(value, (list, tuple)):
        return [value] * count
    if len(value) != count:
        refuse(f"argument '{key}' has {len(value)} entries for {count} outputs")
    return list(value)


def _name_of(name: str | None, output: int) -> str | None:
    return None if name is None else f"{name}_{output}"


def _check_no_source(extra: dict[str, Any], refuse: Callable[[str], NoReturn]) -> None:
    for key in ("cycle", "batch_info", "parallel", "prefetch_queue_depth"):
        if extra[key]:
            refuse(f"argument '{key}' needs a source")


def _group(
    extra: dict[str, Any],
    nodes: list[DataNode],
    place: Place,
) -> SourceGroup:
    depth = extra["prefetch_queue_depth"]
    if depth is not None and not extra["parallel"]:
        place.refuse(f"prefetch_queue_depth={depth} needs parallel=True")
    graph = edge(nodes[0]).definition.graph
    group = SourceGroup(
        names=[n.name for n in nodes],
        layouts=[str(graph.argument(edge(n).node, "layout") or "") for n in nodes],
        source=extra["source"],
        cycle=_CYCLES[extra["cycle"]],
        batch=extra["batch"],
        batch_info=extra["batch_info"],
        num_outputs=extra["num_outputs"],
        no_copy=_flag("no_copy", graph.argument(edge(nodes[0]).node, "no_copy"), place.refuse),
        parallel=extra["parallel"],
        depth=depth or 1,
        where=place.where,
    )
    _check_source(group, place)
    return group


def _check_source(group: SourceGroup, place: Place) -> None:
    """Refuses a source that is wrong, as far as this shows before it is called."""
    refuse = place.refuse
    kind = type(group.source).__name__
    try:
        caller = Caller(group.source, Spec.of(group, 1))
    except GraphError as e:
        place.refuse(str(e), type(e))
    except Exception as e:
        refuse(f"source is a {kind} whose attributes cannot be read: {raised(e)}")
    if group.cycle != "no" and (not caller.is_iterable or caller.is_one_pass):
        hint = " (give the generator function itself)" if inspect.isgenerator(group.source) else ""
        refuse(
            f"cycle={group.cycle!r} needs a source that can begin anew, an iterable or a generator "
            f"function, got a {kind}{hint}",
            GraphTypeError,
        )
    if group.parallel and not caller.is_iterable and not caller.takes_index:
        refuse(
            "parallel=True needs a callable of one argument, the iteration or info, or an "
            "iterable: calls without an argument could not be told apart",
            GraphTypeError,
        )
