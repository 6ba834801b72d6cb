# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""What transforms do to one picture: steps that are compiled into one graph.

For each sample a transform tells its steps (``Steps.add``): what it compiles to, and the numbers
that it drew or found out from the size. The same steps are compiled once. What a step compiles to
follows from its key and from the steps before it, never from the size of a picture or from numbers,
which are inputs of the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Any

from stoker import _core, fn
from stoker._calls.compiled import CompiledCall, Input, compiled
from stoker._calls.kept import kept
from stoker._messages import at_line
from stoker.transforms._pictures import Given, Kind

Build = Callable[..., None]  # takes the Picture, and a node for each of the numbers

INTEGERS = Input("int32", 1)
FLAG = Input("int32", 0)
NUMBER = Input("float32", 0)
NUMBERS = Input("float32", 1)


class Picture:
    """The picture while its graph is built: its node, and how that is to be understood.

    ``full`` is set where the node holds whole numbers that count as shares of it.
    """

    def __init__(self, node: Any, kind: Kind) -> None:
        self.node = node
        self.layout = kind.layout
        self.dtype = kind.dtype
        self.channels = kind.channels
        self.full: float | None = None

    def settle(self) -> None:
        """Makes the node hold the values themselves."""
        if self.full is not None:
            self.normalized([0.0], [1.0], self.layout)

    def normalized(self, mean: list[float], std: list[float], layout: str) -> None:
        """Subtracts and divides. The result is float32 in this layout."""
        full = self.full or 1.0
        self._passed([m * full for m in mean], [s * full for s in std], "float32", layout)
        self.full = None

    def into(self, layout: str) -> None:
        """Changes the layout."""
        if layout == self.layout:
            return
        if self.full is not None:
            self._passed([0.0], [self.full], "float32", layout)
            self.full = None
        else:
            self._passed([0.0], [1.0], self.dtype, layout)

    def _passed(self, mean: list[float], std: list[float], dtype: str, layout: str) -> None:
        self.node = fn.crop_mirror_normalize(
            self.node, mean=mean, std=std, dtype=dtype, output_layout=layout
        )
        self.dtype, self.layout = dtype, layout


class Steps:
    """The steps of one sample, and what the picture is behind those that were added so far."""

    __slots__ = (
        "_builds",
        "_types",
        "channels",
        "dtype",
        "form",
        "has_effect",
        "height",
        "keys",
        "kind",
        "numbers",
        "width",
    )

    def __init__(self, of: Given) -> None:
        self.kind = of.kind
        self.form, self.dtype = of.kind.form, of.kind.dtype
        self.height, self.width, self.channels = of.height, of.width, of.kind.channels
        self.keys: list[Hashable] = []
        self.numbers: list[Any] = []
        self.has_effect = of.kind.is_encoded
        self._builds: list[tuple[Build, int, str]] = []
        self._types: list[Input] = []

    def add(
        self,
        key: Hashable,
        line: str,
        build: Build,
        types: tuple[Input, ...] = (),
        numbers: tuple[Any, ...] = (),
        has_effect: bool = True,
    ) -> None:
        """Adds a step. ``line`` is the user's, for errors.

        Without ``has_effect``, these numbers leave the picture as it is.
        """
        self.keys.append(key)
        self._builds.append((build, len(types), line))
        self._types.extend(types)
        self.numbers.extend(numbers)
        self.has_effect = self.has_effect or has_effect

    def result_key(self) -> Hashable:
        """What the graph of these steps follows from."""
        return (self.kind, self.form, *self.keys)

    def call(self) -> CompiledCall:
        """The graph of these steps."""
        return kept.get(self.result_key(), self._compiled)

    def _compiled(self) -> CompiledCall:
        layout = "CHW" if self.form in ("tensor", "image") else "HWC"

        def define(picture: Any, *numbers: Any) -> Any:
            left: Iterator[Any] = iter(numbers)
            if self.kind.is_encoded:
                picture = fn.decoders.image(picture, adjust_orientation=False)
            built = Picture(picture, self.kind)
            for build, count, line in self._builds:
                with at_line(line):
                    build(built, *(next(left) for _ in range(count)))
            built.into(layout)
            built.settle()
            return built.node

        return compiled(define, [self.kind.input(), *self._types])


def run(steps: Steps, data: Any) -> _core.Tensor:
    """The picture that the steps make."""
    return steps.call()(data, *steps.numbers)[0]
