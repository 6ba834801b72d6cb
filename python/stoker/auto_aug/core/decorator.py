# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The decorator that makes an augmentation of a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, overload

from stoker._messages import shown
from stoker.auto_aug.core._augmentation import Augmentation, MagToParam, Op
from stoker.errors import GraphError, GraphTypeError


@overload
def augmentation(
    function: Op,
    /,
    *,
    mag_range: Any = None,
    randomly_negate: bool | None = None,
    mag_to_param: MagToParam | None = None,
    param_device: str | None = None,
    name: str | None = None,
) -> Augmentation: ...


@overload
def augmentation(
    function: None = None,
    /,
    *,
    mag_range: Any = None,
    randomly_negate: bool | None = None,
    mag_to_param: MagToParam | None = None,
    param_device: str | None = None,
    name: str | None = None,
) -> Callable[[Op], Augmentation]: ...


def augmentation(
    function: Op | None = None,
    /,
    *,
    mag_range: Any = None,
    randomly_negate: bool | None = None,
    mag_to_param: MagToParam | None = None,
    param_device: str | None = None,
    name: str | None = None,
) -> Augmentation | Callable[[Op], Augmentation]:
    """Turns a function of an image and a parameter into an ``Augmentation``; a decorator.

    Raises ``GraphError`` for what is no function, is an augmentation already, or takes less than
    two arguments by position.
    """

    def made(op: Op) -> Augmentation:
        if isinstance(op, Augmentation):
            raise GraphError(
                f"augmentation: {op.name} is an augmentation already; "
                f"{op.name}.augmentation(...) changes its settings"
            )
        if not callable(op):
            raise GraphTypeError(f"augmentation expects a function, got {shown(op)}")
        return Augmentation(op, mag_range, randomly_negate, mag_to_param, param_device, name)

    return made if function is None else made(function)
