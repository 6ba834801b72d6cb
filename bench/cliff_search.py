# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Compares every operator of the registry with itself, over dtypes, layouts, strides and shapes.

New operators take part by being there. A case is compared with the best one of its operator whose
inputs and outputs have elements of the same sizes: by the time for a byte of output, and tiny
samples by the time for a sample.
"""

from __future__ import annotations

import functools
import io
import statistics
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from cliff_clock import Array, Fed, corner, one_element, rounds_of
from PIL import Image
from run import arguments_of, function

from stoker import fn
from stoker.errors import Error

DTYPES = [
    "bool",
    "uint8",
    "int8",
    "uint16",
    "int16",
    "uint32",
    "int32",
    "uint64",
    "int64",
    "float16",
    "float32",
    "float64",
]
SHAPES = {"large": (240, 250), "1xN": (1, 60_000), "Nx1": (60_000, 1), "tiny": (4, 4)}
LEAST = 0.3e-6  # seconds for a sample; less cannot be told from nothing
CLIFF = 2.0  # ratios from here on are printed
AGAIN = 50  # the worst cases are timed once more, as another program may have been in the way

# How the elements of what is fed may lie. What is not dense is copied before an operator sees it.
STRIDES: dict[str, Callable[[Array], Array]] = {
    "dense": lambda a: a,
    "rows reversed": lambda a: a[::-1],
    "last axis reversed": lambda a: a[..., ::-1],
    "cropped": lambda a: np.pad(a, 1)[(slice(1, -1),) * a.ndim],
    "transposed": lambda a: np.ascontiguousarray(a.T).T,
}
# A slice copies nothing, so operators see gaps between its rows. All channels stay.
BEHIND_SLICE = "behind a slice"


@dataclass
class Case:
    operator: dict[str, Any]
    dtype: str
    layout: str
    strides: str
    size: str
    to: str | None = None  # the argument dtype
    seconds: float = 0.0  # for a sample
    bytes: int = 0  # of an output
    widths: tuple[int, int] = (0, 0)  # of the elements of an input and of an output

    @property
    def group(self) -> tuple[Any, ...]:
        return self.operator["name"], self.widths, self.size == "tiny"

    @property
    def cost(self) -> float:
        return self.seconds if self.size == "tiny" else self.seconds / self.bytes


def is_source(operator: dict[str, Any]) -> bool:
    return all(i["is_optional"] for i in operator["inputs"]) and operator["kind"] != "input"


def cases_of(operator: dict[str, Any]) -> Iterator[Case]:
    inputs, name = operator["inputs"], operator["name"]
    layouts = (inputs[0]["layouts"] if inputs else "").split(", ")
    layouts = [layout or "HWC" for layout in layouts]
    takes_dtype = any(a["name"] == "dtype" for a in operator["arguments"])
    takes_dtype &= operator["kind"] != "input"
    encoded = name.startswith("decoders.")
    dtypes = ["uint8"] if encoded or is_source(operator) else DTYPES
    strides = list(STRIDES) if operator["kind"] == "input" else ["dense", BEHIND_SLICE]
    for dtype in dtypes:
        if not (encoded or is_source(operator)):
            for size in SHAPES:
                yield from (Case(operator, dtype, each, "dense", size) for each in layouts)
                yield from (Case(operator, dtype, layouts[0], s, size) for s in strides[1:])
        if takes_dtype:
            sizes = SHAPES if is_source(operator) else ["large"]
            for to in DTYPES:
                yield from (Case(operator, dtype, layouts[0], "dense", s, to) for s in sizes)


def shape_of(case: Case) -> list[int]:
    height, width = SHAPES[case.size]
    return [{"H": height, "W": width, "C": 3}.get(axis, 2) for axis in case.layout]


def arguments_for(case: Case) -> dict[str, Any]:
    """Arguments that fit the size. Literal cases have sizes for tiny inputs."""
    height, width = (max(1, extent * 3 // 4) for extent in SHAPES[case.size])
    name = case.operator["name"]
    fitting: dict[str, dict[str, Any]] = {
        "constant": {"idata": [100]},
        "crop": {"crop_h": height, "crop_w": width},
        "crop_mirror_normalize": {"mirror": 1, "mean": [124.0], "std": [58.0]},
        "decoders.image_crop": {"crop_h": height, "crop_w": width},
        "random.coin_flip": {"probability": 0.5},
        "random.uniform": {"range": [0.0, 100.0]},
        "random_resized_crop": {"size": [height, width]},
        "resize": {"resize_x": width, "resize_y": height},
    }
    arguments = dict(fitting[name] if name in fitting else arguments_of(case.operator))
    if is_source(case.operator) and any(a["name"] == "shape" for a in case.operator["arguments"]):
        arguments["shape"] = shape_of(case)
    if case.to:
        arguments["dtype"] = case.to
    return arguments


def sample_of(case: Case) -> Array:
    if case.operator["name"].startswith("decoders."):
        file = io.BytesIO()
        picture = np.indices(SHAPES[case.size]).sum(0).astype(np.uint8)
        Image.fromarray(picture).convert("RGB").save(file, "JPEG")
        return np.frombuffer(file.getvalue(), np.uint8)
    if is_source(case.operator):
        return np.zeros(1, np.uint8)
    whole = np.random.default_rng(1).integers(0, 100, shape_of(case)).astype(case.dtype)
    if behind(case):
        return np.pad(whole, [(int(axis != "C"),) * 2 for axis in case.layout])
    return STRIDES.get(case.strides, np.copy)(whole)


def behind(case: Case) -> bool:
    return case.strides == BEHIND_SLICE


def build(case: Case, sample: Array, idle: bool) -> Callable[[Any], Any]:
    def outputs(fed: Any) -> Any:
        if behind(case):
            axes = [i for i, axis in enumerate(case.layout) if axis != "C"]
            shape = [sample.shape[i] - 2 for i in axes]
            fed = fn.slice(fed, axes=axes, start=[1] * len(axes), shape=shape)
        if case.operator["kind"] == "input":
            return fed
        if idle:
            return fed if is_source(case.operator) else one_element(sample.ndim)(fed)
        needed = [fed for i in case.operator["inputs"] if not i["is_optional"]]
        made = function(case.operator["name"])(*needed, **arguments_for(case))
        made = made[0] if isinstance(made, (list, tuple)) else made
        return [made, fed] if is_source(case.operator) else made

    return outputs


def measure(case: Case, rounds: int) -> None:
    """Fills in the time. Raises Error for what the operator does not take."""
    sample, feeds = sample_of(case), case.operator["kind"] == "input"
    count = 64 if case.size == "tiny" else 8
    layout = case.layout if len(case.layout) == sample.ndim else ""
    pieces = [corner(sample) if feeds else sample] * count
    with_work = Fed([sample] * count, build(case, sample, False), layout, feeds)
    without = Fed(pieces, build(case, sample, True), layout, feeds)
    first = np.asarray(with_work.batch()[0])
    case.bytes, case.widths = max(1, first.nbytes), (sample.itemsize, first.itemsize)
    found = rounds_of([with_work.batch, without.batch], rounds, limit=0.1)
    seconds = statistics.median(o - i for o, i in found) / count
    case.seconds = max(LEAST, seconds, case.bytes * copy_seconds())


@functools.cache
def copy_seconds() -> float:
    """Of one byte, from cache to cache. Operators that have nothing to do count as copies."""
    source = np.ones(200_000, np.uint8)
    out = np.empty_like(source)
    found = rounds_of([lambda: np.copyto(out, source)], 101, 1.0)
    return statistics.median(seconds for (seconds,) in found) / source.nbytes


def figures(case: Case, best: Case) -> dict[str, Any]:
    return {
        "operator": case.operator["name"],
        "dtype": case.dtype,
        "to": case.to,
        "layout": case.layout,
        "strides": case.strides,
        "shape": case.size,
        "us": case.seconds * 1e6,
        "ns_a_byte": case.seconds / case.bytes * 1e9,
        "ratio": case.cost / best.cost,
        "case": words(case),
        "best": words(best),
    }


def words(case: Case) -> str:
    dtype = case.dtype + (f" to {case.to}" if case.to else "")
    return ", ".join((dtype, case.layout, case.strides, case.size))


def search(operators: Sequence[dict[str, Any]], rounds: int) -> list[dict[str, Any]]:
    timed: list[Case] = []
    refused: Counter[str] = Counter()
    for operator in operators:
        print(operator["name"], file=sys.stderr)
        for case in cases_of(operator) if operator["kind"] not in ("read", "user_code") else ():
            try:
                measure(case, rounds)
            except Error:
                refused[operator["name"]] += 1
            else:
                timed.append(case)
    best = best_of(timed)
    worst = sorted(timed, key=lambda c: c.cost / best[c.group].cost, reverse=True)[:AGAIN]
    for case in worst:
        before = case.seconds
        measure(case, 2 * rounds)
        case.seconds = min(before, case.seconds)
    best = best_of(timed)
    results = sorted((figures(c, best[c.group]) for c in timed), key=lambda r: -r["ratio"])
    outliers = [r for r in results if r["ratio"] >= CLIFF]
    print(f"{len(outliers)} of {len(results)} cases take {CLIFF:g} times as long as the best one\n")
    print("| ratio | operator | case | us a sample | ns a byte | the best of its element size |")
    print("| ----: | -------- | ---- | ----------: | --------: | ---------------------------- |")
    for r in outliers:
        print(
            f"| {r['ratio']:.1f} | {r['operator']} | {r['case']} | {r['us']:.1f} |"
            f" {r['ns_a_byte']:.2f} | {r['best']} |"
        )
    told = ", ".join(f"{name} {count}" for name, count in refused.items())
    print(f"\nNot taken by the operator: {told or 'nothing'}")
    return results


def best_of(cases: Sequence[Case]) -> dict[tuple[Any, ...], Case]:
    best: dict[tuple[Any, ...], Case] = {}
    for case in cases:
        if case.cost < best.setdefault(case.group, case).cost:
            best[case.group] = case
    return best
