# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""What objects hold: attributes and items that the sides of an ``if`` on a node set."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stoker.errors import GraphError


class Contents:
    """The attributes of an object, or the items of a dict or a list.

    Both sides of the ``if`` find the contents that there were before it.
    """

    def __init__(self, name: str, holder: dict[Any, Any] | list[Any], is_item: bool) -> None:
        self._name = name
        self._holder = holder
        self._is_item = is_item
        self._before = self._now()

    @classmethod
    def of(cls, name: str, read: Callable[[], Any], is_item: bool) -> Contents | None:
        """Of the object that ``read`` gives; None if there is none yet.

        Raises ``GraphError`` for an object of which not all contents can be set.
        """
        try:
            value = read()
        except Exception:  # whatever the user's expression raises where it has no value
            return None
        holder = value if is_item else getattr(value, "__dict__", None)
        if not isinstance(holder, (dict, list) if is_item else dict):
            raise GraphError(
                f"an `if` on a node cannot set {'items' if is_item else 'attributes'} of '{name}', "
                f"which is of type {type(value).__name__}; set a variable instead"
            )
        return cls(name, holder, is_item)

    def is_of(self, other: Contents) -> bool:
        """Whether both are of one object, which may have two names."""
        return self._holder is other._holder

    def begin_second_side(self) -> None:
        self._first = self._now()
        self._set(self._before)

    def merge(self, merged: Callable[[str, Any, Any], Any], unset: Callable[[str], Any]) -> None:
        """Sets what ``merged`` makes of a name and its two values.

        ``unset`` gives the value of a name for a side that has none.
        """
        first, second = self._first, self._now()
        if isinstance(self._holder, list) and len(first) != len(second):
            raise GraphError(
                f"the list '{self._name}' has {len(first)} elements on one side of an `if` on a "
                f"node, and {len(second)} on the other"
            )
        contents = {}
        for key in {**first, **second}:
            name = self._named(key)
            a, b = (side[key] if key in side else unset(name) for side in (first, second))
            contents[key] = merged(name, a, b)
        self._set(contents)

    def _named(self, key: Any) -> str:
        return f"{self._name}[{key!r}]" if self._is_item else f"{self._name}.{key}"

    def _now(self) -> dict[Any, Any]:
        if isinstance(self._holder, list):
            return dict(enumerate(self._holder))
        return dict(self._holder)

    def _set(self, contents: dict[Any, Any]) -> None:
        if isinstance(self._holder, list):
            self._holder[:] = contents.values()
            return
        for key in [k for k in self._holder if k not in contents]:
            del self._holder[key]
        self._holder.update(contents)
