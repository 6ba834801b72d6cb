# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""JPEG 2000: pixels as Pillow and imagecodecs have them, colours, windows, and what is wrong."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

import imagecodecs
import numpy as np
import pytest

import jpegs
from helpers import Array
from pictures import assert_as_pillow, decode, error_of, needs, pillow, saved
from stoker import fn, types

pytestmark = needs("JPEG 2000")

HEIGHT, WIDTH = 61, 83
PHOTO = jpegs.picture(HEIGHT, WIDTH, 4)
ALPHA = np.dstack([PHOTO, PHOTO[..., 1]])
NOISE = np.random.default_rng(3).integers(0, 256, (HEIGHT, WIDTH, 4), np.uint8)


def box(type_: bytes, data: bytes) -> bytes:
    return struct.pack(">I4s", 8 + len(data), type_) + data


def jp2(stream: bytes, channels: int, colours: int, boxes: bytes = b"") -> bytes:
    """A JP2 file around a code stream of our size. `colours` is the number of a colour space."""
    header = box(b"ihdr", struct.pack(">IIHBBBB", HEIGHT, WIDTH, channels, 7, 7, 0, 0))
    header += box(b"colr", struct.pack(">BBBI", 1, 0, 0, colours)) + boxes
    signature = box(b"jP  ", b"\r\n\x87\n") + box(b"ftyp", b"jp2 \0\0\0\0jp2 ")
    return signature + box(b"jp2h", header) + box(b"jp2c", stream)


def stream_of(pixels: Array) -> bytes:
    return saved(pixels, "JPEG2000", no_jp2=True)


def kinds() -> dict[str, bytes]:
    ways: list[dict[str, object]] = [
        {},
        {"irreversible": True, "quality_mode": "rates", "quality_layers": [40, 20, 5]},
        {"tile_size": (32, 24), "offset": (13, 7), "tile_offset": (0, 0)},
        {"tile_size": (32, 24), "irreversible": True, "num_resolutions": 3},
        {"codeblock_size": (16, 16), "precinct_size": (32, 32), "progression": "RPCL"},
        {"no_jp2": True},
        {"signed": True},
    ]
    return {
        f"{mode} {way}": saved(ALPHA, "JPEG2000", mode, **way)
        for mode in ("L", "LA", "RGB", "RGBA")
        for way in ways
    }


def test_jpeg2000_is_as_pillow_decodes_it() -> None:
    files = kinds()
    assert_as_pillow(files)
    got = decode(list(files.values()), output_type=types.ANY_DATA)
    for (name, file), g in zip(files.items(), got, strict=True):
        assert np.array_equal(g, pillow(file, name.split()[0])), name


def test_jpeg2000_of_other_writers() -> None:
    for level in (0, 30):
        for container in ("jp2", "j2k"):
            file = imagecodecs.jpeg2k_encode(NOISE[..., :3], level=level, codecformat=container)
            assert np.array_equal(decode([file])[0], imagecodecs.jpeg2k_decode(file))
            assert level or np.array_equal(decode([file])[0], NOISE[..., :3])


