# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""``fn.external_source``: nodes whose data comes from the user's own Python code."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NoReturn

from stoker._describe.registry import Operator
from stoker._graph.calls import add
from stoker._graph.functions import document
from stoker._graph.node import DataNode
from stoker._graph.source_group import SourceGroup
from stoker._messages import Place, did_you_mean, user_line
from stoker._sources.caller import Caller, Spec
from stoker.errors import GraphError

_CYCLES = {None: "no", False: "no", "no": "no", True: "quiet", "quiet": "quiet", "raise": "raise"}
_EACH = ("dtype", "ndim", "layout")  # these may be lists with an entry for each output


def external_source(op: Operator, *inputs: Any, **arguments: Any) -> DataNode | list[DataNode]:
    """Adds the nodes and tells the pipeline which source feeds them.

    ``op`` describes the arguments.
    """
    place = Place(op["name"], arguments.get("name"), user_line())
    refuse = place.refuse
    given = _with_names(op, inputs, arguments, refuse)
    extra = {e["name"]: given.pop(e["name"], e["default"]) for e in op["extra"]}
    count = _count(extra["num_outputs"], refuse)
    each = {key: _for_each(key, given.pop(key, None), count or 1, refuse) for key in _EACH}
    name, device = given.pop("name", None), given.pop("device", None)
    if not isinstance(device, (str, type(None))) or device not in (None, "cpu", "gpu"):
        refuse(f"device expects 'cpu' or 'gpu', got {device!r}")
    if extra["source"] is None:
        _check_no_source(extra, count, refuse)
    nodes: list[DataNode] = []
    for k in range(count or 1):
        own = {key: values[k] for key, values in each.items()}
        node = add(op, (), {**given, **own, "name": name if count is None else _name_of(name, k)})
        assert isinstance(node, DataNode)
        nodes.append(node)
    if extra["source"] is not None:
        group = _group(extra, nodes, each["layout"], bool(given.get("no_copy")), place)
        nodes[0]._definition.sources.append(group)
    results = [n.gpu() if device == "gpu" else n for n in nodes]
    return results[0] if count is None else results


def make_function(op: Operator) -> Callable[..., Any]:
    """Makes the function ``fn.external_source``."""

    def function(*inputs: Any, **arguments: Any) -> DataNode | list[DataNode]:
        return external_source(op, *inputs, **arguments)

    document(function, op)
    return function


def _with_names(
    op: Operator,
    inputs: tuple[Any, ...],
    arguments: dict[str, Any],
    refuse: Callable[[str], NoReturn],
) -> dict[str, Any]:
    names = [e["name"] for e in op["extra"] if e["is_positional"]]
    if len(inputs) > len(names):
        refuse(f"takes {len(names)} arguments by position, {', '.join(names)}; got {len(inputs)}")
    given = dict(zip(names, inputs, strict=False))
    for key in given.keys() & arguments.keys():
        refuse(f"argument '{key}' is given twice")
    known = [e["name"] for e in op["extra"]] + [a["name"] for a in op["arguments"]]
    known += [*op["ignored"], "name", "device"]
    for key in arguments:
        if key not in known:
            refuse(f"no argument named '{key}'.{did_you_mean(key, known)}")
    return {**given, **arguments}


def _count(count: Any, refuse: Callable[[str], NoReturn]) -> int | None:
    if count is None or (isinstance(count, int) and not isinstance(count, bool) and count > 0):
        return count
    refuse(f"num_outputs expects an int of at least 1, got {count!r}")


def _for_each(key: str, value: Any, count: int, refuse: Callable[[str], NoReturn]) -> list[Any]:
    if not isinstance(value, (list, tuple)):
        return [value] * count
    if len(value) != count:
        refuse(f"argument '{key}' has {len(value)} entries for {count} outputs")
    return list(value)


def _name_of(name: str | None, output: int) -> str | None:
    return None if name is None else f"{name}_{output}"


def _check_no_source(
    extra: dict[str, Any], count: int | None, refuse: Callable[[str], NoReturn]
) -> None:
    for key in ("cycle", "batch_info", "parallel", "prefetch_queue_depth"):
        if extra[key]:
            refuse(f"argument '{key}' needs a source")
    if count is not None:
        refuse("num_outputs needs a source; feed_input() feeds one node at a time")


def _group(
    extra: dict[str, Any],
    nodes: list[DataNode],
    layouts: list[Any],
    no_copy: bool,
    place: Place,
) -> SourceGroup:
    source, cycle = extra["source"], extra["cycle"]
    if not isinstance(cycle, (str, bool, type(None))) or cycle not in _CYCLES:
        place.refuse(f"cycle expects 'no', 'quiet', 'raise', True, False or None, got {cycle!r}")
    depth = extra["prefetch_queue_depth"]
    if depth is not None and (not isinstance(depth, int) or depth < 1 or not extra["parallel"]):
        place.refuse(
            f"prefetch_queue_depth expects an int of at least 1 and parallel=True, got {depth!r}"
        )
    group = SourceGroup(
        names=[n.name for n in nodes],
        layouts=[None if layout is None else str(layout) for layout in layouts],
        source=source,
        cycle=_CYCLES[cycle],
        batch=bool(extra["batch"]),
        batch_info=bool(extra["batch_info"]),
        num_outputs=extra["num_outputs"],
        no_copy=no_copy,
        parallel=bool(extra["parallel"]),
        depth=depth or 1,
        where=place.where,
    )
    _check_source(group, place.refuse)
    return group


def _check_source(group: SourceGroup, refuse: Callable[[str], NoReturn]) -> None:
    """Refuses a source that is wrong, as far as this shows before it is called."""
    kind = type(group.source).__name__
    if not callable(group.source) and not hasattr(group.source, "__iter__"):
        refuse(f"source expects a callable, an iterable or a generator function, got a {kind}")
    try:
        caller = Caller(group.source, Spec.of(group, 1))
    except GraphError as e:
        refuse(str(e))
    if group.cycle != "no" and (not caller.is_iterable or caller.is_one_pass):
        hint = " (give the generator function itself)" if inspect.isgenerator(group.source) else ""
        refuse(
            f"cycle={group.cycle!r} needs a source that can begin anew, an iterable or a generator "
            f"function, got a {kind}{hint}"
        )
    if group.parallel and not caller.is_iterable and not caller.takes_index:
        refuse(
            "parallel=True needs a callable of one argument, the iteration or info, or an "
            "iterable: calls without an argument could not be told apart"
        )
