# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The examples for detection, segmentation and speech: what they give, on made and on real data."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from helpers import Array

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from synthetic_scenes import make_scenes

    return make_scenes(tmp_path_factory.mktemp("scenes"))


@pytest.mark.parametrize(
    ("example", "sheet", "size"),
    [
        ("ssd300", "ssd300.jpg", (1220, 612)),
        ("segmentation", "segmentation.jpg", (788, 200)),
        ("speech", "speech.png", None),
    ],
)
def test_examples_run_by_themselves(
    example: str, sheet: str, size: tuple[int, int] | None, tmp_path: Path
) -> None:
    from PIL import Image

    command = [sys.executable, str(ROOT / "examples" / f"{example}.py"), "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "What the network gets to" in done.stdout
    with Image.open(tmp_path / sheet) as drawn:
        assert size is None or drawn.size == size
        assert np.asarray(drawn).std() > 20


@pytest.mark.parametrize("example", ["resnet50_demo", "ssd300", "segmentation", "speech"])
@pytest.mark.parametrize("folder", ["none", "empty"])
def test_examples_say_what_is_wrong_with_a_folder(
    example: str, folder: str, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    program = str(ROOT / "examples" / f"{example}.py")
    command = [sys.executable, program, str(tmp_path / folder), "--out", str(tmp_path / "out")]
    environment = {**os.environ, "STORE": "tfrecord"} if example == "resnet50_demo" else None
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 1 and done.stderr.startswith("readers.")
    assert str(tmp_path / folder) in done.stderr and "Traceback" not in done.stderr


def decoded(targets: Array, defaults: Array) -> Array:
    """The boxes that targets of default boxes stand for."""
    centre = (defaults[:, :2] + defaults[:, 2:]) / 2
    extent = defaults[:, 2:] - defaults[:, :2]
    middle = targets[:, :2] * 0.1 * extent + centre
    half = np.exp(targets[:, 2:] * 0.2) * extent / 2
    return np.concatenate([middle - half, middle + half], axis=1)


def check_detection(data: Path, names: int) -> None:
    from ssd300 import default_boxes, ssd300_training

    defaults = np.array(default_boxes()).reshape(-1, 4)
    assert defaults.shape == (8732, 4) and (defaults[:, :2] < defaults[:, 2:]).all()
    pipe = ssd300_training(data, batch_size=4, num_threads=2, seed=5)
    mirrored = set()
    for _ in range(4):
        images, targets, classes, boxes = (np.asarray(b) for b in pipe.run())
        assert images.shape == (4, 3, 300, 300) and images.dtype == np.float32
        assert targets.shape == (4, 8732, 4) and classes.shape == (4, 8732)
        for target, kind, padded in zip(targets, classes, boxes, strict=True):
            real = padded[padded[:, 0] >= 0]
            assert len(real) and (real >= 0).all() and (real <= 1 + 1e-6).all()
            assert 0 < kind.max() <= names and (target[kind == 0] == 0).all()
            # Each default box with a class stands for one of the boxes, and each box for some.
            found = decoded(target[kind > 0].astype(np.float64), defaults[kind > 0])
            apart = np.abs(found[:, None] - real[None]).max(axis=2)
            assert apart.min(axis=1).max() < 1e-4
            assert set(apart.argmin(axis=1)) == set(range(len(np.unique(real, axis=0)))) or (
                len(np.unique(real, axis=0)) < len(real)
            )
            mirrored.add(round(float(real[0, 0]), 3))
    assert len(mirrored) > 4, "places are drawn"


def test_detection(scenes: Path) -> None:
    check_detection(scenes, 3)


def test_detection_on_real_pictures(test_data: Path) -> None:
    check_detection(test_data / "coco_small", 90)


def check_segmentation(data: Path, names: int) -> None:
    from segmentation import segmentation_training

    pipe = segmentation_training(data, batch_size=3, num_threads=2, seed=5)
    seen: set[int] = set()
    for _ in range(4):
        images, masks = (np.asarray(b) for b in pipe.run())
        assert images.shape == (3, 3, 192, 192) and images.dtype == np.float32
        assert masks.shape == (3, 192, 192) and masks.dtype == np.int64
        seen |= set(np.unique(masks).tolist())
    assert {0, 1} <= seen <= set(range(names + 1))


def test_segmentation_on_real_pictures(test_data: Path) -> None:
    check_segmentation(test_data / "coco_pixelwise", 10)


def test_masks_go_where_pictures_go(scenes: Path) -> None:
    """The things of a scene have one colour each, so a mask's parts are smooth in the picture."""
    from segmentation import STD, segmentation_training

    check_segmentation(scenes, 3)
    pipe = segmentation_training(scenes, batch_size=8, num_threads=2, seed=6)
    deviations = []
    for _ in range(3):
        for image, mask in zip(*(np.asarray(b) for b in pipe.run()), strict=True):
            inner = mask.copy()  # without a rim of two pixels
            for shift in ((0, 2), (0, -2), (2, 0), (-2, 0)):
                inner[np.roll(mask, shift, (0, 1)) != mask] = 0
            levels = image.transpose(1, 2, 0) * np.float32(STD)
            for kind in set(np.unique(inner).tolist()) - {0}:
                part = levels[inner == kind]
                if len(part) > 200:
                    middle = np.median(part, axis=0)
                    deviations.append(float((np.abs(part - middle).max(axis=1) < 30).mean()))
    assert len(deviations) > 10
    assert np.mean(deviations) > 0.8, np.mean(deviations)


def check_speech(data: Path) -> None:
    from speech import BANDS, speech_training

    pipe = speech_training(data, batch_size=4, num_threads=2, seed=5)
    for _ in range(3):
        features, frames, _ = (np.asarray(b) for b in pipe.run())
        assert features.shape == (4, BANDS, frames.max())
        assert np.isfinite(features).all()
        for feature, count in zip(features, frames, strict=True):
            assert (feature[:, count:] == 0).all()
            part = feature[:, :count]
            masked_times, masked_bands = (part == 0).all(axis=0), (part == 0).all(axis=1)
            assert masked_times.mean() <= 0.21 and masked_bands.mean() <= 0.35
            rest = part[~masked_bands][:, ~masked_times]
            assert abs(rest.mean()) < 0.6 and 0.5 < rest.std() < 1.5


def test_speech(tmp_path: Path) -> None:
    from speech import make_sounds

    check_speech(make_sounds(tmp_path))


def test_speech_on_real_sounds(test_data: Path, tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    for ending in ("wav", "flac", "ogg"):
        (tmp_path / "one" / f"it.{ending}").symlink_to(
            test_data / "audio" / f"237-134500-0000.{ending}"
        )
    check_speech(tmp_path)
