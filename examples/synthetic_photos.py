# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Synthetic pictures of skies, hills and things, which compress about like photographs."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Picture = NDArray[np.float32]

SIZES = ((375, 500), (500, 375), (333, 500), (400, 400), (480, 640), (768, 1024))
CLASSES = ("balls", "blocks", "stripes", "waves")


def make_photos(folder: Path, count: int = 128) -> Path:
    """Writes JPEG files to folder/<class>/, the same ones each time. Returns the folder."""
    try:
        from PIL import Image
    except ImportError as e:
        raise SystemExit(
            f"making pictures takes Pillow ({e}); give a folder of yours instead"
        ) from e
    for i in range(count):
        kind = CLASSES[i % len(CLASSES)]
        path = folder / kind / f"{i:04}.jpg"
        if path.exists():
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        picture = np.clip(photo(kind, i), 0, 255).astype(np.uint8)
        partial = path.with_suffix(".partial")
        Image.fromarray(picture).save(partial, "JPEG", quality=90, subsampling=i % 3)
        partial.rename(path)
    return folder


def photo(kind: str, seed: int) -> Picture:
    """A picture of shape (H, W, 3), with values of about 0 to 255."""
    rng = np.random.default_rng(seed)
    height, width = SIZES[seed % len(SIZES)]
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    picture = landscape(rng, y / height, x / width)
    for _ in range(rng.integers(3, 9)):
        draw_thing(rng, kind, picture, y, x)
    return picture + rng.normal(0, 4, picture.shape).astype(np.float32)


def landscape(rng: np.random.Generator, v: Picture, u: Picture) -> Picture:
    """A sky that fades, and hills with a rough surface. Coordinates are 0 to 1."""
    sky = rng.normal([120, 160, 215], 25).astype(np.float32)
    ground = rng.normal([95, 110, 60], 25).astype(np.float32)
    picture = sky * (0.75 + 0.35 * v[..., None])
    for depth in range(3):
        horizon = 0.45 + 0.17 * depth + 0.08 * waves(rng, u, 3)
        rough = 1 + 0.12 * waves(rng, u * 40 + v * 23, 4) * waves(rng, v * 60, 3)
        hill = ground * (0.6 + 0.2 * depth) * rough[..., None]
        picture = np.where((v > horizon)[..., None], hill, picture)
    return picture.astype(np.float32)


def waves(rng: np.random.Generator, t: Picture, count: int) -> Picture:
    """A smooth random curve between about -1 and 1."""
    total: Picture = np.zeros_like(t)
    for k in range(1, count + 1):
        total += np.sin(t * k * rng.uniform(2, 7) + rng.uniform(0, 6.3)) / (1.5 * k)
    return total


def draw_thing(
    rng: np.random.Generator, kind: str, picture: Picture, y: Picture, x: Picture
) -> None:
    """Draws a thing of this kind into the picture, with light from the upper left."""
    height, width, _ = picture.shape
    r = rng.uniform(0.06, 0.2) * min(height, width)
    dy, dx = y - rng.uniform(0.3, 0.95) * height, x - rng.uniform(0, 1) * width
    colour = rng.uniform(40, 255, 3).astype(np.float32)
    light = 1 - 0.45 * (dx + dy) / (2 * r)
    if kind == "balls":
        inside = dx * dx + dy * dy < r * r
    else:
        inside = (np.abs(dx) < r) & (np.abs(dy) < r * rng.uniform(0.4, 1.2))
    if kind == "stripes":
        light = light * np.where(np.sin((dx + dy) * rng.uniform(0.2, 0.9)) > 0, 1, 0.4)
    elif kind == "waves":
        light = light * (1 + 0.5 * waves(rng, dx / r * 9, 3) * waves(rng, dy / r * 7, 3))
    picture[inside] = (colour * light[..., None])[inside]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="gets one folder for each of four classes")
    parser.add_argument("count", type=int, nargs="?", default=128, help="pictures in all (128)")
    given = parser.parse_args()
    make_photos(given.folder, given.count)


if __name__ == "__main__":
    main()
