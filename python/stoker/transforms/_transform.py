# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""What all transforms have in common."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from stoker._messages import user_line
from stoker.transforms import _draws as draws
from stoker.transforms._arguments import probability
from stoker.transforms._pictures import first_picture, given, is_picture, leaves_of, made, rebuilt
from stoker.transforms._refused import refuse
from stoker.transforms._steps import Steps, run


class Transform(ABC):
    """A transform of pictures, to be called with a sample.

    Each is a dataclass without equality, whose fields are its arguments in their order.

    A sample is a picture, or a tuple, list or dict with one picture, whose other parts stay as they
    are. Several arguments are a tuple.
    """

    _key: object = None  # what is compiled of this follows from it
    _line: str = ""  # the user's, where this was made

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)
        object.__setattr__(self, "_key", object())

    def __post_init__(self) -> None:
        self._line = user_line()
        self.check()

    def check(self) -> None:  # noqa: B027 (many have nothing to check)
        """Checks and completes the arguments. Raises ``ValueError`` or ``TypeError``."""

    @abstractmethod
    def step(self, steps: Steps) -> None:
        """Adds what this does to the picture."""

    def is_ours(self) -> bool:
        """Whether ``step`` can be called: nothing in it is foreign."""
        return True

    def takes(self, form: str) -> bool:
        """Whether a picture of this form is changed; else it stays as it is."""
        return True

    def __call__(self, *inputs: Any) -> Any:
        return apply([self], inputs)

    forward = __call__

    def extra_repr(self) -> str:
        """The arguments, as torchvision shows them."""
        shown = (f.name for f in dataclasses.fields(self) if f.init)  # type: ignore[arg-type]
        return ", ".join(
            f"{name}={value}"
            for name in shown
            if isinstance(value := getattr(self, name), (bool, int, float, str, tuple, list))
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.extra_repr()})"

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_key"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)


class RandomTransform(Transform):
    """Changes a picture with probability ``p``, which is a field of each."""

    p: float

    def check(self) -> None:
        probability(self.p)

    def step(self, steps: Steps) -> None:
        if draws.happens(self.p):
            self.change(steps)

    @abstractmethod
    def change(self, steps: Steps) -> None:
        """Adds what this does where it happens."""


def apply(transforms: Sequence[Transform], inputs: tuple[Any, ...]) -> Any:
    """Calls transforms, of which none has foreign parts, with a sample: as one graph."""
    if len(inputs) == 1 and is_picture(inputs[0]):
        return _applied(transforms, inputs[0])
    sample = inputs[0] if len(inputs) == 1 else inputs
    leaves, shape = leaves_of(sample)
    at = first_picture(leaves)
    if at < 0:
        if not leaves:
            refuse("a sample has nothing in it", TypeError)
        return sample
    leaves[at] = _applied(transforms, leaves[at])
    return rebuilt(leaves, shape)


def _applied(transforms: Sequence[Transform], value: Any) -> Any:
    picture = given(value)
    steps = Steps(picture)
    for t in transforms:
        if t.takes(steps.form):
            t.step(steps)
    if not steps.has_effect and steps.form == picture.kind.form:
        return value
    return made(run(steps, picture.data), steps.form, value)
