# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""What is said where a script takes a node apart.

A node is no Iterable for Python, so it is Python itself that refuses this, in its own words.
"""

from __future__ import annotations

_WAY_OUT = (
    ": a node is one output, so it cannot be unpacked or looped over. x[0] is a part of it, "
    "fn.shapes gives its extents, and external_source has several outputs with num_outputs="
)


def explain(error: BaseException | None) -> None:
    """Adds the way out to Python's message that a node is not iterable; leaves other errors."""
    if type(error) is not TypeError or len(error.args) != 1:
        return
    text = str(error.args[0])
    is_about_a_node = "DataNode" in text or "ExpressionNode" in text
    if is_about_a_node and "iterable" in text and not text.endswith(_WAY_OUT):
        error.args = (text + _WAY_OUT,)
