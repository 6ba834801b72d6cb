#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the tests and benchmarks of a gpu-check folder and writes the results as JSON.

    check.py [--simulated] [--part cpp|python|sanitizer ...] [--out result.json]

--simulated tries out the folder on a machine without a GPU, and measures nothing. --part, which may
be repeated, runs only some parts; the sanitizer takes longest. The JSON is written after each test,
with "passed": null until the end. The exit status is 0 if all that could run passed.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import platform
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SITE = HERE / "site"
PARTS = ("cpp", "python", "sanitizer")
LIMIT_S = 1200
CPP_TESTS = ["bin/stoker_run_test", "--gtest_filter=DeviceStage.*:DeviceMemory.*:Rounds.*"]
SANITIZERS = ("memcheck", "racecheck")
PROCESSES = min(8, os.cpu_count() or 1)  # in which the tests of operators run
# What has these on a machine may have been compiled for their versions, as PyTorch and OpenCV are.
KEPT = {"numpy": "numpy", "pillow": "PIL"}
DEVICES = "import json, stoker; print(json.dumps([d._asdict() for d in stoker.devices()]))"


def install() -> None:
    """Unpacks the wheels into SITE. That needs no pip, as they hold only packages."""
    shutil.rmtree(SITE, ignore_errors=True)
    for wheel in sorted((HERE / "wheels").glob("*.whl")):
        if (kept := KEPT.get(wheel.name.split("-")[0])) and importlib.util.find_spec(kept):
            continue
        with zipfile.ZipFile(wheel) as files:
            files.extractall(SITE)


def library_path() -> str:
    """The folders in which libraries are searched.

    The compiler's libraries of this folder are among them only if those of this machine are too
    old, because its own programs, such as PyTorch, may need its newer ones.
    """
    path = f"{HERE / 'lib'}:{os.environ.get('LD_LIBRARY_PATH', '')}"
    env = {**os.environ, "LD_LIBRARY_PATH": path, "LD_TRACE_LOADED_OBJECTS": "1"}
    told = subprocess.run(
        [HERE / CPP_TESTS[0]], env=env, capture_output=True, text=True, check=False
    )
    return f"{HERE / 'lib/gcc'}:{path}" if "not found" in told.stdout + told.stderr else path


def environment(simulated: bool) -> dict[str, str]:
    env = {
        **os.environ,
        "LD_LIBRARY_PATH": library_path(),
        "PYTHONPATH": str(SITE),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # plugins of this machine may need another pytest
    }
    env.pop("STOKER_SIMULATED_DEVICES", None)
    env.pop("STOKER_REQUIRE_GPU", None)
    if simulated:
        return {**env, "STOKER_SIMULATED_DEVICES": "1"}
    nvjpeg = sorted((HERE / "lib").glob("libnvjpeg.so.*"))
    return {**env, "STOKER_REQUIRE_GPU": "1", "STOKER_NVJPEG": str(nvjpeg[-1])}


