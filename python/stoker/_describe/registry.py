# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The table of operators as the engine describes it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cache
from typing import TypedDict

from stoker import _core
from stoker._describe.python_arguments import EXTRA, Extra

Plain = bool | int | float | str | list[int] | list[float] | list[str] | None


class Port(TypedDict):
    """An input or output."""

    name: str
    help: str
    layouts: str
    dtypes: str
    is_optional: bool
    is_value: bool
    makes_frames: bool  # arguments with a value for each frame make frames of it
    repeats: bool
    when: str  # the flag or input with which an output is there, "argument!=text", or ""
    for_each: str  # the argument by which an output repeats; "" if it is there once


class Argument(TypedDict):
    """A keyword argument."""

    name: str
    type: str
    help: str
    default: Plain
    required: bool
    per_sample: bool
    per_frame: bool
    keeps_shape: bool
    low: float
    high: float
    names: list[str]


class Case(TypedDict):
    """A literal example."""

    call: str
    inputs: list[str]
    outputs: list[str]


class Operator(TypedDict):
    """Everything about one operator."""

    name: str
    summary: str
    kind: str
    is_random: bool
    classes: str  # "refused", "read", "kept", "renamed" or "made": what becomes of class numbers
    sees_batch: str  # "always", "perhaps": with some arguments, or "never"
    devices: list[str]
    facets: list[str]  # "cpu", "demand", "gpu", ...: what its struct has for the engine
    version: int
    inputs: list[Port]
    outputs: list[Port]
    arguments: list[Argument]
    of_devices: list[str]  # arguments that only the decoder of a device uses
    ignored: list[str]
    cases: list[Case]
    skip_reason: str
    extra: list[Extra]


def ports(op: Operator) -> Iterator[Port]:
    """The port of each input. A port that repeats comes again and again."""
    for port in op["inputs"]:
        yield from itertools.repeat(port) if port["repeats"] else [port]


@cache
def operators() -> dict[str, Operator]:
    """All operators by their dotted name, sorted."""
    table: dict[str, Operator] = {entry["name"]: entry for entry in _core.operators()}
    for name, op in table.items():
        op["extra"] = EXTRA.get(name, [])
        if op["kind"] == "input":
            op["devices"].append("gpu")  # fn.external_source adds the copy to the GPU
        for a in op["arguments"]:
            if op["kind"] == "user_code" and a["name"] in ("dtype", "in_types", "out_types"):
                a["type"] = "Sequence[DType]"
    return table


@cache
def settings_of_engine() -> frozenset[str]:
    """The engine's own settings of a pipeline, except the one that operators take as well."""
    return frozenset(setting["name"] for setting in _core.settings()) - {"seed"}
