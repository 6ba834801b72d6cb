# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""What transforms take and give: pictures of PIL, tensors, arrays, and encoded pictures.

Nothing of torch, torchvision or PIL is imported before a value of theirs comes.
"""

from __future__ import annotations

import functools
import importlib
import os
import sys
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from stoker import _core
from stoker._calls import compiled as calls
from stoker._calls.compiled import Input
from stoker.transforms._refused import refuse

_MODES = {"RGB": 3, "L": 1}  # of PIL's pictures: their channels
_DTYPES = ("uint8", "float32")


class Encoded:
    """A file with an encoded picture, by its path. Transforms decode no more of it than they need.

    It counts as the RGB picture of PIL that the file holds.
    """

    __slots__ = ("path",)

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)

    def __repr__(self) -> str:
        return f"Encoded({self.path!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Encoded, (self.path,)


def lazy(path: str | os.PathLike[str]) -> Encoded:
    """A loader for ``torchvision.datasets.ImageFolder``: the file itself, which is not read yet."""
    return Encoded(path)


class Kind(NamedTuple):
    """What kind of picture it is: ``form`` is "pil", "tensor", "image" (of tv_tensors) or "array".

    ``layout`` is that of its memory.
    """

    form: str
    dtype: str
    layout: str
    channels: int
    is_encoded: bool = False

    def input(self) -> Input:
        """As an input of a compiled call."""
        return Input("uint8", 1) if self.is_encoded else Input(self.dtype, 3, self.layout)


class Given(NamedTuple):
    """A picture that was given: its kind, its size, and what a compiled call takes of it."""

    kind: Kind
    height: int
    width: int
    data: Any


_ENCODED = Kind("pil", "uint8", "HWC", 3, True)


def is_picture(value: Any) -> bool:
    """Whether transforms change it as a picture."""
    return isinstance(value, (Encoded, _core.FileBytes, bytes, np.ndarray, str, os.PathLike)) or (
        _is_of("PIL.Image", "Image", value) or _is_of("torch", "Tensor", value)
    )


def _is_of(module: str, name: str, value: Any) -> bool:
    """Whether the value is of this class, without importing what nobody has imported."""
    found = sys.modules.get(module)
    return found is not None and isinstance(value, getattr(found, name))


def given(value: Any) -> Given:
    """The picture in a value. Raises ``TypeError`` for what is none."""
    if isinstance(value, (Encoded, str, os.PathLike)):
        path = value.path if isinstance(value, Encoded) else os.fspath(value)
        return of_encoded(calls.read([path])[0])
    if isinstance(value, (bytes, _core.FileBytes)):
        return of_encoded(value)
    if _is_of("PIL.Image", "Image", value):
        return _of_pil(value)
    if isinstance(value, np.ndarray):
        return _of_array(value)
    if _is_of("torch", "Tensor", value):
        return _of_tensor(value)
    return refuse(
        f"expected a picture of PIL, a tensor, an array, or an encoded picture (bytes, a path), "
        f"got a value of type {type(value).__name__}",
        TypeError,
    )


def of_encoded(data: Any) -> Given:
    """An encoded picture: its bytes, or a file that was read."""
    height, width, _ = _core.picture_shape(data)
    return Given(_ENCODED, height, width, data)


def _of_pil(picture: Any) -> Given:
    channels = _MODES.get(picture.mode)
    if channels is None:
        refuse(
            f"pictures of PIL may be of mode {' or '.join(_MODES)}, got {picture.mode!r}; "
            "picture.convert('RGB') makes one",
            TypeError,
        )
    kind = Kind("pil", "uint8", "HWC", channels)
    return Given(kind, picture.height, picture.width, _pixels_of_pil(picture, channels))


def _pixels_of_pil(picture: Any, channels: int) -> Any:
    """The pixels where they lie, or a copy: of several blocks, or by a Pillow of before 11.2."""
    try:
        _, array = picture.__arrow_c_array__()
    except (AttributeError, ValueError):
        pixels = np.asarray(picture)
        return pixels if channels > 1 else pixels[:, :, np.newaxis]
    return _core.PilPixels(array, picture.height, picture.width, channels)


def _of_array(array: Any) -> Given:
    if array.ndim not in (2, 3) or array.dtype.name not in _DTYPES:
        refuse(
            f"arrays may be (height, width, channels) or (height, width) of uint8 or float32, "
            f"got {array.dtype} of shape {array.shape}",
            TypeError,
        )
    whole = array if array.ndim == 3 else array[:, :, np.newaxis]
    kind = Kind("array", array.dtype.name, "HWC", whole.shape[2])
    return Given(kind, whole.shape[0], whole.shape[1], whole)


def _of_tensor(tensor: Any) -> Given:
    import torch

    form = _form_of_tensor(tensor)
    dtype = str(tensor.dtype).removeprefix("torch.")
    if tensor.ndim != 3 or dtype not in _DTYPES or tensor.device.type != "cpu":
        refuse(
            "tensors may be (channels, height, width) of uint8 or float32 on the CPU, got "
            f"{dtype} of shape {tuple(tensor.shape)} on {tensor.device}",
            TypeError,
        )
    channels, height, width = tensor.shape
    data = torch.utils.dlpack.to_dlpack(tensor.detach())
    return Given(Kind(form, dtype, "CHW", channels), height, width, data)


def _form_of_tensor(tensor: Any) -> str:
    import torch

    if type(tensor) is torch.Tensor:
        return "tensor"
    images = sys.modules.get("torchvision.tv_tensors")
    if images is not None and isinstance(tensor, images.Image):
        return "image"
    return refuse(
        f"a {type(tensor).__name__} is not changed here yet; pictures are "
        "torch.Tensor and tv_tensors.Image",
        TypeError,
    )


def made(tensor: _core.Tensor, form: str, was: Any) -> Any:
    """A result as its holder wants it. ``was`` is what was given: an array keeps its axes."""
    if form in ("tensor", "image"):
        return as_tensor(tensor, form)
    array = tensor.as_array()
    if array.shape[2] == 1 and (form == "pil" or getattr(was, "ndim", 3) == 2):
        array = array[:, :, 0]
    if form == "array":
        return array
    import PIL.Image

    return PIL.Image.fromarray(array)


def as_tensor(tensor: _core.Tensor | _core.Batch, form: str) -> Any:
    """A tensor of torch on the same memory; an ``Image`` of tv_tensors where torchvision is."""
    import torch

    return as_form(torch.from_dlpack(tensor.__dlpack__()), form)


def as_form(tensor: Any, form: str) -> Any:
    """A tensor, or the ``Image`` of it."""
    if form == "image" and (images := _tv_tensors()) is not None:
        return images.Image(tensor)
    return tensor


@functools.cache
def _tv_tensors() -> Any:
    """The module of torchvision, or None where that is missing."""
    try:
        return importlib.import_module("torchvision.tv_tensors")
    except ImportError:
        return None


def first_picture(leaves: Sequence[Any]) -> int:
    """Which of the leaves of a sample is its picture: -1 if there is none.

    As in torchvision: tensors are pictures only where nothing else is, and then the first one is.
    After these come arrays and bytes, which torchvision leaves alone. Raises ``TypeError`` for two
    pictures, and for boxes, masks and points.
    """
    of_torch = [i for i, x in enumerate(leaves) if _is_of("torch", "Tensor", x)]
    plain = [i for i in of_torch if _form_of_tensor(leaves[i]) == "tensor"]
    data = [i for i, x in enumerate(leaves) if isinstance(x, (np.ndarray, bytes))]
    pictures = [
        i
        for i, x in enumerate(leaves)
        if is_picture(x) and i not in (*plain, *data) and not isinstance(x, (str, os.PathLike))
    ]
    if len(pictures) > 1:
        refuse(f"a sample may have one picture, got {len(pictures)}", TypeError)
    return next(iter(pictures or plain or data), -1)


def leaves_of(sample: Any) -> tuple[list[Any], Any]:
    """The leaves of lists, tuples and dicts, and what ``rebuilt`` needs."""
    leaves: list[Any] = []

    def shape_of(value: Any) -> Any:
        if isinstance(value, dict):
            return type(value), list(value), [shape_of(v) for v in value.values()]
        if type(value) in (list, tuple) or hasattr(value, "_fields"):
            return type(value), None, [shape_of(v) for v in value]
        leaves.append(value)
        return None

    return leaves, shape_of(sample)


def rebuilt(leaves: Iterable[Any], shape: Any) -> Any:
    """The sample with these leaves."""
    at = iter(leaves)

    def build(part: Any) -> Any:
        if part is None:
            return next(at)
        kind, keys, parts = part
        values = [build(p) for p in parts]
        if keys is not None:
            made = zip(keys, values, strict=True)
            return kind(made) if kind is OrderedDict else dict(made)
        return kind(*values) if hasattr(kind, "_fields") else kind(values)

    return build(shape)
