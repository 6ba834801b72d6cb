# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures with their annotations, and what a pipeline of them gives or says."""

from __future__ import annotations

import io
import json
import struct
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from containers import Json, pipe_of
from PIL import Image

from helpers import samples_of
from stoker import fn

WIDTH, HEIGHT = 64, 48
BOX = [10, 5, 20, 10]  # left, top, width and height: white in the stored picture


def picture(orientation: int = 1, width: int = WIDTH, height: int = HEIGHT) -> bytes:
    """A JPEG whose EXIF data say how it is to be turned."""
    pixels = np.zeros((height, width, 3), np.uint8)
    pixels[5:15, 10:30] = 255
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "JPEG", quality=95)
    tag = struct.pack(">HHIHHI", 0x112, 3, 1, orientation, 0, 0)
    exif = b"Exif\0\0MM\0*\0\0\0\x08\0\x01" + tag
    return b"\xff\xd8\xff\xe1" + struct.pack(">H", len(exif) + 2) + exif + out.getvalue()[2:]


def image(**values: Any) -> Json:
    return {"id": 1, "file_name": "1.jpg", "width": WIDTH, "height": HEIGHT} | values


def thing(**values: Any) -> Json:
    """An annotation; a value of ... leaves its key out."""
    given = {"id": 7, "image_id": 1, "category_id": 3, "iscrowd": 0, "bbox": BOX} | values
    return {key: value for key, value in given.items() if value is not ...}


def write(folder: Path, images: list[Json], things: list[Json], data: bytes | None = None) -> Json:
    """Writes a set of COCO, and gives the arguments that read it."""
    for listed in images:
        (folder / listed["file_name"]).write_bytes(data or picture())
    table = {"images": images, "annotations": things, "categories": [{"id": 3, "name": "thing"}]}
    (folder / "a.json").write_text(json.dumps(table))
    return {"file_root": str(folder), "annotations_file": str(folder / "a.json")}


def run(
    define: Callable[[], Any], count: int = 1, steps: int = 1, **settings: Any
) -> tuple[list[Any], list[str]]:
    """The samples, and the warnings."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        pipe = pipe_of(define, count, **settings)
        samples = [s for _ in range(steps) for s in samples_of(pipe.run())]
    return samples, [str(w.message) for w in told]


def decoded(given: Json, **decoder: Any) -> Callable[[], Any]:
    """A pipeline of pictures and their boxes."""

    def define() -> Any:
        encoded, boxes, *_ = fn.readers.coco(**given)
        return fn.decoders.image(encoded, **decoder), boxes

    return define