class Check:
    def __init__(self, simulated: bool, out: Path) -> None:
        self.simulated = simulated
        self.out = out
        self.env = environment(simulated)
        self.result: dict[str, Any] = {
            "commit": (HERE / "commit").read_text().strip(),
            "machine": platform.platform(),
            "simulated": simulated,
            "passed": None,
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
        self.save()
        print(f"{'pass' if code == 0 else 'FAIL'}  {name}  {counts or ''}", flush=True)

    def leave_out(self, name: str, why: str) -> None:
        self.result["not_run"][name] = why
        self.save()
        print(f"----  {name}: {why}", flush=True)

    def save(self) -> None:
        self.out.write_text(json.dumps(self.result, indent=1) + "\n", encoding="utf-8")

    def cpp_tests(self, name: str, *tool: str) -> None:
        report = HERE / "cpp.json"
        report.unlink(missing_ok=True)
        code, text = self.run([*tool, *CPP_TESTS, f"--gtest_output=json:{report}"])
        counts = {}
        if report.exists():
            told = json.loads(report.read_text())
            counts = {"tests": told["tests"], "failed": told["failures"] + told["errors"]}
        self.note(name, code or int(not counts.get("tests")), counts, text)

    def sanitizer(self) -> None:
        """Runs C++ tests under the tools of CUDA's compute-sanitizer."""
        program = shutil.which("compute-sanitizer")
        if self.simulated or not program:
            why = "simulated" if self.simulated else "not on the PATH of this machine"
            return self.leave_out("compute-sanitizer", why)
        for tool in SANITIZERS:
            name = f"C++ under compute-sanitizer, {tool}"
            self.cpp_tests(name, program, "--tool", tool, "--error-exitcode", "1")

    def python_tests(self, name: str, *where: str, processes: int = 1) -> None:
        report = HERE / "python.xml"
        report.unlink(missing_ok=True)
        code, text = self.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
            + ["-p", "pytest_timeout", "--timeout=300"]
            + ["-p", "xdist.plugin", "-n", str(processes)] * (processes > 1)
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
            suite = next(ElementTree.parse(report).getroot().iter("testsuite"))
            counts = {
                "tests": int(suite.attrib["tests"]),
                "failed": int(suite.attrib["failures"]) + int(suite.attrib["errors"]),
                "skipped": int(suite.attrib["skipped"]),
            }
            self.take_figures(name, suite)
        self.note(name, code or int(not counts.get("tests")), counts, text)

    def framework_tests(self, name: str, module: str, where: str) -> None:
        if importlib.util.find_spec(module):
            self.python_tests(name, where)
        else:
            self.leave_out(name, "not there")

    def take_figures(self, name: str, suite: ElementTree.Element) -> None:
        """What tests measured, by record_property()."""
        told = [
            {"test": case.attrib["name"]}
            | {p.attrib["name"]: float(p.attrib["value"]) for p in case.iter("property")}
            for case in suite.iter("testcase")
        ]
        if figures := [t for t in told if len(t) > 1]:
            self.result["figures"][name] = figures

    def figures(self, name: str, command: list[str]) -> None:
        code, text = self.run(command)
        lines = [line for line in text.splitlines() if line.startswith("{")]
        for line in lines:
            print(f"      {name}: {line}", flush=True)
        self.result["figures"][name] = [json.loads(line) for line in lines]
        self.note(name, code or int(not lines), {}, text)

    def missing_gpu(self) -> str:
        """Why there is no GPU, as a program without Python says; "" if there is one."""
        code, text = self.run(["bin/bench_gpu_fused", "1", "1"])
        return text.strip() if code and "there is no device" in text else ""

    def cpp(self) -> None:
        self.cpp_tests("C++: bytes, memory, limits")
        self.figures("fused pass", ["bin/bench_gpu_fused"])

    def python(self) -> None:
        if self.python_problem:
            return self.leave_out("everything in Python", self.python_problem)
        install()
        _, devices = self.run([sys.executable, "-c", DEVICES])
        print(devices.strip(), flush=True)
        self.result["devices"] = json.loads(devices) if devices.startswith("[") else devices
        self.python_tests(
            "operators: GPU against CPU",
            "conformance/test_gpu.py",
            "conformance/test_whole_batch_calls.py",
            processes=PROCESSES,
        )
        if self.simulated:
            self.leave_out("the driver, nvJPEG, PyTorch, JAX", "simulated")
        else:
            self.python_tests("the driver", "gpu/test_driver.py")
            self.python_tests("nvJPEG", "gpu/test_nvjpeg.py")
            self.framework_tests("PyTorch", "torch", "gpu/test_handing_over.py")
            self.framework_tests("nvJPEG beside PyTorch", "torch", "gpu/test_nvjpeg_in_use.py")
            self.framework_tests("JAX", "jax", "gpu/test_handing_over_to_jax.py")
        self.figures("pipeline", [sys.executable, "gpu_pipeline.py", "pictures"])

    def all(self, parts: Sequence[str]) -> None:
        self.result["passed"] = self.run_parts(parts)
        self.save()

    def run_parts(self, parts: Sequence[str]) -> bool:
        if missing := self.missing_gpu():
            self.result["missing_gpu"] = missing
            print(f"FAIL  {missing}", flush=True)
            return False
        for part in PARTS:
            if part in parts:
                getattr(self, part)()
            else:
                self.leave_out(f"the part {part}", "not asked for")
        return all(entry["passed_all"] for entry in self.result["tests"].values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--simulated", action="store_true")
    parser.add_argument("--part", choices=PARTS, action="append")
    parser.add_argument("--out", type=Path, default=HERE / "result.json")
    arguments = parser.parse_args()
    check = Check(arguments.simulated, arguments.out)
    check.all(arguments.part or PARTS)
    passed = check.result["passed"]
    print(f"{'all passed' if passed else 'FAILED'}; written to {arguments.out}")
    sys.exit(0 if passed else 1)


if __name__ == "__main__":
    main()
