# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Transforms that change what a picture is kept as: PIL, tensors, dtypes, normalised values."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from stoker import fn, math
from stoker.transforms._refused import refuse
from stoker.transforms._steps import Picture, Steps
from stoker.transforms._transform import Transform

_TENSORS = ("tensor", "image")


@dataclass(eq=False, repr=False)
class ToImage(Transform):
    """Makes a ``tv_tensors.Image`` of a picture, or a plain tensor where torchvision is missing."""

    def takes(self, form: str) -> bool:
        return form != "image"

    def step(self, steps: Steps) -> None:
        steps.form = "image"


@dataclass(eq=False, repr=False)
class PILToTensor(Transform):
    """Makes a tensor of a picture of PIL, with the same values."""

    def takes(self, form: str) -> bool:
        return form == "pil"

    def step(self, steps: Steps) -> None:
        steps.form = "tensor"


@dataclass(eq=False, repr=False)
class ToTensor(Transform):
    """Makes a tensor of a picture of PIL or an array; uint8 becomes float32 from 0 to 1."""

    def check(self) -> None:
        warnings.warn(
            "ToTensor is deprecated, as in torchvision: "
            "Compose([ToImage(), ToDtype(torch.float32, scale=True)]) gives the same values",
            stacklevel=5,
        )

    def takes(self, form: str) -> bool:
        return form in ("pil", "array")

    def step(self, steps: Steps) -> None:
        steps.form = "tensor"
        if steps.dtype == "uint8":
            to_dtype(self, steps, "float32", scale=True)


@dataclass(eq=False, repr=False)
class ToPureTensor(Transform):
    """Makes plain tensors of those of ``tv_tensors``."""

    def takes(self, form: str) -> bool:
        return form == "image"

    def step(self, steps: Steps) -> None:
        steps.form = "tensor"


@dataclass(eq=False, repr=False)
class ToPILImage(Transform):
    """Makes a picture of PIL of a tensor or an array. float32 counts from 0 to 1."""

    mode: str | None = None

    def takes(self, form: str) -> bool:
        return form != "pil"

    def step(self, steps: Steps) -> None:
        mode = {1: "L", 3: "RGB"}.get(steps.channels)
        if mode is None:
            refuse(f"ToPILImage takes 1 or 3 channels, got {steps.channels}")
        if self.mode not in (None, mode):
            refuse(f"mode={self.mode!r} is not here for {steps.channels} channels; {mode!r} is")
        steps.form = "pil"
        if steps.dtype == "float32":
            _truncated(self, steps, 255.0)


@dataclass(eq=False, repr=False)
class ToDtype(Transform):
    """Changes the dtype of a tensor; with ``scale`` the full intensity stays the full one."""

    dtype: Any
    scale: bool = False

    def check(self) -> None:
        for dtype in self.dtype.values() if isinstance(self.dtype, dict) else [self.dtype]:
            _dtype_name(dtype)

    def takes(self, form: str) -> bool:
        return form in _TENSORS

    def step(self, steps: Steps) -> None:
        dtype = self.dtype
        if isinstance(dtype, dict):
            named = {getattr(k, "__name__", k): v for k, v in dtype.items()}
            name = "Image" if steps.form == "image" else "Tensor"
            if name not in named and "others" not in named:
                refuse(f"dtype expects an entry for {name} or 'others', got {self.dtype!r}")
            dtype = named.get(name, named.get("others"))
        if dtype is not None:
            to_dtype(self, steps, _dtype_name(dtype), scale=self.scale)


@dataclass(eq=False, repr=False)
class ConvertImageDtype(Transform):
    """The same as ``ToDtype(dtype, scale=True)``; the default is float32."""

    dtype: Any = "float32"

    def check(self) -> None:
        _dtype_name(self.dtype)

    def takes(self, form: str) -> bool:
        return form in _TENSORS

    def step(self, steps: Steps) -> None:
        to_dtype(self, steps, _dtype_name(self.dtype), scale=True)


def _dtype_name(dtype: Any) -> str:
    name = str(dtype).removeprefix("torch.")
    if name not in ("uint8", "float32", "None"):
        refuse(f"dtype may be torch.uint8 or torch.float32 here, got {dtype!r}", TypeError)
    return name


def to_dtype(t: Transform, steps: Steps, dtype: str, scale: bool) -> None:
    """Changes the dtype of the picture."""
    if dtype == steps.dtype:
        return
    if dtype == "uint8":
        return _truncated(t, steps, 255.999 if scale else 1.0)

    def build(p: Picture) -> None:
        p.full = 255.0 if scale else 1.0

    steps.add((t._key, dtype, scale), t._line, build)
    steps.dtype = dtype


def _truncated(t: Transform, steps: Steps, by: float) -> None:
    """Multiplies, and cuts off what comes after the point."""

    def build(p: Picture) -> None:
        p.settle()
        p.node = fn.cast(math.floor(p.node * by), dtype="uint8")
        p.dtype = "uint8"

    steps.add((t._key, "truncated"), t._line, build)
    steps.dtype = "uint8"


@dataclass(eq=False, repr=False)
class Normalize(Transform):
    """Subtracts the mean of each channel and divides by its deviation. Tensors are float32."""

    mean: Sequence[float]
    std: Sequence[float]
    inplace: bool = False

    def check(self) -> None:
        self.mean, self.std = list(self.mean), list(self.std)
        if len(self.mean) != len(self.std) or 0 in self.std:
            refuse(f"std expects a number other than 0 for each of mean, got {self.std!r}")

    def step(self, steps: Steps) -> None:
        if steps.form not in _TENSORS:
            refuse("Normalize is for tensors: ToImage or PILToTensor makes one", TypeError)
        if steps.dtype != "float32":
            refuse("Normalize expects float32: ToDtype(torch.float32, scale=True)", TypeError)
        mean, std = [float(x) for x in self.mean], [float(x) for x in self.std]
        if len(mean) not in (1, steps.channels):
            refuse(f"mean expects {steps.channels} numbers, one for each channel, got {mean!r}")
        key = (self._key, *mean, *std)  # the lists may be changed in place
        steps.add(key, self._line, lambda p: p.normalized(mean, std, "CHW"))
