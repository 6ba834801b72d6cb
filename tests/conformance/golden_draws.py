# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The first draws of every random operator, which the golden file holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from calls import Call, all_calls, case_calls, names, run_calls, texture, works

from helpers import Array
from stoker._describe.registry import operators

__stoker_scopes__ = False  # keys do not depend on how tests are written

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
PICTURE = GOLDEN / "picture.jpg"
SEEDS = (0, 1, 2**40 + 7)


def wanted() -> list[dict[str, Any]]:
    """The entries of the golden file, without their draws."""
    entries = []
    for name in names():
        if not operators()[name]["is_random"]:
            continue
        ports = [p for p in operators()[name]["inputs"] if not p["is_optional"]]
        given: Any = "encoded" if ports and ports[0]["is_value"] else [[37, 53, 3]] if ports else []
        if len(ports) > 1:
            given = "case"  # what belongs together fits in a case
        elif ports and "uint8" not in (ports[0]["dtypes"] or "uint8"):
            given = [{str(a.dtype): a.tolist()} for a, _ in all_calls(name)[0].inputs]
        first = all_calls(name)[0].arguments
        required = {
            a["name"]: plain(first[a["name"]])
            for a in operators()[name]["arguments"]
            if a["required"]
        }
        if not given and not works(Call(name, arguments=required)):
            required = {k: plain(v) for k, v in first.items()}  # one of several is required
        for seed in SEEDS:
            entries.append({"op": name, "seed": seed, "inputs": given, "arguments": required})
    return entries


def plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value


def call_of(entry: dict[str, Any]) -> Call:
    if entry["inputs"] == "encoded":
        return Call(entry["op"], ((np.fromfile(PICTURE, np.uint8), ""),), entry["arguments"])
    inputs = tuple(given_input(i) for i in entry["inputs"])
    return Call(entry["op"], inputs, entry["arguments"])


def draws(entry: dict[str, Any]) -> list[Any]:
    """The first samples: their values, or the shape and the sum of a picture.

    Of an operator that takes labels, it is the labels.
    """
    if entry["inputs"] == "case":
        case = case_calls(entry["op"])[0]
        samples = run_calls([case], batch_size=6, seed=entry["seed"])
        return [labels.tolist() for *_, labels in samples]
    found = []
    for arrays in run_calls([call_of(entry)], batch_size=6, seed=entry["seed"]):
        told = [values_or_sum(a) for a in arrays]
        found.append(told if len(told) > 1 else told[0])
    return found


def given_input(told: Any) -> tuple[Array, str]:
    """A picture of a shape, or values by their dtype."""
    if isinstance(told, list):
        return texture(told), "HWC"
    ((dtype, values),) = told.items()
    return np.array(values, dtype), ""


def values_or_sum(array: Array) -> Any:
    total = int(array.astype(np.int64).sum())
    return array.tolist() if array.size <= 8 else [list(array.shape), total]
