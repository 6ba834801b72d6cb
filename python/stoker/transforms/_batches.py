# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Transforms of whole batches, whose samples several threads make."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from stoker import _core
from stoker._calls import compiled as calls
from stoker.transforms._pictures import Encoded, Given, as_form, as_tensor, given, of_encoded
from stoker.transforms._refused import refuse
from stoker.transforms._steps import Steps
from stoker.transforms._transform import Transform


def tensor_of(transform: Transform, pictures: Sequence[Any], threads: int) -> Any:
    """One tensor of the pictures, transformed. The draws are those of one after the other.

    Raises ``TypeError`` if the transform gives no tensors, ``ValueError`` if they differ in shape.
    """
    all_steps: list[Steps] = []
    groups: dict[Hashable, list[int]] = {}
    data: list[Any] = []
    for i, picture in enumerate(_all_given(pictures, threads)):
        steps = Steps(picture)
        if transform.takes(steps.form):
            transform.step(steps)
        if steps.form not in ("tensor", "image"):
            refuse("a batch needs tensors: ToImage or PILToTensor makes them", TypeError)
        all_steps.append(steps)
        data.append(picture.data)
        groups.setdefault(steps.result_key(), []).append(i)
    made = [
        (of, _made([all_steps[i] for i in of], [data[i] for i in of], threads))
        for of in groups.values()
    ]
    form = all_steps[0].form
    if len(made) == 1:
        return as_tensor(_dense(made[0][1]), form)
    return _joined(made, len(data), form)


def _all_given(pictures: Sequence[Any], threads: int) -> list[Given]:
    """What was given; files are read by all threads."""
    places = [i for i, p in enumerate(pictures) if isinstance(p, (Encoded, str))]
    read = calls.read([getattr(pictures[i], "path", pictures[i]) for i in places], threads)
    files = dict(zip(places, read, strict=True))
    return [of_encoded(files[i]) if i in files else given(p) for i, p in enumerate(pictures)]


def _made(steps: Sequence[Steps], data: Sequence[Any], threads: int) -> _core.Batch:
    """The batch that steps of the same graph make."""
    numbers = zip(*(s.numbers for s in steps), strict=True)
    return steps[0].call().batch(data, *map(list, numbers), threads=threads)[0]


def _dense(batch: _core.Batch) -> _core.Batch:
    shapes = {tuple(batch[i].shape) for i in range(len(batch))}
    if len(shapes) > 1:
        refuse(
            f"the pictures of a batch have different shapes, {sorted(shapes)}; Resize or a crop "
            "makes them equal"
        )
    return batch


def _joined(made: Sequence[tuple[list[int], _core.Batch]], count: int, form: str) -> Any:
    """One tensor of several batches, of which each has the samples of these numbers."""
    parts = [(of, as_tensor(_dense(batch), "tensor")) for of, batch in made]
    first = parts[0][1]
    whole = first.new_empty((count, *first.shape[1:]))
    for of, part in parts:
        if part.shape[1:] != first.shape[1:] or part.dtype != first.dtype:
            refuse(
                f"the pictures of a batch differ: {first.dtype} {tuple(first.shape[1:])} and "
                f"{part.dtype} {tuple(part.shape[1:])}"
            )
        whole[of] = part
    return as_form(whole, form)
