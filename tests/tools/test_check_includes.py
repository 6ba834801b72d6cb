# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""tools/check_includes.py: types that two headers define, and headers that are included twice."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from helpers import load_tool


@pytest.fixture(scope="module")
def tool(repository: Path) -> ModuleType:
    return load_tool(repository, "check_includes")


def inside(text: str) -> str:
    return f"namespace stoker {{\n{text}\n}}  // namespace stoker\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (inside("struct A {};\nclass B final : public A { struct Inner {}; };"), {"A", "B"}),
        (inside("enum class C : uint8_t { kX };\nunion D { int i; };"), {"C", "D"}),
        (inside("template <class T, size_t N = 4>\nclass E {};"), {"E"}),
        (inside('class ATTRIBUTE(kind("}")) F {};\nstruct alignas(16) G {};'), {"F", "G"}),
        (inside("namespace detail { struct H {}; }"), {"detail::H"}),
        (inside("class Declared;\nfriend struct Friend;\nstruct Declared make();"), set()),
        (inside("template <>\nstruct Special<int> {};"), set()),
        (inside("namespace {\nstruct Private {};\n}"), set()),
        (inside("inline int f() { struct Local {}; return 0; }"), set()),
        (inside("// struct No {\n/* { struct No {}; */ const char c = '{', *s = \"}{\";"), set()),
        (inside('constexpr auto text = R"(struct No { " })";\nstruct I {};'), {"I"}),
    ],
)
def test_types_of_a_header(tool: ModuleType, text: str, expected: set[str]) -> None:
    assert tool.types_of(text) == {f"stoker::{name}" for name in expected}


def test_a_type_in_two_headers_is_named_with_both(tool: ModuleType) -> None:
    headers = {
        "src/a.h": inside("struct Picture { int x; };\nstruct Other {};"),
        "src/b.h": inside("class Picture;\nclass Other;"),
        "src/c.h": inside("class Picture {};\nnamespace test { struct Other {}; }"),
    }
    assert tool.types_defined_twice(headers) == [
        "stoker::Picture is defined in src/a.h and src/c.h"
    ]


def test_a_header_is_included_once_unless_macros_change(tool: ModuleType, tmp_path: Path) -> None:
    file = tmp_path / "src/base/a.cc"
    file.parent.mkdir(parents=True)
    file.write_text('#include "base/a.h"\n#define A\n#include "base/a.h"\n#include "base/a.h"\n')
    tool.ROOT, tool.SRC = tmp_path, tmp_path / "src"
    assert tool.complaints_about(file, "base", tool.Folder({"base"}, [])) == [
        "src/base/a.cc:4: includes base/a.h: a second time"
    ]
