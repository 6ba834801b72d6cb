# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Rewrites functions so that conditionals may be on nodes.

``if c: A`` with ``else: B``, which set ``x``, becomes

    _stoker_if0 = _stoker.If(c, ("x",))
    if _stoker_if0.takes(True, locals()):
        with _stoker_if0:
            A
    if _stoker_if0.takes(False, locals()):
        if _stoker_if0.is_node:
            (x,) = _stoker_if0.before
        with _stoker_if0:
            B
    if _stoker_if0.is_node:
        (x,) = _stoker_if0.merged(locals())

Sides that set ``x.a`` or ``x[i]`` change the contents of ``x``, which are merged likewise. Where a
side returns, the statements behind the ``if`` become part of the sides that do not. What
the function calls is rewritten as well, when it is called.
"""

from __future__ import annotations

import ast
import copy
import functools
import inspect
import sys
import types
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from stoker._conditionals import branches
from stoker._conditionals.mark import MARK

_RUNTIME = "_stoker"
# Code of these packages has no conditionals on nodes.
_PACKAGES = {
    *sys.stdlib_module_names,
    *("PIL", "cupy", "cv2", "jax", "mxnet", "numba", "numpy", "nvidia", "scipy", "stoker"),
    *("tensorflow", "torch"),
}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_MADE = (ast.Call, ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)  # new at each evaluation
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_NAMED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.MatchAs, ast.MatchStar)


def converted(function: Any) -> Any:
    """The same function, whose conditionals may be on nodes, as far as its source can be read."""
    if isinstance(function, types.MethodType):
        return types.MethodType(converted(function.__func__), function.__self__)
    if isinstance(function, functools.partial):
        return functools.partial(converted(function.func), *function.args, **function.keywords)
    if not isinstance(function, types.FunctionType):
        return _converted_object(function)
    if function.__module__ is not None and function.__module__.partition(".")[0] in _PACKAGES:
        return function
    if getattr(function, MARK, False):
        return function
    code = _converted_code(function.__code__, function.__code__.co_filename, function.__qualname__)
    if code is None:
        return function
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    cells[_RUNTIME] = types.CellType(_Runtime)
    closure = tuple(cells[name] for name in code.co_freevars)
    result = types.FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__, closure
    )
    result.__kwdefaults__ = function.__kwdefaults__
    result.__qualname__ = function.__qualname__
    result.__dict__.update(function.__dict__)
    setattr(result, MARK, True)  # it is done
    return result


def _converted_object(value: Any) -> Any:
    """An object of the user's that can be called, such as a function; anything else as it is."""
    call = inspect.getattr_static(type(value), "__call__", None)
    if not isinstance(call, types.FunctionType) or MARK in getattr(value, "__dict__", ()):
        return value
    new = converted(call)
    return value if new is call else types.MethodType(new, value)


class _Runtime:
    """What rewritten code finds under the name ``_stoker``."""

    If = branches.If
    choose = staticmethod(branches.choose)
    both = staticmethod(branches.both)
    either = staticmethod(branches.either)
    opposite = staticmethod(branches.opposite)
    callee = staticmethod(converted)


_done: set[types.CodeType] = set()  # code that was rewritten, also of functions inside others


