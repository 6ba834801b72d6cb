# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The choice between functions for each sample."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from stoker._conditionals.branches import choose
from stoker._graph.node import DataNode
from stoker._graph.outside import anywhere
from stoker.errors import GraphError


@anywhere
def select(
    ops: Sequence[Callable[..., DataNode]],
    selected_op_idx: DataNode,
    *arguments: Any,
    **named: Any,
) -> DataNode:
    """For each sample what one of the functions makes of the arguments: that with its number.

    Raises ``GraphError`` without a function.
    """
    if not ops:
        raise GraphError("select expects at least one function")

    def among(low: int, high: int) -> DataNode:
        if high - low == 1:
            return ops[low](*arguments, **named)
        middle = (low + high) // 2
        made: DataNode = choose(
            selected_op_idx < middle, lambda: among(low, middle), lambda: among(middle, high)
        )
        return made

    return among(0, len(ops))
