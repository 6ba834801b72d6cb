# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The rank of this process among the processes of a training, as the launcher tells it.

``shard_id="auto"`` and ``num_shards="auto"`` of a reader or pipeline are the rank and the world
size; ``device_id="auto"`` of a pipeline is the local rank. All are looked up when the graph is
made.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any, NamedTuple

from stoker.errors import GraphError

AUTO = "auto"
SHARD_ARGUMENTS = frozenset({"shard_id", "num_shards"})  # of readers


class Ranks(NamedTuple):
    """The place of this process among all processes.

    ``rank`` counts from 0 to ``world_size`` - 1. ``local_rank`` counts the processes of this
    machine; it is None when unknown. ``source`` names the launcher or library that told these.
    """

    rank: int
    world_size: int
    local_rank: int | None
    source: str


# Each launcher's variables for rank, world size and local rank. The first launcher whose variables
# are set counts.
_VARIABLES = {
    "the environment (torchrun)": ("RANK", "WORLD_SIZE", "LOCAL_RANK"),
    "Horovod": ("HOROVOD_RANK", "HOROVOD_SIZE", "HOROVOD_LOCAL_RANK"),
    "Open MPI": (
        "OMPI_COMM_WORLD_RANK",
        "OMPI_COMM_WORLD_SIZE",
        "OMPI_COMM_WORLD_LOCAL_RANK",
    ),
    "srun": ("SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"),
    "MPI (PMI)": ("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"),
}
_LAST_SLURM_STEP = 0xFFFFFFF0  # greater numbers stand for batch scripts and interactive shells


def find() -> Ranks:
    """The ranks of this process; rank 0 of 1 process if nothing tells them.

    They come from the first of these that knows them: ``torch.distributed`` if it is initialised;
    the variables of torchrun, Horovod, Open MPI, Slurm (in an ``srun`` step) and PMI; JAX if
    ``jax.distributed`` is initialised. Neither framework is imported for this. Raises
    ``GraphError`` that names variables which are missing or contradict each other.
    """
    found = _torch() or _environment(os.environ) or _jax()
    return found or Ranks(0, 1, 0, "a single process")


def resolve(what: str, value: Any) -> Any:
    """``value``, or the number that "auto" stands for.

    ``what`` is the argument's name: "auto" means something for ``shard_id``, ``num_shards`` and
    ``device_id`` only. Raises ``GraphError`` when the number is not known.
    """
    if not isinstance(value, str) or value != AUTO or what not in (*SHARD_ARGUMENTS, "device_id"):
        return value
    ranks = find()
    if what == "shard_id":
        return ranks.rank
    if what == "num_shards":
        return ranks.world_size
    if ranks.local_rank is None:
        raise GraphError(f"{what}='auto': {ranks.source} does not tell the local rank")
    return ranks.local_rank


def _torch() -> Ranks | None:
    distributed = getattr(sys.modules.get("torch"), "distributed", None)
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return None
    rank, size = int(distributed.get_rank()), int(distributed.get_world_size())
    # torch.distributed does not know the local rank, but the launcher's variables do.
    names = [local for _, _, local in _VARIABLES.values() if local in os.environ]
    local = _number(os.environ, names[0]) if names else None
    return Ranks(rank, size, local, "torch.distributed")


def _jax() -> Ranks | None:
    jax = sys.modules.get("jax")
    is_initialized = getattr(getattr(jax, "distributed", None), "is_initialized", None)
    if jax is None or is_initialized is None or not is_initialized():
        return None
    return Ranks(int(jax.process_index()), int(jax.process_count()), None, "jax.distributed")


def _environment(environment: Mapping[str, str]) -> Ranks | None:
    for source, (rank, size, local) in _VARIABLES.items():
        if source == "srun" and not _in_srun_step(environment):
            continue
        if rank in environment or size in environment:
            return _of_variables(environment, source, rank, size, local)
    return None


def _in_srun_step(environment: Mapping[str, str]) -> bool:
    """Whether srun started this process. A batch script has the variables too but runs once."""
    step = environment.get("SLURM_STEP_ID", "")
    return step.isdigit() and int(step) < _LAST_SLURM_STEP


def _of_variables(
    environment: Mapping[str, str], source: str, rank: str, size: str, local: str
) -> Ranks:
    for have, missing in ((rank, size), (size, rank)):
        if missing not in environment:
            raise GraphError(
                f"{have} is set ({environment[have]!r}) and {missing} is not: 'auto' needs both "
                "(or give shard_id and num_shards as numbers)"
            )
    ranks = Ranks(
        _number(environment, rank),
        _number(environment, size),
        _number(environment, local) if local in environment else None,
        source,
    )
    if ranks.rank >= ranks.world_size:
        raise GraphError(f"{rank}={ranks.rank} is no rank of {size}={ranks.world_size} processes")
    if ranks.local_rank is not None and ranks.local_rank >= ranks.world_size:
        raise GraphError(
            f"{local}={ranks.local_rank} is no rank of {size}={ranks.world_size} processes"
        )
    return ranks


def _number(environment: Mapping[str, str], name: str) -> int:
    text = environment[name].strip()
    if not text.isdigit():
        raise GraphError(f"the environment variable {name} expects a number, got {text!r}")
    return int(text)
