# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Lists of augmentations, as AutoAugment draws them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from numbers import Real
from typing import Any, NoReturn

from stoker._messages import shown, user_level
from stoker.auto_aug.core._augmentation import Augmentation
from stoker.auto_aug.core.arguments import whole_number
from stoker.errors import GraphError


class Policy:
    """Lists of augmentations, one of which is drawn for each image.

    A list has ``(augmentation, probability, magnitude's number or None)`` in order. Where several
    augmentations have one name, all get their number before it, as ``0__rotate``. Raises
    ``GraphError`` for all else, and warns of what has no effect.
    """

    def __init__(
        self,
        name: str,
        num_magnitude_bins: int,
        sub_policies: Sequence[Sequence[tuple[Augmentation, float, int | None]]],
    ) -> None:
        self.name = name
        self.num_magnitude_bins = whole_number("num_magnitude_bins", num_magnitude_bins, 1)
        checked = [
            tuple(self._checked(step) for step in self._list("a sub-policy", one))
            for one in self._list("sub_policies", sub_policies)
        ]
        self.sub_policies = _with_names_of_their_own(checked)

    def _list(self, what: str, value: Any) -> Sequence[Any]:
        if not isinstance(value, (tuple, list)):
            self._refuse(f"expects a list as {what}, got {shown(value)}")
        return value

    def _checked(self, step: Any) -> tuple[Augmentation, float, int | None]:
        if not isinstance(step, (tuple, list)) or len(step) != 3:
            self._refuse(f"expects (augmentation, probability, number or None), got {shown(step)}")
        op, probability, number = step
        if not isinstance(op, Augmentation):
            self._refuse(f"expects an augmentation, got {shown(op)}")
        if not isinstance(probability, Real) or not 0 <= float(probability) <= 1:
            self._refuse(
                f"the probability of {op.name} is {shown(probability)}, expected 0 to 1", ":"
            )
        if probability == 0:
            self._warn(f"{op.name} has probability 0 in one of the sub-policies: it is never drawn")
        if number is None and op.mag_range is not None:
            self._refuse(f"{op.name} has a mag_range, so the magnitude's number is required", ":")
        if number is not None:
            what = f"the policy {self.name}: the magnitude's number of {op.name}"
            number = whole_number(what, number, 0, self.num_magnitude_bins - 1)
            if op.mag_range is None:
                self._warn(f"the number {number} has no effect, as {op.name} has no mag_range")
        return op, float(probability), number

    def _refuse(self, problem: str, between: str = "") -> NoReturn:
        raise GraphError(f"the policy {self.name}{between} {problem}")

    def _warn(self, problem: str) -> None:
        warnings.warn(f"the policy {self.name}: {problem}", stacklevel=user_level())

    @property
    def augmentations(self) -> dict[str, Augmentation]:
        """All augmentations by name, in the order of the names."""
        found = dict.fromkeys(op for one in self.sub_policies for op, _, _ in one)
        return {op.name: op for op in sorted(found, key=lambda op: op.name)}

    def __repr__(self) -> str:
        lists = ", ".join(
            repr([(op.name, probability, number) for op, probability, number in one])
            for one in self.sub_policies
        )
        return (
            f"Policy(name={self.name!r}, num_magnitude_bins={self.num_magnitude_bins}, "
            f"sub_policies=[{lists}], augmentations={self.augmentations!r})"
        )


_Lists = Sequence[tuple[tuple[Augmentation, float, "int | None"], ...]]


def _with_names_of_their_own(lists: _Lists) -> tuple[Any, ...]:
    """The lists with all augmentations renamed if two of them have one name."""
    found = list(dict.fromkeys(op for one in lists for op, _, _ in one))
    if len({op.name for op in found}) == len(found):
        return tuple(lists)
    digits = len(str(len(found) - 1))
    renamed = {op: op.augmentation(name=f"{k:0{digits}}__{op.name}") for k, op in enumerate(found)}
    return tuple(tuple((renamed[op], p, number) for op, p, number in one) for one in lists)
