# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The torture from Python finds what is planted, makes it small, and finds nothing else."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from planted import PLANTS
from shrinking import shrink

HUNT = Path(__file__).parent / "hunt.py"


def hunt(*arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, HUNT, *arguments]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False)


def test_equal_seeds_give_equal_trials() -> None:
    one, again = (hunt("--show", "--trials", "60").stdout for _ in range(2))
    assert one == again
    assert one != hunt("--show", "--trials", "60", "--seed", "2").stdout
    assert one.count("pipe = make(") == 60


def test_some_trials_find_nothing() -> None:
    done = hunt("--trials", "40", "--seconds", "300", "--limit", "120")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert done.stdout == "seed 1: 40 trials, 0 findings\n"


@pytest.mark.one_of_many
@pytest.mark.parametrize("plant", PLANTS)
def test_finds_what_is_planted(plant: str) -> None:
    common = ("--plant", plant, "--limit", "8" if plant == "hang" else "60")
    seconds = "0" if plant in ("hang", "kept") else "2"  # each try of these takes long
    bounds = ("--findings", "1", "--trials", "400", "--seconds", "300", "--shrink", seconds)
    done = hunt(*bounds, *common)
    # What was fed and comes out otherwise is told as wrong.
    kind = "(?:other|wrong)" if plant == "other" else plant
    found = re.search(rf"seed 1, trial \d+: {kind}: .*<<'END'\n(.*)END\n", done.stdout, re.DOTALL)
    assert found, done.stdout
    assert done.returncode == 1
    again = hunt("--replay", *common, text=found[1])
    assert again.returncode == 1
    assert re.fullmatch(kind, again.stdout.partition(":")[0])


def test_makes_a_text_as_small_as_its_defect() -> None:
    text = "a = [1, 2, 3]\nb = f(x=a, y=[4, [5]])\nc = 6\n"
    assert shrink(text, lambda t: "5" in t and "f(" in t) == "b = f(y=[[5]])\n"
    assert shrink(text, lambda t: False) == text
