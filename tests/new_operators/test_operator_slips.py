# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""What an operator's struct has is used, or somebody is told: the compiler, or a check of names.

Each slip is a change to an operator that is right, after which the engine would not use something.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "tests/new_operators/example"

# By name: the file of a right operator, what it says, what was written instead, and the error.
COMPILER = {
    "an input that may be changed": (
        "solarize.cc",
        "void demand(Demand& d) const",
        "void demand(Demand& d)",
        "demand is public, const, takes (Demand&)",
    ),
    "another input": (
        "solarize.cc",
        "void demand(Demand& d) const",
        "void demand(Inference& d) const",
        "demand is public, const, takes (Demand&)",
    ),
    "a private function": (
        "solarize.cc",
        "  void demand(Demand& d) const",
        " private:\n  void demand(Demand& d) const",
        "demand is public, const, takes (Demand&)",
    ),
    "a GPU half for one sample": (
        "posterize.cu",
        "std::span<const Posterize* const> items",
        "const Posterize* items",
        "run_gpu is public, static, takes (GpuRun&, std::span<const Op* const>)",
    ),
    "a GPU half alone": (
        "posterize.cu",
        "void infer(Inference& i) const",
        "void shapes(Inference& i) const",
        "run_gpu stands beside infer and run_cpu",
    ),
    "a constant of another type": (
        "solarize.cc",
        "  static constexpr auto schema",
        '  static constexpr const char* kRandom = "yes";\n  static constexpr auto schema',
        "kRandom is public and a bool",
    ),
}
NAMES = {
    "demand": ("solarize.cc", "void demand(Demand& d)", "void demands(Demand& d)", "demand"),
    "GPU half": ("posterize.cu", "void run_gpu(", "void run_on_gpu(", "run_gpu"),
    "flag": (
        "solarize.cc",
        "  static constexpr auto schema",
        "  static constexpr bool kIsRandom = true;\n  static constexpr auto schema",
        "kRandom",
    ),
    "version": (
        "solarize.cc",
        "  static constexpr auto schema",
        "  static constexpr int kVersions = 2;\n  static constexpr auto schema",
        "kVersion",
    ),
}


def with_slip(file: str, right: str, wrong: str) -> str:
    text = (EXAMPLES / file).read_text(encoding="utf-8")
    assert text.count(right) == 1, f"{file} has no line {right!r}"
    return text.replace(right, wrong)


def compiled(text: str, folder: Path) -> str:
    """What the compiler says of an operator; "" if nothing is wrong."""
    path = folder / "operator.cc"
    path.write_text(text)
    commands = json.loads((ROOT / "build/release/compile_commands.json").read_text())
    command = next(c["command"] for c in commands if "stoker_operators.dir" in c["command"])
    words = command.split()[: command.split().index("-o")]
    compiler = next(i for i, w in enumerate(words) if w.endswith(("c++", "g++", "clang++")))
    run = subprocess.run(
        [
            *words[compiler:],
            "-O0",
            "-fsyntax-only",
            "-DSTOKER_OPERATOR_SYMBOL=made",
            str(path),
        ],
        cwd=ROOT / "build/release",
        capture_output=True,
        text=True,
        check=False,
    )
    return "" if run.returncode == 0 else run.stderr


@pytest.mark.parametrize("slip", COMPILER)
def test_the_compiler_tells_a_wrong_form(slip: str, tmp_path: Path) -> None:
    file, right, wrong, words = COMPILER[slip]
    assert words in compiled(with_slip(file, right, wrong), tmp_path)


def test_the_compiler_takes_what_is_right(tmp_path: Path) -> None:
    assert compiled((EXAMPLES / "posterize.cu").read_text(encoding="utf-8"), tmp_path) == ""


@pytest.mark.parametrize("slip", NAMES)
def test_a_misspelt_name_is_told(slip: str, tmp_path: Path) -> None:
    file, right, wrong, meant = NAMES[slip]
    path = tmp_path / file
    path.write_text(with_slip(file, right, wrong))
    check = [sys.executable, str(ROOT / "tools/check_operators.py")]
    run = subprocess.run([*check, str(path)], capture_output=True, text=True, check=False)
    assert run.returncode != 0
    assert f"did you mean {meant}?" in run.stderr, run.stderr
    whole = subprocess.run(check, capture_output=True, text=True, check=False)
    assert whole.returncode == 0, whole.stderr