@pytest.mark.parametrize("bits", [1, 4, 8, 9, 12, 15, 16])
def test_jpeg2000_depths_are_scaled(bits: int) -> None:
    most, full = (1 << bits) - 1, 255 if bits <= 8 else 65535
    kind = np.uint8 if bits <= 8 else np.uint16
    stored = np.random.default_rng(bits).integers(0, most + 1, (HEIGHT, WIDTH, 1), kind)
    file = imagecodecs.jpeg2k_encode(stored, level=0, bitspersample=bits)
    want = (stored.astype(np.int64) * full + most // 2) // most
    dtype = types.UINT8 if bits <= 8 else types.UINT16
    (got,) = decode([file], dtype=dtype, output_type=types.GRAY)
    assert np.array_equal(got, want)
    if bits > 8:
        assert np.array_equal(decode([file])[0][..., :1], (want + 128) // 257)


def test_jpeg2000_colours_of_jp2() -> None:
    sycc = jp2(stream_of(NOISE[..., :3]), 3, 18)
    assert np.array_equal(decode([sycc])[0], pillow(sycc))
    cmyk = jp2(stream_of(NOISE), 4, 12)
    assert np.array_equal(decode([cmyk])[0], pillow(cmyk))
    assert np.array_equal(decode([cmyk], output_type=types.ANY_DATA)[0], NOISE)
    swapped = box(b"cdef", struct.pack(">13H", 4, 0, 1, 0, 1, 0, 3, 2, 0, 2, 3, 0, 1))
    (got,) = decode([jp2(stream_of(NOISE), 4, 16, swapped)], output_type=types.ANY_DATA)
    assert np.array_equal(got, NOISE[..., [3, 2, 1, 0]])


def test_jpeg2000_palette() -> None:
    indices = (PHOTO[..., 0] // 16).astype(np.uint8)
    colours = NOISE[0, :16, :3]
    boxes = box(b"pclr", struct.pack(">HB3B", 16, 3, 7, 7, 7) + colours.tobytes())
    boxes += box(b"cmap", b"".join(struct.pack(">HBB", 0, 1, i) for i in range(3)))
    file = jp2(stream_of(indices), 1, 16, boxes)
    assert np.array_equal(decode([file])[0], colours[indices])
    assert_as_pillow({"palette": file})
    beyond = jp2(stream_of(indices + 100), 1, 16, boxes)
    assert (decode([beyond])[0] == colours[15]).all()


@pytest.mark.parametrize("container", ["jp2", "j2k"])
@pytest.mark.parametrize("chroma", [(2, 2), (2, 1)])
def test_jpeg2000_with_less_chroma(chroma: tuple[int, int], container: str, tmp_path: Path) -> None:
    dx, dy = chroma
    raw, file = tmp_path / "picture.raw", tmp_path / f"picture.{container}"
    noise = NOISE[: HEIGHT - 1, : WIDTH - 1]  # the writer wants even sides
    planes = [noise[..., 0], noise[::dy, ::dx, 1], noise[::dy, ::dx, 2]]
    raw.write_bytes(b"".join(p.tobytes() for p in planes))
    kind = f"{WIDTH - 1},{HEIGHT - 1},3,8,u@1x1:{dx}x{dy}:{dx}x{dy}"
    command = ["opj_compress", "-i", raw, "-o", file, "-F", kind]
    subprocess.run(command, check=True, capture_output=True)
    says = struct.pack(">BBBI", 1, 0, 0, 16)
    encoded = file.read_bytes().replace(says, says[:-1] + b"\x12")
    assert_as_pillow({"less chroma": encoded})
    assert_windows([encoded])


def assert_windows(files: list[bytes]) -> None:
    rng = np.random.default_rng(9)
    whole = decode(files)
    full_height, full_width, _ = whole[0].shape
    for _ in range(12):
        height, width = (int(rng.integers(1, n + 1)) for n in (full_height, full_width))
        y, x = (float(v) for v in rng.choice([0.0, 1.0, rng.uniform()], 2))
        place = {"crop": [height, width], "crop_pos_x": x, "crop_pos_y": y}
        top, left = int((full_height - height) * y + 0.5), int((full_width - width) * x + 0.5)
        for i, g in enumerate(decode(files, fn.decoders.image_crop, **place)):
            assert np.array_equal(g, whole[i][top : top + height, left : left + width]), (i, place)


def test_jpeg2000_windows_are_those_of_the_whole() -> None:
    assert_windows(list(kinds().values()))


def test_jpeg2000_names_what_is_wrong() -> None:
    file = saved(PHOTO, "JPEG2000")
    assert "JPEG 2000 header is damaged: it ends prematurely" in error_of(file[:100])
    half = file[: len(file) // 2]
    message = error_of(half)
    assert f"at byte {len(half)}" in message
    assert "JPEG 2000 data is damaged: it ends prematurely" in message
    tiles = saved(PHOTO, "JPEG2000", tile_size=(32, 32), no_jp2=True)
    second = tiles.index(b"\xff\x90", tiles.index(b"\xff\x90") + 1)
    assert "it lacks a tile" in error_of(tiles[:second])
    assert "expected the marker SOT or EOC" in error_of(
        tiles[:second] + b"\0\0" + tiles[second + 2 :]
    )
    assert "of 8 components is not supported" in error_of(
        imagecodecs.jpeg2k_encode(np.dstack([NOISE, NOISE]), level=0)
    )
    assert "of the colour space 14 is not supported" in error_of(jp2(stream_of(PHOTO), 3, 14))


def test_jpeg2000_tolerates_a_cut() -> None:
    layers = {"quality_mode": "rates", "quality_layers": [40, 10, 2]}
    file = saved(PHOTO, "JPEG2000", **layers)
    (got,) = decode([file[: len(file) // 2]], tolerate_corrupt=True)
    assert np.abs(got.astype(int) - PHOTO).mean() < 8
    tiles = saved(PHOTO, "JPEG2000", tile_size=(WIDTH, 16), no_jp2=True)
    (got,) = decode([tiles[: len(tiles) // 2]], tolerate_corrupt=True)
    assert np.array_equal(got[:16], PHOTO[:16])
    assert (got[48:] == 0).all()


def test_jpeg2000_tolerates_damage_in_windows_as_in_the_whole() -> None:
    rng = np.random.default_rng(5)
    files = []
    for file in (saved(PHOTO, "JPEG2000"), saved(PHOTO, "JPEG2000", tile_size=(32, 32))):
        for _ in range(20):
            bad = bytearray(file)
            for at in rng.integers(300, len(bad), 3):
                bad[at] = int(rng.integers(256))
            files.append(bytes(bad))
    whole = decode(files, tolerate_corrupt=True)
    place = {"crop": [20, 30], "crop_pos_x": 1.0, "crop_pos_y": 0.0}
    got = decode(files, fn.decoders.image_crop, tolerate_corrupt=True, **place)
    for w, g in zip(whole, got, strict=True):
        assert np.array_equal(g, w[:20, -30:])


def test_jpeg2000_judges_the_window() -> None:
    """A tile that the window does not touch may be damaged."""
    tiles = bytearray(saved(PHOTO, "JPEG2000", tile_size=(32, 32), no_jp2=True))
    begins = [i for i in range(len(tiles)) if tiles[i : i + 4] == b"\xff\x90\x00\x0a"]
    last = tiles.index(b"\xff\x93", begins[-1]) + 2
    tiles[last : last + 8] = b"\xff" * 8
    file = bytes(tiles)
    assert "JPEG 2000 data is damaged" in error_of(file)
    (got,) = decode([file], fn.decoders.image_crop, crop=[20, 20], crop_pos_x=0.0, crop_pos_y=0.0)
    assert np.array_equal(got, PHOTO[:20, :20])
    later = decode([file], lambda e, **a: fn.crop(fn.decoders.image(e), **a), crop=[20, 20],
                   crop_pos_x=0.0, crop_pos_y=0.0)  # fmt: skip
    assert np.array_equal(later[0], got)


def test_real_jpeg2000_files(test_data: Path) -> None:
    folders = ("images/jpeg2k", "images/multichannel")
    paths = [p for f in folders for p in sorted((test_data / f).glob("*.jp2"))]
    assert len(paths) >= 7
    for path in paths:
        file = path.read_bytes()
        want = imagecodecs.jpeg2k_decode(file)
        deep = want.dtype == np.uint16
        (got,) = decode([file], output_type=types.ANY_DATA, dtype=types.UINT16)
        assert np.array_equal(got, want if deep else want.astype(np.uint16) * 257), path
        (got,) = decode([file], output_type=types.ANY_DATA)
        assert np.array_equal(got, (want.astype(int) + 128) // 257 if deep else want), path
