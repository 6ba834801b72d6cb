# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Makes a setting's value of what the user gives; the engine checks its own settings after that.

Each function raises ``GraphError`` that names the setting.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

from stoker import launcher
from stoker._graph.constants import NotAConstantError
from stoker._graph.constants import plain as plain_value
from stoker._messages import did_you_mean, shown, user_level
from stoker.errors import GraphError

Check = Callable[[str, Any], Any]  # name, value -> value


def wrong(name: str, problem: str) -> GraphError:
    """The error for a wrong value, in the engine's words."""
    return GraphError(f"Pipeline: argument '{name}' {problem}")


def plain(name: str, value: Any) -> Any:
    """A value of the few types that the engine takes."""
    try:
        return plain_value(value)
    except NotAConstantError:
        problem = f"expects a number, a text or a list of them, got {shown(value)}"
        raise wrong(name, problem) from None


def anything(name: str, value: Any) -> Any:
    """The value itself."""
    return value


def flag(name: str, value: Any) -> bool:
    """Takes a bool, also as 0 or 1."""
    given = plain(name, value)
    if type(given) not in (bool, int) or given not in (0, 1):
        raise wrong(name, f"expects bool, got {shown(value)}")
    return bool(given)


def at_least(low: int) -> Check:
    """Takes an int that is not less."""

    def check(name: str, value: Any) -> int:
        number = plain(name, value)
        if not isinstance(number, int) or isinstance(number, bool):
            raise wrong(name, f"expects int, got {shown(value)}")
        if number < low:
            raise wrong(name, f"is {number}, expected at least {low}")
        return number

    return check


def one_of(*allowed: str) -> Check:
    """Takes one of these texts."""

    def check(name: str, value: Any) -> Any:
        if not isinstance(value, str) or value not in allowed:
            hint = did_you_mean(value, allowed) if isinstance(value, str) else ""
            end = f".{hint}" if hint else ""
            raise wrong(name, f"expects one of {', '.join(allowed)}, got {shown(value)}{end}")
        return value

    return check


def of_launcher(name: str, value: Any) -> Any:
    """Takes "auto" as well, which the launcher knows."""
    return plain(name, launcher.resolve(name, value))


def auto_is_none(name: str, value: Any) -> Any:
    """Takes "auto" as well."""
    return None if isinstance(value, str) and value == launcher.AUTO else plain(name, value)


def negative_is_none(name: str, value: Any) -> Any:
    """Takes a negative int as well, and "auto" where the launcher knows it."""
    number = of_launcher(name, value)
    return None if isinstance(number, int) and number < 0 else number


def deeper(name: str, value: Any) -> Any:
    """Takes the established pair of queues as well: here it is one, of the greater depth."""
    if not isinstance(value, Mapping):
        return plain(name, value)
    if set(value) != {"cpu_size", "gpu_size"}:
        raise wrong(
            name, f"expects int, or a dict of 'cpu_size' and 'gpu_size', got {shown(value)}"
        )
    return max(at_least(1)(f"{name}['{key}']", depth) for key, depth in value.items())


def each(name: str, value: Any) -> Any:
    """Takes one plain value for all outputs, or a list of one per output."""
    if isinstance(value, (list, tuple)):
        return [plain(name, v) for v in value]
    return plain(name, value)


def pickler(name: str, value: Any) -> Any:
    """Takes a module that pickles, also with the keywords of its functions, or two functions."""
    parts = tuple(value) if isinstance(value, (list, tuple)) else (value,)
    if len(parts) == 2 and all(map(callable, parts)):
        return value
    if parts and all(callable(getattr(parts[0], f, None)) for f in ("dumps", "loads")):
        keywords = parts[1:]
        if len(keywords) <= 2 and all(k is None or isinstance(k, dict) for k in keywords):
            return value
    raise wrong(
        name,
        "expects a module with dumps and loads, (module, keywords of dumps, keywords of loads), or "
        f"(dumps, loads), got {shown(value)}",
    )


def warn_of_debug(name: str, value: Any) -> Any:
    """Warns where operators are expected to run at once."""
    if value:
        warnings.warn(
            f"{name}=True has no effect: operators run when the pipeline runs",
            stacklevel=user_level(),
        )
    return value
