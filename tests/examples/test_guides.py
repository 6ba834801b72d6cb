# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The examples in the README and the guides do what they say, and the demo runs."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import picture_stores
import pytest

from helpers import make
from stoker import fn

ROOT = Path(__file__).resolve().parents[2]
# Pages that need a framework; MXNet's runs in another environment (frameworks/test_mxnet.py).
FRAMEWORKS = ("jax", "tensorflow", "mxnet")
PAGES = [
    pytest.param(page, id=page.stem, marks=pytest.mark.xdist_group(page.stem))
    for page in [ROOT / "README.md", *sorted((ROOT / "docs" / "guide").glob("*.md"))]
    if page.stem not in FRAMEWORKS or importlib.util.find_spec(page.stem)
]
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.M | re.S)


@pytest.fixture(scope="module")
def guide_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the command in the guide writes."""
    folder = tmp_path_factory.mktemp("guide")
    subprocess.run([sys.executable, str(ROOT / "examples" / "guide_data.py"), folder], check=True)
    return folder


@pytest.mark.parametrize("page", PAGES)
def test_examples_print_what_the_page_says(
    page: Path, guide_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for made in guide_data.iterdir():
        (tmp_path / made.name).symlink_to(made)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__main__"}
    text = page.read_text(encoding="utf-8")
    blocks = list(BLOCK.finditer(text))
    assert blocks
    for block in blocks:
        code, expected = block.groups()
        before = text[: block.start(1)].count("\n")
        code = "\n" * before + code  # so that its lines are those of the page
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, str(page), "exec"), names)
        if expected:
            assert printed.getvalue() == expected


def test_the_demo_runs(pictures: Path, tmp_path: Path) -> None:
    from PIL import Image

    script = ROOT / "examples" / "resnet50_demo.py"
    options = ["--out", str(tmp_path), "--epochs", "2", "--batch-size", "8", "--threads", "2"]
    done = subprocess.run(
        [sys.executable, str(script), str(pictures), *options],
        capture_output=True,
        text=True,
        check=True,
    )
    assert re.search(r"^\d+ images/s", done.stdout, re.M)
    assert "decoders_image_0" in done.stdout
    with Image.open(tmp_path / "contact_sheet.png") as sheet:
        assert sheet.size == (8 * 228 + 4, 4 * 228 + 4)
        assert len(sheet.convert("RGB").getcolors(1 << 24)) > 1000


def test_stores_hold_the_files_that_the_reader_takes(tmp_path: Path) -> None:
    names = ["a.jpg", "b.PNM", "c.ppm", "d.gif", ".e.png", "f", "g.jp2"]
    for name in names:
        (tmp_path / "class" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "class" / name).write_bytes(b"x")
    taken = sorted(path.name for path, _ in picture_stores.entries_of(tmp_path))
    assert taken == ["a.jpg", "b.PNM", "c.ppm", "g.jp2"]
    reader = make(lambda: fn.readers.file(file_root=tmp_path), batch_size=1)
    assert reader.epoch_size() == {"readers_file_0": len(taken)}


@pytest.mark.parametrize("kind", picture_stores.KINDS)
def test_stores_give_the_pixels_of_files(kind: str, pictures: Path, tmp_path: Path) -> None:
    from resnet50_demo import resnet50_training

    settings = {"batch_size": 8, "num_threads": 2, "seed": 3}
    folder = picture_stores.converted(kind, pictures, tmp_path)
    made = {p: p.stat().st_mtime_ns for p in folder.iterdir()}
    assert picture_stores.converted(kind, pictures, tmp_path) == folder
    assert {p: p.stat().st_mtime_ns for p in folder.iterdir()} == made
    files = resnet50_training("files", pictures, **settings)
    store = resnet50_training(kind, folder, **settings)
    assert files.epoch_size("Reader") == store.epoch_size("Reader") == 24
    for _ in range(6):
        for a, b in zip(files.run(), store.run(), strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a.as_array(), b.as_array())


def test_the_demo_compares_a_store_with_files(pictures: Path, tmp_path: Path) -> None:
    script = ROOT / "examples" / "resnet50_demo.py"
    options = ["--out", str(tmp_path), "--epochs", "1", "--rounds", "1", "--threads", "2"]
    done = subprocess.run(
        [sys.executable, str(script), str(pictures), *options],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "STORE": "webdataset"},
    )
    assert "the same pixels and labels as from the files, in all 1 batches" in done.stdout
    assert re.search(r"^\d+\.\d+ x the rate of files", done.stdout, re.M)
    none = subprocess.run(
        [sys.executable, str(script), str(pictures), *options],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "STORE": "none"},
    )
    assert none.returncode == 2 and "there is no store 'none': tfrecord, " in none.stderr


def test_contact_sheet(tmp_path: Path) -> None:
    from PIL import Image

    from stoker.images import contact_sheet

    rng = np.random.default_rng(1)
    tiles = list(rng.integers(0, 256, (5, 6, 9, 3), np.uint8))
    contact_sheet(tiles, tmp_path / "sheet.png", columns=3, gap=2)
    with Image.open(tmp_path / "sheet.png") as file:
        sheet = np.asarray(file)
    assert sheet.shape == (2 + 2 * 8, 2 + 3 * 11, 3)
    np.testing.assert_array_equal(sheet[10:16, 13:22], tiles[4])
    assert np.all(sheet[10:16, 24:] == 255)
    contact_sheet((tile[..., :1] for tile in tiles), tmp_path / "grey.png", columns=3, gap=2)
    with Image.open(tmp_path / "grey.png") as file:
        np.testing.assert_array_equal(np.asarray(file)[10:16, 13:22], tiles[4][..., [0, 0, 0]])


@pytest.mark.parametrize(
    ("given", "how", "words"),
    [
        ([np.ones((4, 5, 3), np.float32)], {}, "does not hold float32 with 3 channels"),
        ([np.ones((3, 4, 5), np.uint8)], {}, "does not hold uint8 with 5 channels"),
        ([np.ones(4, np.uint8)], {}, "which is not HWC"),
        ([np.ones((4, 5, 3), np.uint8)], {"columns": 0}, "columns=0"),
        ([np.ones((4, 5, 3), np.uint8)], {"gap": -1}, "gap=-1"),
        ((_ for _ in ()), {}, "needs at least one picture"),
    ],
)
def test_what_no_contact_sheet_takes(
    given: Any, how: dict[str, int], words: str, tmp_path: Path
) -> None:
    from stoker.images import contact_sheet

    with pytest.raises(ValueError, match=words):
        contact_sheet(given, tmp_path / "sheet.png", **how)


def test_givenare_made_by_hand(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "examples" / "synthetic_photos.py")]
    subprocess.run([*command, str(tmp_path / "pictures"), "5"], check=True)
    assert len(list(tmp_path.glob("pictures/*/*.jpg"))) == 5
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("usage: synthetic_photos.py")
