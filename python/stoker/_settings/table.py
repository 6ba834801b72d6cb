# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The table of a pipeline's settings.

Those of the engine are described in ``src/run/options.h``; the others have a row here. The
signature and docstring of ``Pipeline``, its stub, the checks and the saved form follow.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple

from stoker import _core
from stoker._describe.other_names import OTHER_SETTINGS
from stoker._describe.registry import Argument
from stoker._describe.signatures import annotation, argument_facts
from stoker._messages import near_or_all, shown
from stoker._settings import checks
from stoker.errors import GraphError


class Setting(NamedTuple):
    """One setting. Without ``help`` it is accepted without effect."""

    name: str
    annotation: str
    default: Any = None
    help: str = ""
    facts: tuple[str, ...] = ()  # type, default and range, in words
    check: checks.Check = checks.anything
    is_saved: bool = False
    of_engine: bool = False


class Spelling(NamedTuple):
    """What the user may give for a setting of the engine besides what the engine takes."""

    check: checks.Check
    annotation: str = ""
    help: str = ""


SPELLINGS = {
    "num_threads": Spelling(checks.auto_is_none, 'Literal["auto"]'),
    "device_id": Spelling(
        checks.negative_is_none, 'Literal["auto"]', '"auto" is the launcher\'s local rank.'
    ),
    "seed": Spelling(checks.negative_is_none),
    "prefetch_queue_depth": Spelling(checks.deeper, "Mapping[str, int]"),
    "shard_id": Spelling(checks.of_launcher, 'Literal["auto"]', '"auto" is the launcher\'s rank.'),
    "num_shards": Spelling(
        checks.of_launcher, 'Literal["auto"]', '"auto" is the launcher\'s world size.'
    ),
}

# Those that the engine does not know.
PYTHON_SETTINGS = [
    Setting(
        "output_dtype",
        "DTypeLike | Sequence[DTypeLike | None] | None",
        help="What dtype the outputs must have: one for all, or a list; None is any.",
        check=checks.each(checks.dtype),
        is_saved=True,
    ),
    Setting(
        "output_ndim",
        "int | Sequence[int | None] | None",
        help="How many dimensions the samples of the outputs must have, likewise.",
        check=checks.each(checks.axes),
        is_saved=True,
    ),
    Setting(
        "output_layout",
        "str | Sequence[str | None] | None",
        help="What layout the outputs must have, likewise.",
        check=checks.each(checks.layout),
        is_saved=True,
    ),
    Setting(
        "checkpoint",
        "str | Mapping[str, Any] | None",
        help="A state to begin from, of state() or checkpoint().",
    ),
    Setting(
        "max_batch_size",
        "int | None",
        help="Another name of batch_size.",
        check=checks.at_least(1),
    ),
    Setting(
        "py_num_workers",
        "int | None",
        1,
        "How many processes run sources of fn.external_source(parallel=True).",
        check=checks.at_least(0),
    ),
    Setting(
        "py_start_method",
        'Literal["fork", "spawn", "forkserver"] | None',
        "fork",
        "How these processes are started.",
        check=checks.one_of("fork", "spawn", "forkserver"),
    ),
    Setting(
        "py_callback_pickler",
        "Any",
        help="A module with dumps and loads, or these two, for what is sent to these processes. "
        "(module, dict, dict) gives dumps and loads further keywords.",
        check=checks.pickler,
    ),
    Setting(
        "exec_pipelined",
        "bool",
        True,
        "With False nothing is made ahead, as with prefetch_queue_depth=0: sources and functions "
        "are called when run() is, for one step.",
        check=checks.flag,
        is_saved=True,
    ),
    Setting("debug", "object", False, check=checks.warn_of_debug),
    Setting(
        "enable_conditionals",
        "bool",
        False,
        "Whether conditionals of the pipeline's function may be on nodes.",
    ),
]

