# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""What rewritten code calls: Python's own meaning for Python values, a graph's for nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from stoker._conditionals.contents import Contents
from stoker._graph.calls import call_one, constant
from stoker._graph.constants import NotAConstantError, plain
from stoker._graph.edge import edge
from stoker._graph.node import DataNode
from stoker._graph.outside import anywhere, bound_here
from stoker._graph.scopes import Branch
from stoker._graph.unusable import Unusable
from stoker._messages import shown, user_line
from stoker.errors import GraphError

RESULT = "_stoker_result"  # what a function returns, where a side of an `if` does

# An object of which a side sets items or else attributes: its name, how to read it, and which.
Changed = tuple[str, Callable[[], Any], bool]


class If:
    """An ``if`` statement: ``takes`` says which of its sides run, ``merged`` what they set.

    On a Python value, one side runs and nothing is merged. On a node, both sides run one after the
    other, each with the variables that there were before, and the contents of ``changed``.
    """

    def __init__(
        self,
        condition: Any,
        names: Sequence[str],
        obstacle: str = "",
        changed: Sequence[Changed] = (),
    ) -> None:
        condition = bound_here(condition)
        self.is_node = isinstance(condition, DataNode)
        self.before: tuple[Any, ...] = ()
        self._condition = condition
        self._names = names
        self._changed = changed
        self._where = user_line()
        self._side = True
        self._entered: Branch | None = None
        if self.is_node:
            self._scope = edge(condition).definition.scopes.number("if")
            if obstacle:
                raise GraphError(
                    f"the `if` on {condition!r} ({self._where}) runs both of its sides, "
                    f"so it takes no {obstacle}"
                )
        else:
            self._truth = bool(condition)

    def takes(self, side: bool, variables: Mapping[str, Any]) -> bool:
        """Whether this side runs now. ``variables`` are those of the function."""
        if not self.is_node:
            return self._truth is side
        self._side = side
        if side:
            self.before = self._values(variables)
            self._contents: list[Contents] = []
            for changed in self._changed:
                new = Contents.of(*changed)
                if new is not None and not any(new.is_of(c) for c in self._contents):
                    self._contents.append(new)
        else:
            self._if_true = self._values(variables)
            for contents in self._contents:
                contents.begin_second_side()
        return True

    def __enter__(self) -> None:
        if self.is_node:
            self._entered = _branch(self._condition, self._scope, self._side)
            self._entered.__enter__()

    def __exit__(self, _: object, error: BaseException | None, *__: object) -> None:
        if self._entered is not None:
            self._entered.__exit__()
            self._entered = None
            if error is not None and not isinstance(error, GraphError):
                self._note(error)

    def _note(self, error: BaseException) -> None:
        """Says why a side raises whatever its condition is."""
        note = (
            f"The `if` on {self._condition!r} ({self._where}) runs both of its sides once, "
            "while the pipeline is defined, so what one of them raises is no matter of a "
            "sample. A function of yours, as fn.python_function calls it, can refuse one."
        )
        if hasattr(error, "add_note"):
            error.add_note(note)
        elif len(error.args) == 1:  # Python 3.10 has no notes
            error.args = (f"{error.args[0]}\n{note}",)

    def merged(self, variables: Mapping[str, Any]) -> tuple[Any, ...]:
        """The values of the names after the statement. Sets those of attributes and items."""
        for contents in self._contents:
            contents.merge(self._merged, self._unset)
        pairs = zip(self._names, self._if_true, self._values(variables), strict=True)
        return tuple(self._merged(name, a, b) for name, a, b in pairs)

    def _merged(self, name: str, a: Any, b: Any) -> Any:
        return _merged(name, a, b, self._condition, self._where)

    def _unset(self, name: str) -> Unusable:
        return Unusable(
            f"{_shown(name)} has no value on one side of the `if` on a node at {self._where}"
        )

    def _values(self, variables: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple(
            variables[name] if name in variables else self._unset(name) for name in self._names
        )


def choose(condition: Any, if_true: Callable[[], Any], if_false: Callable[[], Any]) -> Any:
    """``if_true() if condition else if_false()``"""
    if not isinstance(condition, DataNode):
        return if_true() if condition else if_false()
    condition = bound_here(condition)
    scope = edge(condition).definition.scopes.number("if")
    with _branch(condition, scope, True):
        a = if_true()
    with _branch(condition, scope, False):
        b = if_false()
    return _merged("the conditional expression", a, b, condition, user_line())


def both(first: Any, second: Callable[[], Any]) -> Any:
    """``first and second()``"""
    if not isinstance(first, DataNode):
        return first and second()
    first = bound_here(first)
    with _branch(first, edge(first).definition.scopes.number("and"), True):
        truth = _truth(second())
    return call_one("merge", truth, constant(False), first)


def either(first: Any, second: Callable[[], Any]) -> Any:
    """``first or second()``"""
    if not isinstance(first, DataNode):
        return first or second()
    first = bound_here(first)
    with _branch(first, edge(first).definition.scopes.number("or"), False):
        truth = _truth(second())
    return call_one("merge", constant(True), truth, first)


def opposite(value: Any) -> Any:
    """``not value``"""
    if not isinstance(value, DataNode):
        return not value
    return call_one("merge", constant(False), constant(True), value)


@anywhere
def split(value: Any, predicate: DataNode) -> tuple[DataNode, DataNode]:
    """Gives a value twice: for the samples where the predicate is true, and for the others.

    ``predicate`` is one number for each sample, true unless it is 0. What operators make of either
    result is made for its samples only. ``fn.merge(a, b, predicate)`` gives values for all samples
    again; neither result can be an output of the pipeline before that. Raises ``GraphError`` where
    the predicate is no node.
    """
    if not isinstance(predicate, DataNode):
        raise GraphError(f"split ({user_line()}): predicate expects a node, got {shown(predicate)}")
    scope = edge(predicate).definition.scopes.number("split")
    with _branch(predicate, scope, True):
        if_true = call_one("copy", value)
    with _branch(predicate, scope, False):
        return if_true, call_one("copy", value)


def _branch(condition: DataNode, scope: str, side: bool) -> Branch:
    guard = (edge(condition).node, edge(condition).output, side)
    return edge(condition).definition.scopes.branch(f"{scope}.{str(side).lower()}", guard)


def _truth(value: Any) -> DataNode:
    if not isinstance(value, DataNode):
        return constant(bool(value))
    return call_one("merge", constant(True), constant(False), value)


def _merged(name: str, a: Any, b: Any, condition: DataNode, where: str) -> Any:
    """What a name stands for behind a conditional: for each sample the value of its side."""
    if a is b or type(a) is Unusable:
        return a
    if type(b) is Unusable:
        return b
    if isinstance(a, (tuple, list)) and type(a) is type(b) and len(a) == len(b):
        parts = [_merged(name, x, y, condition, where) for x, y in zip(a, b, strict=True)]
        return type(a)(*parts) if hasattr(a, "_fields") else type(a)(parts)
    if isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
        return {key: _merged(name, a[key], b[key], condition, where) for key in a}
    if _are_equal(a, b):
        return a
    if name == RESULT and (a is None or b is None):
        return Unusable(f"one side of the `if` on a node at {where} returns nothing")
    if not (_is_value(a) and _is_value(b)):
        return Unusable(
            f"{_shown(name)} has two values behind the `if` on a node at {where}, one of type "
            f"{type(a).__name__} and one of type {type(b).__name__}, "
            "which are not both nodes or numbers"
        )
    try:
        return call_one("merge", a, b, condition)
    except GraphError as e:  # which is nobody's concern where the name is not used any more
        return Unusable(f"{_shown(name)} behind the `if` on a node at {where}: {e}")


def _shown(name: str) -> str:
    return "the result" if name == RESULT else f"'{name}'"


def _are_equal(a: Any, b: Any) -> bool:
    """Whether they are the same texts or numbers of one type, so that nothing is to be decided."""
    if type(a) is not type(b) or isinstance(a, DataNode):
        return False
    try:
        return plain(a) == plain(b) and all(
            getattr(a, what, None) == getattr(b, what, None) for what in ("dtype", "shape")
        )
    except NotAConstantError:
        return False


def _is_value(value: Any) -> bool:
    """Whether it is a node, or numbers that a constant node can hold."""
    if isinstance(value, DataNode):
        return True
    try:
        data = plain(value)
    except NotAConstantError:
        return False
    texts = data if isinstance(data, list) else [data]
    return data is not None and not any(isinstance(x, str) for x in texts[:1])
