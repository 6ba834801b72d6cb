# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""device="mixed" on a GPU: nvJPEG's pixels are near the CPU's and depend only on file and
arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from nvjpeg_files import pictures

from helpers import Array, assert_same, samples_of
from stoker import Device, Pipeline, fn, types
from stoker.errors import SampleError

NEAR_MEAN, NEAR_MOST = 2.0, 60.0  # levels of 255: another inverse transform, another upsampling


@pytest.fixture(autouse=True)
def nvjpeg(gpu: Device) -> None:
    assert gpu.decoder == "nvJPEG", gpu.decoder_words


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return pictures(tmp_path_factory.mktemp("nvjpeg"))


def pipeline(
    folder: Path, device: str, *, settings: dict[str, Any] | None = None, **how: Any
) -> Pipeline:
    """Decodes all files three times: whole, a fixed window of each, and a window that is drawn."""
    common = {"batch_size": 4, "num_threads": 3, "device_id": 0, "seed": 5}
    with Pipeline(**{**common, **(settings or {})}) as pipe:
        files, _ = fn.readers.file(file_root=folder, pad_last_batch=True)
        images = [
            fn.decoders.image(files, device=device, **how),
            fn.decoders.image_crop(files, device=device, crop=[31, 45], crop_pos_x=0.7, **how),
            fn.decoders.image_random_crop(files, device=device, **how),
        ]
        pipe.set_outputs(*images)
    return pipe


def run(pipe: Pipeline, steps: int = 4) -> list[tuple[Array, ...]]:
    return [s for _ in range(steps) for s in samples_of([b.as_cpu() for b in pipe.run()])]


WAYS = [
    {},
    {"hw_decoder_load": 0.0},
    {"hw_decoder_load": 1.0},
    {"hw_decoder_load": 0.0, "hybrid_huffman_threshold": 0},
    {"output_type": types.BGR},
    {"output_type": types.GRAY},
    {"jpeg_fancy_upsampling": False},
]


@pytest.mark.parametrize("how", WAYS, ids=str)
def test_pixels_are_near_the_cpus(
    folder: Path, how: dict[str, Any], record_property: Callable[[str, object], None]
) -> None:
    pipe = pipeline(folder, "mixed", **how)
    got, expected = run(pipe), run(pipeline(folder, "cpu", **how))
    assert pipe.stats()["decoder"] == "nvJPEG"
    changed = [not np.array_equal(g[0], e[0]) for g, e in zip(got, expected, strict=True)]
    assert sum(changed) > len(changed) / 2, "the CPU decoded them"
    far = [np.abs(g[0].astype(int) - e[0].astype(int)) for g, e in zip(got, expected, strict=True)]
    record_property("mean_distance_from_the_cpu", float(np.mean([f.mean() for f in far])))
    record_property("largest_distance_from_the_cpu", int(max(f.max() for f in far)))
    for i, (g, e) in enumerate(zip(got, expected, strict=True)):
        for k, (x, y) in enumerate(zip(g, e, strict=True)):
            assert x.shape == y.shape and x.dtype == y.dtype
            far = np.abs(x.astype(int) - y.astype(int))
            if how.get("jpeg_fancy_upsampling", True):
                assert far.max(initial=0) <= NEAR_MOST, f"sample {i}, output {k}"
            assert far.mean() <= NEAR_MEAN * (1 if how.get("jpeg_fancy_upsampling", True) else 4)


def test_windows_have_the_pixels_of_the_whole(folder: Path) -> None:
    whole, looked_at = (
        run(pipeline(folder, "mixed", settings={"demand": demand})) for demand in (False, True)
    )
    assert_same(looked_at, whole, "demand")
    for image, crop, _ in whole:
        y, x = (image.shape[0] - 31) // 2, round(0.7 * (image.shape[1] - 45))
        around = [
            image[y + dy : y + dy + 31, x + dx : x + dx + 45] for dy in (0, 1) for dx in (-1, 0, 1)
        ]
        assert any(np.array_equal(crop, a) for a in around)


def test_nothing_else_changes_a_pixel(folder: Path) -> None:
    expected = run(pipeline(folder, "mixed"), steps=8)
    for settings in (
        {"batch_size": 1},
        {"batch_size": 16},
        {"num_threads": 1},
        {"prefetch_queue_depth": 5},
        {"executor": "simple"},
    ):
        size = settings.get("batch_size", 4)
        got = run(pipeline(folder, "mixed", settings=settings), steps=32 // int(size))
        assert_same(got, expected, str(settings))


def test_damaged_files_meet_the_policy(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "all").mkdir()
    whole = sorted((folder / "all").iterdir())
    for i, file in enumerate(whole[:4]):
        data = file.read_bytes()
        (tmp_path / "all" / file.name).write_bytes(data[: len(data) // 2] if i == 2 else data)
    with pytest.raises(SampleError, match=whole[2].name):
        run(pipeline(tmp_path, "mixed"), steps=1)
    assert len(run(pipeline(tmp_path, "mixed", settings={"on_error": "skip"}), steps=1)) == 3
