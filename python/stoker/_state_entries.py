# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Reads states, which may have been cut or edited since they were saved.

``whose`` is the owner of the state in messages, e.g. "a pipeline's".
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeVar

from stoker.errors import StateError

T = TypeVar("T")


def entry(state: Any, key: str, kind: type[T], whose: str) -> T:
    """The value under a key. Raises ``StateError`` if it is missing or of another type."""
    if not isinstance(state, Mapping):
        raise StateError(f"{whose} state expects a dict, got {_brief(state)}")
    if key not in state:
        raise StateError(f"{whose} state is damaged: it has no '{key}'")
    value = state[key]
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise StateError(
            f"{whose} state is damaged: '{key}' expects a value of type {kind.__name__}, "
            f"got {_brief(value)}"
        )
    return value


def count(state: Any, key: str, whose: str) -> int:
    """The whole number under a key. Raises ``StateError`` if it is missing or below 0."""
    value = entry(state, key, int, whose)
    if value < 0:
        raise StateError(f"{whose} state is damaged: '{key}' expects a number from 0, got {value}")
    return value


def flag(state: Any, key: str, whose: str) -> bool:
    """The bool under a key; False if the key is missing."""
    return key in state and entry(state, key, bool, whose)


def numbers(state: Any, key: str, whose: str) -> list[int]:
    """The list of whole numbers, of any sign, under a key."""
    values: list[int] = entry(state, key, list, whose)
    if not all(type(value) is int for value in values):
        raise StateError(
            f"{whose} state is damaged: '{key}' expects whole numbers, got {_brief(values)}"
        )
    return values


def text(state: Any) -> str:
    """A pipeline's state as the JSON text that the engine takes."""
    if isinstance(state, str):
        return state
    if not isinstance(state, Mapping):
        raise StateError(f"a pipeline's state expects a dict or its JSON text, got {_brief(state)}")
    try:
        return json.dumps(dict(state))
    except (TypeError, ValueError) as e:
        raise StateError(f"a pipeline's state is damaged: {e}") from None


def of_pipeline(text: str) -> dict[str, Any] | None:
    """A pipeline's state as a dict; None if the text is no state, which the engine reports."""
    try:
        loaded = json.loads(text)
    except ValueError:
        return None
    is_one = isinstance(loaded, dict) and loaded.get("format") == "stoker state"
    return loaded if is_one else None


def _brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}..."
