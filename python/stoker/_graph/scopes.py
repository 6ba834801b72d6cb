# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Scopes: the functions and branches in which nodes are added, and the guards of the branches.

Nodes are counted within their scope, so a draw that is added in a branch or in a helper function
moves no other draw. The pipeline's own function has the empty scope. The functions of a module that
sets ``__stoker_scopes__ = False`` are no scopes of their own.
"""

from __future__ import annotations

import sys
from collections import Counter
from types import FrameType

from stoker._messages import is_ours

Guard = tuple[int, int, bool]  # a condition's node and output, and the truth for which it holds
Entered = tuple[FrameType | None, str, Guard]  # in which function, by which name


class Scopes:
    """The scopes of one definition, from ``enter()`` to ``leave()``."""

    def __init__(self) -> None:
        self._roots: list[tuple[FrameType | None, list[Entered]]] = []  # and branches put aside
        self._paths: dict[FrameType, str] = {}  # the scopes of running functions
        self._counts: Counter[str] = Counter()
        self._branches: list[Entered] = []

    def enter(self, anew: bool = False) -> None:
        """Nodes are added from now on, by the caller or by the functions that it calls.

        ``anew``: they belong to none of the branches that were entered before.
        """
        self._roots.append((_user_frame(sys._getframe(1)), self._branches))
        if anew:
            self._branches = []

    def leave(self) -> None:
        _, self._branches = self._roots.pop()
        if not self._roots:
            self._paths.clear()  # which holds the frames, and so all that their variables name

    def guards(self) -> list[Guard]:
        return [guard for _, _, guard in self._branches]

    def current(self) -> str:
        """The scope of a node that is added now, such as ``"augment#0/if#1.true"``."""
        return self._inside(_user_frame(sys._getframe(1)))

    def number(self, what: str) -> str:
        """The next name of its kind in the current scope, such as ``"if#1"``."""
        return self._numbered(self.current(), what)

    def branch(self, name: str, guard: Guard) -> Branch:
        """What is added inside has this guard, and this name as part of its scope."""
        return Branch(self._branches, name, guard)

    def _numbered(self, path: str, what: str) -> str:
        name = f"{path}/{what}" if path else what
        self._counts[name] += 1
        return f"{what}#{self._counts[name] - 1}"

    def _inside(self, frame: FrameType | None) -> str:
        """The scope of a function that runs, with the branches that it is in."""
        path = self._path(frame)
        for of, name, _ in self._branches:
            if of is frame:
                path = f"{path}/{name}" if path else name
        return path

    def _path(self, frame: FrameType | None) -> str:
        if frame is None or frame is self._root():
            return ""
        if frame not in self._paths:
            parent = _user_frame(frame.f_back)
            if parent is self._root() and _is_called_by_us(frame):
                self._paths[frame] = ""  # the pipeline's own function, which Stoker calls
            elif not self._is_below_root(frame):
                self._paths[frame] = ""
            else:
                path = self._inside(parent)
                segment = self._numbered(path, frame.f_code.co_name)
                self._paths[frame] = f"{path}/{segment}" if path else segment
        return self._paths[frame]

    def _root(self) -> FrameType | None:
        return self._roots[-1][0] if self._roots else None

    def _is_below_root(self, frame: FrameType) -> bool:
        at: FrameType | None = frame
        while at is not None and at is not self._root():
            at = at.f_back
        return at is not None


class Branch:
    """A side of a conditional, for a ``with`` statement."""

    def __init__(self, entered: list[Entered], name: str, guard: Guard) -> None:
        self._entered = entered
        self._name = name
        self._guard = guard

    def __enter__(self) -> None:
        self._entered.append((_user_frame(sys._getframe(1)), self._name, self._guard))

    def __exit__(self, *_: object) -> None:
        self._entered.pop()


def _is_transparent(frame: FrameType) -> bool:
    """Whether it belongs to its caller: a comprehension, a lambda, or a function of wrappers."""
    name = frame.f_code.co_name
    if name == "<module>":
        return False
    return name.startswith("<") or not frame.f_globals.get("__stoker_scopes__", True)


def _is_called_by_us(frame: FrameType) -> bool:
    caller = frame.f_back
    while caller is not None and _is_transparent(caller):
        caller = caller.f_back
    return caller is not None and is_ours(caller)


def _user_frame(frame: FrameType | None) -> FrameType | None:
    """The innermost function of the user's."""
    while frame is not None and (is_ours(frame) or _is_transparent(frame)):
        frame = frame.f_back
    return frame