@functools.cache
def _converted_code(code: types.CodeType, file: str, qualname: str) -> types.CodeType | None:
    """The rewritten code of a function; None if it stays as it is.

    Codes of two files may be equal, so the file tells them apart.
    """
    if code in _done or code.co_flags & (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        return None
    function = _lambda_tree(code) if code.co_name == "<lambda>" else _source_tree(code)
    if function is None:
        return None
    _Rewriter(_class_name(qualname)).rewrite(function)
    # To compile all names as they were, the function's class is a class here, and names from
    # functions around it are parameters of one around it here.
    around = ast.parse(f"def around():\n class {_class_name(qualname) or '_'}: pass").body[0]
    assert isinstance(around, ast.FunctionDef) and isinstance(around.body[0], ast.ClassDef)
    around.args.args = [ast.arg(name) for name in (_RUNTIME, *code.co_freevars)]
    around.body[0].body = [ast.Expr(function) if isinstance(function, ast.Lambda) else function]
    module = ast.fix_missing_locations(ast.Module([around], []))
    whole = compile(module, file, "exec", dont_inherit=True, flags=_future_flags(code))
    rewritten = next(c for c in _all_codes(whole) if c.co_name == code.co_name)
    _done.update(_all_codes(rewritten))
    return rewritten


def _class_name(qualname: str) -> str:
    """The class that a function was defined in, which its private names are named after."""
    parts = qualname.split(".")
    classes = [a for a, b in pairwise(parts) if "<locals>" not in (a, b)]
    return classes[-1] if classes else ""


def _compiled_name(name: str, class_name: str) -> str:
    """What a name becomes that is private to a class; any other as it is."""
    prefix = class_name.lstrip("_")
    is_private = name.startswith("__") and not name.endswith("__")
    return f"_{prefix}{name}" if is_private and prefix else name


def _future_flags(code: types.CodeType) -> int:
    import __future__

    features = (getattr(__future__, name) for name in __future__.all_feature_names)
    return sum(f.compiler_flag for f in features if code.co_flags & f.compiler_flag)


def _source_tree(code: types.CodeType) -> ast.FunctionDef | None:
    try:
        lines, first = inspect.getsourcelines(code)
    except (OSError, TypeError):
        return None
    source = "".join(lines)
    is_indented = source[:1].isspace()
    try:
        tree = ast.parse("if True:\n" + source if is_indented else source)
    except SyntaxError:  # a function within a longer expression
        return None
    ast.increment_lineno(tree, first - (2 if is_indented else 1))
    statement: ast.stmt = tree.body[0]
    if is_indented:
        assert isinstance(statement, ast.If)
        statement = statement.body[0]
    if not isinstance(statement, ast.FunctionDef) or statement.name != code.co_name:
        return None  # the file has changed since it was imported
    # What is computed where the function is defined was computed there.
    statement.decorator_list, statement.returns = [], None
    _forget_defaults(statement.args)
    return statement


def _lambda_tree(code: types.CodeType) -> ast.Lambda | None:
    try:
        lines, _ = inspect.findsource(code)
        tree = _parsed("".join(lines))
    except (OSError, TypeError, SyntaxError):
        return None
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Lambda) and node.lineno == code.co_firstlineno
    ]
    if len(found) > 1 and sys.version_info >= (3, 11):
        begins = {(line, column) for line, _, column, _ in code.co_positions()}
        found = [f for f in found if (f.body.lineno, f.body.col_offset) in begins]
    if len(found) != 1:
        return None
    function = copy.deepcopy(found[0])
    _forget_defaults(function.args)
    return function


@functools.lru_cache(maxsize=16)
def _parsed(source: str) -> ast.Module:
    return ast.parse(source)


def _forget_defaults(arguments: ast.arguments) -> None:
    none = ast.Constant(None)
    arguments.defaults = [none for _ in arguments.defaults]
    arguments.kw_defaults = [default and none for default in arguments.kw_defaults]
    for argument in ast.walk(arguments):
        if isinstance(argument, ast.arg):
            argument.annotation = None


def _all_codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _all_codes(inner)


def _here(nodes: Iterable[ast.AST], stop: tuple[type, ...] = ()) -> Iterator[ast.AST]:
    """All that these nodes hold, but for what is inside of functions, classes or ``stop``."""
    for node in nodes:
        yield node
        if isinstance(node, ast.comprehension):  # whose target is a name of its own
            yield from _here([node.iter, *node.ifs], stop)
        elif not isinstance(node, (*_FUNCTIONS, ast.ClassDef, *stop)):
            yield from _here(ast.iter_child_nodes(node), stop)


