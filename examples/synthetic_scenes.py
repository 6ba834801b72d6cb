# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Synthetic pictures of known things, with annotations in COCO's format: boxes and polygons."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
from synthetic_photos import landscape

SIZES = ((240, 320), (320, 240), (256, 256), (200, 333))
CORNERS = {"triangle": 3, "square": 4, "hexagon": 6}


def make_scenes(folder: Path, count: int = 24) -> Path:
    """Writes images/*.jpg and instances.json, the same ones each time. Returns the folder."""
    try:
        from PIL import Image, ImageDraw
    except ImportError as e:
        raise SystemExit(f"making pictures takes Pillow ({e}); give data of yours instead") from e
    (folder / "images").mkdir(parents=True, exist_ok=True)
    images: list[dict[str, Any]] = []
    annotations: list[dict[str, Any]] = []
    for i in range(count):
        rng = np.random.default_rng(i)
        height, width = SIZES[i % len(SIZES)]
        y, x = np.mgrid[0:height, 0:width].astype(np.float32)
        ground = np.clip(landscape(rng, y / height, x / width), 0, 255).astype(np.uint8)
        picture = Image.fromarray(ground)
        for _ in range(rng.integers(1, 4)):
            kind = int(rng.integers(len(CORNERS)))
            corners = polygon(rng, list(CORNERS.values())[kind], height, width)
            colour = tuple(int(c) for c in rng.integers(40, 256, 3))
            ImageDraw.Draw(picture).polygon([(float(a), float(b)) for a, b in corners], colour)
            annotations.append(annotation(len(annotations), i, kind, corners))
        name = f"{i:04}.jpg"
        picture.save(folder / "images" / name, "JPEG", quality=90)
        images.append({"id": i, "file_name": name, "height": height, "width": width})
    categories = [{"id": k, "name": kind} for k, kind in enumerate(CORNERS)]
    table = {"images": images, "annotations": annotations, "categories": categories}
    (folder / "instances.json").write_text(json.dumps(table))
    return folder


def polygon(rng: np.random.Generator, corners: int, height: int, width: int) -> Any:
    """The corners (x, y) of a regular polygon somewhere in the picture, all inside."""
    radius = rng.uniform(0.12, 0.3) * min(height, width)
    middle = rng.uniform(radius, [width - 1 - radius, height - 1 - radius])
    angles = rng.uniform(0, 2 * math.pi) + np.arange(corners) * 2 * math.pi / corners
    return np.round(middle + radius * np.stack([np.cos(angles), np.sin(angles)], 1), 1)


def annotation(number: int, image: int, kind: int, corners: Any) -> dict[str, Any]:
    low, high = corners.min(0), corners.max(0)
    return {
        "id": number,
        "image_id": image,
        "category_id": kind,
        "bbox": [*low.tolist(), *(high - low).tolist()],
        "segmentation": [corners.reshape(-1).tolist()],
        "area": float(np.prod(high - low)),
        "iscrowd": 0,
    }
