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


def expected_batch(samples: list[list[Array]], layout: str, **arguments: Any) -> list[list[Array]]:
    """With batch=True, the groups of all samples are one behind the other along a reduced axis."""
    if not arguments.get("batch"):
        return [[expected(inputs, layout, **arguments)] for inputs in samples]
    arrays = [inputs[0] for inputs in samples]
    names, axes = arguments.get("axis_names"), arguments.get("axes")
    along = [layout.index(c) for c in names] if names is not None else axes
    if along is None:
        whole = np.concatenate([a.reshape(-1) for a in arrays])
        flat = {k: v for k, v in arguments.items() if k not in ("axes", "axis_names")}
        parts = np.split(expected([whole], "", **flat), np.cumsum([a.size for a in arrays])[:-1])
        return [[p.reshape(a.shape)] for p, a in zip(parts, arrays, strict=True)]
    # A new first axis for the samples; where extents differ, the reduced axes become one.
    rank = arrays[0].ndim
    reduced = [a % rank for a in along]
    kept = [a for a in range(rank) if a not in reduced]
    rows = [np.transpose(a, reduced + kept) for a in arrays]
    widths = [a.shape[k] for a in arrays[:1] for k in kept]
    joined = np.concatenate(
        [r.reshape([-1, *widths]) if r.size else r.reshape([0, *widths]) for r in rows]
    )
    given = {**arguments, "axis_names": None, "axes": [0]}
    if not reduced:
        joined = np.stack(arrays)
    result = expected([joined], "", **given)
    ends = np.cumsum([int(np.prod(r.shape[: len(reduced)])) for r in rows])[:-1]
    parts = np.split(result, ends) if reduced else list(result[:, None])
    back = np.argsort(reduced + kept)
    return [[np.transpose(p.reshape(r.shape), back)] for p, r in zip(parts, rows, strict=True)]


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
    for arguments in (
        {},
        {"axes": [0, 1]},
        {"axis_names": "HW", "mean": 100.0, "scale": 30.0, "shift": 128.0, "dtype": "uint8"},
        {"axes": [0], "stddev": 20.0, "epsilon": 1.0},
        {"axes": [2], "ddof": 1},
        {"mean": 100.0, "stddev": 50.0},
        {"axes": [], "shift": 3.0},
    ):
        yield [image], "HWC", {"batch": True, **arguments}


def generate_batches(rng: np.random.Generator) -> Iterator[tuple[list[list[Array]], str, Any]]:
    for dtype in ("uint8", "float32", "int64"):
        batch = [[numbers(rng, (3 + 40 * i, 30 - i, 3), dtype)] for i in range(4)]
        for arguments in (
            {},
            {"axes": [0, 1]},
            {"axis_names": "HW", "ddof": 2, "epsilon": 3.0},
            {"axes": [0, 1], "mean": 90.0},
            {"axes": [0, 1], "stddev": 9.0, "dtype": "int16"},
        ):
            yield batch, "HWC", {"batch": True, **arguments}
    batch = [[numbers(rng, (n, 4), "float32")] for n in (5, 0, 1)]
    yield batch, "", {"batch": True, "axes": [0]}
    same = [[numbers(rng, (6, 4), "int16")] for _ in range(5)]
    yield same, "HW", {"batch": True, "axes": []}
    yield same, "HW", {"axes": [0]}


def refused_batches() -> Iterator[tuple[list[list[Array]], str, dict[str, Any], str]]:
    batch = [[np.zeros((2, 3), np.uint8)], [np.zeros((2, 4), np.uint8)]]
    words = "sample 1 of the batch has the shape (2, 4), and sample 0 (2, 3)"
    yield batch, "", {"batch": True, "axes": [0]}, words


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    image = np.zeros((2, 3), np.uint8)
    for name in ("mean", "stddev"):
        arguments = {"batch": True, "axes": [0], name: [[1.0, 2.0, 3.0]]}
        yield [image], "", arguments, f"'{name}' has 3 values, expected one number under batch=True"
