# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The mark of functions whose conditionals stay as Python has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

MARK = "_stoker_do_not_convert"


def do_not_convert(function: F) -> F:
    """Keeps conditionals in this function as Python has them; a decorator.

    A pipeline with ``enable_conditionals=True`` rewrites its function, and what that calls, so that
    an ``if`` may be on a node. This function is called as it is.
    """
    setattr(function, MARK, True)
    return function
