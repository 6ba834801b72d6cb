# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Operators give what the established library gives: tests/golden/peer_operators holds its answers.

tools/record_peer_operators.py writes them. Every operator that both libraries have is here, or in
one of the lists below with the reason.
"""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import peer_calls as peer
import peer_ties
import pytest
from peer_borders import TIED

import stoker
import stoker.compat
from helpers import Array, load_tool
from stoker._describe.registry import operators

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden" / "peer_operators"
TOOL = load_tool(ROOT, "record_peer_operators")
DIFFERENCES = load_tool(ROOT, "peer_differences").DIFFERENCES

# Operators that both libraries have, and that have no recording.
_GPU = "it runs on GPUs only there"
_FILES = "its files are those of the formats' own writers, in conformance_readers"
NOT_RECORDED = {
    **dict.fromkeys(["decoders.inflate", "dilate", "erode", "jitter", "median_blur"], _GPU),
    "remap": _GPU,
    **dict.fromkeys([n for n in operators() if n.startswith("readers.")], _FILES),
    "dump_image": "it writes files, where the recording runs",
    "io.file.read": "it reads files, which the recording has not",
    "external_source": "it gives the inputs of all recordings",
    "python_function": "tests/compat/scripts/classification_in_parts.py is recorded instead",
    "dl_tensor_python_function": "its functions take tensors of a framework; tests/user_code",
}

# Operators that compute pixels: whole numbers may differ by one level.
WITHIN_A_LEVEL = {
    *("color_twist", "decoders.image", "decoders.image_random_crop", "fast_resize_crop_mirror"),
    *("filter", "gaussian_blur", "random_resized_crop", "resize", "resize_crop_mirror", "rotate"),
    *("saturation", "warp_affine", "warp_perspective", "water"),
}


# They have borders, which are the established library's in its scripts.
RESIZING = ["fast_resize_crop_mirror", "random_resized_crop", "resize", "resize_crop_mirror"]


def recorded(operator: str) -> list[dict[str, Any]]:
    return json.loads(gzip.decompress((GOLDEN / f"{operator}.json.gz").read_bytes()))


def names() -> list[str]:
    return sorted(p.name.removesuffix(".json.gz") for p in GOLDEN.glob("*.json.gz"))


def difference(right: peer.Read, got: Array, levels: float, free: Array | None = None) -> str:
    """In which way a result is not as recorded; "" if it is. Values that are `free` may differ."""
    if (str(got.dtype), got.shape) != (str(right.values.dtype), right.shape):
        return f"{got.dtype}{got.shape} instead of {right.values.dtype}{right.shape}"
    found = np.ascontiguousarray(got).reshape(-1)[:: right.step]
    allowed = levels
    if found.dtype.kind == "f":
        finite = right.values[np.isfinite(right.values)].astype(np.float64)
        reach = max(abs(float(finite.max(initial=0))), abs(float(finite.min(initial=0))))
        allowed = max(1e-4, float(np.finfo(found.dtype).eps)) * reach
    with np.errstate(invalid="ignore"):
        apart = np.abs(found.astype(np.float64) - right.values.astype(np.float64))
    same = (found == right.values) | ((found != found) & (right.values != right.values))
    apart = np.where(same, 0, np.maximum(apart, np.finfo(np.float64).tiny))  # also beyond 2^53
    if free is not None:
        apart = np.where(free.reshape(-1)[:: right.step], 0, apart)
    if apart.size == 0 or (apart <= allowed).all():
        return ""
    at = int(np.argmax(np.nan_to_num(apart, nan=np.inf)))
    count = int((~(apart <= allowed)).sum())
    return f"{count} of {apart.size} values, e.g. {found[at]} instead of {right.values[at]}"


# How far apart the features of pictures may be whose values are within a level of each other.
MEAN_LEVELS = 0.05  # 1 of 20 values differs, at most
FEATURE_LEVELS = [MEAN_LEVELS, MEAN_LEVELS, 1.0, 1.0, 1.0, 1.0]


def distribution_difference(right: Array, got: Array, levels: float = 0.0) -> str:
    """Whether two tables with a row for each draw do not look as if of one distribution.

    Of tables that are, a column is found to differ once in 100,000 times.
    """
    if right.shape[1] != got.shape[1]:
        return f"{got.shape[1]} columns instead of {right.shape[1]}"
    allowed = [0.0] * (right.shape[1] - len(FEATURE_LEVELS)) + [levels * n for n in FEATURE_LEVELS]
    for column in range(right.shape[1]):
        a, b = (np.nan_to_num(table[:, column]).astype(np.float64) for table in (right, got))
        if apart_by_more(a, b, max(allowed[column], 1e-5 * float(np.abs(a).max()))):
            return f"column {column} has another distribution: {quartiles(b)}, not {quartiles(a)}"
    return ""


def apart_by_more(a: Array, b: Array, reach: float) -> bool:
    """Whether draws are of no two distributions whose values are in pairs within `reach`."""
    from scipy.stats import ks_2samp

    lower = ks_2samp(a, b - reach, alternative="greater")  # where b is too large even so
    higher = ks_2samp(a, b + reach, alternative="less")
    return bool(min(lower.pvalue, higher.pvalue) < 5e-6)


def quartiles(values: Array) -> list[float]:
    return [round(float(q), 4) for q in np.quantile(values, [0, 0.25, 0.5, 0.75, 1])]


def compared(operator: str, entry: dict[str, Any], library: Any = stoker) -> str:
    """In which way a recorded call differs here; "" if it does not."""
    outputs = peer.run(library, TOOL.established_name(operator), peer.call_of(entry))
    if len(outputs) != len(entry["outputs"]):
        return f"{len(outputs)} outputs instead of {len(entry['outputs'])}"
    levels = 1.0 if operator in WITHIN_A_LEVEL else 0.0
    for i, (got, right) in enumerate(zip(outputs, entry["outputs"], strict=True)):
        if got.layout != right["layout"]:
            return f"output {i}: layout {got.layout!r} instead of {right['layout']!r}"
        if "times" in entry:
            found = peer.input_of(peer.features(got.samples))
            if str(got.samples[0].dtype) != right["dtype"]:
                return f"output {i}: {got.samples[0].dtype} instead of {right['dtype']}"
            word = distribution_difference(peer.input_of(right["features"]), found, levels)
            if word:
                return f"output {i}: {word}"
            continue
        for k, (sample, text) in enumerate(zip(got.samples, right["samples"], strict=True)):
            free = free_values(operator, entry, k, sample) if i == 0 else None
            word = difference(peer.read(text), sample, levels, free)
            if word:
                return f"output {i}: {word}"
    return ""


def free_values(operator: str, entry: dict[str, Any], sample: int, got: Array) -> Array | None:
    """Which values of a resized picture lie just between two pixels, so that both are right."""
    if operator not in RESIZING:
        return None
    extents = peer.input_of(entry["samples"][sample][0]).shape
    return peer_ties.tied(entry["arguments"], entry["layouts"][0], extents, got.shape)


def short(entry: dict[str, Any]) -> str:
    heads = [text.partition(":")[0] for text in entry["samples"][0]]
    return f"{heads} {entry['layouts']} {entry['arguments']}"


@pytest.mark.parametrize("operator", names())
def test_operators_are_as_in_the_established_library(operator: str) -> None:
    wrong, seen = [], set()
    for entry in recorded(operator):
        try:
            found = compared(operator, entry)
        except (RuntimeError, ValueError) as error:
            found = f"refused: {str(error).splitlines()[0]}"
        known = [d for d in DIFFERENCES.get(operator, []) if re.search(d.calls, short(entry))]
        seen.update(known if found else ())
        if found and not known:
            wrong.append(f"{short(entry)}: {found}")
    assert not wrong, "\n".join(wrong)
    assert seen == {*DIFFERENCES.get(operator, [])}, "no call has a difference that is listed"


@pytest.mark.parametrize("operator", RESIZING)
def test_scripts_of_the_established_library_have_its_edges(operator: str) -> None:
    stoker.compat.install()
    library = stoker.compat.module("")
    others = [d for d in DIFFERENCES.get(operator, []) if "border=" not in d.text]
    wrong = []
    for entry in recorded(operator):
        found = compared(operator, entry, library)
        if found and not any(re.search(d.calls, short(entry)) for d in others):
            wrong.append(f"{short(entry)}: {found}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("shape, call", TIED)
def test_nearest_pixels_differ_from_the_established_ones_only_between_two(
    shape: str, call: dict[str, Any]
) -> None:
    extents = [int(e) for e in shape.split(",")]
    arguments = {"interp_type": "INTERP_NN", **call}
    picture = np.indices(extents)[0].astype(np.uint8)  # the number of the row
    (got,) = peer.run(stoker, "resize", peer.PeerCall(arguments, [[picture]], ["HWC"]))[0].samples
    tied = peer_ties.ties(arguments, extents[:2], list(got.shape[:2]))
    assert any(at.any() for at in tied)
    assert not all(at.all() for at in tied)
    exact = peer_ties.centres(arguments, extents[:2], list(got.shape[:2]))[0]
    for row, centre, at in zip(got[:, 0, 0], exact, tied[0], strict=True):
        pixel = min(max(int(centre // 1), 0), extents[0] - 1)
        assert row in ((pixel - 1, pixel) if at else (pixel,))


def test_a_distribution_may_be_off_by_roundings_only() -> None:
    draws = np.random.default_rng(3).normal(100, 9, (400, 7)).astype(np.float32)
    others = np.random.default_rng(4).normal(100, 9, (400, 7)).astype(np.float32)
    assert not distribution_difference(draws, others)
    same = np.full_like(draws, 100)
    near, far = same.copy(), same.copy()
    near[:, 1:] += np.float32(0.04)
    far[:, 1] += np.float32(0.06)
    assert distribution_difference(same, near)
    assert not distribution_difference(same, near, levels=1)
    assert distribution_difference(same, far, levels=1)
    assert distribution_difference(draws, others + 4, levels=1)


def test_every_operator_of_both_libraries_is_recorded() -> None:
    both = {n for n in operators() if TOOL.established_name(n)}
    assert both - {*names()} == both & {*NOT_RECORDED}
    assert not set(names()) & set(NOT_RECORDED)
