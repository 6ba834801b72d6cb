# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Checks of the arguments of augmentations and of what draws them."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from stoker._graph.edge import edge
from stoker._graph.node import DataNode
from stoker._messages import Place, shown, user_line
from stoker.errors import GraphError

if TYPE_CHECKING:
    from stoker.auto_aug.core._augmentation import Augmentation


def forbid_unused_arguments(
    augmentations: Sequence[Augmentation], named: Mapping[str, Any], call: str
) -> None:
    """Raises ``GraphError`` if there is a named argument that no augmentation takes."""
    unused = [name for name in named if not any(aug.takes(name) for aug in augmentations)]
    if unused:
        raise GraphError(f"{call}: no augmentation takes the argument {_quoted(unused)}")


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def drawn_seed(seed: int | None, number: int) -> int | None:
    """The seed of one of several draws."""
    return None if seed is None else seed + number


def whole_number(what: str, value: Any, low: int, high: int | None = None) -> int:
    """The value as an int. Raises ``GraphError`` if it is no whole number or out of range."""
    try:
        number = operator.index(value)
    except TypeError:
        number = low - 1
    if number < low or (high is not None and number > high):
        places = f"of at least {low}" if high is None else f"from {low} to {high}"
        raise GraphError(f"{what} expects a whole number {places}, got {shown(value)}")
    return number


def expect_images(who: str, data: Any) -> None:
    """Has the graph refused at the build unless the data are of layout HWC, or three bare axes."""
    place = Place(who, None, user_line())
    if not isinstance(data, DataNode):
        place.refuse(f"data expects a node, got {shown(data)}")
    edge(data).definition.layouts.append((place, edge(data).node, edge(data).output, "HWC"))


def refuse_unknown(
    augmentations: Sequence[Augmentation], given: Mapping[str, Any], call: str
) -> None:
    """Raises ``GraphError`` without augmentations, and for an argument that none of them takes."""
    if not augmentations:
        raise GraphError(f"{call}: expected at least one augmentation")
    for wrong in (a for a in augmentations if not hasattr(a, "takes")):
        raise GraphError(f"{call}: expected augmentations, got {shown(wrong)}")
    forbid_unused_arguments(augmentations, given, call)


def taken(
    augmentations: Sequence[Augmentation], fill_value: Any, shape: Any, interp_type: Any
) -> dict[str, Any]:
    """Those of the arguments that are given and some augmentation takes."""
    given = {"fill_value": fill_value}
    if shape is not None:
        given["shape"] = shape
    if interp_type is not None:
        given["interp_type"] = interp_type
    return {k: v for k, v in given.items() if any(a.takes(k) for a in augmentations)}


def without(
    augmentations: Sequence[Augmentation], excluded: Sequence[str] | None
) -> list[Augmentation]:
    """The augmentations but for those that are excluded by name. Unknown names are refused."""
    if isinstance(excluded, str):
        raise GraphError(f"excluded expects a list of names, got {excluded!r}")
    names = [a.name for a in augmentations]
    for name in excluded or ():
        if name not in names:
            raise GraphError(f"excluded has '{name}', expected some of {', '.join(names)}")
    left = [a for a in augmentations if a.name not in (excluded or ())]
    if not left:
        raise GraphError("excluded leaves no augmentation")
    return left
