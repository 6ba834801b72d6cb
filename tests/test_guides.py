# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The examples in the README and the guides do what they say, and the demo runs."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent
# Pages that need a framework; MXNet's runs in another environment (frameworks/test_mxnet.py).
FRAMEWORKS = ("jax", "tensorflow", "mxnet")
PAGES = [
    pytest.param(page, id=page.stem, marks=pytest.mark.xdist_group(page.stem))
    for page in [ROOT / "README.md", *sorted((ROOT / "docs" / "guide").glob("*.md"))]
    if page.stem not in FRAMEWORKS or importlib.util.find_spec(page.stem)
]
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.M | re.S)


@pytest.mark.parametrize("page", PAGES)
def test_examples_print_what_the_page_says(
    page: Path,
    pictures: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    (tmp_path / "pictures").symlink_to(pictures)
    if page.stem == "containers":
        data: Path = request.getfixturevalue("test_data")
        (tmp_path / "stores").symlink_to(data / "containers")
        (tmp_path / "coco").symlink_to(data / "coco_small")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "example"}
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


def test_contact_sheet(tmp_path: Path) -> None:
    from contact_sheet import contact_sheet
    from PIL import Image

    rng = np.random.default_rng(1)
    tiles = list(rng.integers(0, 256, (5, 6, 9, 3), np.uint8))
    contact_sheet(tiles, tmp_path / "sheet.png", columns=3, gap=2)
    with Image.open(tmp_path / "sheet.png") as file:
        sheet = np.asarray(file)
    assert sheet.shape == (2 + 2 * 8, 2 + 3 * 11, 3)
    np.testing.assert_array_equal(sheet[10:16, 13:22], tiles[4])
    assert np.all(sheet[10:16, 24:] == 255)


def test_pictures_are_made_by_hand(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "examples" / "synthetic_photos.py")]
    subprocess.run([*command, str(tmp_path / "pictures"), "5"], check=True)
    assert len(list(tmp_path.glob("pictures/*/*.jpg"))) == 5
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("usage: synthetic_photos.py")
