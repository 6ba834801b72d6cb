# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Defaults and errors on a machine that gives a process only a part of what it has."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tarfile
import textwrap
from pathlib import Path

import pytest

PIPELINE = """
import numpy as np
from stoker import fn, pipeline_def

@pipeline_def(batch_size=4)
def numbers(**source):
    return fn.external_source(lambda info: np.array([info.idx_in_epoch]), batch=False, **source)
"""


def run(text: str, *before: str) -> subprocess.CompletedProcess[str]:
    """The result of the lines behind PIPELINE, in a process in which a shell runs others first."""
    script = textwrap.dedent(PIPELINE) + textwrap.dedent(text)
    shell = " && ".join([*before, f'exec "{sys.executable}" -'])
    return subprocess.run(["bash", "-c", shell], input=script, capture_output=True, text=True)


def bytes_of_limit(done: subprocess.CompletedProcess[str]) -> int:
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


PRINT_LIMIT = """
pipe = numbers(num_threads=1)
pipe.run()
print(pipe.stats()["memory"]["limit"])
"""


@pytest.mark.skipif("asan" in os.environ.get("LD_PRELOAD", ""), reason="it reserves terabytes")
@pytest.mark.parametrize("mebibytes", [1024, 3000])
def test_memory_limit_stays_within_the_address_space(mebibytes: int) -> None:
    done = run(PRINT_LIMIT, f"ulimit -v {mebibytes << 10}")
    assert 0 < bytes_of_limit(done) <= mebibytes << 19


def test_memory_limit_is_half_of_the_machine_s_at_most() -> None:
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert 0 < bytes_of_limit(run(PRINT_LIMIT)) <= machine // 2


def in_group(folder: Path) -> list[str]:
    """Shell commands after which the system shows this folder as that of the control groups."""
    enter = f"mount --bind {folder} /sys/fs/cgroup"
    return [f"exec unshare -m bash -c '{enter} && exec \"{sys.executable}\" -'"]


def can_unshare() -> bool:
    done = subprocess.run(["unshare", "-m", "true"], capture_output=True)
    return os.geteuid() == 0 and done.returncode == 0


@pytest.mark.skipif(not can_unshare(), reason="only root has mount namespaces here")
@pytest.mark.parametrize(
    ("file", "text", "limit"),
    [
        ("memory.max", "1073741824", 1 << 29),
        ("memory.high", "536870912", 1 << 28),
        ("memory/memory.limit_in_bytes", "805306368", 3 << 27),
    ],
)
def test_memory_limit_is_that_of_the_group(
    file: str, text: str, limit: int, tmp_path: Path
) -> None:
    (tmp_path / "memory").mkdir()
    (tmp_path / file).write_text(text + "\n")
    assert bytes_of_limit(run(PRINT_LIMIT, *in_group(tmp_path))) == limit


@pytest.mark.skipif(not can_unshare(), reason="only root has mount namespaces here")
def test_threads_are_as_many_as_the_group_can_keep_busy(tmp_path: Path) -> None:
    (tmp_path / "cpu.max").write_text("50000 100000\n")
    count = """
    pipe = numbers()
    pipe.run()
    from pathlib import Path
    names = [file.read_text() for file in Path("/proc/self/task").glob("*/comm")]
    print(sum(name.startswith("stoker-worker") for name in names))
    """
    assert int(run(count, *in_group(tmp_path)).stdout) == 1


def test_too_few_open_files_for_worker_processes() -> None:
    text = """
    pipe = numbers(parallel=True, num_threads=1, py_num_workers=8, py_start_method="fork")
    try:
        pipe.run()
    except Exception as e:
        print(type(e).__name__, e)
    """
    said = run(text, "ulimit -n 24").stdout
    assert said.startswith("SourceError 8 worker processes (py_num_workers) with ")
    assert "[Errno 24] Too many open files; give fewer py_num_workers" in said
    assert said.rstrip().endswith("raise the limit with ulimit -n")


@pytest.mark.parametrize("on_error", ["raise", "skip"])
def test_too_few_open_files_for_archives(on_error: str, tmp_path: Path) -> None:
    for k in range(40):
        with tarfile.open(tmp_path / f"{k}.tar", "w") as archive:
            member = tarfile.TarInfo("0.bin")
            member.size = 4
            archive.addfile(member, io.BytesIO(b"four"))
    text = f"""
    from pathlib import Path
    paths = sorted(map(str, Path("{tmp_path}").iterdir()))

    @pipeline_def(batch_size=4, num_threads=1, on_error="{on_error}")
    def archives():
        return fn.readers.webdataset(paths=paths, ext="bin")

    try:
        pipe = archives()
        for _ in range(10):
            pipe.run()
    except Exception as e:
        print(type(e).__name__, e)
    """
    said = run(text, "ulimit -n 24").stdout
    assert "Too many open files; this process may have 24 open at once" in said
    assert said.startswith("BudgetError ") and said.rstrip().endswith("as with ulimit -n")
