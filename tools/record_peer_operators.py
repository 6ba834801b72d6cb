#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Records operators of the established library: record_peer_operators.py PYTHON [OPERATOR ...].

Run it with .venv/bin/python. PYTHON needs nvidia-dali (bench/compare/peers/dali.txt) and NumPy. The
calls are the literal cases of operators, what their oracles generate, and some of both on larger
pictures, as far as the established library knows their arguments, and those of
tests/compat/peer_borders.py. Each runs in a process of its own. tests/golden/peer_operators has a
file for each operator, which tests/compat/test_peer_operators.py reads. OPERATOR is one to record
again.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parent.parent / "tests"
GOLDEN = TESTS / "golden" / "peer_operators"
sys.path[:0] = [str(TESTS), str(TESTS / "conformance"), str(TESTS / "compat")]

import numpy as np  # noqa: E402
import peer_borders  # noqa: E402
import peer_calls as peer  # noqa: E402

MOST_CALLS = 24
MOST_LARGE = 6
LARGE = [72, 96, 3]  # a picture
SECONDS = 60


# In a process of the established library.


def record_here(jobs: Path) -> None:
    """Prints a line for each job of a file: the results, or what the error says."""
    import nvidia.dali as library  # type: ignore[import-not-found]
    import nvidia.dali.fn  # noqa: F401

    for operator, entry in json.loads(jobs.read_text()):
        read_end, write_end = os.pipe()
        child = os.fork()
        if child == 0:
            with os.fdopen(write_end, "w") as out:
                out.write(json.dumps(answer(library, operator, entry)))
            os._exit(0)
        os.close(write_end)
        with os.fdopen(read_end) as given:
            text = given.read()
        os.waitpid(child, 0)
        print(text or '"the process ended"', flush=True)


def answer(library: Any, operator: str, entry: dict[str, Any]) -> Any:
    import signal

    signal.alarm(SECONDS)
    try:
        return peer.result_of(entry, peer.run(library, operator, peer.call_of(entry)))
    except Exception as error:
        return reason(str(error))


def reason(message: str) -> str:
    """What an error says, without where."""
    told = message.partition("encountered:")[2] or message
    lines = [line.strip() for line in told.splitlines()]
    return next((line for line in lines if line and "Critical error" not in line), "an error")


# In Stoker's own environment.


def plain(value: Any) -> Any:
    """A value of an argument as JSON has it."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return str(value) if isinstance(value, str) else value


def text_of(array: peer.Array) -> str:
    """An input as a text. A large picture is one of peer_calls, with the same dtype and limits."""
    whole = peer.input_text(array)
    if array.ndim < 2 or len(whole) < 2500 or not np.isfinite(array).all():
        return whole
    head = whole.partition(":")[0]
    return f"picture {head} {float(array.min())!r} {float(array.max())!r}"


def entries(operator: str) -> Iterator[dict[str, Any]]:
    """The calls to record of one operator, without duplicates."""
    import calls

    from stoker._describe.registry import operators
    from stoker.compat._report import arguments_of

    op = operators()[operator]
    found = [(c, [[a for a, _ in c.inputs]]) for c in calls.some_calls(operator)]
    found = [(c, samples) for c, samples in found if c.source != "bare"]
    batches = calls.batch_calls(operator)
    large = list(larger(op, [c for c, _ in found]))
    known = {*arguments_of(established_name(operator) or ""), "seed"}
    seen = set()
    for group, most in ((batches, 8), (large, MOST_LARGE), (found, MOST_CALLS)):
        count = 0
        for call, samples in group:
            entry = {
                "arguments": {k: plain(v) for k, v in call.arguments.items()},
                "layouts": [layout for _, layout in call.inputs],
                "samples": [[text_of(np.asarray(a)) for a in inputs] for inputs in samples],
            }
            if op["is_random"]:
                entry["times"] = peer.TIMES // len(samples)
            text = json.dumps(entry)
            if text in seen or not set(entry["arguments"]) <= known or len(text) > 20000:
                continue
            seen.add(text)
            count += 1
            yield entry
            if count == most:
                break
    yield from peer_borders.entries(operator)


def larger(op: Any, found: Sequence[Any]) -> Iterator[tuple[Any, list[list[peer.Array]]]]:
    """Calls of operators on pictures, with a larger picture."""
    from dataclasses import replace

    import calls

    ports = op["inputs"]
    if not ports or ports[0]["is_value"] or "HWC" not in calls.accepted_layouts(op):
        return
    for call in found:
        if len(call.inputs) != 1:
            continue
        ((first, layout),) = call.inputs
        if layout != "HWC" or first.dtype.kind not in "uf":
            continue
        high = 255.0 if first.dtype.kind == "u" else 1.0
        array = peer.picture(str(first.dtype), [*LARGE[:2], first.shape[2]], 0.0, high)
        changed = replace(call, inputs=((array, layout),), expected=())
        if calls.works(changed):
            yield changed, [[array]]


def established_name(operator: str) -> str | None:
    """The operator's name there, or None where there is no such operator."""
    from stoker.compat._report import names

    there = names()["operators"]
    return next((n for n in (operator, f"experimental.{operator}") if n in there), None)


def record(python: str, operator: str) -> None:
    """Writes the file of one operator, and says what was refused."""
    jobs = [(established_name(operator), entry) for entry in entries(operator)]
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "jobs.json"
        path.write_text(json.dumps(jobs))
        command = [python, __file__, "--here", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    results = [json.loads(line) for line in done.stdout.splitlines()]
    kept = []
    for (_, entry), result in zip(jobs, results, strict=True):
        if isinstance(result, str):
            print(f"  {operator}: {result[:150]}\n    {str(entry['arguments'])[:150]}")
        else:
            kept.append({**entry, "outputs": result})
    file = GOLDEN / f"{operator}.json.gz"
    file.unlink(missing_ok=True)
    if kept:
        text = "[\n" + ",\n".join(map(json.dumps, kept)) + "\n]\n"
        file.write_bytes(gzip.compress(text.encode(), mtime=0))
    print(f"{operator}: {len(kept)} of {len(jobs)} calls", flush=True)


def main(python: str, only: Sequence[str]) -> None:
    from stoker._describe.registry import operators

    GOLDEN.mkdir(exist_ok=True)
    for operator, op in operators().items():
        if (
            established_name(operator)
            and not op["skip_reason"]
            and operator in (only or [operator])
        ):
            record(python, operator)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--here"]:
        record_here(Path(sys.argv[2]))
    elif len(sys.argv) >= 2:
        main(sys.argv[1], sys.argv[2:])
    else:
        sys.exit(__doc__)
