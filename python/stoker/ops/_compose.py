# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Several operators in a row as one: ``ops.Compose``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from stoker._messages import shown
from stoker.errors import GraphError

Step = Callable[..., Any]


class Compose:
    """Operators in a row. Each gets all outputs of the one before it as its inputs.

        augment = ops.Compose([ops.Resize(size=[224, 224]), ops.Flip(horizontal=1)])
        images = augment(images)

    The elements of ``steps`` are objects of operators, other ``Compose`` objects, or functions of
    nodes. Inputs and keyword arguments of a call go to the first one. The result is one node, or a
    list of nodes.

    Raises ``GraphError`` for an element that cannot be called, and for an empty list.
    """

    def __init__(self, steps: Iterable[Step]) -> None:
        self._steps: list[Step] = list(steps)
        if not self._steps:
            raise GraphError("Compose expects at least one operator, got an empty list")
        for step in self._steps:
            if not callable(step):
                raise GraphError(f"Compose expects objects of operators, got {shown(step)}")

    def __call__(self, *inputs: Any, **arguments: Any) -> Any:
        data = list(inputs)
        for step in self._steps:
            made = step(*data, **arguments)
            data, arguments = list(made) if isinstance(made, (list, tuple)) else [made], {}
        return data[0] if len(data) == 1 else data

    def __repr__(self) -> str:
        return f"Compose({self._steps!r})"
