# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Finds what a script asks of DALI that is not there, without running it.

It follows imports, names that are given to modules, functions and operators of ``ops``, attributes
of pipelines, and dicts that are given as ``**arguments``. What a script computes, such as
``getattr(fn, name)``, it cannot see, and what is not certain it does not tell.
"""

from __future__ import annotations

import ast
import inspect
from typing import Any

from stoker._describe import old_spellings
from stoker._describe.registry import operators
from stoker._settings.table import settings
from stoker.compat._check_dicts import Dicts
from stoker.compat._finder import find
from stoker.compat._modules import contents
from stoker.compat._report import arguments_of, in_words, names, status_of
from stoker.ops._classes import class_names, make_class, old_class_names

_ROOT = "nvidia.dali"
_NOTHING: Any = object()
_OF_ALL = {"name", "device", "seed", "preserve", "bytes_per_sample_hint"}  # arguments


class Finding:
    """One missing thing, and the lines that ask for it."""

    def __init__(self, what: str, status: str) -> None:
        self.what = what
        self.status = status
        self.lines: list[int] = []


class Check(ast.NodeVisitor):
    """Goes through a script. ``findings`` are in the order of their first lines."""

    def __init__(self, source: str | bytes, name: str) -> None:
        self._found: dict[str, Finding] = {}
        self._known: dict[str, str] = {}  # the dotted names below the root, by names of the script
        self._pipelines: set[str] = set()  # variables, and functions and classes that make them
        self._objects: dict[str, set[str]] = {}  # the classes of operators' objects, by variable
        self._settings: dict[str, set[str]] = {}  # what functions that make pipelines may be given
        tree = ast.parse(source, name)
        self._dicts = Dicts(tree)
        for node in ast.walk(tree):  # first, as functions come before what they use
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                self._take_import(node)
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign):
                self._take_assignment(node)
            elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                self._take_definition(node)
        for node in ast.walk(tree):  # again: a pipeline may be made of what is defined below
            if isinstance(node, ast.Assign):
                self._take_assignment(node)
        self._take_objects(tree)
        self.visit(tree)

    @property
    def findings(self) -> list[Finding]:
        for finding in self._found.values():
            finding.lines = sorted(set(finding.lines))
        return sorted(self._found.values(), key=lambda f: (f.lines[0], f.what))

    # What names stand for.

    def _take_import(self, node: ast.Import | ast.ImportFrom) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if _is_below(alias.name):
                    self._known[alias.asname or "nvidia"] = (
                        _below(alias.name) if alias.asname else "^"
                    )
                    self._require(_below(alias.name), node.lineno)
            return
        module = node.module or ""
        for alias in node.names:
            if module == "nvidia" and alias.name == "dali":
                self._known[alias.asname or "dali"] = ""
            elif not node.level and _is_below(module):
                inside = _below(module)
                if alias.name == "*":
                    for name in names()["names"].get(inside, []):
                        self._known.setdefault(name, _joined(inside, name))
                elif self._require(_joined(inside, alias.name), node.lineno):
                    self._known[alias.asname or alias.name] = _joined(inside, alias.name)

    def _take_assignment(self, node: ast.Assign) -> None:
        targets = [_text(t) for t in node.targets]
        dotted = self._dotted(node.value)
        if dotted is not None and find(dotted) is not None:
            self._known.update({t: dotted for t in targets if t})
        if isinstance(node.value, ast.Call) and self._makes_pipeline(node.value.func):
            self._pipelines.update(t for t in targets if t)

    def _take_definition(self, node: ast.FunctionDef | ast.ClassDef) -> None:
        decorators = [d.func if isinstance(d, ast.Call) else d for d in node.decorator_list]
        makers = decorators if isinstance(node, ast.FunctionDef) else node.bases
        wanted = "pipeline_def" if isinstance(node, ast.FunctionDef) else "Pipeline"
        if any((self._dotted(m) or "").rpartition(".")[2] == wanted for m in makers):
            self._pipelines.add(node.name + "()")
            if isinstance(node, ast.FunctionDef) and node.args.kwarg is None:
                own = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                self._settings[node.name] = {a.arg for a in own} | set(settings())
            if isinstance(node, ast.ClassDef):
                self._take_class(node)

    def _take_class(self, node: ast.ClassDef) -> None:
        """Notes the calls of ``super().__init__``, which take what ``Pipeline`` takes."""
        if len(node.bases) != 1:
            return
        for call in ast.walk(node):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
                owner = call.func.value
                is_super = isinstance(owner, ast.Call) and _text(owner.func) == "super"
                if is_super and call.func.attr == "__init__":
                    self._checked(call, "Pipeline", set(settings()))

    def _take_objects(self, tree: ast.AST) -> None:
        """Finds the variables that hold objects of operators wherever they are assigned."""
        bound: dict[ast.AST, ast.expr] = {}
        others: set[str | None] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    bound.update(_pairs(target, node.value))
            elif isinstance(node, ast.arg):
                others.add(node.arg)
            elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                others.add(node.name)
        for node in ast.walk(tree):
            if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Store):
                text, made = _text(node), self._class_of(bound.get(node))
                if text is None or made is None:
                    others.add(text)
                else:
                    self._objects.setdefault(text, set()).add(made)
        self._objects = {t: found for t, found in self._objects.items() if t not in others}

    def _class_of(self, node: ast.expr | None) -> str | None:
        """The class of operators of which a call makes an object; None for anything else."""
        dotted = self._dotted(node.func) if isinstance(node, ast.Call) else None
        if dotted is None or not dotted.startswith("ops."):
            return None
        return dotted if _arguments_of(dotted) is not None and find(dotted) is not None else None

    def _makes_pipeline(self, function: ast.expr) -> bool:
        dotted = self._dotted(function)
        is_class = dotted is not None and dotted.rpartition(".")[2] == "Pipeline"
        return is_class or f"{_text(function)}()" in self._pipelines

    def _dotted(self, node: ast.expr) -> str | None:
        """What an expression names below the root; None if that is not known."""
        text = _text(node)
        if text is None:
            return None
        if text in self._known and self._known[text] != "^":
            return self._known[text]
        first, _, rest = text.partition(".")
        if self._known.get(first) == "^":
            return _below(text) if _is_below(text) else None
        return _joined(self._known[first], rest) if first in self._known else None

    # What is asked for.

    def visit_Attribute(self, node: ast.Attribute) -> None:
        dotted = self._dotted(node)
        owner = _text(node.value)
        if dotted is not None:
            self._require(dotted, node.lineno)
            return
        if owner in self._pipelines and not hasattr(_pipeline(), node.attr):
            self._miss(f"Pipeline.{node.attr}", _status("Pipeline." + node.attr), node.lineno)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        dotted, text = self._dotted(node.func), _text(node.func)
        made = self._class_of(node.func)
        if dotted is not None and find(dotted) is not None:
            dotted = dotted.removesuffix(".__init__")
            self._checked(node, dotted, _arguments_of(dotted))
        elif made is not None:
            self._checked(node, made, _arguments_of(made))
        elif text in self._objects:  # one of several, where it is assigned in several places
            classes = sorted(self._objects[text])
            taken = set().union(*(_arguments_of(c) or set() for c in classes))
            self._checked(node, classes[0], taken)
        elif text in self._settings:
            self._checked(node, "pipeline_def", self._settings[text])
        self.generic_visit(node)

    def _checked(self, call: ast.Call, dotted: str, taken: set[str] | None) -> None:
        """Notes the arguments of a call that are not taken."""
        for keyword in call.keywords:
            if keyword.arg is None:
                given = self._dicts.keys(keyword.value)
            else:
                given = {keyword.arg: keyword.value.lineno}
            for name in given.keys() - (given.keys() if taken is None else taken):
                self._miss(f"{dotted}({name}=)", _status_of_argument(dotted, name), given[name])

    def _require(self, dotted: str, line: int) -> bool:
        """Notes a name that is missing, or the first of its parts that is."""
        parts = dotted.split(".") if dotted else []
        for count in range(1, len(parts) + 1):
            name = ".".join(parts[:count])
            if find(name) is None:
                self._miss(name, status_of(name), line)
                return False
        return True

    def _miss(self, what: str, status: str, line: int) -> None:
        self._found.setdefault(what, Finding(what, status)).lines.append(line)


def text_of(findings: list[Finding], script: str) -> str:
    """A line for each: ``stoker.run: train.py:3, 8: nvidia.dali.fn.debayer is not ...``."""
    return "".join(
        f"stoker.run: {script}:{', '.join(map(str, f.lines))}: "
        f"{_ROOT}.{f.what} {in_words(f.status)}\n"
        for f in findings
    )


def _is_below(name: str) -> bool:
    return name == _ROOT or name.startswith(_ROOT + ".")


def _below(name: str) -> str:
    return name.removeprefix(_ROOT).removeprefix(".")


def _joined(first: str, rest: str) -> str:
    return f"{first}.{rest}" if first and rest else first or rest


def _text(node: ast.expr) -> str | None:
    """``a.b.c`` for such an expression; None for any other."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        owner = _text(node.value)
        return None if owner is None else f"{owner}.{node.attr}"
    return None


