# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""How transforms refuse what they are given."""

from __future__ import annotations

from typing import NoReturn


def refuse(problem: str, kind: type[Exception] = ValueError) -> NoReturn:
    """Raises the error with this text."""
    raise kind(f"stoker.transforms: {problem}")
