# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""All formats, many files of each: pixels, windows, damage, bombs, and the main job."""

from __future__ import annotations

import io
import struct
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from corpus import BY_PILLOW, MAKERS, Made
from PIL import Image

import jpegs
import pngs
import stoker
import tiffs
from helpers import SIMPLE, Array, assert_same, make, same, samples_of
from pictures import LEFT_OUT, decode, error_of, formats, needs, pillow, saved, source
from stoker import fn, types
from stoker.errors import SampleError

DTYPES = {"uint8": types.UINT8, "uint16": types.UINT16, "float32": types.FLOAT}
KNOWN = {c.format for c in stoker.codecs() if c.kind == "picture"}
EVERY = formats(*sorted(KNOWN & set(MAKERS)))
MEMORY = 256 << 20


def test_every_format_has_files() -> None:
    """A format that has none needs its line in corpus.py."""
    assert set(MAKERS) >= KNOWN


@cache
def files_of(format_: str) -> list[Made]:
    return MAKERS[format_]()


def row_of_table(format_: str, made: list[Made]) -> str:
    def counted(names: list[str]) -> str:
        return ", ".join(f"{name} ({count})" for name, count in sorted(Counter(names).items()))

    writers, kinds = counted([m.writer for m in made]), counted([m.kind for m in made])
    return f"| {format_} | {len(made)} | {writers} | {kinds} |"


@pytest.mark.parametrize("format_", EVERY)
def test_pixels_of_all_kinds(format_: str, repository: Path) -> None:
    made = files_of(format_)
    assert len(made) >= 30, "a format is tested with at least 30 files"
    assert len({m.writer for m in made}) >= 2, "two programs have to write them"
    words = (repository / "docs/guide/formats.md").read_text("utf-8")
    assert row_of_table(format_, made) in words, row_of_table(format_, made)
    by_judge = [m for m in made if m.want is None]
    got = decode([m.file for m in by_judge])
    for m, pixels in zip(by_judge, got, strict=True):
        assert np.array_equal(pixels, pillow(m.file)), (m.kind, m.writer)
    for m in made:
        if m.want is not None:
            dtype = DTYPES[m.want.dtype.name]
            (pixels,) = decode([m.file], output_type=types.ANY_DATA, dtype=dtype)
            want = m.want if m.want.ndim == 3 else m.want[..., None]
            assert np.array_equal(pixels, want), (m.kind, m.writer)


def turned(format_: str, orientation: int) -> list[bytes]:
    """A file that EXIF or a tag turns; none where Pillow does not write the format."""
    photo = jpegs.picture(40, 55, orientation)
    exif = Image.Exif()
    exif[0x0112] = orientation
    if format_ == "TIFF":
        return [tiffs.encode(photo, tile=16, orientation=orientation)]
    name = BY_PILLOW.get(format_)
    return [saved(photo, name, exif=exif)] if name else []


@pytest.mark.parametrize("format_", EVERY)
def test_300_windows_are_parts_of_the_whole(format_: str) -> None:
    rng = np.random.default_rng(4)
    files = [m.file for m in files_of(format_)]
    for orientation in range(1, 9):
        files += turned(format_, orientation)
    whole = decode(files)
    chosen = rng.integers(len(files), size=300)
    places = rng.random((300, 2), np.float32)
    sizes = [[int(rng.integers(1, n + 1)) for n in whole[i].shape[:2]] for i in chosen]

    def define() -> Any:
        encoded = fn.external_source(source([files[i] for i in chosen]), batch=False)
        height, width, y, x = (
            fn.external_source(lambda info, v=v: np.float32(v[info.idx_in_epoch]), batch=False)
            for v in (*np.transpose(sizes), *places.T)
        )
        return fn.decoders.image_crop(
            encoded, crop_h=height, crop_w=width, crop_pos_y=y, crop_pos_x=x
        )

    got = samples_of(make(define, batch_size=300).run())
    for sample, i, (h, w), (y, x) in zip(got, chosen, sizes, places, strict=True):
        height, width = whole[i].shape[:2]
        top, left = (int(np.float32(n) * p + 0.5) for n, p in ((height - h, y), (width - w, x)))
        assert np.array_equal(sample[0], whole[i][top : top + h, left : left + w]), (i, h, w, y, x)


