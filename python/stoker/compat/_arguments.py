# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Constant arguments as scripts of DALI spell them: as Python's ``int()``, ``float()`` and
``bool()`` read them, enumerations by their numbers, and some texts in any capitals."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cache
from typing import Any

from stoker._describe.registry import Operator, Plain, operators
from stoker.types import DType, ImageType, InterpType

_ANY_CAPITALS = {
    "missing_component_behavior": None,  # of any operator
    "out_of_bounds_policy": None,
    "border": "filter",
    "mode": "filter",
}
# Empty lists of these are as good as none.
_MAY_BE_EMPTY = ("fill_value", "fill_values")
# Operators that take red for the first channel, whatever they are told.
_RED_FIRST = ("color_twist", "hue", "saturation")


def spelled(
    op: Operator, constants: dict[str, Plain], computed: Collection[str]
) -> dict[str, Plain]:
    """The arguments as the operator spells them. What cannot be read stays as it is.

    ``computed`` are the names of those that other nodes compute.
    """
    kinds = _kinds(op["name"])
    given = {
        name: _in_small_letters(op["name"], name, _read(kinds.get(name), value))
        for name, value in constants.items()
        if value != [] or name not in _MAY_BE_EMPTY
    }
    if op["name"] in _RED_FIRST:
        given.pop("image_type", None)
    if op["name"] == "reshape" and "shape" in {*given, *computed}:
        given.pop("src_dims", None)
    if "roi_start" not in {*given, *computed}:
        given.pop("roi_relative", None)
    return given


def _in_small_letters(op: str, name: str, value: Any) -> Any:
    has_any = name in _ANY_CAPITALS and _ANY_CAPITALS[name] in (None, op)
    return value.lower() if has_any and isinstance(value, str) else value


@cache
def _kinds(op: str) -> Mapping[str, Callable[[Any], Any]]:
    """How the values of an operator's arguments are read."""
    arguments = operators()[op]["arguments"]
    kinds = {a["name"]: _READ[a["type"]] for a in arguments if a["type"] in _READ}
    flags = [a["name"] for a in arguments if a["type"] == "int" and (a["low"], a["high"]) == (0, 1)]
    kinds.update(dict.fromkeys(flags, _one(_flag)))
    return {**kinds, **_OWN.get(op, {}), **(_CROP if "crop" in kinds else {})}


def _read(read: Callable[[Any], Any] | None, value: Any) -> Any:
    if read is None:
        return value
    try:
        return read(value)
    except (OverflowError, TypeError, ValueError):
        return value


def _one(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Reads a number, or the only one of an array."""

    def read_one(value: Any) -> Any:
        (number,) = value if isinstance(value, list) else [value]
        return read(number)

    return read_one


def _each(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def read_each(value: Any) -> Any:
        return [read(v) for v in value] if isinstance(value, list) else read(value)

    return read_each


@cache
def _members(enumeration: type[DType | ImageType | InterpType]) -> Mapping[int, str]:
    return {int(member): member.value for member in enumeration}


def _member(enumeration: type[DType | ImageType | InterpType]) -> Callable[[Any], Any]:
    """Reads the number of a member of an enumeration."""

    def read(value: Any) -> Any:
        is_name = isinstance(value, str) and not value.strip().isdecimal()
        return value if is_name else _members(enumeration).get(int(value), value)

    return read


def _flag(value: Any) -> int:
    """Any other number than 0 is as 1."""
    return int(int(value) != 0)


def _extent(value: Any) -> float:
    """Less than a pixel takes the whole axis."""
    pixels = float(value)
    return 0.0 if pixels < 1 else pixels


def _quality(value: Any) -> int:
    return min(max(int(value), 1), 100)


_READ: dict[str, Callable[[Any], Any]] = {
    "bool": bool,
    "int": _one(int),
    "float": _one(float),
    "Sequence[int]": _each(int),
    "Sequence[float]": _each(float),
    "DType": _member(DType),
    "ImageType": _member(ImageType),
    "InterpType": _member(InterpType),
    "Sequence[DType]": _each(_member(DType)),
}
_CROP = {"crop": _each(_extent)}
_OWN: dict[str, dict[str, Callable[[Any], Any]]] = {
    "jpeg_compression_distortion": {"quality": _one(_quality)},
}
