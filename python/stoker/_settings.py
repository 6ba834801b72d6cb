# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""A pipeline's own settings, as opposed to its graph."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from stoker import launcher
from stoker._graph.constants import NotAConstantError, plain
from stoker._messages import did_you_mean
from stoker.errors import GraphError

Depth = int | Mapping[str, int]

# Settings of the established library that change no result here, and their defaults.
WITHOUT_EFFECT: dict[str, Any] = {
    "bytes_per_sample": 0,
    "bytes_per_sample_hint": 0,
    "concurrency": None,
    "debug": False,
    "default_cuda_stream_priority": None,
    "enable_checkpointing": True,
    "enable_conditionals": False,
    "enable_memory_stats": False,
    "exec_async": True,
    "exec_dynamic": None,
    "exec_pipelined": True,
    "experimental_exec_dynamic": None,
    "max_streams": None,
    "stream_policy": None,
}


# Of the processes that run sources with parallel=True; not part of a saved pipeline.
WORKER_SETTINGS: dict[str, Any] = {
    "py_callback_pickler": None,
    "py_num_workers": 1,
    "py_start_method": "fork",
}


class Options(NamedTuple):
    """Checked settings. Values; names and defaults are those of ``Pipeline``'s constructor."""

    batch_size: int | None
    num_threads: int | None
    device_id: int | None
    set_affinity: bool
    seed: int | None
    prefetch_queue_depth: int
    on_error: str
    memory_limit: int
    device_memory_limit: int
    read_ahead_limit: int | None
    io_threads: int | None
    executor: str
    shard_id: int
    num_shards: int
    fuse: bool
    demand: bool
    output_dtype: Any
    output_ndim: Any
    output_layout: Any

    def for_engine(self) -> dict[str, Any]:
        """What ``_core.Pipeline`` takes; what is None there has a default of its own."""
        values = {k: v for k, v in self._asdict().items() if not k.startswith("output_")}
        if self.num_threads is None:
            values["num_threads"] = usable_cpus()
        return values

    def for_file(self) -> dict[str, Any]:
        """What a saved pipeline holds."""
        return self._asdict()


