# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Writes pictures of a batch side by side into one file, to see what augmentations do."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import stoker

if TYPE_CHECKING:
    import numpy.typing

    Picture = numpy.typing.NDArray[Any]


def contact_sheet(
    pictures: Sequence[Picture], path: str | os.PathLike[str], columns: int = 8, gap: int = 4
) -> None:
    """Writes uint8 pictures (H, W, 3), all of one size, as a grid on a white ground.

    Requires: at least one picture.
    """
    import numpy

    height, width, _ = pictures[0].shape
    columns = min(columns, len(pictures))
    rows = -(-len(pictures) // columns)
    size = (rows * (height + gap) + gap, columns * (width + gap) + gap, 3)
    sheet = numpy.full(size, 255, numpy.uint8)
    for i, picture in enumerate(pictures):
        y = gap + i // columns * (height + gap)
        x = gap + i % columns * (width + gap)
        sheet[y : y + height, x : x + width] = picture
    stoker.images.save(path, sheet)