def small_files(format_: str) -> list[bytes]:
    """The smallest file of each kind."""
    best: dict[str, bytes] = {}
    for m in files_of(format_):
        if m.kind not in best or len(m.file) < len(best[m.kind]):
            best[m.kind] = m.file
    return list(best.values())


def damaged(format_: str) -> list[bytes]:
    """Files cut at 20 places, and 500 files with a wrong bit."""
    rng = np.random.default_rng(12)
    originals = small_files(format_)
    bad = [f[: len(f) * i // 20] for f in originals[:3] for i in range(20)]
    for i in range(500):
        file = bytearray(originals[i % len(originals)])
        # Half of the bits lie in the header.
        end = min(len(file), 64) if i % 2 else len(file)
        file[rng.integers(end)] ^= 1 << rng.integers(8)
        bad.append(bytes(file))
    return bad


def resident_now(field: str) -> int:
    """Bytes of memory: VmRSS, or VmHWM for the most since it was reset."""
    (line,) = (t for t in Path("/proc/self/status").read_text().splitlines() if t.startswith(field))
    return 1024 * int(line.split()[1])


@contextmanager
def within_memory() -> Iterator[None]:
    Path("/proc/self/clear_refs").write_text("5")  # resets VmHWM
    before = resident_now("VmRSS")
    yield
    assert resident_now("VmHWM") - before < MEMORY


def verdicts(files: list[bytes], **options: Any) -> list[Array | str]:
    """A picture or the words of an error for each; anything else is raised."""

    def define() -> Any:
        return fn.decoders.image(fn.external_source(source(files), batch=False))

    pipe = make(define, memory_limit=MEMORY, **options)
    said: list[Array | str] = []
    with within_memory():
        for _ in files:
            try:
                said.append(samples_of(pipe.run())[0][0])
            except SampleError as e:
                said.append(e.samples[0]["message"])
    return said


@pytest.mark.parametrize("format_", EVERY)
def test_damage_is_a_picture_or_a_named_error(format_: str) -> None:
    files = damaged(format_)
    said = verdicts(files)
    words = [s for s in said if isinstance(s, str)]
    assert 60 <= len(words) < len(files)
    for message in words:
        assert any(w in message for w in (format_, "not an image", "memory_limit")), message
    for i, (a, b) in enumerate(zip(said, verdicts(files, **SIMPLE), strict=True)):
        assert a == b if isinstance(a, str) else same(a, np.asarray(b)), (i, a, b)


def picture_or_error(file: bytes, **arguments: Any) -> str:
    """The error's words, or "" for a picture. Nothing else may come of it."""
    try:
        decode([file], **arguments)
    except SampleError as e:
        return str(e)
    return ""


@pytest.mark.parametrize("folder", ["fuzzing", "misnamed"])
def test_hostile_and_misnamed_files(test_data: Path, folder: str) -> None:
    paths = sorted((test_data / "images" / folder).iterdir())
    assert paths
    for path in paths:
        file = path.read_bytes()
        words = picture_or_error(file)
        assert not words or folder == "fuzzing", (path.name, words)
        if not words:
            assert np.array_equal(decode([file])[0], pillow(file)), path.name


def claims(width: int, height: int) -> dict[str, bytes]:
    """Headers that lie: small files that claim a huge picture."""
    photo = jpegs.picture(8, 8, 1)
    png = pngs.chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    data = zlib.compress(b"\0" * (40 << 20), 9)
    end = pngs.chunk(b"IDAT", data) + pngs.chunk(b"IEND")
    files = {"PNG": b"\x89PNG\r\n\x1a\n" + png + end}
    bmp = bytearray(saved(photo, "BMP"))
    bmp[18:26] = struct.pack("<ii", width, height)
    files["BMP"] = bytes(bmp)
    files["PNM"] = f"P6 {width} {height} 255\n".encode() + bytes(100)
    tiff = bytearray(tiffs.encode(photo))
    at = struct.unpack("<I", tiff[4:8])[0]
    tiff[at + 10 : at + 14] = struct.pack("<I", width)
    tiff[at + 22 : at + 26] = struct.pack("<I", height)
    files["TIFF"] = bytes(tiff)
    sizes = struct.pack("<HH", min(width, 65535), min(height, 65535))
    gif = bytearray(saved(photo, "GIF"))
    frame = gif.index(b",\0\0\0\0")
    gif[6:10] = gif[frame + 5 : frame + 9] = sizes
    files["GIF"] = bytes(gif)
    jpeg = bytearray(jpegs.encode(photo, "444"))
    frame = jpeg.index(b"\xff\xc0")
    jpeg[frame + 5 : frame + 9] = struct.pack(">HH", min(height, 65535), min(width, 65535))
    files["JPEG"] = bytes(jpeg)
    return files


def test_bombs_are_bad_samples() -> None:
    for width, height in ((30000, 30000), (1 << 20, 1 << 20), (16000, 16000)):
        files = {f: v for f, v in claims(width, height).items() if f not in LEFT_OUT}
        for format_, words in zip(files, verdicts(list(files.values())), strict=True):
            assert isinstance(words, str), format_
            assert format_ in words or "memory_limit" in words, words


@needs("PNG")
def test_a_nested_text_is_no_bomb() -> None:
    photo = jpegs.picture(8, 8, 1)
    plain = saved(photo, "PNG")
    for depth in (1, 2, 3):
        text = b"\0" * (16 << 20)
        for _ in range(depth):
            text = zlib.compress(text, 9)
        for name in (b"Raw profile type exif", b"Comment"):
            chunk = pngs.chunk(b"zTXt", name + b"\0\0" + text)
            assert np.array_equal(decode([plain[:33] + chunk + plain[33:]])[0], photo)


@needs("TIFF")
def test_a_loop_of_directories_is_a_bad_sample() -> None:
    file = io.BytesIO()
    pages = [Image.fromarray(jpegs.picture(9 + i, 8, i)) for i in range(3)]
    pages[0].save(file, "TIFF", save_all=True, append_images=pages[1:])
    loop = bytearray(file.getvalue())
    offsets = [struct.unpack("<I", loop[4:8])[0]]
    while offsets[-1]:
        at = offsets[-1]
        end = at + 2 + 12 * struct.unpack("<H", loop[at : at + 2])[0]
        offsets.append(struct.unpack("<I", loop[end : end + 4])[0])
    for target in offsets[:-1]:
        loop[end : end + 4] = struct.pack("<I", target)
        for page in range(3):
            (got,) = decode([bytes(loop)], page=page)
            assert np.array_equal(got, np.asarray(pages[page]))
        for page in (3, 4, 5, 100, 10**9):
            assert "its directories form a loop" in error_of(bytes(loop), page=page), page


def test_the_main_job_with_every_third_file_of_another_format(tmp_path: Path) -> None:
    """What a ResNet-50 trains on, from a folder of JPEG files and others."""
    others = sorted(KNOWN - LEFT_OUT - {"JPEG"})
    paths = []
    for i in range(6 * len(others)):
        photo = jpegs.picture(200 + i, 260 - i, i)
        name = others[i // 3 % len(others)] if i % 3 == 2 else "JPEG"
        path = tmp_path / f"{i:03}.img"
        made = saved(photo, BY_PILLOW[name]) if name in BY_PILLOW else files_of(name)[0].file
        path.write_bytes(made)
        paths.append(str(path))

    def define() -> Any:
        encoded, label = fn.readers.file(files=paths, random_shuffle=True, name="reader")
        image = fn.decoders.image_random_crop(encoded, random_area=[0.1, 1.0])
        image = fn.resize(image, size=[64, 64])
        image = fn.crop_mirror_normalize(
            image,
            mirror=fn.random.coin_flip(),
            mean=[123.7, 116.3, 103.5],
            std=[58.4, 57.1, 57.4],
        )
        return image, label

    fast = make(define, batch_size=8, seed=3)
    simple = make(define, batch_size=8, seed=3, **SIMPLE)
    seen: list[Array] = []
    for step in range(2 * len(paths) // 8):
        got = samples_of(fast.run())
        assert_same(got, samples_of(simple.run()), f"step {step}")
        seen += [s[1] for s in got]
    assert {int(v.item()) for v in seen} == set(range(len(paths)))
