# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""`stoker optimise`: what it writes, beside Pillow, what it leaves alone, and what it says."""

from __future__ import annotations

import io
import json
import os
import stat
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import stoker
from helpers import Array
from jpegs import KINDS, encode, picture
from stoker import _core, errors
from stoker._cli import optimise as verb
from stoker._cli.main import main
from stoker.index import write as write_index

EXIF = b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0"


def jpeg(seed: int = 0, kind: str = "progressive") -> bytes:
    return encode(picture(60, 80, seed), kind)


def pixels(data: bytes) -> Array:
    return np.asarray(Image.open(io.BytesIO(data)))


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def is_progressive(data: bytes) -> bool:
    return "progressive" in Image.open(io.BytesIO(data)).info


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Files of every kind, in two folders."""
    root = tmp_path / "tree"
    (root / "a" / "b").mkdir(parents=True)
    (root / "top.jpg").write_bytes(jpeg(1))
    (root / "a" / "deep.jpeg").write_bytes(jpeg(2))
    (root / "a" / "b" / "fast.jpg").write_bytes(_core.rewrite_jpeg(jpeg(3))[0] or b"")
    (root / "a" / "b" / "cut.jpg").write_bytes(jpeg(4)[:900])
    (root / "a" / "b" / "words.jpg").write_text("<html>not found</html>")
    (root / "a" / "labels.csv").write_text("a,b\n")
    Image.fromarray(picture(9, 9)).save(root / "a" / "png.png")
    return root


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_keeps_its_pixels(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "a.jpg"
    before = jpeg(0, kind)
    path.write_bytes(before)
    done = stoker.optimise(path)
    after = path.read_bytes()
    assert (done.before, done.after) == (len(before), len(after))
    assert (done.outcome == "fast already") == (before == after)
    assert done.outcome in ("rewritten", "fast already") and not done.why
    assert np.array_equal(pixels(before), pixels(after))
    assert not is_progressive(after)
    assert stoker.optimise(path).outcome == "fast already"
    assert path.read_bytes() == after


def test_exif_and_profiles_stay(tmp_path: Path) -> None:
    path = tmp_path / "a.jpg"
    options = {"exif": EXIF, "icc_profile": bytes(range(256)) * 300, "comment": b"by hand"}
    Image.fromarray(picture(60, 80)).save(path, progressive=True, dpi=(72, 72), **options)
    before = Image.open(path)
    before.load()
    assert stoker.optimise(path).outcome == "rewritten"
    after = Image.open(path)
    for key in ("exif", "icc_profile", "comment", "dpi", "jfif"):
        assert after.info[key] == before.info[key], key


def test_a_folder_in_place(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = contents(tree)
    assert main(["optimise", "-r", str(tree), "--jobs", "3"]) == 1
    after = contents(tree)
    assert before.keys() == after.keys()  # nothing else was left behind
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {"top.jpg", "a/deep.jpeg"}
    for name in changed:
        assert np.array_equal(pixels(before[name]), pixels(after[name]))
    text = capsys.readouterr().out
    assert "7 files" in text
    assert "2 rewritten, 1 fast already, 1 damaged, 1 not a picture, 2 other files" in text
    assert f"  {tree}/a/b/cut.jpg\n      JPEG data ends prematurely, at byte 900" in text
    assert f"  {tree}/a/b/words.jpg\n      it is text that begins with" in text
    sizes = [sum(len(of[name]) for name in changed) for of in (before, after)]
    assert f"{sizes[0]} bytes became {sizes[1]}: " in text


def test_only_the_folder_itself(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = contents(tree)
    assert main(["optimise", str(tree)]) == 0
    after = contents(tree)
    assert {name for name in before if before[name] != after[name]} == {"top.jpg"}
    (tree / "top.jpg").unlink()
    assert main(["optimise", str(tree)]) == 2
    assert "there are no files in it; --recursive goes into folders" in capsys.readouterr().err


def test_to_another_folder(tree: Path, tmp_path: Path) -> None:
    before = contents(tree)
    output = tmp_path / "new" / "fast"
    assert main(["optimise", "-r", str(tree), "--output", str(output)]) == 1
    assert contents(tree) == before
    after = contents(output)
    assert after.keys() == before.keys()
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {"top.jpg", "a/deep.jpeg"}  # all others are copies
    single = tmp_path / "single"
    assert main(["optimise", str(tree / "a" / "deep.jpeg"), "--output", str(single)]) == 0
    assert contents(single) == {"deep.jpeg": after["a/deep.jpeg"]}


def test_a_dry_run_writes_nothing(
    tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = contents(tree)
    output = tmp_path / "out"
    assert main(["optimise", "-r", "-n", str(tree)]) == 1
    assert main(["optimise", "-r", "--dry-run", str(tree), "--output", str(output)]) == 1
    assert contents(tree) == before and not output.exists()
    text = capsys.readouterr().out
    assert text.count("2 rewritten, ") == 2 and "bytes would become" in text


def test_the_lines_of_json(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["optimise", "-r", str(tree), "--json"])
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    by_name = {os.path.relpath(row["file"], tree): row for row in rows}
    assert {name: row["outcome"] for name, row in by_name.items()} == {
        "top.jpg": "rewritten",
        "a/deep.jpeg": "rewritten",
        "a/labels.csv": "other file",
        "a/png.png": "other file",
        "a/b/cut.jpg": "damaged",
        "a/b/fast.jpg": "fast already",
        "a/b/words.jpg": "not a picture",
    }
    assert by_name["top.jpg"]["after"] == (tree / "top.jpg").stat().st_size
    assert by_name["a/b/cut.jpg"]["before"] == by_name["a/b/cut.jpg"]["after"] == 900


def with_frame(data: bytes, marker: int, bits: int = 8) -> bytes:
    at = data.index(b"\xff\xc2")
    return data[:at] + bytes([0xFF, marker, *data[at + 2 : at + 4], bits]) + data[at + 5 :]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (with_frame(jpeg(), 0xC2, bits=12), "it has 12 bits a sample"),
        (with_frame(jpeg(), 0xC3), "it is lossless JPEG"),
        (with_frame(jpeg(), 0xC6), "it is hierarchical JPEG"),
        (b"\xff\xd8\xff\xe2\0\6MPF\0" + jpeg()[2:], "a list of further pictures (MPF)"),
        (b"\xff\xd8abc" + jpeg()[2:], ""),  # this is no JPEG file for anybody
    ],
)
def test_what_is_kept(
    data: bytes, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.jpg"
    path.write_bytes(data)
    assert main(["optimise", str(path)]) == int(not why)
    assert path.read_bytes() == data
    text = capsys.readouterr().out
    assert (f"kept: 1\n  {path}\n      {why}" if why else "not a picture: 1\n") in text


def test_permissions_and_times(tmp_path: Path) -> None:
    path = tmp_path / "a.jpg"
    for keeps in (False, True):
        path.write_bytes(jpeg())
        path.chmod(0o640)
        os.utime(path, ns=(10**18, 10**18 + 1))
        inner = tmp_path / f"{keeps}"
        words = ["--keep-times"] if keeps else []
        assert main(["optimise", str(path), "--output", str(inner), *words]) == 0
        assert main(["optimise", str(path), *words]) == 0
        for file in (path, inner / "a.jpg"):
            told = file.stat()
            assert stat.S_IMODE(told.st_mode) == 0o640
            assert (told.st_mtime_ns == 10**18 + 1) == keeps


def test_links_stay_and_each_file_is_rewritten_once(tmp_path: Path) -> None:
    real = tmp_path / "elsewhere" / "real.jpg"
    real.parent.mkdir()
    real.write_bytes(jpeg())
    folder = tmp_path / "folder"
    folder.mkdir()
    for name in ("one.jpg", "two.jpg"):
        (folder / name).symlink_to(real)
    assert len(verb.targets_of([str(folder)], None, False)) == 1
    assert main(["optimise", str(folder)]) == 0
    assert (folder / "one.jpg").is_symlink() and (folder / "two.jpg").is_symlink()
    assert not is_progressive(real.read_bytes())
    assert main(["optimise", str(folder), "--output", str(tmp_path / "out")]) == 0
    assert sorted(contents(tmp_path / "out")) == ["one.jpg", "two.jpg"]


def test_a_failure_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.jpg"
    path.write_bytes(jpeg())
    for name in ("fsync", "replace"):
        with monkeypatch.context() as patch:

            def fail(*_: object) -> None:
                raise OSError(28, "No space left on device")

            patch.setattr(os, name, fail)
            assert main(["optimise", str(path)]) == 1
        assert contents(tmp_path) == {"a.jpg": jpeg()}
        assert "failed: 1" in capsys.readouterr().out
    index, records = tmp_path / "a.idx", tmp_path / "a.tfrecord"
    records.write_bytes(b"")
    index.write_text("old")
    with monkeypatch.context() as patch, pytest.raises(OSError, match="No space"):
        patch.setattr(os, "fsync", fail)
        write_index("tfrecord", records, index)
    assert sorted(contents(tmp_path)) == ["a.idx", "a.jpg", "a.tfrecord"]
    assert index.read_text() == "old"


def test_a_file_that_changes_meanwhile_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.jpg"
    path.write_bytes(jpeg())

    def slow(data: bytes) -> tuple[bytes | None, str]:
        path.write_bytes(b"another picture")
        return real(data)

    real = _core.rewrite_jpeg
    monkeypatch.setattr(_core, "rewrite_jpeg", slow)
    assert main(["optimise", str(path)]) == 1
    assert contents(tmp_path) == {"a.jpg": b"another picture"}
    assert "it changed while it was read" in capsys.readouterr().out


def test_a_wrong_rewriting_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.jpg"
    path.write_bytes(jpeg())

    def wrong(_: bytes) -> None:
        raise errors.Error("a JPEG file was rewritten wrongly: its pixels would change")

    monkeypatch.setattr(_core, "rewrite_jpeg", wrong)
    assert main(["optimise", str(path)]) == 1
    assert contents(tmp_path) == {"a.jpg": jpeg()}
    assert f"failed: 1\n  {path}\n      a JPEG file was" in capsys.readouterr().out


def test_the_function_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.jpg"
    path.write_bytes(jpeg()[:700])
    with pytest.raises(errors.SampleError, match=r"/a\.jpg: JPEG data ends .*, at byte 700$"):
        stoker.optimise(path)
    path.write_text("words")
    with pytest.raises(errors.SampleError, match=r"/a\.jpg: expected a JPEG file, found text"):
        stoker.optimise(path)
    with pytest.raises(FileNotFoundError, match="gone"):
        stoker.optimise(tmp_path / "gone.jpg")
    with pytest.raises(OSError, match="not a regular file"):
        stoker.optimise(tmp_path)


def test_a_write_protected_file_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.jpg"
    path.write_bytes(jpeg())
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write to every file
    with pytest.raises(PermissionError, match="write-protected"):
        stoker.optimise(path)
    assert contents(tmp_path) == {"a.jpg": jpeg()}
    assert stoker.optimise(path, tmp_path / "b.jpg").outcome == "rewritten"


def test_outputs_that_would_meet(
    tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    twin = tmp_path / "twin"
    twin.mkdir()
    (twin / "top.jpg").write_bytes(jpeg(9))
    before = contents(tree)
    out = str(tmp_path / "out")
    assert main(["optimise", str(tree), str(twin), "--output", out]) == 2
    error = capsys.readouterr().err
    assert f"{tree}/top.jpg and {twin}/top.jpg would both be {out}/top.jpg" in error
    assert not os.path.exists(out)
    for inner in (tree, tree / "a" / "fast"):
        assert main(["optimise", "-r", str(tree), "--output", str(inner)]) == 2
        assert "lies in" in capsys.readouterr().err
    assert contents(tree) == before
    assert main(["optimise", str(tree), str(tree / "top.jpg"), "--output", out]) == 0


def test_what_cannot_be_read_is_told(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(tree / "pipe.jpg")
    (tree / "gone.jpg").symlink_to("nowhere")
    assert main(["optimise", str(tree)]) == 1
    text = capsys.readouterr().out
    assert f"{tree}/gone.jpg\n      No such file or directory" in text
    assert f"{tree}/pipe.jpg\n      it is not a regular file" in text
    assert "1 rewritten, 2 failed" in text
