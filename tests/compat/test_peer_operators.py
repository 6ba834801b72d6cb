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
import pytest

import peer_calls as peer
import stoker
from helpers import Array, load_tool
from stoker._describe.registry import operators

ROOT = Path(__file__).resolve().parent.parent
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
    "io.file.read": "it reads files, which the recording has not",
    "external_source": "it gives the inputs of all recordings",
    "python_function": "tests/scripts/classification_in_parts.py is recorded instead",
    "dl_tensor_python_function": "its functions take tensors of a framework; tests/user_code",
}

# Operators that compute pixels: whole numbers may differ by one level.
WITHIN_A_LEVEL = {
    *("color_twist", "decoders.image", "decoders.image_random_crop", "fast_resize_crop_mirror"),
    *("filter", "gaussian_blur", "resize", "resize_crop_mirror", "rotate", "saturation"),
    *("warp_affine", "warp_perspective", "water"),
}


def recorded(operator: str) -> list[dict[str, Any]]:
    return json.loads(gzip.decompress((GOLDEN / f"{operator}.json.gz").read_bytes()))


def names() -> list[str]:
    return sorted(p.name.removesuffix(".json.gz") for p in GOLDEN.glob("*.json.gz"))


def difference(right: peer.Read, got: Array, levels: float) -> str:
    """In which way a result is not as recorded; "" if it is."""
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
    if apart.size == 0 or (apart <= allowed).all():
        return ""
    at = int(np.argmax(np.nan_to_num(apart, nan=np.inf)))
    count = int((~(apart <= allowed)).sum())
    return f"{count} of {apart.size} values, e.g. {found[at]} instead of {right.values[at]}"


def distribution_difference(right: Array, got: Array) -> str:
    """Whether two tables with a row for each draw do not look as if of one distribution."""
    from scipy.stats import ks_2samp

    if right.shape[1] != got.shape[1]:
        return f"{got.shape[1]} columns instead of {right.shape[1]}"
    for column in range(right.shape[1]):
        a, b = (np.nan_to_num(table[:, column].astype(np.float64)) for table in (right, got))
        tiny = 1e-5 * max(1e-30, float(np.abs(a).max()))
        if ks_2samp(np.round(a / tiny), np.round(b / tiny)).pvalue < 1e-5:
            return f"column {column} has another distribution: {quartiles(b)}, not {quartiles(a)}"
    return ""


def quartiles(values: Array) -> list[float]:
    return [round(float(q), 4) for q in np.quantile(values, [0, 0.25, 0.5, 0.75, 1])]


def compared(operator: str, entry: dict[str, Any]) -> str:
    """In which way a recorded call differs here; "" if it does not."""
    outputs = peer.run(stoker, TOOL.established_name(operator), peer.call_of(entry))
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
            word = distribution_difference(peer.input_of(right["features"]), found)
            if word:
                return f"output {i}: {word}"
            continue
        for sample, text in zip(got.samples, right["samples"], strict=True):
            word = difference(peer.read(text), sample, levels)
            if word:
                return f"output {i}: {word}"
    return ""


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


def test_every_operator_of_both_libraries_is_recorded() -> None:
    both = {n for n in operators() if TOOL.established_name(n)}
    assert both - {*names()} == both & {*NOT_RECORDED}
    assert not set(names()) & set(NOT_RECORDED)
