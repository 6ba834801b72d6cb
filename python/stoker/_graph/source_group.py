# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""What ``fn.external_source`` leaves with a pipeline."""

from __future__ import annotations

from typing import Any, NamedTuple


class SourceGroup(NamedTuple):
    """One call of ``fn.external_source`` with a source, and the nodes that it feeds."""

    names: list[str]  # of the nodes
    layouts: list[str | None]
    source: Any
    cycle: str  # "no", "quiet" or "raise"
    batch: bool
    batch_info: bool
    num_outputs: int | None
    no_copy: bool
    parallel: bool
    depth: int  # batches ahead in worker processes
    where: str  # the user's line

    def place(self) -> str:
        """For messages."""
        return f"the source of external_source '{self.names[0]}' ({self.where})"