# Further settings of the established library that change no result here, and their defaults.
WITHOUT_EFFECT: dict[str, Any] = {
    "bytes_per_sample": 0,
    "bytes_per_sample_hint": 0,
    "concurrency": None,
    "default_cuda_stream_priority": None,
    "enable_checkpointing": True,
    "enable_memory_stats": False,
    "exec_async": True,
    "exec_dynamic": None,
    "experimental_exec_dynamic": None,
    "max_streams": None,
    "stream_policy": None,
}

# Those that may be given by position, in the established order.
POSITIONAL = (
    "batch_size",
    "num_threads",
    "device_id",
    "seed",
    "exec_pipelined",
    "prefetch_queue_depth",
    "exec_async",
    "bytes_per_sample",
    "set_affinity",
    "max_streams",
    "default_cuda_stream_priority",
)


@cache
def settings() -> dict[str, Setting]:
    """All settings by name."""
    ignored = [Setting(name, "object", default) for name, default in WITHOUT_EFFECT.items()]
    rows = [*map(_of_engine, _core.settings()), *map(_with_facts, PYTHON_SETTINGS), *ignored]
    return {row.name: row for row in rows}


def _of_engine(argument: Argument) -> Setting:
    name = argument["name"]
    spelling = SPELLINGS.get(name, Spelling(checks.plain))
    return Setting(
        name,
        " | ".join(filter(None, [spelling.annotation, annotation(argument)])),
        argument["default"],
        " ".join(filter(None, [argument["help"], spelling.help])),
        tuple(argument_facts(argument)),
        spelling.check,
        is_saved=True,
        of_engine=True,
    )


def _with_facts(setting: Setting) -> Setting:
    return setting._replace(facts=(f"default {setting.default!r}",))


def checked(given: Mapping[str, Any]) -> dict[str, Any]:
    """The values of all settings. What is None has its default.

    Raises ``GraphError`` that names the wrong one.
    """
    values = {name: setting.default for name, setting in settings().items()}
    for name, value in given.items():
        if value is not None:
            values[name] = settings()[name].check(name, value)
    if values["batch_size"] is None:
        values["batch_size"] = values["max_batch_size"]
    if values["max_batch_size"] not in (None, values["batch_size"]):
        raise GraphError(
            f"batch_size={shown(values['batch_size'])}, "
            f"but max_batch_size={values['max_batch_size']}"
        )
    return values | _core.checked_settings(_of_engine_only(values))


def for_engine(values: Mapping[str, Any]) -> dict[str, Any]:
    """What ``_core.Pipeline`` takes."""
    return _of_engine_only(values) | {"prefetch_queue_depth": depth(values)}


def depth(values: Mapping[str, Any]) -> int:
    """How many steps are prepared ahead."""
    return values["prefetch_queue_depth"] if values["exec_pipelined"] else 0


def _of_engine_only(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: values[name] for name, setting in settings().items() if setting.of_engine}


def for_file(values: Mapping[str, Any]) -> dict[str, Any]:
    """What a saved pipeline holds."""
    return {name: values[name] for name, setting in settings().items() if setting.is_saved}


def of_file(values: Mapping[str, Any]) -> dict[str, Any]:
    """Settings from a saved pipeline. Raises ``GraphError`` on one that does not exist."""
    for name in values:
        if name not in settings() or not settings()[name].is_saved:
            raise GraphError(
                f"the saved pipeline has a setting '{name}' that this version does not know"
            )
    return dict(values)


def unknown(name: str) -> TypeError:
    """The error for a setting that does not exist."""
    return TypeError(
        f"a pipeline has no setting '{name}'.{nearest_setting(name, settings(), 'It has')}"
    )


def nearest_setting(wrong: str, names: Iterable[str], what: str) -> str:
    """As ``near_or_all``, and knows what other libraries call settings."""
    if wrong in OTHER_SETTINGS:
        return f" Did you mean '{OTHER_SETTINGS[wrong]}'?"
    return near_or_all(wrong, names, what)
