# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""A row of bench/cliffs.py, and what many rows do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from cliff_clock import Array

from stoker import fn, types

try:
    import cv2

    cv2.setNumThreads(1)
except ImportError:
    cv2 = None


@dataclass(frozen=True)
class Row:
    """`ours` gets the node and one sample as it is fed, `peer` that sample and the output.

    `view` makes the sample of a picture. `apart` is how far the mean answers of both may differ;
    None where they cannot be compared.
    """

    name: str
    operator: str  # in the registry
    ours: Callable[[Any, Array], Any]
    by: str
    peer: Callable[[Array, Array], Any]
    view: Callable[[Array], Array] = lambda picture: picture
    apart: float | None = 0.0
    has_input: bool = True

    @property
    def is_feeding(self) -> bool:
        return self.operator == "external_source"


def to(dtype: str) -> Callable[[Array], Array]:
    return lambda picture: picture.astype(dtype)


def moved(x: Array, out: Array) -> None:
    np.copyto(out, x, casting="unsafe")


def fed(node: Any, _: Array) -> Any:
    return node


def twice(x: Array) -> list[int]:
    return [2 * x.shape[0], 2 * x.shape[1]]


def other(x: Array) -> list[int]:
    return [375, 500] if x.shape[0] == 224 else [224, 224]


def nearest(node: Any, size: list[int]) -> Any:
    return fn.resize(node, size=size, interp_type=types.INTERP_NN)


def linear(node: Any, x: Array) -> Any:
    return fn.resize(node, size=other(x), antialias=False)


PAD = 50


def padded(node: Any, x: Array) -> Any:
    shape = [x.shape[0] + 2 * PAD, x.shape[1] + 2 * PAD]
    return fn.slice(node, axes=[0, 1], start=[-PAD, -PAD], shape=shape, out_of_bounds_policy="pad")
