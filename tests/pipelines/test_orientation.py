# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures are turned as Pillow turns them, whatever EXIF and XMP say and how damaged they are."""

from __future__ import annotations

import contextlib
import io
import struct
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageOps

import jpegs
from helpers import Array, make, samples_of
from stoker import fn

ORIENTATION = 0x0112
# The types of TIFF: number -> (format of the struct module, bytes).
INTEGERS = {1: "B", 3: "H", 4: "L", 6: "b", 8: "h", 9: "l", 13: "L", 16: "Q", 17: "q", 18: "Q"}
FLOATS = {11: "f", 12: "d"}
RATIONALS = {5: "LL", 10: "ll"}
TEXTS = (2, 7, 129)
MAGICS = (b"MM\0*", b"II*\0", b"MM*\0", b"II\0*", b"MM\0+", b"II+\0", b"MM\0\0", b"XX*\0")


def entry(order: str, kind: int, data: bytes, *, tag: int = ORIENTATION, count: int = 1) -> bytes:
    """An entry whose data, of up to 4 bytes, stands in it."""
    return struct.pack(order + "HHL", tag, kind, count) + data.ljust(4, b"\0")


def far(order: str, kind: int, at: int, *, tag: int = ORIENTATION, count: int = 1) -> bytes:
    """An entry whose data stands elsewhere."""
    return entry(order, kind, struct.pack(order + "L", at), tag=tag, count=count)


def tiff(
    order: str, *entries: bytes, magic: bytes = b"", data: bytes = b"", count: int | None = None
) -> bytes:
    """A TIFF structure of one directory; `data` stands at byte 128."""
    magic = magic or (b"II*\0" if order == "<" else b"MM\0*")
    number = len(entries) if count is None else count
    body = magic + struct.pack(order + "LH", 8, number) + b"".join(entries) + bytes(4)
    return body.ljust(128, b"\0") + data if data else body


def exif(*tiffs: bytes) -> bytes:
    """Each as an APP1 segment of EXIF."""
    return b"".join(segment(b"Exif\0\0" + one) for one in tiffs)


def xmp(text: str) -> bytes:
    return segment(b"http://ns.adobe.com/xap/1.0/\0" + text.encode())


def segment(body: bytes) -> bytes:
    return b"\xff\xe1" + struct.pack(">H", len(body) + 2) + body


def packed(order: str, kind: int, value: int) -> bytes:
    if kind in RATIONALS:
        return struct.pack(order + RATIONALS[kind], 2 * value, 2)
    if kind in TEXTS:
        return str(value).encode()
    return struct.pack(order + (INTEGERS | FLOATS)[kind], value)


def of_every_type() -> Iterator[tuple[str, bytes]]:
    for order in "<>":
        for kind in [*INTEGERS, *FLOATS, *RATIONALS, *TEXTS]:
            for value in (0, 1, 3, 6, 8, 9):
                data = packed(order, kind, value)
                one = entry(order, kind, data) if len(data) <= 4 else far(order, kind, 128)
                yield f"type {kind}, {value}, {order}", exif(tiff(order, one, data=data))
            data = packed(order, kind, 6) + packed(order, kind, 3)
            several = far(order, kind, 128, count=2)
            if len(data) <= 4:
                several = entry(order, kind, data, count=2)
            yield f"type {kind}, two values, {order}", exif(tiff(order, several, data=data))
        for kind, data in (
            (6, b"\xfa"),
            (8, struct.pack(order + "h", -6)),
            (9, struct.pack(order + "l", -6)),
            (11, struct.pack(order + "f", 6.5)),
            (11, struct.pack(order + "f", float("nan"))),
            (0, b"\6"),
            (65535, b"\6"),
        ):
            yield f"type {kind}, {data!r}", exif(tiff(order, entry(order, kind, data)))
        for a, b in ((6, 0), (0, 0), (13, 2), (-6, -1), (-6, 1), (18, 3)):
            data = struct.pack(order + "ll", a, b)
            yield f"{a}/{b}, {order}", exif(tiff(order, far(order, 10, 128), data=data))