def _names_set(nodes: Sequence[ast.AST]) -> list[str]:
    """The names that these statements set or delete, in order."""
    names: dict[str | None, None] = {}
    for node in _here(nodes):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names[node.id] = None
        elif isinstance(node, _NAMED):
            names[node.name] = None
        elif isinstance(node, ast.MatchMapping):
            names[node.rest] = None
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                names[alias.asname or alias.name.partition(".")[0]] = None
    return [name for name in names if name is not None]


def _changed(nodes: Sequence[ast.AST]) -> dict[tuple[str, bool], ast.expr]:
    """The objects of which these statements set or delete attributes or, if true, items."""
    found: dict[tuple[str, bool], ast.expr] = {}
    for node in _here(nodes):
        if isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
            found[ast.unparse(node.value), isinstance(node, ast.Subscript)] = node.value
    return found


def _always_leaves(body: Sequence[ast.stmt]) -> bool:
    if not body:
        return False
    last = body[-1]
    if isinstance(last, ast.If):
        return _always_leaves(last.body) and _always_leaves(last.orelse)
    return isinstance(last, (ast.Return, ast.Raise)) or (
        isinstance(last, ast.Assign)
        and isinstance(last.targets[0], ast.Name)
        and last.targets[0].id == branches.RESULT
    )


def _returns(nodes: Sequence[ast.AST]) -> bool:
    return any(isinstance(n, ast.Return) for n in _here(nodes))


_PLAIN_BLOCKS = (*_LOOPS, ast.With, ast.AsyncWith, ast.Try, ast.Match)


def _settled(body: list[ast.stmt], *, inside: bool = False) -> list[ast.stmt]:
    """The same block, where no side of an ``if`` returns: it sets the result instead.

    ``inside``: the block is a side of an ``if``, and must set the result wherever it ends.
    """
    for i, statement in enumerate(body):
        if inside and isinstance(statement, ast.Return):
            value = statement.value or ast.Constant(None)
            result = ast.Assign([ast.Name(branches.RESULT, ast.Store())], value)
            return [*body[:i], ast.copy_location(result, statement)]
        if not isinstance(statement, ast.If) or not _returns([statement]):
            continue
        sides = [*statement.body, *statement.orelse]
        if any(isinstance(n, _PLAIN_BLOCKS) and _returns([n]) for n in _here(sides)):
            continue  # a return inside a loop stays: such an `if` cannot be on a node
        rest = body[i + 1 :]
        for side in ("body", "orelse"):
            own: list[ast.stmt] = getattr(statement, side)
            if not _always_leaves(own):
                own = [*own, *copy.deepcopy(rest)]
            if not _always_leaves(own):
                own = [*own, ast.copy_location(ast.Return(None), statement)]
            setattr(statement, side, _settled(own, inside=True))
        end: list[ast.stmt] = []
        if not inside:
            end = [ast.copy_location(ast.Return(ast.Name(branches.RESULT, ast.Load())), statement)]
        return [*body[:i], statement, *end]
    return body


