# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Runs scripts of the established library on Stoker, each in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RECORDED = json.loads((ROOT / "tests" / "golden" / "peer_scripts.json").read_text())["scripts"]


def run(
    script: Path, *arguments: object, options: tuple[object, ...] = (), **environment: str
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "stoker.run", *options, script, *arguments]
    return subprocess.run(
        [str(c) for c in command],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, **environment},
        check=False,
    )


def written(folder: Path, text: str, name: str = "script.py") -> Path:
    path = folder / name
    path.write_text(textwrap.dedent(text))
    return path
