# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Calls outside of a pipeline, which are made again in each pipeline that needs their results.

The call is made at once in a definition of its own, with constants in the place of nodes, so its
errors name the user's line. Its results are nodes of that definition, until ``bound`` makes the
call again in a pipeline's definition. Such a node keeps its inputs alive, but no pipeline.
"""

from __future__ import annotations

import functools
import warnings
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from stoker._graph.constants import Computed
from stoker._graph.current import current, inside
from stoker._graph.definition import Definition, Manner
from stoker._messages import at_line, user_line

Made = TypeVar("Made", bound=Callable[..., Any])


class Outside(Definition):
    """The definition of one call outside of a pipeline."""

    def __init__(
        self, function: Callable[..., Any], inputs: Sequence[Any], arguments: Mapping[str, Any]
    ) -> None:
        super().__init__(Manner())
        self.function = function
        self.inputs = inputs
        self.arguments = arguments
        self.line = user_line()
        self.results: list[Any] = []  # what tells the nodes of the result from one another
        self.is_bound_in: weakref.WeakSet[Definition] = weakref.WeakSet()

    def needs(self) -> Iterator[Outside]:
        """The calls whose results this one takes."""
        return (n._definition for n in _nodes_in([self.inputs, self.arguments]))


def anywhere(function: Made) -> Made:
    """Makes a function that adds nodes work outside of a pipeline's definition too.

    There it adds to the pipeline of its inputs; if they have none, the call is made again later.
    """

    @functools.wraps(function)
    def call(*inputs: Any, **arguments: Any) -> Any:
        entry = current()
        nodes = _nodes_in([inputs, arguments])
        if entry is None:
            own = (n._definition for n in nodes if not isinstance(n._definition, Outside))
            definition = next(own, None)
            if definition is None:
                return _made_outside(function, inputs, arguments)
            with inside(definition):
                return _called(function, inputs, arguments, definition)
        if any(_is_foreign(n, entry.definition) for n in nodes):
            return _called(function, inputs, arguments, entry.definition)
        return function(*inputs, **arguments)

    return call  # type: ignore[return-value]


def bound(node: Any, definition: Definition) -> Any:
    """The node in this definition. Makes the calls there that it comes from, if they were outside.

    Raises ``GraphError`` if such a call has to be made and the pipeline is built.
    """
    if not _is_foreign(node, definition):
        return node
    waiting: list[Outside] = [node._definition]
    while waiting:
        call = waiting[-1]
        missing = [c for c in call.needs() if c not in definition.bound]
        if call not in definition.bound and not missing:
            definition.bound[call] = _made_again(call, definition)
        waiting.extend(missing) if missing else waiting.pop()
    return definition.bound[node._definition][node._definition.results.index(_key(node))]


def bound_here(node: Any) -> Any:
    """A node in the pipeline that is being defined; any other value is itself."""
    entry = current()
    is_node = isinstance(node, Computed)
    return bound(node, entry.definition) if is_node and entry is not None else node


def in_its_pipeline(node: Any, wanted: Definition | None = None) -> Any:
    """The node in the pipeline that it was bound to, the wanted one if there are several.

    Itself if it was bound to none, or if none of several is wanted.
    """
    places = set(getattr(node._definition, "is_bound_in", ()))
    (place,) = places if len(places) == 1 else places & {wanted} or {node._definition}
    return bound(node, place)


def _is_foreign(node: Any, definition: Definition) -> bool:
    return isinstance(node._definition, Outside) and node._definition is not definition


def _made_outside(
    function: Callable[..., Any], inputs: Sequence[Any], arguments: Mapping[str, Any]
) -> Any:
    definition = Outside(function, inputs, arguments)
    stand_ins: dict[int, Any] = {}

    def stand_in(node: Any) -> Any:
        if id(node) not in stand_ins:
            stand_ins[id(node)] = node._stand_in(definition)
        return stand_ins[id(node)]

    with inside(definition):
        result = function(*_mapped(inputs, stand_in), **_mapped(arguments, stand_in))
    definition.results = [_key(node) for node in _nodes_in(result)]
    return result


def _made_again(call: Outside, definition: Definition) -> list[Any]:
    """The nodes of the result of a call that is made in this definition."""
    definition.graph_to_change()
    with inside(definition, anew=True), at_line(call.line), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it has warned already
        result = _called(call.function, call.inputs, call.arguments, definition)
    call.is_bound_in.add(definition)
    return _nodes_in(result)


def _called(
    function: Callable[..., Any],
    inputs: Sequence[Any],
    arguments: Mapping[str, Any],
    definition: Definition,
) -> Any:
    """Calls it with nodes of this definition in the place of those from outside."""

    def own(node: Any) -> Any:
        return bound(node, definition)

    return function(*_mapped(inputs, own), **_mapped(arguments, own))


def _key(node: Any) -> tuple[Any, ...]:
    return node._node, node._output, node._device, node._is_copy


def _nodes_in(value: Any) -> list[Any]:
    """The nodes in a value, in order."""
    found: list[Any] = []
    _mapped(value, found.append)
    return found


_DEEPEST = 8  # lists in lists


def _mapped(value: Any, change: Callable[[Any], Any], around: tuple[int, ...] = ()) -> Any:
    """The value with its nodes changed, in lists, tuples, dicts and ranges too.

    ``around``: the identities of what the value is in. What holds itself, or is nested deeply,
    stays as it is.
    """
    kind = type(value)
    if issubclass(kind, Computed):  # isinstance() would ask objects of the user's
        return change(value)
    if kind not in (list, tuple, dict, slice) or id(value) in around or len(around) > _DEEPEST:
        return value
    within = (*around, id(value))
    if kind is dict:
        return {k: _mapped(v, change, within) for k, v in value.items()}
    if kind is slice:
        return slice(*(_mapped(v, change) for v in (value.start, value.stop, value.step)))
    return kind(_mapped(v, change, within) for v in value) if _may_hold_nodes(value) else value


def _may_hold_nodes(values: Sequence[Any]) -> bool:
    """False for lists of numbers or texts, which may be long."""
    return not {bool, int, float, str} >= set(map(type, values))
