# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""What a store is for the conformance tests of readers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass
class Store:
    """A store on disk, what its samples are, and how it is damaged."""

    arguments: Mapping[str, Any]  # of the reader
    samples: Sequence[tuple[Array, ...]]  # by index: the outputs
    files: list[Path]  # by index: the file that holds the sample, or most of it
    # Damages one sample on disk, so that only this one fails. None: the store's samples have
    # nothing of their own that could be wrong.
    damage: Callable[[int], None] | None = None
    # Whether a file that became shorter before it was opened is as good as any other.
    takes_any_file: bool = False
    # By index: what the error of a damaged sample has to name, besides the file.
    named: Mapping[int, str] = field(default_factory=dict)


def some_bytes(index: int, size: int) -> bytes:
    """Bytes that tell their index."""
    return np.random.default_rng(index).integers(0, 256, size, dtype=np.uint8).tobytes()


def array_of(data: bytes) -> Array:
    return np.frombuffer(data, np.uint8)


def cut(path: Path, size: int | None = None) -> None:
    """Cuts a file off, in its middle unless a size is given."""
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2 if size is None else size])
