#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Records what tests/compat/scripts print under the established library.

`record_peer_scripts.py PYTHON`: run it with .venv/bin/python. PYTHON needs nvidia-dali
(bench/compare/peers/dali.txt) and any torch for the CPU. The lines go to
tests/golden/peer_scripts.json, which tests/compat/test_compat.py reads.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parent.parent / "tests"
GOLDEN = TESTS / "golden" / "peer_scripts.json"
sys.path.insert(0, str(TESTS))

import jpegs  # noqa: E402

COUNT = 14


def make_pictures(folder: Path) -> Path:
    """Writes COUNT small pictures of several sizes in three classes of different size."""
    files = {}
    for i in range(COUNT):
        height, width = 40 + (i * 13) % 31, 36 + (i * 29) % 37
        name = f"{'abc'[min(i // 4, 2)]}/{i:02}.jpg"
        files[name] = jpegs.encode(jpegs.picture(height, width, i), "420")
    return jpegs.write_folder(folder, files)


def run(command: list[str]) -> list[Any]:
    """The JSON lines that a command prints."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    return [short(json.loads(line)) for line in done.stdout.splitlines()]


def short(value: Any) -> Any:
    """The value with six digits of each float."""
    if isinstance(value, dict):
        return {k: short(v) for k, v in value.items()}
    if isinstance(value, list):
        return [short(v) for v in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def main(python: str) -> None:
    ask = "import json, nvidia.dali; print(json.dumps(nvidia.dali.__version__))"
    with tempfile.TemporaryDirectory() as place:
        folder = make_pictures(Path(place) / "pictures")
        recorded = {
            "version": run([python, "-c", ask])[0],
            "scripts": {
                script.stem: run([python, str(script), str(folder)])
                for script in sorted((TESTS / "compat" / "scripts").glob("*.py"))
            },
        }
    lines = [f' "version": {json.dumps(recorded["version"])}', ' "scripts": {\n']
    scripts = [
        f"  {json.dumps(name)}: [\n   " + ",\n   ".join(json.dumps(x) for x in got) + "\n  ]"
        for name, got in recorded["scripts"].items()
    ]
    GOLDEN.write_text("{\n" + ",\n".join(lines) + ",\n".join(scripts) + "\n }\n}\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
