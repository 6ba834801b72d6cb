# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""`stoker check` beside Pillow, and beside a pipeline that decodes the same files."""

from __future__ import annotations

import functools
import inspect
import json
import os
import shutil
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageFile

from stoker import errors, fn, pipeline_def, types
from stoker._cli.check import FAULTS, check
from stoker._cli.files import ENDINGS, FORMAT_OF_ENDING, files_of
from stoker._cli.main import main


def picture(
    path: Path, size: tuple[int, int] = (40, 30), mode: str = "RGB", **options: str
) -> Path:
    pixels = np.random.default_rng(1).integers(0, 256, (*size[::-1], 4), np.uint8)
    Image.fromarray(pixels, "RGBA").convert(mode).save(path, **options)
    return path


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """A file of every kind, named as its verdict with dashes."""
    folder = tmp_path / "mixed"
    folder.mkdir()
    picture(folder / "good.png")
    picture(folder / "good-jpeg.jpg")
    cut = picture(folder / "damaged.jpg", (200, 200)).read_bytes()
    (folder / "damaged.jpg").write_bytes(cut[: len(cut) // 2])
    (folder / "not-a-picture.jpg").write_text("<html>not found</html>")
    (folder / "not-a-picture-empty.png").touch()
    (folder / "other-file.csv").write_text("a,b\n")
    picture(folder / "wrong-extension.png", format="JPEG")
    picture(folder / "odd-tiny.png", (3, 3))
    picture(folder / "odd-long.png", (400, 20))
    picture(folder / "odd-alpha.png", mode="RGBA")
    (folder / ".hidden").mkdir()
    picture(folder / ".hidden" / ".good-too.png")
    return folder


def verdicts_of(folder: Path) -> dict[str, str]:
    return {Path(v.file).name: v.verdict for v in check(files_of([str(folder)]))}


def test_every_kind_is_told_apart(mixed: Path) -> None:
    found = verdicts_of(mixed)
    assert len(found) == 11
    for name, verdict in found.items():
        assert name.lstrip(".").replace("-", " ").startswith(verdict), name


def test_reasons_are_in_words(mixed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(mixed)]) == 1
    text = capsys.readouterr().out
    assert 'it is text that begins with "<html>not found</html>"' in text
    assert "it is an empty file" in text
    assert "it is a JPEG image; such files end in .jpg, .jpeg" in text
    assert "only 3 x 3 pixels" in text
    assert "one side is more than 10 times the other" in text
    assert "4 channels: transparency or CMYK" in text
    assert "3 good, 1 wrong extension, 3 odd, 1 damaged, 2 not a picture, 1 other files" in text


def test_the_lines_of_json(mixed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = tmp_path / "report.jsonl"
    assert main(["check", str(mixed), "--json", "--report", str(report)]) == 1
    text = capsys.readouterr().out
    assert text == report.read_text()
    lines = [json.loads(line) for line in text.splitlines()]
    assert len(lines) == 11
    good = next(line for line in lines if line["file"].endswith("/good.png"))
    assert good == {
        "file": str(mixed / "good.png"),
        "verdict": "good",
        "format": "PNG",
        "height": 30,
        "width": 40,
        "channels": 3,
    }


def test_the_exit_status(tmp_path: Path) -> None:
    picture(tmp_path / "named.png", format="JPEG")
    assert main(["check", str(tmp_path)]) == 0
    assert main(["check", str(tmp_path), "--strict"]) == 1


def test_lists_with_and_without_labels(mixed: Path, tmp_path: Path) -> None:
    picture(mixed / "a name 7.png")
    listed = tmp_path / "list.txt"
    listed.write_text("mixed/good.png 3\n\nmixed/good-jpeg.jpg\nmixed/a name 7.png\n")
    assert [os.path.basename(f) for f in files_of([str(listed)])] == [
        "good.png",
        "good-jpeg.jpg",
        "a name 7.png",
    ]
    assert {v.verdict for v in check(files_of([str(listed)]))} == {"good"}


def test_a_listed_file_that_is_gone(tmp_path: Path) -> None:
    listed = tmp_path / "list.txt"
    listed.write_text("\ngone.jpg 1\nhere.png\n")
    picture(tmp_path / "here.png")
    gone, here = check(files_of([str(listed)]))
    assert (gone.verdict, os.path.basename(gone.file)) == ("unreadable", "gone.jpg")
    assert gone.why.endswith(f"No such file or directory; listed in {listed}, line 2")
    assert here.verdict == "good"


@pytest.mark.parametrize("text", ["Read me first.\n", "\n", "here.png,0\n", "here.png 0 1\n"])
def test_a_text_that_is_no_list(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture(tmp_path / "here.png")
    listed = tmp_path / "list.csv"
    listed.write_text(text)
    assert main(["check", str(listed)]) == 2
    error = capsys.readouterr().err
    assert "read as a list, but no line of it names a file that is there" in error
    assert str(listed) in error


def test_all_that_training_reads_is_checked(tmp_path: Path) -> None:
    """Classes behind links are read, and hidden files may be, so they are checked."""
    cut = picture(tmp_path / "cut.jpg", (200, 200)).read_bytes()[:2000]
    (tmp_path / "cut.jpg").unlink()
    root = tmp_path / "root"
    for folder in (root / "plain", root / ".hidden", tmp_path / "elsewhere"):
        folder.mkdir(parents=True)
        (folder / "cut.jpg").write_bytes(cut)
    (root / "plain" / "._cut.jpg").write_bytes(b"\0\5\x16\7\0\2\0\0Mac OS X" + bytes(200))
    (root / "linked").symlink_to(tmp_path / "elsewhere")
    (root / "linked-too").symlink_to(tmp_path / "elsewhere")
    found = {os.path.relpath(v.file, root): v.verdict for v in check(files_of([str(root)]))}

    def failed(**patterns: list[str]) -> set[str]:
        reader = decoded_folder(str(root), **patterns)
        with pytest.raises(errors.SampleError):
            reader.run()
        return {os.path.relpath(bad["source"], root) for bad in reader.quarantine()}

    assert set(found) == failed(dir_filters=["*"], file_filters=["*.jpg"])
    assert {file for file in found if "." not in (file[0], Path(file).name[0])} == failed()
    assert found.pop("plain/._cut.jpg") == "not a picture"
    assert set(found.values()) == {"damaged"} and len(found) == 4


def test_links_that_lead_back(tmp_path: Path) -> None:
    inner = tmp_path / "root" / "inner"
    inner.mkdir(parents=True)
    picture(inner / "a.png")
    (inner / "up").symlink_to(tmp_path / "root")
    (inner / "itself").symlink_to("itself")
    assert verdicts_of(tmp_path / "root") == {"a.png": "good", "itself": "unreadable"}


def test_a_pipe_is_not_waited_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("pipe.jpg", "pipe"):
        os.mkfifo(tmp_path / name)
    assert verdicts_of(tmp_path) == {"pipe.jpg": "unreadable", "pipe": "unreadable"}
    assert main(["check", str(tmp_path / "pipe")]) == 2
    assert "it is not a regular file" in capsys.readouterr().err


def png_that_claims(width: int, height: int) -> bytes:
    header = b"IHDR" + struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", zlib.crc32(chunk))
        for chunk in (header, b"IDAT" + zlib.compress(bytes(100)), b"IEND")
    )


def test_what_is_too_large_is_not_called_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from stoker._cli import check as module

    (tmp_path / "pixels.png").write_bytes(png_that_claims(60000, 60000))
    flat = Image.new("CMYK", (3000, 3000))  # libjpeg needs memory for all coefficients
    flat.save(tmp_path / "memory.jpg", progressive=True)
    small = functools.partial(module._decoded, memory_limit=32 << 20)
    monkeypatch.setattr(module, "_decoded", small)
    assert verdicts_of(tmp_path) == {"pixels.png": "too large", "memory.jpg": "too large"}


def test_what_a_reader_leaves_out_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a.gif", "b.gif", "c.JPG", "d.png"):
        picture(tmp_path / name)
    picture(tmp_path / "e", format="PNG")
    assert main(["check", str(tmp_path)]) == 0
    assert "only with file_filters=: 2 .gif, 1 without an ending\n" in capsys.readouterr().out
    picture(tmp_path / "only.png")
    assert main(["check", str(tmp_path / "only.png")]) == 0
    assert "file_filters" not in capsys.readouterr().out


def test_nested_folders_that_a_reader_leaves_out_are_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("cat/in/deep/a.png", "cat/in/b.png", "dog/in/c.png"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        picture(tmp_path / name)
    assert main(["check", str(tmp_path)]) == 0
    assert "recursive" not in capsys.readouterr().out
    picture(tmp_path / "dog" / "d.png")
    for place in (f"{tmp_path}", f"{tmp_path}/"):
        assert main(["check", place]) == 0
        said = f"readers.file(file_root={place}) leaves out 3 files in 3 folders within those of"
        told = capsys.readouterr().out
        assert said in told
        assert "recursive=True takes them too\n" in told
    assert main(["check", str(tmp_path / "dog"), str(tmp_path / "cat" / "in" / "b.png")]) == 0
    assert "recursive" not in capsys.readouterr().out


def test_a_name_that_is_not_utf8(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cut = picture(tmp_path / "x.jpg", (200, 200)).read_bytes()
    (tmp_path / "x.jpg").unlink()
    with open(os.fsencode(tmp_path) + b"/caf\xe9.jpg", "wb") as file:
        file.write(cut[:1000])
    assert main(["check", str(tmp_path)]) == 1
    assert "caf\\xe9.jpg" in capsys.readouterr().out
    assert main(["check", str(tmp_path), "--json"]) == 1
    line = json.loads(capsys.readouterr().out)
    assert os.fsencode(line["file"]).endswith(b"caf\xe9.jpg")


def test_no_files_at_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(tmp_path)]) == 2
    assert "there are no files in it" in capsys.readouterr().err


def test_all_of_a_batch_is_bad(tmp_path: Path) -> None:
    """More files than a batch holds, so that whole batches have no sample left."""
    for i in range(100):
        (tmp_path / f"{i:03}.jpg").write_bytes(b"\xff\xd8\xff\xe0 and no more")
    assert set(verdicts_of(tmp_path).values()) == {"damaged"}


def test_a_decoder_that_is_missing(mixed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from stoker import Codec
    from stoker._cli import check as module

    heif = mixed / "no-decoder.heic"
    heif.write_bytes(b"\0\0\0\x18ftypheic" + bytes(100))
    lacking = [Codec("HEIF", "picture", False, "libheif1")]
    monkeypatch.setattr(module, "codecs", lambda: lacking)
    assert verdicts_of(mixed)["no-decoder.heic"] == "no decoder"


@pipeline_def(batch_size=5, on_error="skip")
def decoded_folder(root: str, **patterns: list[str]):  # type: ignore[no-untyped-def]
    return fn.decoders.image(fn.readers.file(file_root=root, **patterns)[0])


@pipeline_def(batch_size=1)
def decoded_whole(path: str):  # type: ignore[no-untyped-def]
    return fn.decoders.image(fn.readers.file(files=[path])[0], output_type=types.ANY_DATA)


def is_decoded(path: str) -> bool:
    try:
        decoded_whole(path).run()
    except errors.SampleError:
        return False
    return True


def test_verdicts_are_those_of_a_pipeline_that_keeps_all_pixels(
    pictures: Path, tmp_path: Path
) -> None:
    rng = np.random.default_rng(3)
    for i, source in enumerate(sorted(pictures.glob("*/*.jpg"))[:12]):
        data = bytearray(source.read_bytes())
        if i % 3 == 1:
            del data[int(rng.integers(len(data))) :]
        elif i % 3 == 2:
            for at in rng.integers(len(data), size=20):
                data[at] = rng.integers(256)
        (tmp_path / f"{i}.jpg").write_bytes(data)
    found = check(files_of([str(tmp_path)]))
    assert {v.verdict in FAULTS for v in found} == {True, False}
    for v in found:
        assert (v.verdict not in FAULTS) == is_decoded(v.file), v


def test_real_files_beside_pillow(test_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What Pillow reads without complaint is good, and the sizes are the same."""
    monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", False)
    folders = [str(test_data / "images" / name) for name in ("fuzzing", "misnamed", "png", "jpeg")]
    found = check(files_of([f for f in folders if os.path.isdir(f)]))
    assert len(found) >= 14
    for v in found:
        if v.verdict in (*FAULTS, "other file"):
            continue
        with Image.open(v.file) as image:
            size = sorted(image.size)  # EXIF may turn it
        assert sorted([v.width or 0, v.height or 0]) == size, v


def test_every_format_has_its_endings() -> None:
    from stoker import codecs

    assert {c.format for c in codecs() if c.kind == "picture"} == set(ENDINGS)
    read = inspect.signature(fn.readers.file).parameters["file_filters"].default
    assert {e[1:] for e in read} <= {*FORMAT_OF_ENDING, ".flac", ".ogg", ".wav"}


def test_a_copy_of_the_whole_set_is_good(pictures: Path, tmp_path: Path) -> None:
    shutil.copytree(pictures, tmp_path / "copy")
    assert set(verdicts_of(tmp_path / "copy").values()) == {"good"}
