# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Ranks from the launcher, and "auto" where shards and devices are asked for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from helpers import make, run_script
from stoker import Pipeline, fn, launcher
from stoker.errors import GraphError
from stoker.launcher import Ranks


@pytest.fixture(autouse=True)
def no_launcher(monkeypatch: pytest.MonkeyPatch) -> None:
    """Removes the variables of whatever runs the tests, and hides the frameworks."""
    for name in list(os.environ):
        if name.startswith(
            ("RANK", "WORLD_SIZE", "LOCAL_RANK", "HOROVOD_", "OMPI_", "SLURM_", "PMI_")
        ):
            monkeypatch.delenv(name)
    monkeypatch.delenv("MPI_LOCALRANKID", raising=False)
    for module in ("torch", "jax"):
        monkeypatch.setitem(sys.modules, module, None)  # type: ignore[arg-type]


def set_all(monkeypatch: pytest.MonkeyPatch, **variables: Any) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, str(value))


LAUNCHERS = {
    "the environment (torchrun)": {"RANK": 3, "WORLD_SIZE": 8, "LOCAL_RANK": 1},
    "Horovod": {"HOROVOD_RANK": 3, "HOROVOD_SIZE": 8, "HOROVOD_LOCAL_RANK": 1},
    "Open MPI": {
        "OMPI_COMM_WORLD_RANK": 3,
        "OMPI_COMM_WORLD_SIZE": 8,
        "OMPI_COMM_WORLD_LOCAL_RANK": 1,
    },
    "srun": {"SLURM_PROCID": 3, "SLURM_NTASKS": 8, "SLURM_LOCALID": 1, "SLURM_STEP_ID": 0},
    "MPI (PMI)": {"PMI_RANK": 3, "PMI_SIZE": 8, "MPI_LOCALRANKID": 1},
}


@pytest.mark.parametrize("source", LAUNCHERS)
def test_each_launcher(monkeypatch: pytest.MonkeyPatch, source: str) -> None:
    set_all(monkeypatch, **LAUNCHERS[source])
    assert launcher.find() == Ranks(3, 8, 1, source)


def test_the_first_launcher_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """srun starts torchrun on two machines: two tasks, eight processes."""
    set_all(monkeypatch, SLURM_PROCID=1, SLURM_NTASKS=2, SLURM_LOCALID=0, SLURM_STEP_ID=0)
    set_all(monkeypatch, RANK=5, WORLD_SIZE=8, LOCAL_RANK=1)
    assert launcher.find() == Ranks(5, 8, 1, "the environment (torchrun)")


@pytest.mark.parametrize("step", [None, 0xFFFFFFFB, 0xFFFFFFFA, ""])
def test_a_batch_script_or_shell_of_slurm_is_one_process(
    monkeypatch: pytest.MonkeyPatch, step: int | str | None
) -> None:
    set_all(monkeypatch, SLURM_PROCID=0, SLURM_NTASKS=8, SLURM_LOCALID=0)
    if step is not None:
        set_all(monkeypatch, SLURM_STEP_ID=step)
    assert launcher.find() == Ranks(0, 1, 0, "a single process")


def test_a_shard_is_no_part_of_a_reader_s_key(pictures: Path) -> None:
    def keys(**shard: Any) -> list[str]:
        pipe = make(lambda: fn.readers.file(file_root=pictures, **shard))
        return [node["key"] for node in json.loads(pipe.serialize())["nodes"]]

    assert keys(shard_id=1, num_shards=2) == keys(num_shards=3) == keys()


def test_without_a_launcher() -> None:
    assert launcher.find() == Ranks(0, 1, 0, "a single process")


@pytest.mark.parametrize(
    "variables, message",
    [
        ({"RANK": 1}, r"RANK is set \('1'\) and WORLD_SIZE is not"),
        ({"WORLD_SIZE": 2}, r"WORLD_SIZE is set \('2'\) and RANK is not"),
        ({"OMPI_COMM_WORLD_RANK": 0}, "OMPI_COMM_WORLD_SIZE is not"),
        ({"RANK": 2, "WORLD_SIZE": 2}, "RANK=2 is no rank of WORLD_SIZE=2"),
        ({"RANK": 0, "WORLD_SIZE": 2, "LOCAL_RANK": 2}, "LOCAL_RANK=2 is no rank"),
        ({"RANK": "one", "WORLD_SIZE": 2}, "RANK expects a number, got 'one'"),
        ({"HOROVOD_RANK": -1, "HOROVOD_SIZE": 2}, "HOROVOD_RANK expects a number, got '-1'"),
    ],
    ids=str,
)
def test_variables_that_contradict(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, Any], message: str
) -> None:
    set_all(monkeypatch, **variables)
    with pytest.raises(GraphError, match=message):
        launcher.find()


