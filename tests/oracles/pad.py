# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""pad, by numpy.pad."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .common import DTYPES, Array, numbers, to_dtype


def expected_batch(
    samples: list[list[Array]],
    layout: str,
    *,
    axes: Sequence[int] = (),
    axis_names: str | None = None,
    fill_value: float = 0.0,
    shape: Any = (),
    align: Any = (),
) -> list[list[Array]]:
    rank = samples[0][0].ndim
    if rank == 0:
        return samples
    chosen = [layout.index(c) for c in axis_names or ""] or [a % rank for a in axes]
    chosen = chosen or list(range(rank))
    least = np.broadcast_to(np.reshape(shape, -1) if np.size(shape) else -1, len(chosen))
    unit = np.broadcast_to(np.reshape(align, -1) if np.size(align) else 1, len(chosen))
    found = []
    for (data,) in samples:
        behind = [0] * rank
        for axis, asked, multiple in zip(chosen, least, unit, strict=True):
            largest = max(other.shape[axis] for (other,) in samples)
            extent = max(data.shape[axis], largest if asked < 0 else int(asked))
            behind[axis] = -(-extent // int(multiple)) * int(multiple) - data.shape[axis]
        fill = to_dtype(np.array(fill_value, np.float32), str(data.dtype))
        found.append([np.pad(data, [(0, n) for n in behind], constant_values=fill)])
    return found


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    image = numbers(rng, (9, 14, 3), "uint8")
    yield [image], "HWC", {}
    yield [image], "HWC", {"fill_value": 42.0, "align": 8}
    yield [image], "HWC", {"axis_names": "HW", "align": [4, 5], "fill_value": 1e9}
    yield [image], "HWC", {"axis_names": "WC", "shape": [20, -1], "align": [1, 4]}
    yield [image], "HWC", {"axes": [0, 1], "shape": [32, 32], "fill_value": 7.6}
    yield [image], "HWC", {"axes": [-1], "shape": [4], "fill_value": 255.0}
    yield [image], "HWC", {"axes": [1, 0], "shape": [5, 12], "align": [3]}
    yield [image], "HWC", {"shape": [1], "align": [1, 16, 1]}
    yield [image], "HWC", {"shape": [10, 20, 5], "fill_value": -3.0}
    yield [numbers(rng, (3, 9, 8, 1), "uint8")], "FHWC", {"axis_names": "F", "shape": [5]}
    for dtype in DTYPES:
        yield [numbers(rng, (5, 7), dtype)], "HW", {"shape": [6, 9], "fill_value": 2.4}
        yield [numbers(rng, (5, 7), dtype)], "HW", {"align": [3], "fill_value": -300.5}
    yield [np.zeros((0, 3), np.int32)], "", {"shape": [2, 4], "fill_value": 5.0}
    yield [np.array(3.5, np.float32)], "", {}


def generate_batches(rng: np.random.Generator) -> Iterator[tuple[list[list[Array]], str, Any]]:
    for dtype in ("uint8", "float32", "int64"):
        batch = [[numbers(rng, (1 + 2 * i, 12 - i, 3), dtype)] for i in range(5)]
        for arguments in (
            {},
            {"fill_value": 9.0, "align": 16},
            {"axis_names": "W", "fill_value": 1.5},
            {"axes": [0, 1], "shape": [-1, 13]},
            {"axes": [0, 1], "shape": [20, 1], "align": [1, 5]},
        ):
            yield batch, "HWC", arguments
    yield [[numbers(rng, (n,), "float32")] for n in (0, 1000, 3)], "", {"fill_value": -1.0}


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    image = np.zeros((2, 3, 1), np.uint8)
    yield [image], "HWC", {"axes": [3]}, "axis 3"
    yield [image], "HWC", {"axis_names": "D"}, "names axis D"
    yield [image], "HWC", {"axes": [0, 0]}, "named twice"
    yield [image], "HWC", {"shape": [4, 4]}, "'shape' has 2 values, expected 1 or 3"
    yield [image], "HWC", {"axis_names": "H", "align": [4, 4]}, "'align' has 2 values, expected 1"
