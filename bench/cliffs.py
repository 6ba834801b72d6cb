# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Looks for speed cliffs: work that takes much longer than it must.

Races known cases with NumPy and OpenCV, one thread each, in alternating rounds. A batch is 32
samples, more than the caches hold; --batch 1 shows how that matters. What the pipeline itself costs
is taken off, and all is CPU time. With --search, compares every operator with itself, over dtypes,
layouts, strides and shapes: this finds cliffs that have no peer. Compare figures within one run
only, as they depend on the machine.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import cliff_search
import numpy as np
from cliff_clock import Array, Fed, corner, one_element, rounds_of
from cliff_row import Row, cv2
from cliff_rows import ROWS

from stoker import _core

SIZES = [(375, 500), (224, 224)]


def samples_of(row: Row, size: tuple[int, int], count: int) -> list[Array]:
    chance = np.random.default_rng(1)
    return [row.view(chance.integers(0, 256, (*size, 3), np.uint8)) for _ in range(count)]


def build(row: Row, samples: Sequence[Array]) -> Fed:
    """The pipeline of a row. A source of numbers beats time for an operator without an input."""
    layout = "HWC" if samples[0].ndim == 3 else ""
    if row.has_input:
        return Fed(samples, lambda x: row.ours(x, samples[0]), layout, row.is_feeding)
    return Fed([np.zeros(1)] * len(samples), lambda x: [row.ours(x, samples[0]), x])


def build_idle(row: Row, samples: Sequence[Array]) -> Fed:
    """The same pipeline without the work."""
    if row.is_feeding:
        return Fed([corner(s) for s in samples], lambda x: x, anew=True)
    if row.has_input:
        return Fed(samples, one_element(samples[0].ndim))
    return Fed([np.zeros(1)] * len(samples), lambda x: x)


def peer_outputs(made: Any) -> list[Array]:
    """Memory like that of our outputs, which the peer uses over and over."""
    first = np.asarray(made[0])
    return [np.zeros(first.shape, first.dtype) for _ in range(len(made))]


def race(row: Row, size: tuple[int, int], batch: int, rounds: int) -> dict[str, Any]:
    samples = samples_of(row, size, batch)
    ours, idle = build(row, samples), build_idle(row, samples)
    outputs = peer_outputs(ours.batch())

    def peer() -> None:
        for sample, output in zip(samples, outputs, strict=True):
            row.peer(sample, output)

    # The idle pipeline comes after the peer, so that it, too, finds cold caches.
    found = rounds_of([ours.batch, peer, idle.batch], rounds, limit=4.0)
    ratios = [(o - i) / p for o, p, i in found]
    low, ratio, high = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else ratios * 3
    own, other, beside = (statistics.median(r[k] for r in found) / batch * 1e6 for k in range(3))
    return {
        "case": row.name,
        "operator": row.operator,
        "sample": f"{size[1]}x{size[0]}",
        "peer": row.by,
        "us": own - beside,
        "peer_us": other,
        "pipeline_us": beside,
        "ratio": ratio,
        "low": low,
        "high": high,
        "rounds": len(found),
    }


def known(rows: Iterable[Row], batch: int, rounds: int) -> Iterator[dict[str, Any]]:
    """Races what there is: operators of the registry, against peers that are installed."""
    registered = {o["name"] for o in _core.operators()}
    there = [row for row in rows if row.operator in registered]
    able = [row for row in there if cv2 is not None or "OpenCV" not in row.by]
    if len(able) < len(there):
        print(f"no OpenCV: {len(there) - len(able)} cases are left out (make test installs it)\n")
    print("us a sample, CPU time; the ratio is the median of the rounds, with its quartiles\n")
    print(
        f"| {'case':32} | sample  | {'peer':32} | Stoker us | peer us |  ratio | quartiles       |"
    )
    print(f"| {'-' * 32} | ------- | {'-' * 32} | --------: | ------: | -----: | --------------- |")
    for row in able:
        for size in SIZES:
            r = race(row, size, batch, rounds)
            print(
                f"| {r['case']:32} | {r['sample']} | {r['peer']:32} | {r['us']:9.1f} |"
                f" {r['peer_us']:7.1f} | {r['ratio']:6.2f} | {r['low']:6.2f} - {r['high']:6.2f} |",
                flush=True,
            )
            yield r


def by_operator(results: Iterable[dict[str, Any]]) -> dict[str, list[float]]:
    """The ratios of each operator's cases, from the least to the greatest."""
    ratios: dict[str, list[float]] = {}
    for r in results:
        ratios.setdefault(r["operator"], []).append(r["ratio"])
    return {name: sorted(found) for name, found in sorted(ratios.items())}


def print_by_operator(results: Iterable[dict[str, Any]]) -> None:
    ratios = by_operator(results)
    medians = {name: statistics.median(found) for name, found in ratios.items()}
    fast = sum(median <= 1 for median in medians.values())
    print(f"\n{fast} of {len(ratios)} operators take no longer than their peers\n")
    print(f"| {'operator':32} | cases | median | worst |")
    print(f"| {'-' * 32} | ----: | -----: | ----: |")
    for name, found in ratios.items():
        print(f"| {name:32} | {len(found):5} | {medians[name]:6.2f} | {found[-1]:5.2f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", default="", help="only cases or operators with this in the name")
    parser.add_argument("--batch", type=int, default=32, help="samples of a batch")
    parser.add_argument("--rounds", type=int, default=25, help="of each case, at most")
    parser.add_argument("--search", action="store_true", help="compare operators with themselves")
    parser.add_argument("--json", type=Path, help="a file for all figures")
    args = parser.parse_args()
    if args.search:
        operators = [o for o in _core.operators() if args.rows in o["name"]]
        results = cliff_search.search(operators, min(args.rounds, 5))
    else:
        results = list(known((r for r in ROWS if args.rows in r.name), args.batch, args.rounds))
        print_by_operator(results)
    if args.json:
        args.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
