#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Fails on a circle of imports in the Python package, and on an import against its layers.

The layers are the rows of the table in the package's README.md: a module imports only from its own
row and those above. Imports inside functions and for type annotations count as well. Usage:
check_python_imports.py [PACKAGE_FOLDER].
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

PACKAGE = Path(__file__).resolve().parent.parent / "python" / "stoker"
TABLE = "README.md"


class Import(NamedTuple):
    file: Path
    line: int
    importer: str  # full names of modules
    imported: str


def modules_of(package: Path) -> dict[str, Path]:
    """The files by the modules' full names. For a compiled module it is the stub."""
    found: dict[str, Path] = {}
    for file in sorted(package.rglob("*.py*")):
        if file.suffix not in (".py", ".pyi"):
            continue
        parts = [package.name, *file.relative_to(package).with_suffix("").parts]
        found.setdefault(".".join(parts[:-1] if parts[-1] == "__init__" else parts), file)
    return found


def imports_of(name: str, file: Path, modules: dict[str, Path]) -> Iterator[Import]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        for imported in names_in(node, name, file.stem == "__init__", modules):
            if imported in modules and imported != name:
                yield Import(file, node.lineno, name, imported)  # type: ignore[attr-defined]


def names_in(node: ast.AST, name: str, is_package: bool, modules: dict[str, Path]) -> list[str]:
    """The modules that a statement imports. `from a import b` is a.b if that is one, else a."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if not isinstance(node, ast.ImportFrom):
        return []
    base = node.module or ""
    if node.level:
        up = node.level - 1 if is_package else node.level
        folder = name.split(".")[: len(name.split(".")) - up]
        base = ".".join([*folder, *([node.module] if node.module else [])])
    inside = [f"{base}.{alias.name}" for alias in node.names]
    return [module if module in modules else base for module in inside]


def circle_through(start: str, imported: dict[str, list[str]]) -> list[str]:
    """The shortest way of imports from a module back to itself; empty if there is none."""
    ways = [[start]]
    seen: set[str] = set()
    for way in ways:
        for module in imported[way[-1]]:
            if module == start:
                return [*way, start]
            if module not in seen:
                seen.add(module)
                ways.append([*way, module])
    return []


def circles(imported: dict[str, list[str]]) -> list[list[str]]:
    """The circles of imports, each once."""
    found: dict[frozenset[str], list[str]] = {}
    for module in imported:
        if circle := circle_through(module, imported):
            found.setdefault(frozenset(circle), circle)
    return list(found.values())


def read_layers(package: Path) -> list[list[str]]:
    """The names in the first cell of each row of the table: "errors.py", "_graph/"."""
    rows = re.findall(r"^\| (`[^|]*`) \|", (package / TABLE).read_text(encoding="utf-8"), re.M)
    return [re.findall(r"`([^`]*)`", row) for row in rows]


def layer_name(file: Path, package: Path) -> str:
    """The table's name for a file: its folder, or the file itself if it is in none."""
    inside = file.relative_to(package)
    return f"{inside.parts[0]}/" if len(inside.parts) > 1 else inside.with_suffix(".py").name


def against_layers(found: list[Import], modules: dict[str, Path], package: Path) -> Iterator[str]:
    layers = {name: i for i, row in enumerate(read_layers(package)) for name in row}
    there = {layer_name(file, package) for file in modules.values()}
    for name in sorted(there - layers.keys()):
        yield f"{package.name}/{TABLE}: the table has no row for {name}"
    for name in sorted(layers.keys() - there):
        yield f"{package.name}/{TABLE}: there is no {name}"
    for one in found:
        here = layer_name(one.file, package)
        other = layer_name(modules[one.imported], package)
        if layers.get(here, -1) < layers.get(other, -1) and here in layers:
            yield (
                f"{one.file.relative_to(package.parent)}:{one.line}: imports {one.imported}, "
                f"but {other} stands behind {here} in {package.name}/{TABLE}"
            )


def complaints(package: Path) -> list[str]:
    modules = modules_of(package)
    found = [i for name, file in modules.items() for i in imports_of(name, file, modules)]
    imported: dict[str, list[str]] = {name: [] for name in modules}
    for one in found:
        imported[one.importer].append(one.imported)
    wrong = [f"a circle of imports: {' -> '.join(circle)}" for circle in circles(imported)]
    return wrong + list(against_layers(found, modules, package))


if __name__ == "__main__":
    if wrong := complaints(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else PACKAGE):
        sys.exit("\n".join(wrong))
