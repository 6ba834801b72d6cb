# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Shows what the graphs give: python examples/graphs/NAME.py FOLDER [DEVICE]."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from stoker import DataNode, Pipeline

MEAN, STD = [0.485 * 255, 0.456 * 255, 0.406 * 255], [0.229 * 255, 0.224 * 255, 0.225 * 255]


def on(device: str, *nodes: Any) -> Any:
    """The decoded pictures, which are on the CPU, on the device where the graph goes on."""
    moved = [n.gpu() if device == "gpu" and isinstance(n, DataNode) else n for n in nodes]
    return moved if len(moved) > 1 else moved[0]


def files_of(folder: str, pattern: str) -> list[str]:
    return [str(path) for path in sorted(Path(folder).glob(pattern))]


def show(*factories: Callable[..., Pipeline]) -> None:
    """Runs each pipeline for a step and prints the outputs."""
    folder, *device = sys.argv[1:]
    for factory in factories:
        pipe = factory(folder, *device, batch_size=4, num_threads=2, seed=1)
        print(f"{factory.__name__}:")
        for batch in pipe.run():
            print(f"  {batch.dtype} {batch.layout} {batch.shape()}")
