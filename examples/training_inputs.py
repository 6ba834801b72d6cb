# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""What the examples of training inputs share: their command line, and normalised pictures."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

MEAN = [0.485 * 255, 0.456 * 255, 0.406 * 255]
STD = [0.229 * 255, 0.224 * 255, 0.225 * 255]


def command_line(
    description: str, data: str, made: str, make: Callable[[Path], Path]
) -> tuple[Path, Path]:
    """The folder of the data, which are made where none is given, and the folder for results."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("data", type=Path, nargs="?", help=data)
    parser.add_argument("--out", type=Path, default=Path("build/demo"), help="where results go")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    return options.data or make(options.out / made), options.out


def unnormalised(image: Any) -> Any:
    """The picture (H, W, 3), in floats from 0 to 255, of a network's input (3, H, W)."""
    return image.transpose(1, 2, 0) * np.float32(STD) + np.float32(MEAN)
