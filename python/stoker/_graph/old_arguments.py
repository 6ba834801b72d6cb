# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Translates old arguments into today's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from stoker._describe.old_spellings import ARGUMENTS, warn
from stoker._graph.calls import call_one
from stoker.errors import GraphError, GraphTypeError


def modern_arguments(op: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments in today's spelling; random draws that old arguments imply become nodes.

    Raises ``GraphError`` if an old argument needs another that is not given, and
    ``GraphTypeError`` if an argument is given in both spellings.
    """
    given = dict(arguments)
    table = ARGUMENTS.get(op)
    if not table or not given.keys() & table.keys():
        return given
    old = {name: given.pop(name) for name in arguments if name in table}
    for name in old:
        if missing := [n for n in table[name].needs if n not in old]:
            raise GraphError(f"{op}: the old argument {name} also needs {', '.join(missing)}")
    if op == "resize":
        today = _resize(old)
    else:
        today = {}
        for name, value in old.items():
            warn(f"{op}: {name}", table[name].today)
            today.update(_today(table[name].today, name, value))
    if both := sorted(today.keys() & given.keys()):
        text = f"{op}: {', '.join(both)} is given in its old and in today's spelling"
        raise GraphTypeError(text)
    return {**given, **today}


def _uniform(low: Any, high: Any) -> Any:
    return call_one("random.uniform", range=[low, high])


def _random_crop(is_random: Any) -> dict[str, Any]:
    if not is_random:
        return {}
    return {"crop_pos_x": _uniform(0, 1), "crop_pos_y": _uniform(0, 1)}


def _mirror(probability: Any) -> dict[str, Any]:
    return {"mirror": call_one("random.coin_flip", probability=probability)}


# Those that are more than another name.
_EXPAND: dict[str, Callable[[Any], dict[str, Any]]] = {
    "masks": lambda value: {"polygon_masks": value, "polygons_of_coordinates": value},
    "mirror_prob": _mirror,
    "random_crop": _random_crop,
}


def _today(today: str, name: str, value: Any) -> dict[str, Any]:
    if name in _EXPAND:
        return _EXPAND[name](value)
    return {today: value} if today else {}


def _resize(old: Mapping[str, Any]) -> dict[str, Any]:
    """Translates the old arguments of ``resize``.

    ``resize_a`` and ``resize_b`` are the ends of a random draw, or height and width; ``resize_a``
    alone is the length of the shorter side.
    """
    table = ARGUMENTS["resize"]
    if "image_type" in old:
        warn("resize: image_type", "")
    if not old.keys() - {"image_type"}:
        return {}
    low, high = old.get("resize_a"), old.get("resize_b")
    is_random, is_warped = bool(old.get("random_resize")), bool(old.get("warp_resize"))
    if is_random and is_warped:
        draw = "fn.random.uniform(range=[resize_a, resize_b])"
        warn("resize: random_resize with warp_resize", f"resize_y={draw}, resize_x={draw}")
        return {"resize_y": _uniform(low, high), "resize_x": _uniform(low, high)}
    if is_random:
        warn("resize: random_resize", table["random_resize"].today)
        return {"resize_shorter": _uniform(low, high)}
    if is_warped:
        warn("resize: warp_resize", table["warp_resize"].today)
        return {"resize_y": low, "resize_x": high}
    if low is None:
        return {}
    warn("resize: resize_a", table["resize_a"].today)
    return {"resize_shorter": low}
