# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Reads states, which may have been cut or edited since they were saved.

``whose`` is the owner of the state in messages, e.g. "a pipeline's".
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeVar

from stoker._messages import shown
from stoker.errors import StateError

T = TypeVar("T")

_FORMAT = "stoker state"  # what a pipeline's state begins with


def entry(state: Any, key: str, kind: type[T], whose: str) -> T:
    """The value under a key. Raises ``StateError`` if it is missing or of another type."""
    if not isinstance(state, Mapping):
        raise StateError(f"{whose} state expects a dict, got {shown(state)}")
    if key not in state:
        raise StateError(f"{whose} state is damaged: it has no '{key}'")
    value = state[key]
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise StateError(
            f"{whose} state is damaged: '{key}' expects a value of type {kind.__name__}, "
            f"got {shown(value)}"
        )
    return value


def count(state: Any, key: str, whose: str) -> int:
    """The whole number under a key. Raises ``StateError`` if it is missing or below 0."""
    value = entry(state, key, int, whose)
    if value < 0:
        raise StateError(
            f"{whose} state is damaged: '{key}' expects a number from 0, got {shown(value)}"
        )
    return value


def flag(state: Any, key: str, whose: str) -> bool:
    """The bool under a key; False if the key is missing."""
    return key in state and entry(state, key, bool, whose)


def numbers(state: Any, key: str, whose: str) -> list[int]:
    """The list of whole numbers, of any sign, under a key."""
    values: list[int] = entry(state, key, list, whose)
    if not all(type(value) is int for value in values):
        raise StateError(
            f"{whose} state is damaged: '{key}' expects whole numbers, got {shown(values)}"
        )
    return values


def text(state: Any) -> bytes:
    """A pipeline's state as the JSON text that the engine takes."""
    if isinstance(state, str):
        return state.encode(errors="surrogatepass")  # the engine refuses what is no UTF-8
    if not isinstance(state, Mapping):
        raise StateError(f"a pipeline's state expects a dict or its JSON text, got {shown(state)}")
    try:
        return json.dumps(dict(state)).encode()
    except (TypeError, ValueError, RecursionError):
        raise StateError(
            "a pipeline's state is damaged: it expects texts, numbers, lists and dicts of them, "
            f"got {shown(state)}"
        ) from None


def check_pipelines(state: Any) -> None:
    """Raises ``StateError`` for a dict that is something else than a pipeline's state."""
    if not isinstance(state, Mapping) or state.get("format") == _FORMAT:
        return
    if "pipelines" in state and "iterator" in state:
        raise StateError(
            "this is not a pipeline's state, but that of an iterator: give it to load_state_dict()"
        )
    raise StateError(f"this is not a pipeline's state, but {_keys(state)}")


def check_iterators(state: Any) -> None:
    """Raises ``StateError`` for what is something else than an iterator's state."""
    if not isinstance(state, Mapping):
        raise StateError(f"an iterator's state expects a dict, got {shown(state)}")
    if state.get("format") == _FORMAT:
        raise StateError(
            "this is not an iterator's state, but that of a pipeline: give it to restore()"
        )
    if not state.keys() & {"version", "pipelines", "iterator"}:
        raise StateError(f"this is not an iterator's state, but {_keys(state)}")


def _keys(state: Mapping[Any, Any]) -> str:
    some = ", ".join(map(shown, list(state)[:4])) + (", ..." if len(state) > 4 else "")
    return f"a dict with the keys {some}" if some else "an empty dict"


def of_pipeline(text: bytes) -> dict[str, Any] | None:
    """A pipeline's state as a dict; None if the text is no state, which the engine reports."""
    try:
        loaded = json.loads(text)
    except (ValueError, RecursionError):
        return None
    is_one = isinstance(loaded, dict) and loaded.get("format") == _FORMAT
    return loaded if is_one else None
