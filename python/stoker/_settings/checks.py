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
from stoker._graph.constants import NotAConstantError, dtype_text
from stoker._graph.constants import plain as plain_value
from stoker._messages import did_you_mean, shown, user_level
from stoker.errors import GraphError, GraphTypeError
from stoker.types import DType

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


def each(check: Check) -> Check:
    """Takes one value for all outputs, or a list of one per output; None is any."""

    def check_each(name: str, value: Any) -> Any:
        many = value.tolist() if getattr(value, "ndim", 0) else value
        if isinstance(many, (list, tuple)):
            return [None if v is None else check(name, v) for v in many]
        return check(name, many)

    return check_each


def dtype(name: str, value: Any) -> str:
    """Takes an element type, also by its name, and those of NumPy and PyTorch."""
    text = value if isinstance(value, str) else dtype_text(value)
    if text is None:
        raise GraphTypeError(
            f"Pipeline: argument '{name}' expects a dtype such as types.FLOAT, a list of them or "
            f"None, got {shown(value)}"
        )
    known = [t.value for t in DType if t is not DType.NO_TYPE]
    if text not in known:
        raise wrong(name, f"expects a dtype, one of {', '.join(known)}, got {shown(value)}")
    return DType(text).value


def axes(name: str, value: Any) -> int:
    """Takes a number of axes."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise GraphTypeError(
            f"Pipeline: argument '{name}' expects an int, a list of them or None, got "
            f"{shown(value)}"
        )
    return at_least(0)(name, value)  # type: ignore[no-any-return] # a Check of an int


def layout(name: str, value: Any) -> str:
    """Takes a layout, a letter for each axis."""
    if not isinstance(value, str):
        raise GraphTypeError(
            f"Pipeline: argument '{name}' expects a text, a list of them or None, got "
            f"{shown(value)}"
        )
    return str(plain(name, value))


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
