# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""bench/: the cliffs race the same work, and every operator can be timed alone."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

import cliff_search
import cliffs
import run
from cliff_rows import ROWS
from cliff_search import Case

from stoker import _core

OPERATORS = {o["name"]: o for o in _core.operators()}
SMALL = (224, 250)


@pytest.mark.parametrize(
    "row", [row for row in ROWS if row.operator in OPERATORS], ids=lambda row: row.name
)
def test_peers_do_the_same_work(row):
    samples = cliffs.samples_of(row, SMALL, 2)
    made = cliffs.build(row, samples).batch()
    outputs = cliffs.peer_outputs(made)
    for sample, output in zip(samples, outputs, strict=True):
        row.peer(sample, output)
    if row.apart is None:
        return
    mine, other = np.asarray(made[0]).astype(float), outputs[0].astype(float)
    assert mine.any()
    if row.operator.startswith(("random.", "noise.")):
        assert abs(mine.mean() - other.mean()) <= row.apart
    else:
        assert np.abs(mine - other).mean() <= row.apart


@pytest.mark.one_of_many
@pytest.mark.parametrize(
    "name", [n for n, o in OPERATORS.items() if run.is_timed(o) and o["kind"] != "user_code"]
)
def test_every_operator_is_timed(name):
    files = run.pictures(Path("nowhere"))
    assert run.microseconds(OPERATORS[name], files, steps=12) > 0


def test_a_row_is_raced_and_written_down(tmp_path, monkeypatch, capsys):
    file = tmp_path / "figures.json"
    arguments = [
        "--rows",
        "crop_mirror_normalize",
        "--batch",
        "2",
        "--rounds",
        "3",
        "--json",
        str(file),
    ]
    monkeypatch.setattr(sys, "argv", ["cliffs.py", *arguments])
    cliffs.main()
    rows = json.loads(file.read_text())
    assert [row["sample"] for row in rows] == ["500x375", "224x224"]
    for row in rows:
        assert row["peer_us"] > 0 and row["pipeline_us"] > 0 and row["rounds"] == 3
        assert row["low"] <= row["ratio"] <= row["high"]
    printed = capsys.readouterr().out
    assert printed.count("| crop_mirror_normalize ") == 3  # two cases, and the operator
    assert "of 1 operators take no longer than their peers" in printed


def test_cases_are_summed_up_by_operator():
    ratios = (("b", 2.0), ("a", 0.5), ("b", 1.0))
    found = cliffs.by_operator({"operator": name, "ratio": ratio} for name, ratio in ratios)
    assert list(found.items()) == [("a", [0.5]), ("b", [1.0, 2.0])]


def test_operators_are_compared_with_themselves(monkeypatch):
    monkeypatch.setattr(cliff_search, "DTYPES", ["uint8"])
    results = cliff_search.search([OPERATORS["flip"], OPERATORS["external_source"]], 1)
    assert all(r["us"] > 0 and r["ratio"] >= 1 for r in results)
    found = {(r["operator"], r["layout"], r["strides"], r["shape"]) for r in results}
    assert ("flip", "CDHW", "dense", "Nx1") in found
    assert ("flip", "HWC", "behind a slice", "tiny") in found
    assert ("external_source", "HWC", "transposed", "large") in found


def test_a_case_is_compared_with_the_best_of_its_element_sizes(monkeypatch, capsys):
    operator = {**OPERATORS["flip"], "inputs": [{**OPERATORS["flip"]["inputs"][0]}]}
    operator["inputs"][0]["layouts"] = "HWC"
    times = {"uint8": 1.0, "bool": 3.0, "int16": 5.0}
    monkeypatch.setattr(cliff_search, "DTYPES", list(times))

    def measure(case: Case, rounds: int) -> None:
        width = 1 + (case.dtype == "int16")
        case.bytes, case.widths = 100 * width, (width, width)
        case.seconds = times[case.dtype] * (10 if case.strides == "behind a slice" else 1)

    monkeypatch.setattr(cliff_search, "measure", measure)
    results = cliff_search.search([operator], 1)
    large = {(r["dtype"], r["strides"]): r["ratio"] for r in results if r["shape"] == "large"}
    assert {key: round(ratio) for key, ratio in large.items()} == {
        **{("uint8", "dense"): 1, ("uint8", "behind a slice"): 10},
        **{("bool", "dense"): 3, ("bool", "behind a slice"): 30},
        **{("int16", "dense"): 1, ("int16", "behind a slice"): 10},
    }
    assert [round(r["ratio"]) for r in results[:4]] == [30] * 4  # the worst come first
    assert "16 of 24 cases" in capsys.readouterr().out