class _Rewriter(ast.NodeTransformer):
    def __init__(self, class_name: str) -> None:
        self._class_name = class_name
        self._count = 0
        self._globals: set[str] = set()

    def rewrite(self, function: ast.FunctionDef | ast.Lambda) -> None:
        """Rewrites the body of a function in place."""
        if isinstance(function, ast.Lambda):
            self.visit(function)
            return
        outer = self._globals
        self._globals = {
            name for n in _here(function.body) if isinstance(n, ast.Global) for name in n.names
        }
        function.body = [
            new for statement in _settled(function.body) for new in self._statements(statement)
        ]
        self._globals = outer

    def _statements(self, statement: ast.stmt) -> list[ast.stmt]:
        new = self.visit(statement)
        return new if isinstance(new, list) else [new]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.rewrite(node)
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return node

    def visit_If(self, node: ast.If) -> list[ast.stmt]:
        names = _names_set([*node.body, *node.orelse])
        changed = _changed([*node.body, *node.orelse])
        obstacle = self._obstacle(node, names, changed.values())
        names = [n for n in names if n not in self._globals]
        self.generic_visit(node)
        variable = f"_stoker_if{self._count}"
        self._count += 1
        targets = "".join(f"{name}, " for name in names)
        restore = f"\n    if {variable}.is_node:\n        ({targets}) = {variable}.before"
        result = f"({targets}) = " if names else ""
        merge = f"\nif {variable}.is_node:\n    {result}{variable}.merged(locals())"
        variables = tuple(_compiled_name(name, self._class_name) for name in names)
        template = (
            f"{variable} = {_RUNTIME}.If(None, {variables!r}, {obstacle!r})\n"
            f"if {variable}.takes(True, locals()):\n    with {variable}:\n        pass\n"
            f"if {variable}.takes(False, locals()):{restore if names else ''}\n"
            f"    with {variable}:\n        pass{merge if names or changed else ''}"
        )
        statements = ast.parse(template).body
        for new in statements:
            for part in ast.walk(new):
                ast.copy_location(part, node)
        begin, if_true, if_false = statements[:3]
        assert isinstance(begin, ast.Assign) and isinstance(begin.value, ast.Call)
        begin.value.args[0] = node.test
        objects = [
            ast.Tuple([ast.Constant(name), _later(_read(read)), ast.Constant(is_item)], ast.Load())
            for (name, is_item), read in changed.items()
        ]
        begin.value.args.append(ast.Tuple([*objects], ast.Load()))
        ast.fix_missing_locations(ast.copy_location(begin, node))
        for side, body in ((if_true, node.body), (if_false, node.orelse)):
            assert isinstance(side, ast.If) and isinstance(side.body[-1], ast.With)
            side.body[-1].body = body or side.body[-1].body
        return statements

    def _obstacle(self, node: ast.If, names: Sequence[str], changed: Iterable[ast.expr]) -> str:
        """Why this ``if`` cannot be on a node, or ``""``."""
        sides = [*node.body, *node.orelse]
        if _returns(sides):
            return "`return` out of a loop, a `with` or a `try`"
        if any(isinstance(n, (ast.Break, ast.Continue)) for n in _here(sides, _LOOPS)):
            return "`break` or `continue`"
        if any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in _here(sides)):
            return "`yield`"
        if fixed := [name for name in names if name in self._globals]:
            return f"global variable to be set, '{fixed[0]}'"
        for value in changed:
            if any(isinstance(n, _MADE) for n in _here([value])):
                return f"attribute or item of `{ast.unparse(value)}` to be set"
        return ""

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        self.generic_visit(node)
        if not _may_wait(node.body, node.orelse):
            return node
        return _call("choose", node, node.test, _later(node.body), _later(node.orelse))

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        if not _may_wait(*node.values[1:]):
            return node
        name = "both" if isinstance(node.op, ast.And) else "either"
        *first, result = node.values
        for value in reversed(first):
            result = _call(name, node, value, _later(result))
        return result

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        return _call("opposite", node, node.operand) if isinstance(node.op, ast.Not) else node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        node.func = _call("callee", node, node.func)
        return node


def _may_wait(*values: ast.expr) -> bool:
    """Whether these can become functions that are called later."""
    bound = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)
    return not any(isinstance(n, bound) for n in _here(values))


def _read(value: ast.expr) -> ast.expr:
    """A copy of a target, to be read."""
    value = copy.deepcopy(value)
    for part in ast.walk(value):
        if isinstance(part, (ast.Name, ast.Attribute, ast.Subscript)):
            part.ctx = ast.Load()
    return value


def _later(value: ast.expr) -> ast.expr:
    none = ast.arguments([], [], None, [], [], None, [])
    return ast.copy_location(ast.Lambda(none, value), value)


def _call(name: str, at: ast.expr, *arguments: ast.expr) -> ast.expr:
    function = ast.Attribute(ast.Name(_RUNTIME, ast.Load()), name, ast.Load())
    call = ast.Call(function, list(arguments), [])
    return ast.fix_missing_locations(ast.copy_location(call, at))
