# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The mark of functions whose conditionals stay as Python has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from stoker.errors import GraphError

F = TypeVar("F", bound=Callable[..., Any])

MARK = "_stoker_do_not_convert"
FACTORY = "_is_pipeline_def"  # the mark of what pipeline_def makes, as DALI spells it
NOT_BOTH = "cannot be a pipeline and have do_not_convert: its own conditionals would stay"


def do_not_convert(function: F) -> F:
    """Keeps conditionals in this function as Python has them; a decorator.

    A pipeline with ``enable_conditionals=True`` rewrites its function, and what that calls, so that
    an ``if`` may be on a node. This function is called as it is. Raises ``GraphError`` for what
    ``pipeline_def`` makes.
    """
    if getattr(function, FACTORY, False):
        raise GraphError(f"do_not_convert: {getattr(function, '__name__', function)} {NOT_BOTH}")
    setattr(function, MARK, True)
    return function
