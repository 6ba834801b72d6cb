# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""tools/check_map.py: what pages for developers name is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers import load_tool


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("See `io/order.cc`, `src/io/`, `ops/<stage>/<name>.cc` and `tools/lint.sh`.", []),
        ("See `io/orders.cc`.", ["there is no io/orders.cc"]),
        ("See `../nowhere/data`.", []),
        ("See `add` (`_graph/calls.py`).", []),
        ("See `subtract` (`_graph/calls.py`).", ["there is no subtract in _graph/calls.py"]),
        ("`Order::at` and `Feeder.start`, `Order::at()`", []),
        ("`Order::nowhere`", ["there is no Order::nowhere"]),
        ("`Feeder.nowhere`", ["there is no Feeder.nowhere"]),
        ("`CHANGELOG.md`", []),
        ("`Order::at`\n  (`io/order.cc`) and `permute` (`io/permute.h`)", []),
        ("`gather` (`io/order.h`)", ["there is no gather in io/order.h"]),
        ("Note [Reading ahead] (`io/fetch.h`), Note [Reading\nahead]", []),
        ("Note [Reading ahead] (`io/file.h`)", ["there is no Note [Reading ahead] in io/file.h"]),
        ("Note [The door]", ["there is no Note [The door]"]),
    ],
)
def test_what_is_named_must_be_there(repository: Path, text: str, expected: list[str]) -> None:
    assert list(load_tool(repository, "check_map").complaints(text)) == expected