def a_process_group(rank: int, size: int, initialised: bool = True) -> types.SimpleNamespace:
    distributed = types.SimpleNamespace(
        is_available=lambda: True,
        is_initialized=lambda: initialised,
        get_rank=lambda: rank,
        get_world_size=lambda: size,
    )
    return types.SimpleNamespace(distributed=distributed)


def test_the_process_group_of_torch_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    set_all(monkeypatch, RANK=5, WORLD_SIZE=8, LOCAL_RANK=1)
    monkeypatch.setitem(sys.modules, "torch", a_process_group(2, 3))  # type: ignore[arg-type]
    assert launcher.find() == Ranks(2, 3, 1, "torch.distributed")
    monkeypatch.delenv("LOCAL_RANK")
    assert launcher.find() == Ranks(2, 3, None, "torch.distributed")
    with pytest.raises(GraphError, match=r"torch\.distributed does not tell the local rank"):
        make(fn.random.coin_flip, device_id="auto")
    set_all(monkeypatch, SLURM_LOCALID=2)
    assert launcher.find().local_rank == 2
    uninitialised = a_process_group(2, 3, False)
    monkeypatch.setitem(sys.modules, "torch", uninitialised)  # type: ignore[arg-type]
    assert launcher.find().rank == 5


def test_jax_comes_last(monkeypatch: pytest.MonkeyPatch) -> None:
    jax = types.SimpleNamespace(
        distributed=types.SimpleNamespace(is_initialized=lambda: True),
        process_index=lambda: 1,
        process_count=lambda: 4,
    )
    monkeypatch.setitem(sys.modules, "jax", jax)  # type: ignore[arg-type]
    assert launcher.find() == Ranks(1, 4, None, "jax.distributed")
    set_all(monkeypatch, PMI_RANK=0, PMI_SIZE=2)
    assert launcher.find().source == "MPI (PMI)"


def test_a_reader_takes_its_shard_from_the_launcher(
    monkeypatch: pytest.MonkeyPatch, pictures: Path
) -> None:
    set_all(monkeypatch, RANK=1, WORLD_SIZE=3, LOCAL_RANK=0)

    def define(**shard: Any) -> Any:
        return lambda: fn.readers.file(file_root=pictures, name="reader", **shard)[1]

    pipe = make(define(shard_id="auto", num_shards="auto"), batch_size=2)
    meta = pipe.reader_meta("reader")
    assert (meta["shard_id"], meta["number_of_shards"]) == (1, 3)
    judge = make(define(shard_id=1, num_shards=3), batch_size=2)
    for got, expected in zip(pipe, judge, strict=True):
        assert got[0].as_array().tobytes() == expected[0].as_array().tobytes()
    # The saved form holds the numbers, as it may be loaded without a launcher.
    assert '"auto"' not in pipe.serialize()


def test_a_pipeline_takes_its_shard_and_device(monkeypatch: pytest.MonkeyPatch) -> None:
    set_all(monkeypatch, RANK=2, WORLD_SIZE=3, LOCAL_RANK=1)
    pipe = Pipeline(batch_size=2, shard_id="auto", num_shards="auto", device_id="auto")
    assert (pipe.shard_id, pipe.num_shards, pipe.device_id) == (2, 3, 1)
    loaded = Pipeline.deserialize(
        make(fn.random.coin_flip).serialize(), shard_id="auto", num_shards=4
    )
    assert (loaded.shard_id, loaded.num_shards) == (2, 4)


def test_what_is_wrong_names_the_argument(monkeypatch: pytest.MonkeyPatch, pictures: Path) -> None:
    set_all(monkeypatch, RANK=1)
    with pytest.raises(GraphError, match=r"readers.file .*'shard_id': RANK is set"):
        make(lambda: fn.readers.file(file_root=pictures, shard_id="auto")[1])
    with pytest.raises(GraphError, match="'shard_id' expects int, got 'automatic'"):
        Pipeline(batch_size=1, shard_id="automatic")  # type: ignore[arg-type]


def test_no_framework_is_imported_for_it() -> None:
    script = (
        "import sys, stoker.launcher; stoker.launcher.find(); "
        "print(sorted({'torch', 'jax', 'numpy'} & set(sys.modules)))"
    )
    done: subprocess.CompletedProcess[str] = run_script(script)
    assert done.stdout == "[]\n", done.stderr
