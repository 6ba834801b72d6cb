# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""MXNet needs an old NumPy, so its tests and guide run in its own environment, .venv-mxnet."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PYTHON = ROOT / ".venv-mxnet" / "bin" / "python"


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="MXNet works up to Python 3.11")
def test_in_its_environment() -> None:
    assert PYTHON.exists(), "tools/install.sh mxnet makes the environment"
    files = [
        HERE / "with_mxnet.py",
        HERE / "test_contract.py",
        ROOT / "tests/examples/test_guides.py",
    ]
    done = subprocess.run(
        [
            *(PYTHON, "-m", "pytest", "-q", "-c", os.devnull, "--rootdir", ROOT),
            *("-p", "no:cacheprovider", "-k", "mxnet", "-W", "ignore", *files),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed is not None
    assert int(passed[1]) > 40, done.stdout
