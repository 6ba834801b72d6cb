# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Saved graphs and states as they should not be, and what errors of them must say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

WRONG = (None, "text", -1, 3.5, [], {}, True, 10**30)
# What messages of the libraries below would show.
FOREIGN = ("json.exception", "std::", "nlohmann", "nanobind", "incompatible function", "codec can")


def damaged(saved: Any) -> Iterator[Any]:
    """The saved form with one thing of it missing, too many, or of another type."""
    if isinstance(saved, dict):
        for key in saved:
            yield {k: v for k, v in saved.items() if k != key}
            for other in damaged(saved[key]):
                yield {**saved, key: other}
    elif isinstance(saved, list):
        yield [*saved, *saved]
        for i in range(len(saved)):
            for other in damaged(saved[i]):
                yield [*saved[:i], other, *saved[i + 1 :]]
    yield from (wrong for wrong in WRONG if type(wrong) is not type(saved))


def nested(levels: int) -> list[Any]:
    """A list within a list, and so on."""
    value: list[Any] = []
    for _ in range(levels - 1):
        value = [value]
    return value


def nested_text(levels: int) -> str:
    return "[" * levels + "]" * levels


def assert_own_words(error: BaseException) -> None:
    """The message is text that can be shown, and none of a library that Stoker uses."""
    text = str(error)
    text.encode()
    assert not [word for word in FOREIGN if word in text], text
    assert len(text) < 2000
