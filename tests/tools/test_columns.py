# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""tools/check_columns.py: lines that are too long, and long lines that are allowed."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from helpers import load_tool

LONG = "word " * 20 + "x"  # 101 columns
LINK = f"https://example.org/{'x' * 100}"


@pytest.fixture(scope="module")
def tool(repository: Path) -> ModuleType:
    return load_tool(repository, "check_columns")


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.cc", f"short\n{LONG}\nshort\n", [2]),
        ("a.cc", LONG[:-1], []),
        ("a.cc", "é" * 100, []),
        ("a.cc", f"// {LINK}\n// see {LINK}", [2]),
        ("a.sh", f"    {LONG}\n| {LONG}", [1, 2]),
        ("a.md", LONG, [1]),
        ("a.md", f"| {LONG} |\n\n    {LONG}\n- {LINK}\n- {LONG}", [5]),
        ("a.md", f"```\n{LONG}\n```\n{LONG}\n~~~~\n{LONG}\n```\n{LONG}\n~~~~\n{LONG}", [4, 10]),
    ],
)
def test_long_lines(tool: ModuleType, path: str, text: str, expected: list[int]) -> None:
    assert tool.long_lines(path, text) == expected


def test_data_may_be_as_wide_as_it_is(tool: ModuleType) -> None:
    data = ["LICENSE", "docs/design/003-after.svg", "tests/golden/draws.json"]
    assert [p for p in [*data, "src/LICENSE.cc", "tests/helpers.py"] if not tool.is_data(p)] == [
        "src/LICENSE.cc",
        "tests/helpers.py",
    ]


def test_the_program_names_each_line(tool: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "good.py").write_text("short\n")
    tool.main([str(tmp_path / "good.py")])
    (tmp_path / "bad.py").write_text(f"short\n{LONG}\n")
    with pytest.raises(SystemExit, match=r"bad\.py:2: over 100 columns"):
        tool.main([str(tmp_path / name) for name in ("good.py", "bad.py")])
