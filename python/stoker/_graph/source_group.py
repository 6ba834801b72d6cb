# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""What ``fn.external_source`` tells a pipeline about a source."""

from __future__ import annotations

from typing import Any, NamedTuple


class SourceGroup(NamedTuple):
    """One call of ``fn.external_source`` with a source, and the nodes that it feeds."""

    names: list[str]  # the names of the nodes
    layouts: list[str]  # "" where none is declared
    source: Any
    cycle: str  # "no", "quiet" or "raise"
    batch: bool
    batch_info: bool
    num_outputs: int | None
    no_copy: bool
    parallel: bool
    depth: int  # how many batches worker processes prepare ahead
    where: str  # the user's line
    unread: frozenset[str] = frozenset()  # names of nodes that are not to be fed

    def place(self) -> str:
        """The source as messages name it."""
        return f"the source of external_source '{self.names[0]}' ({self.where})"
