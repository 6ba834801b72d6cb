# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Which keys the dicts of a script have that it gives as ``**arguments``.

Only keys that are certain count: a dict is followed from where it is made to where it is given,
through the statements that are always run in between. Whatever else might change it ends that.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

Keys = dict[str, int]  # with the line of each

_Scope = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.Module)
_READING_METHODS = {"copy", "get", "items", "keys", "values"}
_READING_FUNCTIONS = {"dict", "len", "list", "print", "repr", "sorted", "str"}


class Dicts:
    """The dicts of a script."""

    def __init__(self, tree: ast.AST) -> None:
        self._parents: dict[ast.AST, tuple[ast.AST, str]] = {}  # and the field that holds the node
        self._names: dict[str, list[ast.Name]] = {}
        self._parameters: set[tuple[ast.AST, str]] = set()
        for node in ast.walk(tree):
            for field, value in ast.iter_fields(node):
                for child in value if isinstance(value, list) else [value]:
                    if isinstance(child, ast.AST):
                        self._parents[child] = node, field
            if isinstance(node, ast.Name):
                self._names.setdefault(node.id, []).append(node)
        for node in ast.walk(tree):
            if isinstance(node, ast.arg):
                self._parameters.add((self._scope(node), node.arg))

    def keys(self, value: ast.expr) -> Keys:
        """The keys that an expression certainly has; none if it is no dict that is known."""
        found = self._known(value)
        return {} if found is None else found

    def _known(self, value: ast.expr) -> Keys | None:
        """None where nothing is known."""
        if isinstance(value, ast.Dict):
            found: Keys = {}
            for key, item in zip(value.keys, value.values, strict=True):
                if key is None:
                    found.update(self.keys(item))
                elif (text := _text(key)) is not None:
                    found[text] = key.lineno
            return found
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
            return self._given(value) if value.func.id == "dict" else None
        if isinstance(value, ast.BinOp) and isinstance(value.op, ast.BitOr):
            return {**self.keys(value.left), **self.keys(value.right)}
        return self._of_name(value) if isinstance(value, ast.Name) else None

    def _given(self, call: ast.Call) -> Keys:
        """The keys that ``dict()`` or ``update()`` is given."""
        found: Keys = {}
        for value in call.args:
            found.update(self.keys(value))
        for keyword in call.keywords:
            if keyword.arg is None:
                found.update(self.keys(keyword.value))
            else:
                found[keyword.arg] = keyword.value.lineno
        return found

    def _of_name(self, use: ast.Name) -> Keys | None:
        """What the name holds where it is used."""
        scope = self._scope(use)
        while not self._binds(scope, use.id):
            if isinstance(scope, ast.Module):
                return None
            scope = self._scope(scope)
        inside = [n for n in self._names[use.id] if scope in self._scopes(n)]
        if scope is self._scope(use):
            before = [n for n in inside if self._time(n) < self._time(use)]
            blocks = set(self._blocks(use))
        else:  # an outer scope, of which all has been run
            before = [n for n in inside if self._scope(n) is scope]
            blocks = {(scope, "body")}
            if any(isinstance(n.ctx, ast.Store) for n in inside if n not in before):
                return None
        found: Keys | None = None
        for name in sorted(before, key=self._time):
            is_certain = self._block(name) in blocks and self._scope(name) is scope
            found = self._after(name, found, is_certain)
        return found

    def _after(self, name: ast.Name, keys: Keys | None, is_certain: bool) -> Keys | None:
        """The keys after what is done with the name here; `is_certain` says if it is done."""
        parent, field = self._parents[name]
        if isinstance(name.ctx, ast.Store):
            is_plain = isinstance(parent, ast.Assign) and is_certain
            return self._known(parent.value) if is_plain else None  # type: ignore[attr-defined]
        if keys is None:
            return None
        if isinstance(parent, ast.Subscript) and field == "value":
            return self._after_item(parent, keys, is_certain)
        if isinstance(parent, ast.Attribute):
            call, role = self._parents[parent]
            if not isinstance(call, ast.Call) or role != "func":
                return None
            if parent.attr == "update":
                return {**keys, **self._given(call)} if is_certain else keys
            if parent.attr == "pop" and call.args:
                return _without(keys, call.args[0])
            return keys if parent.attr in _READING_METHODS else None
        if isinstance(parent, ast.Call) and field == "args":
            is_read = isinstance(parent.func, ast.Name) and parent.func.id in _READING_FUNCTIONS
            return keys if is_read else None
        is_spread = isinstance(parent, ast.keyword) and parent.arg is None
        if isinstance(parent, ast.Dict):
            is_spread = parent.keys[parent.values.index(name)] is None
        is_read = isinstance(parent, (ast.Compare, ast.For, ast.comprehension, ast.If))
        return keys if is_spread or is_read else None

    def _after_item(self, item: ast.Subscript, keys: Keys, is_certain: bool) -> Keys | None:
        """The keys after ``name[...]`` was read, set or deleted."""
        if isinstance(item.ctx, ast.Del):
            return _without(keys, item.slice)
        text = _text(item.slice)
        is_new = isinstance(item.ctx, ast.Store) and is_certain and text is not None
        return {**keys, text: item.lineno} if is_new and text is not None else keys

    def _binds(self, scope: ast.AST, name: str) -> bool:
        if (scope, name) in self._parameters:
            return True
        names = self._names.get(name, [])
        return any(isinstance(n.ctx, ast.Store) and self._scope(n) is scope for n in names)

    def _ancestors(self, node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
        while node in self._parents:
            node, field = self._parents[node]
            yield node, field

    def _scopes(self, node: ast.AST) -> list[ast.AST]:
        return [a for a, _ in self._ancestors(node) if isinstance(a, _Scope)]

    def _scope(self, node: ast.AST) -> ast.AST:
        return self._scopes(node)[0]

    def _blocks(self, node: ast.AST) -> list[tuple[ast.AST, str]]:
        """The lists of statements that hold the node, the innermost first."""
        pairs = pairwise([(node, ""), *self._ancestors(node)])
        return [above for (below, _), above in pairs if isinstance(below, ast.stmt)]

    def _block(self, node: ast.AST) -> tuple[ast.AST, str]:
        return self._blocks(node)[0]

    def _time(self, name: ast.Name) -> tuple[int, int]:
        """Where the name is used; an assignment has its effect after its value."""
        parent, _ = self._parents[name]
        if isinstance(parent, ast.Assign) and isinstance(name.ctx, ast.Store):
            return parent.end_lineno or 0, parent.end_col_offset or 0
        return name.lineno, name.col_offset


def _text(node: ast.expr) -> str | None:
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return node.value if is_text else None  # type: ignore[attr-defined]


def _without(keys: Keys, key: ast.expr) -> Keys | None:
    text = _text(key)
    return None if text is None else {k: line for k, line in keys.items() if k != text}
