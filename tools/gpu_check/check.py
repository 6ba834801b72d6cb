#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the tests and benchmarks of a gpu-check folder and writes what came of them as JSON.

    check.py [--simulated] [--out result.json]

--simulated tries the folder itself on a machine without a GPU: then nothing is said about GPUs and
nothing is measured. Ends with 0 when all that could run passed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
LIMIT_S = 1200


def environment(simulated: bool) -> dict[str, str]:
    env = {
        **os.environ,
        "LD_LIBRARY_PATH": f"{HERE / 'lib'}:{os.environ.get('LD_LIBRARY_PATH', '')}",
        "PYTHONPATH": str(HERE / "python"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    env.pop("STOKER_SIMULATED_DEVICES", None)
    env.pop("STOKER_REQUIRE_GPU", None)
    if simulated:
        return {**env, "STOKER_SIMULATED_DEVICES": "1"}
    nvjpeg = sorted((HERE / "lib").glob("libnvjpeg.so.*"))
    return {**env, "STOKER_REQUIRE_GPU": "1", "STOKER_NVJPEG": str(nvjpeg[-1])}


class Check:
    def __init__(self, simulated: bool) -> None:
        self.simulated = simulated
        self.env = environment(simulated)
        self.result: dict[str, Any] = {
            "commit": (HERE / "commit").read_text().strip(),
            "machine": platform.platform(),
            "simulated": simulated,
            "tests": {},
            "figures": {},
            "not_run": {},
        }
        needed = (HERE / "python_version").read_text().strip()
        here = ".".join(platform.python_version_tuple()[:2])
        self.python_problem = (
            ""
            if here == needed
            else f"needs Python {needed}, this is {here}; PYTHON= names another"
        )

    def run(self, command: list[str]) -> tuple[int, str]:
        try:
            done = subprocess.run(
                command, cwd=HERE, env=self.env, capture_output=True, text=True, timeout=LIMIT_S
            )
        except subprocess.TimeoutExpired:
            return 124, f"not done after {LIMIT_S} s"
        except OSError as e:
            return 127, str(e)
        return done.returncode, done.stdout + done.stderr

    def note(self, name: str, code: int, counts: dict[str, int], text: str) -> None:
        entry: dict[str, Any] = {"passed_all": code == 0, **counts}
        if code != 0:
            entry["output"] = text[-6000:]
        self.result["tests"][name] = entry
        print(f"{'pass' if code == 0 else 'FAIL'}  {name}  {counts}", flush=True)

    def cpp_tests(self) -> None:
        report = HERE / "cpp.json"
        report.unlink(missing_ok=True)
        code, text = self.run(
            [
                "bin/stoker_run_test",
                "--gtest_filter=DeviceStage.*:DeviceMemory.*",
                f"--gtest_output=json:{report}",
            ]
        )
        counts = {}
        if report.exists():
            told = json.loads(report.read_text())
            counts = {"tests": told["tests"], "failed": told["failures"] + told["errors"]}
        self.note("C++: bytes, memory, limits", code or int(not counts.get("tests")), counts, text)

    def python_tests(self, name: str, *where: str) -> None:
        if self.python_problem:
            self.result["not_run"][name] = self.python_problem
            print(f"----  {name}: {self.python_problem}", flush=True)
            return
        report = HERE / "python.xml"
        report.unlink(missing_ok=True)
        code, text = self.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--timeout=300"]
            + [
                "--import-mode=prepend",
                "-c",
                os.devnull,
                f"--rootdir={HERE}",
                f"--junitxml={report}",
            ]
            + [str(HERE / "tests" / w) for w in where]
        )
        counts = {}
        if report.exists():
            suite = next(ElementTree.parse(report).getroot().iter("testsuite")).attrib
            failed = int(suite["failures"]) + int(suite["errors"])
            counts = {
                "tests": int(suite["tests"]),
                "failed": failed,
                "skipped": int(suite["skipped"]),
            }
        self.note(name, code or int(not counts.get("tests")), counts, text)

    def figures(self, name: str, command: list[str], needs_python: bool) -> None:
        problem = self.python_problem if needs_python else ""
        if problem:
            self.result["not_run"][name] = problem
            return
        code, text = self.run(command)
        lines = [line for line in text.splitlines() if line.startswith("{")]
        for line in lines:
            print(f"      {name}: {line}", flush=True)
        self.result["figures"][name] = [json.loads(line) for line in lines]
        self.note(name, code or int(not lines), {}, text)

    def all(self) -> bool:
        if not self.python_problem:
            _, devices = self.run(
                [
                    sys.executable,
                    "-c",
                    "import stoker; print(stoker.devices(), stoker.missing_gpu())",
                ]
            )
            self.result["devices"] = devices.strip()
            print(devices.strip(), flush=True)
        self.cpp_tests()
        self.python_tests("operators: GPU against CPU", "conformance/test_gpu.py")
        if self.simulated:
            self.result["not_run"]["nvJPEG, PyTorch"] = "simulated"
        else:
            self.python_tests("nvJPEG", "gpu/test_nvjpeg.py")
            has_torch, _ = self.run([sys.executable, "-c", "import torch"])
            if has_torch == 0:
                self.python_tests("PyTorch", "gpu/test_handing_over.py")
            else:
                self.result["not_run"]["PyTorch"] = "torch cannot be imported"
        self.figures("fused pass", ["bin/bench_gpu_fused"], False)
        self.figures("pipeline", [sys.executable, "gpu_pipeline.py", "pictures"], True)
        return all(entry["passed_all"] for entry in self.result["tests"].values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--simulated", action="store_true")
    parser.add_argument("--out", type=Path, default=HERE / "result.json")
    arguments = parser.parse_args()
    check = Check(arguments.simulated)
    passed = check.all()
    arguments.out.write_text(json.dumps(check.result, indent=1) + "\n", encoding="utf-8")
    print(f"{'all passed' if passed else 'FAILED'}; written to {arguments.out}")
    sys.exit(0 if passed else 1)


if __name__ == "__main__":
    main()
