# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Transforms made of transforms. What is Stoker's in a row becomes one graph."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from stoker.transforms import _draws as draws
from stoker.transforms._arguments import probability
from stoker.transforms._refused import refuse
from stoker.transforms._steps import Steps
from stoker.transforms._transform import Transform, apply


def is_ours(of: Any) -> bool:
    """Whether it can become a part of a graph."""
    return isinstance(of, Transform) and of.is_ours()


class _Container(Transform):
    """Has ``transforms``."""

    transforms: Any

    def check(self) -> None:
        if not hasattr(self.transforms, "__iter__") or not hasattr(self.transforms, "__len__"):
            refuse("transforms expects a sequence of callables", TypeError)
        if not len(self.transforms):
            refuse("transforms expects at least one")

    def is_ours(self) -> bool:
        return all(is_ours(t) for t in self.transforms)

    def extra_repr(self) -> str:
        return "\n" + "".join(f"    {t}\n" for t in self.transforms)

    @abstractmethod
    def chosen(self) -> Iterator[Any]:
        """The transforms that one sample gets, as it is drawn."""

    def step(self, steps: Steps) -> None:
        for t in self.chosen():
            if t.takes(steps.form):
                t.step(steps)

    def __call__(self, *inputs: Any) -> Any:
        if self.is_ours():
            return apply([self], inputs)
        return _in_turn(self.chosen(), inputs)

    forward = __call__


def _in_turn(transforms: Iterator[Any], inputs: tuple[Any, ...]) -> Any:
    """Calls ours in a row as one graph, and each foreign one as it is."""
    outputs: Any = inputs if len(inputs) > 1 else inputs[0]
    ours: list[Transform] = []

    def passed(function: Callable[..., Any], value: Any) -> Any:
        return function(*value) if len(inputs) > 1 else function(value)

    for t in transforms:
        if is_ours(t):
            ours.append(t)
            continue
        if ours:
            outputs = passed(lambda *x, of=tuple(ours): apply(of, x), outputs)
            ours = []
        outputs = passed(t, outputs)
    return passed(lambda *x: apply(ours, x), outputs) if ours else outputs


@dataclass(eq=False, repr=False)
class Compose(_Container):
    """Calls transforms in their order."""

    transforms: Sequence[Callable[..., Any]]

    def chosen(self) -> Iterator[Any]:
        return iter(self.transforms)


@dataclass(eq=False, repr=False)
class RandomApply(_Container):
    """Calls all of the transforms, with probability ``p``, or none."""

    transforms: Any
    p: float = 0.5

    def check(self) -> None:
        super().check()
        probability(self.p)

    def chosen(self) -> Iterator[Any]:
        return iter(self.transforms if draws.happens(self.p) else ())


@dataclass(eq=False, repr=False)
class RandomChoice(_Container):
    """Calls one of the transforms; ``p`` says how often each."""

    transforms: Sequence[Callable[..., Any]]
    p: Sequence[float] | None = None

    def check(self) -> None:
        super().check()
        weights = [1.0] * len(self.transforms) if self.p is None else [float(x) for x in self.p]
        if len(weights) != len(self.transforms):
            refuse(f"p expects a number for each of {len(self.transforms)}, got {len(weights)}")
        self.p = [w / sum(weights) for w in weights]

    def chosen(self) -> Iterator[Any]:
        assert self.p is not None
        return iter([self.transforms[draws.choice(list(self.p))]])


@dataclass(eq=False, repr=False)
class RandomOrder(_Container):
    """Calls the transforms in an order that is drawn."""

    transforms: Sequence[Callable[..., Any]]

    def chosen(self) -> Iterator[Any]:
        return (self.transforms[i] for i in draws.order(len(self.transforms)))


@dataclass(eq=False, repr=False)
class Identity(Transform):
    """Leaves everything as it is."""

    def step(self, steps: Steps) -> None:
        """Adds nothing."""


class Lambda:
    """Calls a function of the user's with every leaf of a sample that is of these types."""

    def __init__(self, lambd: Callable[[Any], Any], *types: type) -> None:
        self.lambd = lambd
        self.types = types or (object,)

    def __call__(self, *inputs: Any) -> Any:
        from stoker.transforms._pictures import leaves_of, rebuilt

        leaves, shape = leaves_of(inputs if len(inputs) > 1 else inputs[0])
        return rebuilt((self.lambd(x) if isinstance(x, self.types) else x for x in leaves), shape)

    forward = __call__

    def __repr__(self) -> str:
        name = getattr(self.lambd, "__name__", "function")
        return f"Lambda({name}, types={[t.__name__ for t in self.types]})"