def of_odd_structure() -> Iterator[tuple[str, bytes]]:
    six = xmp('<x tiff:Orientation="6"/>')
    for order in "<>":
        three, short = struct.pack(order + "H", 3), 3
        turned = entry(order, short, three)
        whole = tiff(order, turned, entry(order, short, three, tag=0x0128))
        for magic in MAGICS:
            yield f"magic {magic!r}, {order}", exif(tiff(order, turned, magic=magic))
        for cut in range(len(whole) + 1):
            yield f"cut at {cut}, {order}", exif(whole[:cut]) + six
        for at in (0, 7, 8, 9, 40, 2**31, 2**32 - 1):
            where = struct.pack(order + "L", at)
            yield f"directory at {at}, {order}", exif(whole[:4] + where + whole[8:]) + six
        for count in (0, 1, 3, 65535):
            yield f"{count} entries, {order}", exif(tiff(order, turned, count=count))
        loop = tiff(order, turned)[:-4] + struct.pack(order + "L", 8)
        yield f"directories in a circle, {order}", exif(loop)
        for count in (0, 2, 3, 64, 65, 2**31, 2**32 - 1):
            for kind in (1, 3, 12):
                huge = far(order, kind, 64, count=count)
                yield f"{count} of type {kind}, {order}", exif(tiff(order, huge, data=three)) + six
                other = far(order, kind, 64, tag=0xC000, count=count)
                before = exif(tiff(order, other, turned, data=three)) + six
                yield f"{count} of type {kind} before it, {order}", before
        for at in (0, 127, 130, 131, 2**31, 2**32 - 1):
            other = far(order, 2, at, tag=0xC000, count=5)
            outside = exif(tiff(order, other, turned, data=three)) + six
            yield f"data at {at} before it, {order}", outside
        again = entry(order, short, struct.pack(order + "H", 8))
        yield f"twice, {order}", exif(tiff(order, turned, again))
        unknown = entry(order, 99, three)
        yield f"twice, of no type first, {order}", exif(tiff(order, unknown, again))
        yield (
            f"twice, of no values first, {order}",
            exif(tiff(order, entry(order, short, three, count=0), again)),
        )
        for cut in (0, 3, 8, 10, 15, len(whole)):
            yield f"two segments, cut at {cut}, {order}", exif(whole[:cut], whole[cut:])
        yield f"two structures, {order}", exif(tiff(order, turned), tiff(order, again))
        yield f"prefixes, {order}", exif(b"Exif\0\0" + tiff(order, turned))
        yield f"three prefixes, {order}", exif(b"Exif\0\0Exif\0\0" + tiff(order, turned))


def of_xmp() -> Iterator[tuple[str, bytes]]:
    texts = [f'<x tiff:Orientation="{digit}"/>' for digit in range(10)]
    texts += [
        "<tiff:Orientation>6</tiff:Orientation>",
        "<tiff:Orientation> 6</tiff:Orientation>",
        "tiff:Orientation='6'",
        'tiff:Orientation="x" tiff:Orientation="6"',
        'tiff:Orientation="" tiff:Orientation=">6',
        'tiff:Orientation="60"',
        "tiff:Orientation",
        'tiff:Orientation="',
        "",
    ]
    for text in texts:
        yield f"alone: {text}", xmp(text)
    three = entry("<", 3, b"\3\0")
    six = xmp(texts[6])
    yield "two", xmp(texts[3]) + xmp(texts[6])
    yield "two, the second of nothing", six + xmp("<x/>")
    yield "behind EXIF", exif(tiff("<", three)) + six
    yield "before EXIF", six + exif(tiff("<", three))
    yield "beside EXIF of no tag", exif(tiff("<", entry("<", 3, b"\3\0", tag=0x0128))) + six
    yield "beside EXIF of a text", exif(tiff("<", entry("<", 2, b"8\0", count=2))) + six
    yield "beside EXIF of a wrong number", exif(tiff("<", entry("<", 3, b"\x99\0"))) + six
    yield "beside empty EXIF", exif(b"") + six
    yield "beside no EXIF", exif(b"nothing of TIFF") + six


def of_noise() -> Iterator[tuple[str, bytes]]:
    rng = np.random.default_rng(5)
    for i in range(600):
        order = "<>"[i % 2]
        entries = [entry(order, 3, struct.pack(order + "H", 7), tag=t) for t in (0x0100, 0x0112)]
        data = bytearray(tiff(order, *entries, data=b"\6\0\0\6"))
        for at in rng.integers(4 if i % 3 else 0, 40, 1 + i % 4):
            data[at] = rng.integers(0, 256) if i % 5 else rng.integers(0, 20)
        yield f"noise {i}", exif(bytes(data[: rng.integers(20, len(data) + 1)]))


def turned_by_pillow(data: bytes) -> Array:
    """Where Pillow raises, which it does for what is no TIFF, the picture stays as it is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of damage
        image = Image.open(io.BytesIO(data))
        with contextlib.suppress(SyntaxError, struct.error):
            image.getexif()
        for kind in ("exif", "xmp"):  # exif_transpose() would write them anew, and fail at odd ones
            image.info.pop(kind, None)
        return np.array(ImageOps.exif_transpose(image).convert("RGB"))


@pytest.mark.parametrize(
    ("cases", "turned"),
    [(of_every_type, 60), (of_odd_structure, 60), (of_xmp, 10), (of_noise, 60)],
    ids=["types", "structure", "xmp", "noise"],
)
def test_as_pillow(cases: object, turned: int, tmp_path: Path) -> None:
    plain = jpegs.encode(jpegs.picture(9, 14), "444")
    files, right = [], []
    for i, (name, segments) in enumerate(cases()):  # type: ignore[operator]
        data = plain[:2] + segments + plain[2:]
        files.append(str(tmp_path / f"{i}.jpg"))
        Path(files[-1]).write_bytes(data)
        right.append((name, turned_by_pillow(data)))

    pipe = make(lambda: fn.decoders.image(fn.readers.file(files=files)[0]), batch_size=len(files))
    got = samples_of(pipe.run())
    as_it_is = jpegs.pillow(plain)
    for (sample,), (name, expected) in zip(got, right, strict=True):
        np.testing.assert_array_equal(sample, expected, err_msg=name)
    turns = sum(not np.array_equal(expected, as_it_is) for _, expected in right)
    assert turned <= turns < len(right), "cases that turn the picture, and some that do not"
