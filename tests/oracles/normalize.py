# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""normalize, by NumPy in float64."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .common import Array, Tolerance, numbers, to_dtype

TOLERANCE = Tolerance(levels=1, share=1e-5)


def expected(
    inputs: list[Array],
    layout: str,
    axes: Sequence[int] | None = None,
    axis_names: str | None = None,
    mean: Any = None,
    stddev: Any = None,
    scale: float = 1.0,
    shift: float = 0.0,
    epsilon: float = 0.0,
    ddof: int = 0,
    dtype: str = "float32",
    batch: bool = False,
) -> Array:
    data = inputs[0].astype(np.float64)
    if axis_names is not None:
        axes = [layout.index(c) for c in axis_names]
    given = [np.asarray(g) for g in (mean, stddev) if g is not None and np.size(g) > 1]
    if axes is None and given:
        axes = [a for a, n in enumerate(given[0].shape) if n == 1]
    along = tuple(range(data.ndim)) if axes is None else tuple(a % data.ndim for a in axes)
    count = int(np.prod([data.shape[a] for a in along]))
    if data.size == 0:
        return np.zeros(data.shape, dtype)
    centre = data.mean(along, keepdims=True) if mean is None else np.asarray(mean, np.float64)
    if stddev is not None:
        variance = np.asarray(stddev, np.float64) ** 2
    elif count > ddof:
        variance = ((data - centre) ** 2).sum(along, keepdims=True) / (count - ddof)
    else:
        variance = np.zeros(1)
    deviation = np.sqrt(variance + epsilon)
    factor = np.where(deviation > 0, scale / np.where(deviation > 0, deviation, 1), 0)
    return to_dtype((data - centre) * factor + shift, dtype)


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    image = numbers(rng, (9, 70, 3), "uint8")
    yield [image], "HWC", {}
    yield [image], "HWC", {"axes": [0, 1]}
    yield [image], "HWC", {"axis_names": "HW", "scale": 64.0, "shift": 128.0, "dtype": "uint8"}
    yield [image], "HWC", {"axes": [0, 1], "mean": 100.0, "epsilon": 0.5}
    yield [image], "HWC", {"axes": [0, 1], "stddev": 50.0}
    yield [image], "HWC", {"mean": 100.0, "stddev": 50.0}
    yield [image], "HWC", {"axes": [2], "ddof": 1}
    yield [image], "HWC", {"axes": [0]}
    yield [image], "HWC", {"axes": [1], "scale": -2.0}
    yield [image], "HWC", {"axes": [], "shift": 3.0}
    yield [image], "HWC", {"axes": [2], "ddof": 3}
    each = rng.uniform(90, 160, (1, 1, 3)).astype(np.float32)
    yield [image], "HWC", {"mean": each.tolist()}
    yield [image], "HWC", {"stddev": each.tolist()}
    yield [image], "HWC", {"mean": each.tolist(), "stddev": (each / 4).tolist(), "dtype": "float16"}
    yield [image], "HWC", {"axes": [0, 1], "mean": each.tolist(), "epsilon": 10.0}
    whole = rng.uniform(90, 160, image.shape).astype(np.float32)
    yield [image], "HWC", {"mean": whole.tolist(), "stddev": 50.0}
    yield [numbers(rng, (2, 9, 70, 3), "uint8")], "FHWC", {"axis_names": "HW"}
    yield [numbers(rng, (3, 9, 700), "uint8")], "CHW", {"axis_names": "HW"}
    for dtype in ("float32", "float16", "float64", "int8", "uint16", "int16", "bool"):
        yield [numbers(rng, (7, 90), dtype)], "", {"axes": [1]}
        yield [numbers(rng, (7, 90), dtype)], "", {"axes": [0], "dtype": "float64"}
        yield [numbers(rng, (7, 90), dtype)], "", {"scale": 1000.0, "dtype": "int16"}
    for dtype in ("uint32", "int32", "uint64", "int64"):
        yield [numbers(rng, (7, 90), dtype)], "", {"axes": [1]}
        yield [numbers(rng, (7, 90), dtype)], "", {"dtype": "float64"}
    yield [numbers(rng, (5000, 3), "float32")], "", {"axes": [0]}
    yield [numbers(rng, (3, 5000), "float32")], "", {"axes": [1]}
    yield [np.full((4, 5), 7, np.uint8)], "HW", {"shift": 0.5}
    yield [np.zeros((0, 3), np.uint8)], "", {"axes": [0]}
    yield [np.full((), 7, np.uint8)], "", {}
