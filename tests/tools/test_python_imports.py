# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""tools/check_python_imports.py, on small packages that are made here and on Stoker's own."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from helpers import load_tool

TABLE = """
| layer | what it is |
| --- | --- |
| `_core.py` | Compiled. |
| `words.py`, `_parts/` | Below. |
| `front.py` | Above. |
| `__init__.py` | All. |
"""
FILES = {
    "README.md": TABLE,
    "__init__.py": "from made.front import show",
    "_core.pyi": "",
    "words.py": "from made import _core",
    "_parts/__init__.py": "",
    "_parts/one.py": "import made.words",
    "_parts/two.py": "from made._parts import one",
    "front.py": "from made._parts.two import thing\nimport os",
}


def complaints(repository: Path, folder: Path, **changed: str) -> list[str]:
    """The complaints about the package above, with some of its files changed."""
    package = folder / "made"
    for name, text in {**FILES, **changed}.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(textwrap.dedent(text))
    found: list[str] = load_tool(repository, "check_python_imports").complaints(package)
    return found


def test_imports_that_run_one_way(repository: Path, tmp_path: Path) -> None:
    assert complaints(repository, tmp_path) == []


@pytest.mark.parametrize(
    "text",
    [
        "import made._parts.two",
        "from made._parts import two",
        "from made._parts.two import thing",
        "from . import two",
        "from .two import thing",
        """
        from typing import TYPE_CHECKING
        if TYPE_CHECKING:
            from made._parts.two import Thing
        """,
        """
        def late():
            from made._parts import two
        """,
    ],
)
def test_a_circle_is_found(repository: Path, tmp_path: Path, text: str) -> None:
    assert complaints(repository, tmp_path, **{"_parts/one.py": text}) == [
        "a circle of imports: made._parts.one -> made._parts.two -> made._parts.one"
    ]


def test_a_circle_through_the_package_itself_is_found(repository: Path, tmp_path: Path) -> None:
    found = complaints(repository, tmp_path, **{"words.py": "from made import show"})
    way = "made -> made.front -> made._parts.two -> made._parts.one -> made.words -> made"
    assert f"a circle of imports: {way}" in found


@pytest.mark.parametrize(
    "text", ["import made.front", "def late():\n    from made.front import show"]
)
def test_an_import_against_the_layers_is_found(repository: Path, tmp_path: Path, text: str) -> None:
    line = len(text.splitlines())
    found = complaints(repository, tmp_path, **{"_parts/three.py": text})
    assert found == [
        f"made/_parts/three.py:{line}: imports made.front, "
        "but front.py stands behind _parts/ in made/README.md"
    ]


def test_every_file_has_a_row_and_every_row_a_file(repository: Path, tmp_path: Path) -> None:
    table = TABLE.replace("`front.py`", "`back.py`")
    assert complaints(repository, tmp_path, **{"README.md": table}) == [
        "made/README.md: the table has no row for front.py",
        "made/README.md: there is no back.py",
    ]


def test_stoker_s_imports_run_one_way(repository: Path) -> None:
    tool = load_tool(repository, "check_python_imports")
    assert len(tool.modules_of(tool.PACKAGE)) > 60
    assert tool.complaints(tool.PACKAGE) == []
