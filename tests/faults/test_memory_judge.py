# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""A few combinations of memory_judge.py; `python tests/faults/memory_judge.py` tries many more."""

from __future__ import annotations

from pathlib import Path

import memory_judge
import pytest


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("judged")
    memory_judge.make_files(root)
    return root


@pytest.mark.parametrize("seed", range(20))
def test_the_process_stays_below_the_limit(files: Path, seed: int) -> None:
    combination = memory_judge.draw(seed)
    result = memory_judge.judge(combination, files)
    assert result["excess"] <= result["allowed"], f"{result} with {combination}"
