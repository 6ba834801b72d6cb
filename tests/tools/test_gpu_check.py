# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The program that a gpu-check folder runs on the other machine, and its benchmark.

The folder here has scripts in the place of programs and a stand-in for Stoker's wheel. Nothing
needs a GPU.
"""

from __future__ import annotations

import importlib.util
import json
import platform
import shutil
import subprocess
import sys
import types
import zipfile
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import stoker
from helpers import run_script

PYTHON = ".".join(platform.python_version_tuple()[:2])
NO_GPU = "there is no device 0: no NVIDIA driver (libcuda.so.1) was found"
REPORT = """#!/bin/sh
for argument; do case $argument in
  --gtest_output=json:*) echo '{"tests": 3, "failures": 0, "errors": 0}' >"${argument#*json:}";;
esac; done
"""
PYTEST = """import sys
report = next(a for a in sys.argv if a.startswith("--junitxml=")).partition("=")[2]
name = sys.argv[-1].rsplit("/")[-1]
open(report, "w").write(
    '<testsuites><testsuite tests="1" failures="0" errors="0" skipped="0"><testcase name="' + name
    + '"><properties><property name="mean" value="0.5"/></properties></testcase></testsuite>'
    '</testsuites>')
"""


def script(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


@pytest.fixture
def folder(repository: Path, tmp_path: Path) -> Path:
    """A folder in which all tests pass."""
    for name in ("check.py", "run.sh"):
        shutil.copy(repository / "tools/gpu_check" / name, tmp_path)
    (tmp_path / "commit").write_text("abc\n")
    (tmp_path / "python_version").write_text(PYTHON + "\n")
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/libnvjpeg.so.13").touch()
    script(tmp_path / "bin/stoker_run_test", REPORT)
    script(tmp_path / "bin/bench_gpu_fused", "#!/bin/sh\necho '{\"fused_us\": 1.5}'\n")
    (tmp_path / "gpu_pipeline.py").write_text("import stoker\nprint('{\"rate\": 7}')\n")
    (tmp_path / "wheels").mkdir()
    with zipfile.ZipFile(tmp_path / "wheels/stoker-0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("stoker/__init__.py", "def devices():\n    return []\n")
    with zipfile.ZipFile(tmp_path / "wheels/pytest-0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("pytest.py", PYTEST)
    return tmp_path


def checked(
    folder: Path, *arguments: str, path: str = "/usr/bin:/bin"
) -> tuple[int, dict[str, Any], str]:
    """The exit status, the results that were written, and the text that was printed."""
    done = subprocess.run(
        [folder / "run.sh", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        env={"PATH": path, "PYTHON": sys.executable},
        check=False,
    )
    return done.returncode, json.loads((folder / "result.json").read_text()), done.stdout


def test_all_that_can_run_passes_and_is_written(folder: Path) -> None:
    code, result, _ = checked(folder)
    assert code == 0 and result["passed"] and not result["simulated"]
    assert result["tests"]["C++: bytes, memory, limits"] == {
        "passed_all": True,
        "tests": 3,
        "failed": 0,
    }
    assert result["figures"]["fused pass"] == [{"fused_us": 1.5}]
    assert result["figures"]["pipeline"] == [{"rate": 7}], "by the module of the wheel"
    assert result["figures"]["nvJPEG"] == [{"test": "test_nvjpeg.py", "mean": 0.5}]
    assert result["devices"] == []
    assert result["not_run"]["compute-sanitizer"] == "not on the PATH of this machine"


def test_frameworks_hand_over_where_they_are(folder: Path) -> None:
    _, result, _ = checked(folder)
    for name, module in (("PyTorch", "torch"), ("JAX", "jax")):
        is_there = importlib.util.find_spec(module) is not None
        assert (name in result["tests"], name in result["not_run"]) == (is_there, not is_there)
        (folder / f"{module}.py").touch()
    _, result, _ = checked(folder)
    assert result["figures"]["PyTorch"] == [{"test": "test_handing_over.py", "mean": 0.5}]
    assert result["figures"]["JAX"] == [{"test": "test_handing_over_to_jax.py", "mean": 0.5}]


def test_a_part_alone_runs_and_the_rest_is_told(folder: Path) -> None:
    code, result, _ = checked(folder, "--part", "cpp")
    assert code == 0 and result["passed"]
    assert list(result["tests"]) == ["C++: bytes, memory, limits", "fused pass"]
    assert result["not_run"] == dict.fromkeys(
        ["the part python", "the part sanitizer"], "not asked for"
    )


def test_what_was_done_is_written_when_it_is_cut_off(folder: Path) -> None:
    (folder / "gpu_pipeline.py").write_text("import os\nos.kill(os.getppid(), 9)\n")
    code, result, _ = checked(folder)
    assert code == -9 and result["passed"] is None
    assert "nvJPEG" in result["tests"] and "pipeline" not in result["tests"]


def test_the_compilers_libraries_are_used_where_those_of_the_machine_are_too_old(
    folder: Path,
) -> None:
    (folder / "gpu_pipeline.py").write_text(
        "import json, os\nprint(json.dumps({'path': os.environ['LD_LIBRARY_PATH']}))\n"
    )

    def looked_for_first() -> str:
        result = checked(folder, "--part", "python")[1]
        return str(result["figures"]["pipeline"][0]["path"]).split(":")[0]

    assert looked_for_first() == str(folder / "lib")
    (folder / "lib/gcc").mkdir()
    for name, options in (
        ("lib/gcc/libnewer.so", ["-shared", "-fPIC"]),
        ("bin/stoker_run_test", ["-Wl,--no-as-needed", f"-L{folder / 'lib/gcc'}", "-lnewer"]),
    ):
        source = "int main(void) { return 0; }" if name.startswith("bin") else "int newer;"
        subprocess.run(
            ["cc", "-x", "c", "-", "-o", str(folder / name), "-x", "none", *options],
            input=source,
            text=True,
            check=True,
        )
    assert looked_for_first() == str(folder / "lib/gcc")


def test_without_a_gpu_it_says_what_is_missing(folder: Path) -> None:
    script(folder / "bin/bench_gpu_fused", f"#!/bin/sh\necho '{NO_GPU}' >&2\nexit 1\n")
    code, result, printed = checked(folder)
    assert code == 1 and not result["passed"]
    assert result["missing_gpu"] == NO_GPU
    assert NO_GPU in printed
    assert not result["tests"] and not result["figures"], "nothing is measured"


def test_another_python_is_told_and_the_rest_runs(folder: Path) -> None:
    (folder / "python_version").write_text("3.99\n")
    code, result, printed = checked(folder)
    assert code == 0
    assert list(result["tests"]) == ["C++: bytes, memory, limits", "fused pass"]
    needs = f"needs Python 3.99, this is {PYTHON}; PYTHON= names another"
    assert result["not_run"]["everything in Python"] == needs
    assert needs in printed


def test_what_fails_fails_the_whole_and_is_told(folder: Path) -> None:
    (folder / "gpu_pipeline.py").write_text("raise SystemExit('no luck')\n")
    failing = REPORT.replace('"failures": 0', '"failures": 1') + "false\n"
    script(folder / "bin/stoker_run_test", failing)
    code, result, _ = checked(folder)
    assert code == 1
    assert result["tests"]["C++: bytes, memory, limits"]["failed"] == 1
    assert result["tests"]["pipeline"]["output"] == "no luck\n"
    assert result["tests"]["fused pass"]["passed_all"]


def test_tests_that_were_not_found_do_not_pass(folder: Path) -> None:
    script(folder / "bin/stoker_run_test", REPORT.replace('"tests": 3', '"tests": 0'))
    code, result, _ = checked(folder)
    assert code == 1 and not result["tests"]["C++: bytes, memory, limits"]["passed_all"]


def test_the_sanitizer_runs_where_it_is(folder: Path) -> None:
    script(folder / "tools/compute-sanitizer", '#!/bin/sh\nshift 4\nexec "$@"\n')
    path = f"{folder / 'tools'}:/usr/bin:/bin"
    _, result, _ = checked(folder, path=path)
    for tool in ("memcheck", "racecheck"):
        assert result["tests"][f"C++ under compute-sanitizer, {tool}"]["tests"] == 3
    code, result, _ = checked(folder, "--simulated", path=path)
    assert code == 0 and result["simulated"]
    assert result["not_run"]["compute-sanitizer"] == "simulated"


@pytest.fixture(scope="module")
def bench(repository: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("pipes", repository / "bench/gpu_pipeline.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Steps:
    """A stand-in for a pipeline, which counts its steps."""

    count = 0

    def run(self) -> tuple[list[Any], None]:
        self.count += 1
        return [types.SimpleNamespace(as_cpu=lambda: None)], None


def test_both_libraries_do_the_same_steps_and_ratios_are_told(bench: ModuleType) -> None:
    pipes = {"stoker": Steps(), "nvidia.dali": Steps()}
    told = bench.measured(pipes, 4, 3)["images_per_s"]
    assert set(told) == {"stoker", "nvidia.dali", "stoker is faster than nvidia.dali by"}
    assert all({"median", "quartiles"} == set(entry) for entry in told.values())
    assert pipes["stoker"].count == pipes["nvidia.dali"].count == bench.ROUNDS * 6


def test_a_peer_that_is_absent_or_fails_is_told(bench: ModuleType, tmp_path: Path) -> None:
    peer, words = bench.find_peer()
    if peer is None:
        assert words.startswith("was not there: ")
    told = bench.with_peer(stoker, Steps(), tmp_path, 4, 1, device="nowhere")
    assert set(told["images_per_s"]) == {"stoker"}
    assert told["peer_failed"].startswith("GraphError: ")
    assert set(bench.with_peer(None, Steps(), tmp_path, 4, 1)) == {"images_per_s"}


def test_nothing_is_measured_on_a_simulated_device(repository: Path, pictures: Path) -> None:
    program = str(repository / "bench/gpu_pipeline.py")
    done = run_script(
        "import runpy, sys; sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], {}, '__main__')",
        program,
        str(pictures),
        "--batch=8",
        STOKER_SIMULATED_DEVICES="1",
    )
    assert not done.returncode, done.stderr
    peer, *ways, distance = [json.loads(line) for line in done.stdout.splitlines()]
    assert peer == {"nvidia.dali": "not asked: the device is simulated"}
    assert [way["runs"] for way in ways] == [True] * 4
    assert distance["distance_from_the_cpu"].startswith("not asked: simulated:0 has a stand-in")
    assert "images_per_s" not in done.stdout
