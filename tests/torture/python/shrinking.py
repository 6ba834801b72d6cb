# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Makes a trial smaller by leaving out what it does not need to go wrong."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from typing import Any

from examining import Complaint


def signature(complaint: Complaint | None) -> str:
    """What complaints of one defect have in common, as far as one can tell."""
    if complaint is None:
        return ""
    if complaint.wrong in ("hang", "memory"):  # the stacks of one defect are never quite the same
        return complaint.wrong
    place = re.search(r"[\w/]+\.py:\d+", complaint.text)
    first = complaint.text.split("(")[0] if complaint.wrong != "other" else ""
    kind = re.match(r"\w+", first)
    return f"{complaint.wrong} {kind[0] if kind else ''} {place[0] if place else ''}"


class OutOfTimeError(Exception):
    """The smallest text until now will do."""


def shrink(text: str, still_fails: Callable[[str], bool]) -> str:
    """The smallest text found that fails alike. ``still_fails`` may raise OutOfTimeError."""
    try:
        while smaller := next((t for t in _smaller(text) if still_fails(t)), None):
            text = smaller
    except OutOfTimeError:
        pass
    return text


def _smaller(text: str) -> Iterator[str]:
    """The text without one of its statements, elements or keywords, large ones first."""
    cuts: list[tuple[int, int, int]] = []
    for number, node in enumerate(ast.walk(ast.parse(text))):
        for which, parts in enumerate(_lists(node)):
            cuts += [
                (-len(ast.unparse(part)), number, 1000 * which + k) for k, part in enumerate(parts)
            ]
    for _, number, place in sorted(cuts):
        tree = ast.parse(text)
        node = next(n for i, n in enumerate(ast.walk(tree)) if i == number)
        del _lists(node)[place // 1000][place % 1000]
        try:
            yield ast.unparse(tree) + "\n"
        except (ValueError, IndexError):
            continue


def _lists(node: ast.AST) -> list[list[Any]]:
    if isinstance(node, (ast.Module, ast.With)):
        return [node.body] if len(node.body) > 1 else []
    if isinstance(node, (ast.List, ast.Tuple)) and isinstance(node.ctx, ast.Load):
        return [node.elts]
    if isinstance(node, ast.Call):
        return [node.keywords]
    return []
