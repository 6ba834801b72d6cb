# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""`stoker show`, and batches in notebooks: what the pages hold."""

from __future__ import annotations

import base64
import io
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import stoker
from stoker import fn
from stoker._cli.main import main
from stoker.compat._gpu_tensors import as_list
from stoker.images import contact_sheet

SCRIPT = """
from stoker import fn, pipeline_def

@pipeline_def(num_threads=2, seed=3)
def training(root):
    encoded, label = fn.readers.file(file_root=root)
    image = fn.resize(fn.decoders.image(encoded), size=[40, 50])
    return fn.crop_mirror_normalize(image, mean=[100.0] * 3, std=[50.0] * 3), label

if __name__ == "__main__":
    raise SystemExit("the script itself must not run")
"""


def pictures_in(page: str) -> list[Image.Image]:
    found = re.findall(r"src='data:image/jpeg;base64,([^']+)'", page)
    return [Image.open(io.BytesIO(base64.b64decode(data))) for data in found]


def test_a_folder_before_and_after(
    pictures: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "sheet.html"
    words = ["show", str(pictures), "--out", str(out), "--count", "4", "--size", "64", "--json"]
    assert main(words) == 0
    shown = json.loads(capsys.readouterr().out)["shown"]
    page = out.read_text()
    files = [entry["file"] for entry in shown]
    assert len(set(files)) == 4
    assert all(file in page for file in files)
    found = pictures_in(page)
    assert len(found) == 8
    assert {found[i].size for i in range(1, 8, 2)} == {(64, 64)}
    for i, entry in enumerate(shown):
        with Image.open(entry["file"]) as original:
            assert entry["captions"][0].startswith(f"{original.width} x {original.height}")
            small = original.convert("RGB").resize(found[2 * i].size, Image.Resampling.BILINEAR)
        difference = np.asarray(small, int) - np.asarray(found[2 * i], int)
        assert np.abs(difference).mean() < 8


def test_a_sheet_of_pixels(pictures: Path, tmp_path: Path) -> None:
    out = tmp_path / "sheet.png"
    assert main(["show", str(pictures), "--out", str(out), "--count", "6", "--size", "64"]) == 0
    with Image.open(out) as sheet:
        assert sheet.width == 8 * (192 + 4) + 4


def test_a_script(pictures: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script, out = tmp_path / "train.py", tmp_path / "sheet.html"
    script.write_text(SCRIPT)
    monkeypatch.setattr("sys.argv", [])
    monkeypatch.setattr("sys.path", [*__import__("sys").path])
    assert main(["show", str(script), str(pictures), "--out", str(out), "--count", "5"]) == 0
    page = out.read_text()
    assert page.count("stored: ") == 5
    assert page.count("float32 CHW (3, 40, 50)") == 5
    assert [p.size for p in pictures_in(page)][1::2] == [(50, 40)] * 5


Shower = Callable[..., Any]


@pytest.fixture
def show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shower:
    """Shows a script, and gives the exit status."""

    def run(text: str, *words: str) -> Any:
        script = tmp_path / "script.py"
        script.write_text(text)
        monkeypatch.setattr("sys.argv", [])
        monkeypatch.setattr("sys.path", [*sys.path])
        return main(["show", str(script), "--out", str(tmp_path / "sheet.html"), *words])

    return run


def test_a_script_without_a_pipeline(show: Shower, capsys: pytest.CaptureFixture[str]) -> None:
    assert show("x = 1\n") == 2
    assert "one pipeline or function with @pipeline_def is needed, found none" in (
        capsys.readouterr().err
    )


def test_a_script_of_nvidia_dali(pictures: Path, tmp_path: Path) -> None:
    """In a process of its own, as it makes nvidia.dali Stoker's."""
    script, out = tmp_path / "train.py", tmp_path / "sheet.html"
    script.write_text(SCRIPT.replace("from stoker import", "from nvidia.dali import"))
    command = [sys.executable, "-m", "stoker", "show", str(script), str(pictures)]
    subprocess.run([*command, "--out", str(out), "--count", "5"], check=True)
    page = out.read_text()
    assert page.count("stored: ") == page.count("float32 CHW (3, 40, 50)") == 5


def test_batches_with_the_methods_of_nvidia_dali() -> None:
    batches = numbers().run()
    wrapped = [as_list(batch) for batch in batches]
    assert stoker.show(*wrapped)._repr_html_() == stoker.show(*batches)._repr_html_()


def test_sources_that_are_no_pictures(show: Shower, tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.zeros((20, 30, 3), np.uint8))
    text = f"""
from stoker import fn, pipeline_def
@pipeline_def(batch_size=2)
def arrays():
    array = fn.readers.numpy(file_root={str(tmp_path)!r}, file_filter="*.npy")
    return fn.reinterpret(array, layout="HWC")
"""
    assert show(text, "--count", "2") == 0
    page = (tmp_path / "sheet.html").read_text()
    assert page.count("uint8 HWC (20, 30, 3)") == 2 and "stored: " not in page


ENDING = """
import numpy
from stoker import fn, pipeline_def
@pipeline_def(batch_size=2)
def ending():
    batches = [numpy.zeros((2, 20, 30, 3), numpy.uint8)] * 3
    return fn.external_source(batches, layout="HWC", cycle=False)
"""


def test_a_pipeline_that_ends(show: Shower, tmp_path: Path) -> None:
    assert show(ENDING, "--count", "20") == 0
    assert (tmp_path / "sheet.html").read_text().count("<figure>") == 6


TYPED = """
from pathlib import Path
from stoker import fn, pipeline_def
@pipeline_def(batch_size=1)
def typed(root: "Path", side: int, scale: float | None = None, gray=False, *sizes: int):
    assert isinstance(root, Path), root
    value = (side + (scale or 0.0) + sum(sizes)) * (-1 if gray else 1)
    print("value", value)
    return fn.reinterpret(fn.random.uniform(range=[0.0, 1.0], shape=[8, 9, 3]), layout="HWC")
"""


def test_words_become_what_the_function_takes(
    show: Shower, capsys: pytest.CaptureFixture[str]
) -> None:
    assert show(TYPED, "--count", "1", "root", "3", "0.5", "true", "1", "2") == 0
    assert "value -6.5\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["root"], "missing a required argument: 'side'"),
        (["root", "x"], "invalid literal for int() with base 10: 'x'"),
        (["root", "1", "2", "perhaps"], "expected true or false, got 'perhaps'"),
    ],
)
def test_words_that_do_not_fit(
    words: list[str], message: str, show: Shower, capsys: pytest.CaptureFixture[str]
) -> None:
    assert show(TYPED, *words) == 2
    error = capsys.readouterr().err
    assert "typed(root: 'Path', side: int" in error and message in error


