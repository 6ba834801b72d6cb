# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""`stoker bench`: its numbers add up, and its advice follows from them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from stoker._cli.bench import Report, Run, advise
from stoker._cli.main import main

SHORT = ["--seconds", "0.2", "--threads", "1,2", "--batch-size", "8", "--size", "32"]


def test_the_numbers(pictures: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", str(pictures), *SHORT, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["pictures"], report["size"]) == (24, 32)
    assert [run["threads"] for run in report["runs"]] == [1, 2]
    for run in report["runs"]:
        assert run["rate"] > 0 and run["decode"] > 0 and run["augment"] > 0
        assert 0 <= run["idle"] <= 1 and run["failures"] == 0
        assert run["read_bytes"] > 0
    # Reading is a part of the whole.
    assert report["reading_alone"] > report["runs"][0]["rate"]


def test_in_words(pictures: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", str(pictures), *SHORT, "--need", "1"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("24 pictures, made 32 x 32")
    assert "reading alone" in text and "This is enough for 1 a second" in text


def test_damaged_files_are_left_out(damaged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", str(damaged), *SHORT]) == 0
    assert "`stoker check` lists them" in capsys.readouterr().out


def test_a_whole_batch_is_damaged(
    pictures: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(next(pictures.glob("*/*.jpg")), tmp_path / "good.jpg")
    for i in range(7):
        (tmp_path / f"{i}.jpg").touch()
    words = ["bench", str(tmp_path), "--batch-size", "2", "--threads", "1", "--seconds", "0.2"]
    assert main(words) == 0
    assert "`stoker check` lists them" in capsys.readouterr().out
    (tmp_path / "good.jpg").unlink()
    assert main(words) == 2
    assert "none of the pictures can be decoded: `stoker check`" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words", ["--need=0", "--need=-5", "--seconds=nan", "--seconds=-1", "--seconds=inf"]
)
def test_numbers_that_cannot_be(
    words: str, pictures: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main(["bench", str(pictures), words])
    assert end.value.code == 2
    option, number = words.split("=")
    expected = f"argument {option}: expected a number above 0, got {number!r}"
    assert expected in capsys.readouterr().err


@pytest.mark.parametrize("words", ["0", "1,x", "", "-1"])
def test_wrong_numbers_of_threads(
    words: str, pictures: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main(["bench", str(pictures), f"--threads={words}"])
    assert end.value.code == 2
    assert f"expected numbers as 1,2,4, got {words!r}" in capsys.readouterr().err


def report(*runs: Run, reading: float = 1e6) -> Report:
    return Report(100, 224, 8, list(runs), reading, [])


def run(threads: int, rate: float, decode: float = 500, augment: float = 500) -> Run:
    return Run(threads, rate, 1, decode, augment, 0.0, 1e5, 0)


def test_advice_names_what_is_slow() -> None:
    def said(r: Report, need: float | None = None) -> str:
        return " ".join(advise(r, need))

    assert "Storage is the limit" in said(report(run(1, 1000), reading=1200))
    assert "Decoding is 80%" in said(report(run(1, 1000, decode=800, augment=199)))
    assert "Augmenting is 50%" in said(report(run(1, 1000)))
    assert "share these CPUs" in said(report(run(1, 1000), run(4, 1500)))
    assert "share these CPUs" not in said(report(run(1, 1000), run(4, 3900)))
    assert "num_threads=2 is best here" in said(report(run(2, 1500), run(4, 1400)))
    assert "about 2.5 times as many CPU cores" in said(report(run(1, 1000)), 2500)
    storage = said(report(run(1, 1000), reading=1200), 2500)
    assert "storage that is about 2.5 times as fast" in storage and "CPU cores" not in storage
    assert "2.0 times as much" in said(report(run(1, 1000)), 500)
