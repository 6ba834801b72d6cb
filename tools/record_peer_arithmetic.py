#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Records arithmetic on nodes by the established library: record_peer_arithmetic.py PYTHON [GROUP].

PYTHON needs nvidia-dali (bench/compare/peers/dali.txt) and NumPy. The results of the cases of
tests/definition/arithmetic_cases.py go to tests/golden/peer_arithmetic.json, which
tests/definition/test_peer_arithmetic.py reads; null is what is refused there. A case that ends the
process is recorded as "ends". GROUP is one of them to record again.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent / "tests"
GOLDEN = TESTS / "golden" / "peer_arithmetic.json"
sys.path.insert(0, str(TESTS / "definition"))

import arithmetic_cases as cases  # noqa: E402


def record_here(group: str, first: int) -> None:
    """Prints a line for each case of a group, beginning with case `first`."""
    import nvidia.dali as library  # type: ignore[import-not-found]
    import nvidia.dali.fn
    import nvidia.dali.math  # noqa: F401

    for text, tensors in cases.cases(group)[first:]:
        try:
            result = cases.written(cases.run(library, text, tensors))
        except Exception:
            result = None
        print(json.dumps(result), flush=True)


def record(python: str, group: str) -> list[str | None]:
    """The results of all cases of a group."""
    results: list[str | None] = []
    count = len(cases.cases(group))
    while len(results) < count:
        command = [python, __file__, "--here", group, str(len(results))]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        results += [json.loads(line) for line in done.stdout.splitlines()]
        if len(results) < count:
            results.append("ends")
    return results


def main(python: str, only: str = "") -> None:
    kept = json.loads(GOLDEN.read_text()) if only else {}
    ask = "import nvidia.dali; print(nvidia.dali.__version__)"
    version = subprocess.run([python, "-c", ask], capture_output=True, text=True, check=True)
    lines = [f'"version": {json.dumps(version.stdout.strip())}']
    for group in cases.GROUPS:
        again = group == only or not only
        results = ",\n  ".join(map(json.dumps, record(python, group) if again else kept[group]))
        lines.append(f"{json.dumps(group)}: [\n  {results}\n ]")
        if again:
            print(group, flush=True)
    GOLDEN.write_text("{\n " + ",\n ".join(lines) + "\n}\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--here"]:
        record_here(sys.argv[2], int(sys.argv[3]))
    elif len(sys.argv) in (2, 3):
        main(*sys.argv[1:])
    else:
        sys.exit(__doc__)
