# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures of what operators do, before and after, for the pages of the site."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from stoker import fn, images, pipeline_def

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples"))

# Arguments that show what an operator does to one picture of 240 x 160 pixels.
CALLS: dict[str, dict[str, Any]] = {
    "resize": {"size": [80, 200]},
    "random_resized_crop": {"size": [160, 160]},
    "crop": {"crop": [100, 120]},
    "flip": {"horizontal": 1},
    "rotate": {"angle": 20.0, "fill_value": 0},
    "warp_affine": {"matrix": [1.0, 0.3, -20.0, 0.0, 1.0, 0.0], "fill_value": 0},
    "paste": {"ratio": 1.5, "fill_value": [60, 60, 60]},
    "erase": {"anchor": [40.0, 60.0], "shape": [60.0, 80.0], "axis_names": "HW"},
    "grid_mask": {"tile": 40, "ratio": 0.5},
    "gaussian_blur": {"sigma": 3.0},
    "median_blur": {"window_size": [7, 7]},
    "laplacian": {},
    "dilate": {},
    "erode": {},
    "equalize": {},
    "jpeg_compression_distortion": {"quality": 5},
    "brightness": {"brightness": 1.6},
    "contrast": {"contrast": 2.0},
    "brightness_contrast": {"brightness": 0.7, "contrast": 1.5},
    "color_twist": {"hue": 120.0, "saturation": 1.5},
    "hue": {"hue": 90.0},
    "saturation": {"saturation": 0.1},
    "hsv": {"hue": 45.0, "saturation": 1.4, "value": 0.9},
    "noise.gaussian": {"stddev": 40.0},
    "noise.shot": {"factor": 40.0},
    "noise.salt_and_pepper": {"prob": 0.1},
}


def make(folder: Path) -> Iterator[tuple[str, str, str]]:
    """Writes a picture for each operator. Gives its name, the call in words, and the file."""
    import synthetic_photos

    folder.mkdir(parents=True, exist_ok=True)
    photo = np.clip(synthetic_photos.photo("balls", 3), 0, 255).astype(np.uint8)[:320:2, :480:2]
    for name, arguments in CALLS.items():
        before, after = _run(name, arguments, photo)
        file = f"{name}.png"
        images.contact_sheet([before, after], folder / file, columns=2)
        words = ", ".join(f"{key}={value!r}" for key, value in arguments.items())
        yield name, f"fn.{name}(image{', ' if words else ''}{words})", file


def _run(name: str, arguments: dict[str, Any], photo: Any) -> tuple[Any, Any]:
    function: Any = fn
    for part in name.split("."):
        function = getattr(function, part)

    @pipeline_def(batch_size=1, num_threads=1, seed=5)
    def both() -> Any:
        image = fn.external_source(source=lambda: [photo], layout="HWC")
        return image, function(image, **arguments)

    before, after = both().run()
    result = after.at(0)
    if result.dtype != np.uint8:
        result = np.clip(np.rint(np.abs(result.astype(np.float32))), 0, 255).astype(np.uint8)
    return np.array(before.at(0)), result
