# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""tools/check_bytes.py: numbers that are put together from bytes by hand."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from helpers import load_tool


@pytest.fixture(scope="module")
def tool(repository: Path) -> ModuleType:
    return load_tool(repository, "check_bytes")


@pytest.mark.parametrize(
    "line",
    [
        "v = v << 8 | b[at + i];",
        "return b[0] | b[1] << 8;",
        "return uint32_t{b[0]} << 24 | uint32_t{b[1]} << 16 | uint32_t{b[2]} << 8 | b[3];",
        "for (size_t i = 0; i < n; ++i) size |= size_t{bytes[i]} << (8 * i);",
        "n |= uint32_t{bytes_[place + i]} << shift(i);",
        "const int length = f[at] * 256 + f[at + 1];",
        "return __builtin_bswap32(v);",
        "return be32toh(v);",
        "const auto size = ntohl(v);",
    ],
)
def test_numbers_by_hand(tool: ModuleType, line: str) -> None:
    assert tool.shifts("src/codec/a.cc", f"int a;\n{line}\n") == [2]


@pytest.mark.parametrize(
    "line",
    [
        "const uint32_t width = b.u32();",
        "constexpr size_t kRoom = 1 << 16;",
        "p.bytes[i] = static_cast<uint8_t>(number >> (8 * i));",
        "return a[i] == b[i] || out << c;",
        '// "v << 8 | b[at]"',
        'fail("v << 8 | b[at]");',
    ],
)
def test_what_is_none(tool: ModuleType, line: str) -> None:
    assert tool.shifts("src/codec/a.cc", line) == []


def test_what_makes_pixels_is_allowed_where_it_is(tool: ModuleType) -> None:
    file = "src/codec/png/png_codec.cc"
    line = "to[i] = static_cast<uint16_t>(to[i] << 8 | to[i] >> 8);"
    assert tool.shifts(file, line) == []
    assert tool.shifts("src/codec/png/header.cc", line) == [1]
    assert tool.unused(file, line) == []
    assert tool.unused(file, "no such line") == ["to[i] << 8"]


def test_command(repository: Path, tmp_path: Path) -> None:
    bad = tmp_path / "a.cc"
    bad.write_text("int f(const char* b) { return b[0] << 8 | b[1]; }\n")
    check = [sys.executable, str(repository / "tools/check_bytes.py")]
    assert subprocess.run(check, check=False).returncode == 0
    told = subprocess.run([*check, str(bad)], capture_output=True, text=True, check=False)
    assert told.returncode == 1
    assert f"{bad}:1: a number is made of bytes by hand" in told.stderr
