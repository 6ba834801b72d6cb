# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Batches as HTML: small pictures, shapes and labels, for notebooks and for ``stoker show``."""

from __future__ import annotations

import base64
import html
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from stoker import _core, images

if TYPE_CHECKING:
    import numpy.typing

    Pixels = numpy.typing.NDArray[Any]

__all__ = ["Shown", "show"]

_SIDE = 256  # of a small picture, at most
_VALUES = 8  # of what is no picture, at most so many are shown
_STYLE = (
    "<style>.stoker{display:flex;flex-wrap:wrap;gap:8px;font:12px sans-serif}"
    ".stoker figure{margin:0;max-width:400px}"
    ".stoker img{margin-right:2px;max-width:192px;max-height:192px}"
    ".stoker figcaption{overflow-wrap:anywhere}</style>"
)


class Shown:
    """What ``show`` gives: notebooks display it, and ``save`` writes it as a page."""

    def __init__(self, title: str, figures: Sequence[str]) -> None:
        self._title = title
        self._figures = list(figures)

    def _repr_html_(self) -> str:
        title = f"<p>{html.escape(self._title)}</p>" if self._title else ""
        return f"{_STYLE}{title}<div class='stoker'>{''.join(self._figures)}</div>"

    def __repr__(self) -> str:
        return (
            f"<{len(self._figures)} samples; a notebook shows them, save('page.html') writes them>"
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a page of HTML that needs no other file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write("<!doctype html><meta charset='utf-8'>\n")
            file.write(f"<title>{html.escape(self._title) or 'stoker'}</title>\n")
            file.write(self._repr_html_() + "\n")


def show(*batches: _core.Batch, count: int = 16) -> Shown:
    """The first samples of the outputs of one step, side by side, for notebooks.

    ``stoker.show(*pipe.run())`` shows pictures small (layouts HWC, CHW and HW with 1, 3 or 4
    channels) and other outputs as their first values. Each has its shape and dtype under it, and
    where the sample came from. What is not uint8 is shown with its least value black and its
    largest white. Raises ``ValueError`` for what is no batch.
    """
    hosts = [own_batch(batch).as_cpu() for batch in batches]
    most = max((len(batch) for batch in hosts), default=0)
    figures = [_sample(hosts, i) for i in range(min(most, count))]
    return Shown("; ".join(_summary(batch) for batch in hosts), figures)


def own_batch(batch: Any) -> _core.Batch:
    """The batch in what a pipeline gives, which ``stoker.compat`` wraps. Raises ``ValueError``."""
    own = getattr(batch, "_batch", batch)
    if not isinstance(own, _core.Batch):
        raise ValueError(
            f"show expects batches, got {type(batch).__name__}: "
            "stoker.show(*pipe.run()) shows all outputs of a step"
        )
    return own


def figure(pictures: Sequence[Any], caption: str) -> str:
    """Pictures in a row, with a caption under them; HTML."""
    return f"<figure>{''.join(map(_picture, pictures))}<figcaption>{caption}</figcaption></figure>"


def is_picture(sample: _core.Tensor) -> bool:
    """Whether ``figure`` can show it."""
    shape, layout = sample.shape, sample.layout
    if 0 in shape or sample.dtype in ("bool", "bytes"):
        return False
    if layout == "HW":
        return True
    channels = {"HWC": shape[-1:], "CHW": shape[:1]}.get(layout, ())
    return len(shape) == 3 and channels in ((1,), (3,), (4,))


def small(sample: _core.Tensor) -> Pixels:
    """The picture as uint8 in HWC, at most 256 pixels wide and high, with 1 or 3 channels."""
    import numpy

    pixels = images._as_hwc(sample, sample.layout)[..., :3]
    step = max(1, -(-max(pixels.shape[:2]) // _SIDE))
    height, width = (max(1, extent // step) for extent in pixels.shape[:2])
    if step > 1:
        tall, wide = min(step, pixels.shape[0]), min(step, pixels.shape[1])
        cut = pixels[: height * tall, : width * wide].astype(numpy.float32)
        blocks = cut.reshape(height, tall, width, wide, -1)
        mean = blocks.mean(axis=(1, 3))
        pixels = numpy.rint(mean).astype(numpy.uint8) if pixels.dtype == numpy.uint8 else mean
    if pixels.dtype == numpy.uint8:
        return numpy.ascontiguousarray(pixels)
    values = numpy.nan_to_num(pixels.astype(numpy.float32), posinf=0.0, neginf=0.0)
    least, most = float(values.min()), float(values.max())
    scale = 255.0 / (most - least) if most > least else 0.0
    gray: Pixels = numpy.rint((values - least) * scale).astype(numpy.uint8)
    return gray


def _picture(sample: Any) -> str:
    pixels = small(sample)
    data = base64.b64encode(images._jpeg(pixels, 85)).decode()
    return f"<img src='data:image/jpeg;base64,{data}'>"


def _sample(batches: Sequence[_core.Batch], i: int) -> str:
    pictures, words = [], []
    source = ""
    for batch in batches:
        if i >= len(batch):
            continue
        sample = batch[i]
        source = source or sample.source_info
        if is_picture(sample):
            pictures.append(sample)
            words.append(f"{sample.dtype} {sample.layout} {sample.shape}")
        else:
            words.append(_values(sample))
    lines = [html.escape(word) for word in words]
    if source:
        name = os.fsencode(os.path.basename(source)).decode(errors="backslashreplace")
        lines.append(f"<i>{html.escape(name)}</i>")
    return figure(pictures, "<br>".join(lines))


def _values(sample: _core.Tensor) -> str:
    values = sample.as_array().ravel()
    few = ", ".join(f"{value:.6g}" for value in values[:_VALUES].tolist())
    more = ", ..." if values.size > _VALUES else ""
    shape = "" if values.size == 1 else f" {sample.shape}"
    return f"{few}{more} ({sample.dtype}{shape})"


def _summary(batch: _core.Batch) -> str:
    return f"{len(batch)} samples, {batch.dtype} {batch.layout}".rstrip()


def _batch_html(self: _core.Batch) -> str:
    """Small pictures, shapes and sources of the first samples, for notebooks."""
    return show(self)._repr_html_()


_core.Batch._repr_html_ = _batch_html  # type: ignore[method-assign]
