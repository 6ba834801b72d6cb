# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""``fn.dump_image``: pictures in files, for looking at them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stoker import errors, fn, ops, pipeline_def

BATCH = 2


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def pictures(shape: tuple[int, ...], count: int = BATCH) -> list[Any]:
    size = int(np.prod(shape))
    return [(np.arange(size) * (k + 1)).astype(np.uint8).reshape(shape) for k in range(count)]


def run(data: list[Any], layout: str, steps: int = 1, **arguments: Any) -> list[Any]:
    @pipeline_def(batch_size=BATCH, num_threads=2)
    def dumped() -> Any:
        fed = fn.external_source([data] * steps, layout=layout)
        return fn.dump_image(fed, **arguments)

    pipe = dumped()
    return [pipe.run()[0] for _ in range(steps)]


def read(file: str) -> Any:
    kind, width, height, most, pixels = Path(file).read_bytes().split(maxsplit=4)
    assert most == b"255"
    channels = {b"P5": 1, b"P6": 3}[kind]
    return np.frombuffer(pixels, np.uint8).reshape(int(height), int(width), channels)


@pytest.mark.parametrize("channels", [1, 3])
def test_pictures_are_written_and_given_on(channels: int, in_folder: Path) -> None:
    data = pictures((5, 7, channels))
    data[0][0, 0] = data[1][0, 0] = 65  # no blank behind the header
    (batch,) = run(data, "HWC", suffix="look")
    assert sorted(p.name for p in in_folder.iterdir()) == ["0-look-0.ppm", "0-look-1.ppm"]
    for k, picture in enumerate(data):
        assert np.array_equal(batch.at(k), picture)
        assert np.array_equal(read(f"0-look-{k}.ppm"), picture)


def test_channels_may_come_first() -> None:
    data = [np.full((3, 4, 2), 65 + k, np.uint8) for k in range(BATCH)]
    (batch,) = run(data, "CHW")
    assert batch.layout == "CHW"
    assert np.array_equal(read("0--1.ppm"), data[1].transpose(1, 2, 0))


def test_each_frame_has_a_file(in_folder: Path) -> None:
    data = [np.full((3, 2, 2, 1), 70, np.uint8) + np.arange(3, dtype=np.uint8)[:, None, None, None]]
    run(data * BATCH, "FHWC", suffix="s")
    assert len(list(in_folder.iterdir())) == 3 * BATCH
    assert [int(read(f"0-s-1-{f}.ppm").max()) for f in range(3)] == [70, 71, 72]


def test_the_layout_can_be_overruled() -> None:
    run([np.full((1, 4, 2), 66, np.uint8)] * BATCH, "HWC", input_layout="CHW")
    assert read("0--0.ppm").shape == (4, 2, 1)
    with pytest.raises(errors.GraphError, match="'input_layout' expects HWC or CHW"):
        run(pictures((2, 2, 3)), "HWC", input_layout="WCH")
    with pytest.raises(errors.GraphError, match="'input_layout' is 'FHWC' for an input of 3 axes"):
        run(pictures((2, 2, 3)), "HWC", input_layout="FHWC")


def test_four_channels_make_no_such_file() -> None:
    with pytest.raises(errors.SampleError, match="a picture of 1 or 3 channels, got 4"):
        run(pictures((2, 2, 4)), "HWC")


def test_later_crops_do_not_crop_the_file() -> None:
    data = [np.full((6, 8, 3), 67, np.uint8)] * BATCH

    @pipeline_def(batch_size=BATCH, num_threads=1)
    def cropped() -> Any:
        dumped = fn.dump_image(fn.external_source([data], layout="HWC"), suffix="whole")
        return fn.crop(dumped, crop=(2, 2))

    assert cropped().run()[0].at(0).shape == (2, 2, 3)
    assert read("0-whole-0.ppm").shape == (6, 8, 3)


def test_a_folder_that_cannot_be_written(in_folder: Path) -> None:
    (in_folder / "0-x-1.ppm").mkdir()
    with pytest.raises(errors.SampleError, match=r"cannot write the file '0-x-1\.ppm': Is a dir"):
        run(pictures((2, 2, 3)), "HWC", suffix="x")


def test_other_types_are_refused() -> None:
    with pytest.raises(errors.GraphError, match=r"expects dtype uint8, .*got float32"):
        run([np.zeros((2, 2, 3), np.float32)] * BATCH, "HWC")


def test_there_is_a_class() -> None:
    assert callable(ops.DumpImage(suffix="x"))
