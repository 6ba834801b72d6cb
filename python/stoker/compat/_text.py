# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Tensors and lists of them as text, with their values for ``print``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

_MOST_SHAPES = 16  # of more samples only those at both ends are told
_MOST_VALUES = 1000
_ENDS = 2


def told_tensor(tensor: Any, with_values: bool = False) -> str:
    """A tensor's type, layout, device and shape, and its values if they are wanted."""
    values = [_values(tensor.as_cpu())] if with_values else []
    return _told(tensor, values, [f"shape={tuple(tensor.shape())}"])


def told_list(tensors: Any, with_values: bool = False) -> str:
    """The same of a list of tensors, with the number of its samples."""
    values = [_values_of_samples(tensors.as_cpu())] if with_values else []
    shapes = f"shape=[{', '.join(_ends([str(s) for s in tensors.shape()], _MOST_SHAPES))}]"
    return _told(tensors, values, [f"num_samples={len(tensors)}", shapes])


def _told(data: Any, values: list[str], shape: list[str]) -> str:
    kind = type(data).__name__
    dtype = getattr(data.dtype, "name", data.dtype)
    layout = [f'layout="{data.layout()}"'] if data.layout() else []
    device = f'device="{kind[-3:].lower()}"'
    parts = [*values, f"dtype=DALIDataType.{dtype}", *layout, device, *shape]
    return f"{kind}(\n    " + ",\n    ".join(parts) + ")"


def _values_of_samples(tensors: Any) -> str:
    samples = [_values(sample) for sample in tensors]
    rank = int(tensors.ndim)
    between = "," + "\n" * rank + "    " if rank else ", "
    most = len(samples)
    if sum(_size(shape) for shape in tensors.shape()) > _MOST_VALUES:
        most = 2 * _ENDS
    return f"[{between.join(_ends(samples, most))}]"


def _size(shape: Sequence[int]) -> int:
    size = 1
    for extent in shape:
        size *= extent
    return size


def _values(tensor: Any) -> str:
    import numpy

    text = numpy.array2string(
        numpy.asarray(tensor), threshold=_MOST_VALUES, edgeitems=_ENDS, separator=" "
    )
    return re.sub(r"\n(?!\n)", "\n    ", text)


def _ends(texts: Sequence[str], most: int) -> list[str]:
    return [*texts] if len(texts) <= most else [*texts[:_ENDS], "...", *texts[-_ENDS:]]