def test_the_seed_is_passed_on(show: Shower, tmp_path: Path) -> None:
    pages = []
    for seed in "5", "5", "6":
        assert show(TYPED, "--count", "1", "--seed", seed, "root", "3") == 0
        pages.append((tmp_path / "sheet.html").read_text())
    assert pages[0] == pages[1] != pages[2]


@pytest.mark.parametrize("words", [["--seed", "1"], ["word"], ["--size", "9"]])
def test_what_a_script_cannot_take(
    words: list[str], show: Shower, capsys: pytest.CaptureFixture[str]
) -> None:
    assert show(ENDING + "\npipe = ending()\n", *words) == 2
    error = capsys.readouterr().err
    assert "pipe is a pipeline already" in error or "--size is for pictures" in error


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import no_such_module\n", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("x = (\n", "SyntaxError: '(' was never closed"),
        (ENDING.replace("batches = ", "batches = open('gone') or "), "FileNotFoundError: "),
    ],
)
def test_mistakes_of_the_script(
    text: str, message: str, show: Shower, capsys: pytest.CaptureFixture[str]
) -> None:
    assert show(text) == 1
    error = capsys.readouterr().err
    assert message in error and "script.py" in error
    assert "_cli" not in error and "runpy" not in error


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--out", "sheet.gif"], "expected a name in .html, .png or .jpg, got 'sheet.gif'"),
        (["--out", "/no/such/sheet.html"], "there is no folder '/no/such'"),
        (["--count", "0"], "argument --count: expected a whole number of at least 1, got '0'"),
        (["--size=-1"], "argument --size: expected a whole number of at least 1, got '-1'"),
    ],
)
def test_wrong_options(
    words: list[str], message: str, pictures: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main(["show", str(pictures), *words])
    assert end.value.code == 2 and message in capsys.readouterr().err


def test_endings_in_capitals(pictures: Path, tmp_path: Path) -> None:
    words = ["show", str(pictures), "--count", "1", "--size", "9", "--out"]
    assert main([*words, str(tmp_path / "a.HTML")]) == 0
    assert (tmp_path / "a.HTML").read_text().startswith("<!doctype html>")


@stoker.pipeline_def(batch_size=3)
def numbers():  # type: ignore[no-untyped-def]
    picture = fn.random.uniform(range=[-1.0, 3.0], shape=[600, 300, 3])
    return fn.reinterpret(picture, layout="HWC"), fn.constant(idata=[4, 5], shape=[2])


def test_batches_in_notebooks() -> None:
    batches = numbers().run()
    page = stoker.show(*batches)._repr_html_()
    found = pictures_in(page)
    assert [p.size for p in found] == [(100, 200)] * 3  # every third pixel
    assert page.count("float32 HWC (600, 300, 3)") == 3
    assert page.count("4, 5 (int32 (2,))") == 3
    assert batches[1]._repr_html_().count("4, 5 (int32 (2,))") == 3
    assert repr(stoker.show(*batches)).startswith("<3 samples;")


def test_show_refuses_what_is_no_batch() -> None:
    with pytest.raises(
        ValueError, match=r"expects batches, got tuple: stoker.show\(\*pipe.run\(\)\)"
    ):
        stoker.show(numbers().run())  # type: ignore[arg-type]


def test_a_contact_sheet_of_several_sizes(tmp_path: Path) -> None:
    tiles = [np.full((6, 9, 3), 10, np.uint8), np.full((2, 3, 3), 20, np.uint8)]
    contact_sheet(tiles, tmp_path / "sheet.png", gap=1)
    with Image.open(tmp_path / "sheet.png") as file:
        sheet = np.asarray(file)
    assert sheet.shape == (8, 21, 3)
    assert np.all(sheet[1:7, 1:10] == 10)
    assert np.all(sheet[3:5, 14:17] == 20) and sheet[2, 14, 0] == 255
    with pytest.raises(ValueError, match="at least one picture"):
        contact_sheet([], tmp_path / "sheet.png")