def usable_cpus() -> int:
    """How many CPUs this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def make_options(values: Mapping[str, Any]) -> Options:
    """Checks every setting. Raises ``GraphError`` that names the wrong one."""
    options = Options(**{name: launcher.resolve(name, value) for name, value in values.items()})
    threads: Any = options.num_threads
    options = options._replace(
        batch_size=_at_least_or_none(1, "batch_size", options.batch_size),
        num_threads=_at_least_or_none(1, "num_threads", None if threads == "auto" else threads),
        device_id=_negative_is_none("device_id", options.device_id),
        seed=_negative_is_none("seed", options.seed),
        prefetch_queue_depth=_depth(options.prefetch_queue_depth),
        memory_limit=_at_least(0, "memory_limit", options.memory_limit),
        device_memory_limit=_at_least(0, "device_memory_limit", options.device_memory_limit),
        read_ahead_limit=_at_least_or_none(0, "read_ahead_limit", options.read_ahead_limit),
        io_threads=_at_least_or_none(1, "io_threads", options.io_threads),
        num_shards=_at_least(1, "num_shards", options.num_shards),
        shard_id=_at_least(0, "shard_id", options.shard_id),
        output_dtype=_each("output_dtype", options.output_dtype),
        output_ndim=_each("output_ndim", options.output_ndim),
        output_layout=_each("output_layout", options.output_layout),
    )
    if options.shard_id >= options.num_shards:
        raise GraphError(
            f"shard_id is {options.shard_id}, but there are num_shards={options.num_shards}"
        )
    _one_of(("raise", "skip", "replace"), "on_error", options.on_error)
    _one_of(("pipelined", "simple"), "executor", options.executor)
    return options


class WorkerOptions(NamedTuple):
    """Checked settings ``py_*``: how many processes, how they are started and reached."""

    processes: int
    start_method: str
    pickler: Any

    def setting(self, name: str) -> Any:
        """Under the name that ``Pipeline`` gives it."""
        own = {
            "py_num_workers": self.processes,
            "py_start_method": self.start_method,
            "py_callback_pickler": self.pickler,
        }
        return own[name]


def make_worker_options(processes: Any, start_method: Any, pickler: Any) -> WorkerOptions:
    """Checks the settings ``py_*``. Raises ``GraphError`` that names the wrong one."""
    processes = _at_least(1, "py_num_workers", processes)
    _one_of(("fork", "spawn", "forkserver"), "py_start_method", start_method)
    pair = tuple(pickler) if isinstance(pickler, (list, tuple)) else (None, None)
    if hasattr(pickler, "dumps") and hasattr(pickler, "loads"):
        pair = (pickler.dumps, pickler.loads)
    if pickler is not None and not (len(pair) == 2 and all(map(callable, pair))):
        raise GraphError(
            "py_callback_pickler expects a module with dumps and loads, or (dumps, loads), got "
            f"{pickler!r}"
        )
    return WorkerOptions(processes, start_method, pickler)


def options_of_file(values: Mapping[str, Any]) -> dict[str, Any]:
    """Settings from a saved pipeline. Raises ``GraphError`` on one that does not exist."""
    for name in values:
        if name not in Options._fields:
            raise GraphError(
                f"the saved pipeline has a setting '{name}' that this version does not know"
            )
    return dict(values)


def unknown_setting(name: str) -> TypeError:
    """The error for a setting that does not exist."""
    return TypeError(f"a pipeline has no setting '{name}'.{did_you_mean(name, setting_names())}")


def setting_names() -> list[str]:
    """Everything that ``Pipeline``'s constructor takes."""
    return [*Options._fields, *WITHOUT_EFFECT, *WORKER_SETTINGS, "checkpoint", "max_batch_size"]


def _integer(name: str, value: Any) -> int:
    number = None if isinstance(value, (str, bool)) else _plain(name, value)
    if not isinstance(number, int):
        raise GraphError(f"{name} expects an int, got {value!r}")
    return number


def _plain(name: str, value: Any) -> Any:
    try:
        return plain(value)
    except NotAConstantError as e:
        raise GraphError(f"{name} {e}") from None


def _at_least(low: int, name: str, value: Any) -> int:
    number = _integer(name, value)
    if number < low:
        raise GraphError(f"{name} expects an int of at least {low}, got {value!r}")
    return number


def _at_least_or_none(low: int, name: str, value: Any) -> int | None:
    return None if value is None else _at_least(low, name, value)


def _negative_is_none(name: str, value: Any) -> int | None:
    return None if value is None or _integer(name, value) < 0 else _integer(name, value)


def _one_of(allowed: tuple[str, ...], name: str, value: Any) -> None:
    if value not in allowed:
        hint = did_you_mean(str(value), allowed)
        raise GraphError(
            f"{name} expects one of {', '.join(map(repr, allowed))}, got {value!r}.{hint}"
        )


def _depth(value: Any) -> int:
    """An int, or the established pair of queues, which are one queue here, of the greater depth."""
    if isinstance(value, Mapping):
        if set(value) != {"cpu_size", "gpu_size"}:
            raise GraphError(
                "prefetch_queue_depth expects an int, or a dict of 'cpu_size' and 'gpu_size', "
                f"got {value!r}"
            )
        return max(_at_least(1, f"prefetch_queue_depth['{k}']", v) for k, v in value.items())
    return _at_least(1, "prefetch_queue_depth", value)


def _each(name: str, value: Any) -> Any:
    """One declaration for all outputs, or a list of one per output; as plain values."""
    if isinstance(value, (list, tuple)):
        return [_plain(name, v) for v in value]
    return _plain(name, value)
