# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Iterators for the Common Loop Utils (CLU): ``peekable_data_iterator``."""

from __future__ import annotations

from stoker.frameworks.jax.decorator import Given, make_decorator
from stoker.frameworks.jax.peekable import DALIGenericPeekableIterator

__all__ = ["DALIGenericPeekableIterator", "peekable_data_iterator"]

peekable_data_iterator = make_decorator(
    DALIGenericPeekableIterator,
    Given,
    "peekable_data_iterator",
    """Like ``stoker.jax.data_iterator``, but returns a ``DALIGenericPeekableIterator``.""",
)