def _pairs(target: ast.expr, value: ast.expr) -> dict[ast.AST, ast.expr]:
    """What is assigned to each variable, also in ``a, b = x, y``."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        both = zip(target.elts, value.elts, strict=False)
        return {t: v for pair in both for t, v in _pairs(*pair).items()}
    return {target: value}


def _pipeline() -> Any:
    from stoker.compat._pipeline import Pipeline

    return Pipeline(batch_size=1)


def _operator_of(dotted: str) -> str | None:
    """The operator of a function or class of operators."""
    package, _, name = dotted.partition(".")
    if package == "fn":
        return old_spellings.FUNCTIONS.get(name, name)
    if package == "ops":
        return class_names().get(name) or old_class_names().get(name, (None, None))[0]
    return None


def _arguments_of(dotted: str) -> set[str] | None:
    """The names of the arguments that may be given; None if it takes any, or is not known."""
    operator = _operator_of(dotted)
    if operator is not None and operator in operators():
        op = operators()[operator]
        extra = {e["name"] for e in op["extra"]}
        return {*make_class(op)._known(), *op["ignored"], *extra, *_OF_ALL}
    last = dotted.rpartition(".")[2]
    if last in ("Pipeline", "pipeline_def"):
        return set(settings())
    if contents(dotted) is not None:
        return None
    try:
        parameters = inspect.signature(find(dotted)).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return None
    return {p.name for p in parameters}


def _status(dotted: str) -> str:
    name = dotted.removeprefix("Pipeline.")
    return "planned" if name in names()["pipeline"] else "unknown"


def _status_of_argument(dotted: str, argument: str) -> str:
    operator = _operator_of(dotted)
    if operator is None or operator not in names()["operators"]:
        return "unknown"
    return "planned" if argument in arguments_of(operator) else "unknown"
