#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Draws docs/guide/pictures/edges.png: what the borders of resize do to the corner of a picture.

From left to right: border="omit", border="clamp", and four times how much they differ.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from stoker import fn, images, pipeline_def

PAGE = Path(__file__).resolve().parent.parent / "docs" / "guide" / "pictures" / "edges.png"
SIZE, SHOWN, ENLARGED = 48, 16, 10


def corner() -> np.ndarray:
    """A picture of stripes and slopes, whose outermost pixels are bright."""
    y, x = np.mgrid[:192, :192]
    stripes = 60 * ((x + y) // 12 % 2)
    picture = np.stack([30 + stripes + x // 4, 50 + y // 4, 110 - stripes], 2)
    picture[0] = picture[:, 0] = 245
    return picture.astype(np.uint8)


def pictures() -> list[np.ndarray]:
    @pipeline_def(batch_size=1, num_threads=1)
    def both() -> object:
        node = fn.external_source(source=lambda: [corner()], batch=True, layout="HWC")
        return tuple(fn.resize(node, size=[SIZE, SIZE], border=b) for b in ("omit", "clamp"))

    made = [np.array(batch[0])[:SHOWN, :SHOWN] for batch in both().run()]
    apart = np.abs(made[0].astype(int) - made[1])
    made.append(np.clip(4 * apart, 0, 255).astype(np.uint8))
    return [picture.repeat(ENLARGED, 0).repeat(ENLARGED, 1) for picture in made]


def main(page: Path = PAGE) -> None:
    images.contact_sheet(pictures(), page, columns=3)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
