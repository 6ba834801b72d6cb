# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The types of arguments that the stubs of ``fn`` and ``ops`` name.

They describe NumPy and PyTorch without importing them.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Protocol

from stoker._graph.node import DataNode
from stoker.types import DType


class Array(Protocol):
    """A NumPy array or scalar, a PyTorch tensor, or anything else with ``tolist()``."""

    def tolist(self) -> Any: ...


class ElementType(Protocol):
    """A ``numpy.dtype`` or ``torch.dtype``."""

    @property
    def itemsize(self) -> int: ...


Text = str | os.PathLike[str]
DTypeLike = DType | str | type | ElementType
Input = DataNode | Array | float | Sequence[float] | Sequence[Sequence[float]]
