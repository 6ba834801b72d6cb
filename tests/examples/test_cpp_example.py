# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The C++ example makes the batches that the same graph makes from Python."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np

from stoker import Pipeline, fn

ROOT = Path(__file__).resolve().parents[2]


def python_batches(folder: Path, count: int) -> list[tuple[float, int]]:
    pipe = Pipeline(batch_size=8, num_threads=2, seed=1)
    with pipe:
        encoded, label = fn.readers.file(file_root=str(folder), random_shuffle=True)
        image = fn.random_resized_crop(fn.decoders.image(encoded), size=[224, 224])
        mean, std = [123.675, 116.28, 103.53], [58.395, 57.12, 57.375]
        image = fn.crop_mirror_normalize(image, mirror=fn.random.coin_flip(), mean=mean, std=std)
        pipe.set_outputs(image, label)
    batches = [pipe.run() for _ in range(count)]
    return [
        (float(np.mean(i.as_array(), dtype=np.float64)), int(n.as_array()[0, 0]))
        for i, n in batches
    ]


def test_the_cpp_example_makes_the_same_batches(pictures: Path) -> None:
    program = ROOT / "build/release/example_resnet50"
    printed = subprocess.run(
        [program, pictures, "4"], capture_output=True, text=True, check=True
    ).stdout
    lines = re.findall(
        r"^8 images \(3, 224, 224\), mean (\S+), first label (\d+)$", printed, re.MULTILINE
    )
    assert len(lines) == 4, printed
    for (mean, label), (want_mean, want_label) in zip(
        lines, python_batches(pictures, 4), strict=True
    ):
        assert abs(float(mean) - want_mean) < 1e-4
        assert int(label) == want_label


def test_the_cpp_example_says_what_is_wrong(tmp_path: Path) -> None:
    program = ROOT / "build/release/example_resnet50"
    failed = subprocess.run(
        [program, tmp_path / "nothing"], capture_output=True, text=True, check=False
    )
    assert failed.returncode == 1
    assert "nothing" in failed.stderr and "readers.file" in failed.stderr
