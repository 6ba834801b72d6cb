# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Every picture format: pixels as Pillow and OpenCV have them, windows, and mixed folders."""

from __future__ import annotations

import io
import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from PIL import Image, ImageOps

import jpegs
import pngs
import stoker
from helpers import SIMPLE, Array, assert_same, make, samples_of
from stoker import fn, types
from stoker.errors import SampleError

THERE = {c.format for c in stoker.codecs() if c.is_there}


def needs(format_: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(format_ not in THERE, reason=f"this build has no codec of {format_}")


def decode(
    files: Sequence[bytes], decoder: Callable[..., Any] = fn.decoders.image, **arguments: Any
) -> list[Array]:
    """The pictures, in one pipeline."""

    def define() -> Any:
        return decoder(fn.external_source(source(files), batch=False), **arguments)

    pipe = make(define)
    return [samples_of(pipe.run())[0][0] for _ in files]


def source(files: Sequence[bytes]) -> Callable[[Any], Array]:
    return lambda info: np.frombuffer(files[info.idx_in_epoch], np.uint8)


def error_of(file: bytes, **arguments: Any) -> str:
    with pytest.raises(SampleError) as caught:
        decode([file], **arguments)
    return str(caught.value)


def pillow(file: bytes, mode: str = "RGB") -> Array:
    with Image.open(io.BytesIO(file)) as image:
        pixels = np.asarray(ImageOps.exif_transpose(image).convert(mode))
    return pixels[..., None] if pixels.ndim == 2 else pixels


def saved(pixels: Array, format_: str, mode: str | None = None, **options: Any) -> bytes:
    file = io.BytesIO()
    image = Image.fromarray(pixels)
    (image.convert(mode) if mode else image).save(file, format_, **options)
    return file.getvalue()


def assert_as_pillow(files: dict[str, bytes]) -> None:
    """All colours that Pillow knows as well."""
    for output, mode in (("RGB", "RGB"), ("GRAY", "L"), ("BGR", "RGB")):
        got = decode(list(files.values()), output_type=getattr(types, output))
        for (name, file), g in zip(files.items(), got, strict=True):
            want = pillow(file, mode)
            want = want[..., ::-1] if output == "BGR" else want
            assert g.shape == want.shape and np.array_equal(g, want), f"{name} as {output}"


# PNG.


def png_files(rng: np.random.Generator) -> dict[str, tuple[bytes, Array]]:
    """Files of every kind, and what ANY_DATA gives of each."""
    files = {}
    for color, depths in pngs.DEPTHS.items():
        for depth in depths:
            for interlaced in (False, True):
                height, width = rng.integers(1, 40, 2) if interlaced else rng.integers(30, 90, 2)
                pixels = pngs.samples(rng, int(height), int(width), color, depth)
                palette = rng.integers(0, 256, (1 << depth, 3)) if color == "palette" else None
                file = pngs.encode(pixels, color, depth, interlaced=interlaced, palette=palette)
                if palette is not None:
                    want = palette[pixels[..., 0]].astype(np.uint8)
                elif depth == 16:
                    want = pixels
                else:
                    want = (pixels * (255 // ((1 << depth) - 1))).astype(np.uint8)
                files[f"{color} {depth} {'interlaced' if interlaced else ''}"] = file, want
    return files


@needs("PNG")
def test_png_of_every_kind_is_exact() -> None:
    files = png_files(np.random.default_rng(1))
    assert len(files) == 30
    for depth, dtype in ((8, types.UINT8), (16, types.UINT16)):
        got = decode([f for f, _ in files.values()], output_type=types.ANY_DATA, dtype=dtype)
        for (name, (_, want)), g in zip(files.items(), got, strict=True):
            if depth == 8 and want.dtype == np.uint16:
                want = ((want.astype(np.int64) + 128) // 257).astype(np.uint8)
            elif depth == 16 and want.dtype == np.uint8:
                want = want.astype(np.uint16) * 257
            assert g.dtype == want.dtype and np.array_equal(g, want), name


@needs("PNG")
def test_png_is_as_pillow_and_opencv_decode_it() -> None:
    rng = np.random.default_rng(2)
    photo = jpegs.picture(75, 98, 3)
    alpha = np.dstack([photo, photo[..., :1]])
    files = {n: f for n, (f, _) in png_files(rng).items() if " 16" not in n}
    files |= {
        "saved": saved(photo, "PNG"),
        "saved best": saved(photo, "PNG", optimize=True),
        "saved fast": saved(photo, "PNG", compress_level=1),
        "saved raw": saved(photo, "PNG", compress_level=0),
        "saved RGBA": saved(alpha, "PNG"),
        "saved LA": saved(alpha, "PNG", "LA"),
        "saved 1": saved(photo, "PNG", "1"),
        "saved P": saved(photo, "PNG", "P"),
        "OpenCV": cv2.imencode(".png", photo)[1].tobytes(),
        "OpenCV RGBA": cv2.imencode(".png", alpha)[1].tobytes(),
    }
    for bits in (1, 2, 4):
        few = Image.fromarray(photo).quantize(1 << bits)
        file = io.BytesIO()
        few.save(file, "PNG", bits=bits, transparency=0)
        files[f"saved P of {bits} bits"] = file.getvalue()
    assert_as_pillow(files)
    deep = (photo.astype(np.uint16) * 251) ^ rng.integers(0, 999, photo.shape, np.uint16)
    for pixels in (deep, deep[..., 0], np.dstack([deep, deep[..., :1]])):
        file = cv2.imencode(".png", pixels)[1].tobytes()
        (got,) = decode([file], output_type=types.ANY_DATA, dtype=types.UINT16)
        want = pixels[..., None] if pixels.ndim == 2 else pixels
        assert np.array_equal(
            got, want[..., [2, 1, 0, 3][: want.shape[2]]] if want.shape[2] > 1 else want
        )


@needs("PNG")
def test_png_transparency_is_alpha_where_all_channels_are_kept() -> None:
    rng = np.random.default_rng(3)
    for color, depth in (("gray", 2), ("gray", 8), ("gray", 16), ("rgb", 8), ("rgb", 16)):
        pixels = pngs.samples(rng, 20, 30, color, depth)
        pixels[5:9] = pixels[3, 3]
        key = struct.pack(f">{pngs.CHANNELS[color]}H", *pixels[3, 3].tolist())
        file = pngs.encode(pixels, color, depth, transparency=key)
        dtype = types.UINT16 if depth == 16 else types.UINT8
        (got,) = decode([file], output_type=types.ANY_DATA, dtype=dtype)
        full = np.iinfo(got.dtype).max
        want = np.where((pixels == pixels[3, 3]).all(-1), 0, full)
        assert np.array_equal(got[..., -1], want), (color, depth)
        if depth <= 8:
            assert np.array_equal(decode([file])[0], pillow(file))
    palette = rng.integers(0, 256, (16, 3))
    pixels = pngs.samples(rng, 20, 30, "palette", 4)
    file = pngs.encode(pixels, "palette", 4, palette=palette, transparency=bytes([9, 0, 200]))
    (got,) = decode([file], output_type=types.ANY_DATA)
    assert np.array_equal(got, pillow(file, "RGBA"))
    assert np.array_equal(decode([file])[0], pillow(file))


@needs("PNG")
@pytest.mark.parametrize("place", ["before", "behind", "xmp"])
def test_png_is_turned_as_its_metadata_says(place: str) -> None:
    photo = jpegs.picture(31, 47, 5)
    for orientation in range(1, 9):
        exif = Image.Exif()
        exif[0x0112] = orientation
        if place == "xmp":
            words = f'<rdf tiff:Orientation="{orientation}"/>'.encode()
            extra = pngs.chunk(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + words)
        else:
            extra = pngs.chunk(b"eXIf", exif.tobytes()[6:])
        where = {"behind" if place == "behind" else "before": extra}
        file = pngs.encode(photo.astype(np.uint16), "rgb", 8, **where)  # type: ignore[arg-type]
        got, plain = decode([file])[0], decode([file], adjust_orientation=False)[0]
        assert np.array_equal(got, pillow(file)), orientation
        assert np.array_equal(plain, photo)


def test_png_names_what_is_wrong(tmp_path: Path) -> None:
    if "PNG" not in THERE:
        pytest.skip("this build has no codec of PNG")
    file = saved(jpegs.picture(60, 80, 1), "PNG")
    assert "PNG data is damaged: the file ends prematurely" in error_of(file[: len(file) // 2])
    middle = bytearray(file)
    middle[len(file) // 2] ^= 1
    assert "the checksum of a chunk of its data is wrong" in error_of(bytes(middle))
    bomb = pngs.chunk(b"IHDR", struct.pack(">IIBBBBB", 30000, 30000, 8, 2, 0, 0, 0))
    message = error_of(file[:8] + bomb + file[33:])
    assert "30000 x 30000 = 900000000 pixels, more than the limit" in message
    large = pngs.chunk(b"IHDR", struct.pack(">IIBBBBB", 16000, 16000, 8, 2, 0, 0, 0))
    with pytest.raises(SampleError, match="memory"):
        path = tmp_path / "large.png"
        path.write_bytes(file[:8] + large + file[33:])

        def define() -> Any:
            return fn.decoders.image(fn.readers.file(files=[str(path)])[0])

        make(define, memory_limit=64 << 20).run()


# BMP.


def bmp(
    pixels: bytes,
    size: tuple[int, int],
    bits: int,
    *,
    compression: int = 0,
    masks: Sequence[int] = (),
    palette: bytes = b"",
    header: int = 40,
) -> bytes:
    """A file of rows that are given as they are stored. `size` is (height, width)."""
    height, width = size
    if header == 12:
        info = struct.pack("<IHHHH", 12, width, height, 1, bits)
    else:
        counts = (len(pixels), 0, 0, len(palette) // 4, 0)
        info = struct.pack("<IiiHHIIiiII", header, width, height, 1, bits, compression, *counts)
        info += struct.pack(f"<{len(masks)}I", *masks)
        info = info.ljust(header, b"\0")
    at = 14 + len(info) + len(palette)
    return struct.pack("<2sIHHI", b"BM", at + len(pixels), 0, 0, at) + info + palette + pixels


def bmp_files(rng: np.random.Generator) -> dict[str, bytes]:
    photo = jpegs.picture(37, 53, 2)
    palette = rng.integers(0, 256, (256, 4), np.uint8).tobytes()
    words = rng.integers(0, 1 << 16, (20, 32), np.uint16).tobytes()
    longs = rng.integers(0, 1 << 32, (20, 31), np.uint32).tobytes()
    nibbles = rng.integers(0, 256, (20, 16), np.uint8).tobytes()
    return {
        "RGB": saved(photo, "BMP"),
        "L": saved(photo, "BMP", "L"),
        "1": saved(photo, "BMP", "1"),
        "P": saved(photo, "BMP", "P"),
        "OpenCV": cv2.imencode(".bmp", photo)[1].tobytes(),
        "OpenCV gray": cv2.imencode(".bmp", photo[..., 0])[1].tobytes(),
        "OpenCV BGRA": cv2.imencode(".bmp", np.dstack([photo, photo[..., 0]]))[1].tobytes(),
        "555": bmp(words, (20, 32), 16),
        "555 from the top": bmp(words, (-20, 32), 16),
        "565": bmp(words, (20, 32), 16, compression=3, masks=(0xF800, 0x7E0, 0x1F)),
        "32": bmp(longs, (20, 31), 32),
        "32 of masks": bmp(
            longs, (20, 31), 32, compression=3, masks=(0xFF << 24, 0xFF0000, 0xFF00)
        ),
        "4": bmp(nibbles, (20, 31), 4, palette=palette[:64]),
        "4 of few colours": bmp(bytes(320), (20, 31), 4, palette=palette[:8]),
        "1 of two colours": bmp(nibbles[:80], (20, 31), 1, palette=palette[:8]),
        "old": bmp(nibbles[:80], (20, 4), 8, palette=palette[: 3 * 256], header=12),
        "RLE8": bmp(
            b"\x05\x07\x00\x05\x01\x02\x03\x04\x05\x00\x00\x00\x0a\x09\x00\x00"
            b"\x03\x08\x00\x00\x00\x02\x02\x01\x04\x06\x00\x00\x00\x01",
            (5, 10),
            8,
            compression=1,
            palette=palette,
        ),
        "RLE4": bmp(
            b"\x05\x71\x00\x05\x12\x34\x50\x00\x00\x00\x0a\x29\x00\x02\x03\x01\x07\x5a\x00\x01",
            (4, 10),
            4,
            compression=2,
            palette=palette[:64],
        ),
    }


@needs("BMP")
def test_bmp_is_as_pillow_decodes_it() -> None:
    assert_as_pillow(bmp_files(np.random.default_rng(5)))


@needs("BMP")
def test_bmp_keeps_its_channels() -> None:
    rng = np.random.default_rng(6)
    longs = rng.integers(0, 1 << 32, (9, 7), np.uint32)
    masks = (0xFF0000, 0xFF00, 0xFF, 0xFF000000)
    file = bmp(longs.tobytes(), (9, 7), 32, compression=3, masks=masks, header=124)
    files = [file, *(bmp_files(rng)[n] for n in ("L", "P", "1", "RGB"))]
    got = decode(files, output_type=types.ANY_DATA)
    assert [g.shape[2] for g in got] == [4, 1, 3, 1, 3]
    assert np.array_equal(got[0], pillow(file, "RGBA"))


@needs("BMP")
def test_bmp_names_what_is_wrong() -> None:
    file = saved(jpegs.picture(60, 80, 1), "BMP")
    assert "BMP data is damaged: it ends prematurely" in error_of(file[:-2])
    assert "BMP header is damaged: it ends too early" in error_of(file[:30])
    assert "more than the limit" in error_of(bmp(b"", (40000, 40000), 24))
    assert "it claims 0 x 5 pixels" in error_of(bmp(b"", (5, 0), 24))
    assert "BMP of 0 bits" in error_of(bmp(b"", (5, 5), 0))
    assert "BMP of 8 bits and the compression 4" in error_of(bmp(b"", (5, 5), 8, compression=4))
    assert "side by side" in error_of(bmp(b"", (5, 5), 16, compression=3, masks=(5, 2, 8)))
    assert "too many pixels" in error_of(
        bmp(b"\0\x1e" + bytes(30), (5, 5), 8, compression=1, palette=bytes(1024))
    )


# PNM.


def pnm(header: str, samples: Array) -> bytes:
    return header.encode() + samples.tobytes()


@needs("PNM")
def test_pnm_is_as_pillow_decodes_it() -> None:
    rng = np.random.default_rng(7)
    photo = jpegs.picture(23, 37, 2)
    low = rng.integers(0, 8, (6, 5, 3), np.uint8)
    bits = "0 1 1 0\n1 0 1 1 # a comment\n 0 0 0 1"
    assert_as_pillow(
        {
            "RGB": saved(photo, "PPM"),
            "L": saved(photo, "PPM", "L"),
            "1": saved(photo, "PPM", "1"),
            "OpenCV": cv2.imencode(".ppm", photo)[1].tobytes(),
            "OpenCV gray": cv2.imencode(".pgm", photo[..., 0])[1].tobytes(),
            "up to 7": pnm("P6\n5 6 7\n", low),
            "up to 10": pnm("P5 3 1 10 ", np.array([1, 3, 9], np.uint8)),
            "beyond": pnm("P5 3 1 10 ", np.array([11, 200, 10], np.uint8)),
            "comments": pnm("P6 #a\n5 #b\r6\n# c\n255\n", low),
            "text": b"P2 3 2 9\n" + b"1 2 3\n9 8 7",
            "text of colours": b"P3 2 1 255 " + b"1 2 3 250 251 252",
            "text of bits": f"P1 4 3\n{bits}".encode(),
            "text of bits without blanks": b"P1 4 3 011010110001",
        }
    )


@needs("PNM")
def test_pnm_of_16_bits_and_pam() -> None:
    rng = np.random.default_rng(8)
    wide = rng.integers(0, 1 << 16, (7, 9, 3), np.uint16)
    file = pnm("P6 9 7 65535\n", wide.astype(">u2"))
    (got,) = decode([file], dtype=types.UINT16)
    assert np.array_equal(got, wide)
    assert np.array_equal(got[..., ::-1], cv2.imdecode(np.frombuffer(file, np.uint8), -1))
    (narrow,) = decode([file])
    assert np.array_equal(narrow, (wide.astype(int) + 128) // 257)
    deep = rng.integers(0, 1024, (7, 9), np.uint16)
    (got,) = decode(
        [pnm("P5 9 7 1023\n", deep.astype(">u2"))], output_type=types.ANY_DATA, dtype=types.UINT16
    )
    assert np.array_equal(got[..., 0], np.round(deep / 1023 * 65535))
    pam = "P7\nWIDTH 9\nHEIGHT 7\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n"
    four = rng.integers(0, 256, (7, 9, 4), np.uint8)
    kept, rgb = (decode([pnm(pam, four)], output_type=t)[0] for t in (types.ANY_DATA, types.RGB))
    assert np.array_equal(kept, four) and np.array_equal(rgb, four[..., :3])


@needs("PNM")
def test_pnm_names_what_is_wrong() -> None:
    file = saved(jpegs.picture(60, 80, 1), "PPM")
    assert "PNM data ends prematurely" in error_of(file[:-1])
    assert "more than the limit" in error_of(b"P6 40000 40000 255\n")
    assert "it claims 0 x 5 pixels" in error_of(b"P6 0 5 255\n")
    assert "values up to 65536" in error_of(b"P6 5 5 65536\n")
    assert "expected a number" in error_of(b"P6 5 five 255\n")
    assert "no line ENDHDR" in error_of(b"P7\nWIDTH 5\nHEIGHT 5\n")
    assert "the value 12 is more than the most, 9" in error_of(b"P2 2 1 9 3 12")


# WebP.


def webp_files() -> dict[str, bytes]:
    photo = jpegs.picture(61, 83, 4)
    alpha = np.dstack([photo, photo[..., 1]])
    files = {"OpenCV": cv2.imencode(".webp", photo, [cv2.IMWRITE_WEBP_QUALITY, 70])[1].tobytes()}
    for method in (0, 4, 6):
        files[f"lossy {method}"] = saved(photo, "WEBP", quality=20 + 10 * method, method=method)
        files[f"lossless {method}"] = saved(photo, "WEBP", lossless=True, method=method)
        files[f"lossy alpha {method}"] = saved(alpha, "WEBP", quality=80, method=method)
        files[f"lossless alpha {method}"] = saved(
            alpha, "WEBP", lossless=True, exact=True, method=method
        )
    for lossless in (False, True):
        files[f"animated {lossless}"] = saved(
            alpha,
            "WEBP",
            save_all=True,
            append_images=[Image.fromarray(alpha[::-1])],
            lossless=lossless,
        )
    return files


@needs("WebP")
def test_webp_is_as_pillow_decodes_it() -> None:
    files = webp_files()
    assert_as_pillow(files)
    names = [n for n in files if "alpha" in n or "animated" in n]
    got = decode([files[n] for n in names], output_type=types.ANY_DATA)
    for name, g in zip(names, got, strict=True):
        assert np.array_equal(g, pillow(files[name], "RGBA")), name


@needs("WebP")
def test_webp_windows_are_those_of_the_whole() -> None:
    rng = np.random.default_rng(9)
    files = list(webp_files().values())
    whole = decode(files)
    for _ in range(25):
        height, width = (int(rng.integers(1, n + 1)) for n in whole[0].shape[:2])
        y, x = (float(v) for v in rng.choice([0.0, 1.0, rng.uniform()], 2))
        place = {"crop": [height, width], "crop_pos_x": x, "crop_pos_y": y}
        for i, g in enumerate(decode(files, fn.decoders.image_crop, **place)):
            top = int((61 - height) * y + 0.5)
            left = int((83 - width) * x + 0.5)
            assert np.array_equal(g, whole[i][top : top + height, left : left + width]), (i, place)


@needs("WebP")
def test_webp_is_turned_as_its_metadata_says() -> None:
    for orientation in range(1, 9):
        exif = Image.Exif()
        exif[0x0112] = orientation
        file = saved(jpegs.picture(21, 37, 4), "WEBP", exif=exif)
        assert np.array_equal(decode([file])[0], pillow(file)), orientation


@needs("WebP")
def test_webp_names_what_is_wrong() -> None:
    for lossless in (False, True):
        file = saved(jpegs.picture(60, 80, 1), "WEBP", lossless=lossless)
        assert "WebP data ends prematurely" in error_of(file[: len(file) // 2])
        assert "WebP data ends prematurely" in error_of(file[:20])
        got = decode([file[: len(file) // 2]], tolerate_corrupt=True)[0]
        assert np.array_equal(got[:1], decode([file])[0][:1])


# GIF.


def gif_files() -> dict[str, bytes]:
    photo = jpegs.picture(61, 83, 4)
    paletted = Image.fromarray(photo).quantize(64)
    small = paletted.crop((10, 12, 40, 50))
    files = {
        "P": saved(photo, "GIF"),
        "L": saved(photo, "GIF", "L"),
        "1": saved(photo, "GIF", "1"),
        "plain": saved(photo, "GIF", interlace=0),
        "transparent": saved(np.asarray(paletted), "GIF", "P", transparency=7),
        "noise": saved(np.random.default_rng(1).integers(0, 256, (200, 200), np.uint8), "GIF"),
        "flat": saved(np.zeros((300, 300), np.uint8), "GIF"),
        "OpenCV": cv2.imencode(".gif", photo)[1].tobytes(),
    }
    for name, options in {"animated": {}, "one of two": {"transparency": 3}}.items():
        file = io.BytesIO()
        paletted.save(file, "GIF", save_all=True, append_images=[paletted.rotate(180)], **options)
        files[name] = file.getvalue()
    # A frame that is smaller than its canvas, with and without transparency.
    for name, options in {"small": {}, "small transparent": {"transparency": 5}}.items():
        file = io.BytesIO()
        small.save(file, "GIF", **options)
        bytes_ = bytearray(file.getvalue())
        bytes_[6:10] = struct.pack("<HH", 50, 60)
        at = bytes_.index(b",\0\0\0\0")
        bytes_[at + 1 : at + 5] = struct.pack("<HH", 11, 13)
        files[name] = bytes(bytes_)
    return files


@needs("GIF")
def test_gif_is_as_pillow_decodes_it() -> None:
    files = gif_files()
    assert_as_pillow(files)
    (got,) = decode([files["transparent"]], output_type=types.ANY_DATA)
    assert np.array_equal(got, pillow(files["transparent"], "RGBA"))


@needs("GIF")
def test_gif_names_what_is_wrong() -> None:
    file = saved(jpegs.picture(60, 80, 1), "GIF")
    assert "GIF data ends prematurely" in error_of(file[: len(file) // 2])
    assert "GIF data ends prematurely" in error_of(file[:8])
    assert "GIF data is damaged: it has no picture" in error_of(b"GIF89a" + bytes(7) + b";")
    at = file.index(b",\0\0\0\0")
    broken = bytearray(file)
    broken[at + 10] = 13
    assert "its codes have 13 bits" in error_of(bytes(broken))
    top = decode([file[: len(file) // 2]], tolerate_corrupt=True)[0]
    assert np.array_equal(top[0], decode([file])[0][0])


# TIFF.


def tiff(
    pixels: Array, *, tile: int = 0, planar: bool = False, endian: str = "<", orientation: int = 1
) -> bytes:
    """An uncompressed file of 8 or 16 bits, in square tiles or strips of 7 rows."""
    height, width, channels = pixels.shape
    data = pixels.astype(pixels.dtype.newbyteorder(endian))
    planes = [data[..., c : c + 1] for c in range(channels)] if planar else [data]
    parts = []
    for plane in planes:
        if tile:
            wide = np.pad(plane, ((0, -height % tile), (0, -width % tile), (0, 0)))
            for y in range(0, height, tile):
                parts += [wide[y : y + tile, x : x + tile] for x in range(0, width, tile)]
        else:
            parts += [plane[y : y + 7] for y in range(0, height, 7)]
    body, offsets = b"", []
    for part in parts:
        offsets.append(8 + len(body))
        body += part.tobytes()
    body += b"\0" * (len(body) % 2)
    sizes = [p.nbytes for p in parts]
    tags: dict[int, tuple[str, list[int]]] = {
        256: ("I", [width]),
        257: ("I", [height]),
        258: ("H", [8 * pixels.itemsize] * channels),
        259: ("H", [1]),
        262: ("H", [1 if channels < 3 else 2]),
        274: ("H", [orientation]),
        277: ("H", [channels]),
        284: ("H", [2 if planar else 1]),
    }
    tags |= (
        {322: ("I", [tile]), 323: ("I", [tile]), 324: ("I", offsets), 325: ("I", sizes)}
        if tile
        else {273: ("I", offsets), 278: ("I", [7]), 279: ("I", sizes)}
    )
    if channels in (2, 4):
        tags[338] = ("H", [2])
    entries, far = b"", b""
    far_at = 8 + len(body) + 2 + 12 * len(tags) + 4
    for tag, (kind, values) in sorted(tags.items()):
        value = struct.pack(f"{endian}{len(values)}{kind}", *values)
        if len(value) > 4:
            far += value
            value = struct.pack(f"{endian}I", far_at + len(far) - len(value))
        code = 3 if kind == "H" else 4
        entries += struct.pack(f"{endian}HHI", tag, code, len(values)) + value.ljust(4, b"\0")
    head = b"II*\0" if endian == "<" else b"MM\0*"
    directory = struct.pack(f"{endian}H", len(tags)) + entries + bytes(4)
    return head + struct.pack(f"{endian}I", 8 + len(body)) + body + directory + far


def tiff_files() -> dict[str, bytes]:
    photo = jpegs.picture(61, 83, 4)
    alpha = np.dstack([photo, photo[..., 1]])
    files = {"OpenCV": cv2.imencode(".tiff", photo)[1].tobytes()}
    for compression in ("raw", "tiff_lzw", "tiff_adobe_deflate", "packbits"):
        files[f"RGB {compression}"] = saved(photo, "TIFF", compression=compression)
        files[f"RGBA {compression}"] = saved(alpha, "TIFF", compression=compression)
        files[f"L {compression}"] = saved(photo, "TIFF", "L", compression=compression)
        files[f"P {compression}"] = saved(photo, "TIFF", "P", compression=compression)
        files[f"1 {compression}"] = saved(photo, "TIFF", "1", compression=compression)
    files |= {
        "1 G4": saved(photo, "TIFF", "1", compression="group4"),
        "1 G3": saved(photo, "TIFF", "1", compression="group3"),
        "RGB JPEG": saved(photo, "TIFF", compression="jpeg", quality=85),
        "L JPEG": saved(photo, "TIFF", "L", compression="jpeg", quality=85),
        "strips": saved(photo, "TIFF", compression="tiff_lzw", strip_size=2000),
        "predictor": saved(photo, "TIFF", compression="tiff_lzw", tiffinfo={317: 2}),
        "big": saved(photo, "TIFF", big_tiff=True),
        "pages": saved(photo, "TIFF", save_all=True, append_images=[Image.new("L", (5, 5))]),
        "tiles": tiff(photo, tile=16),
        "tiles from the other end": tiff(photo, tile=32, endian=">"),
        "tiles of RGBA": tiff(alpha, tile=16),
        "gray tiles": tiff(photo[..., :1], tile=16),
        "from the other end": tiff(photo, endian=">"),
        "planes": tiff(photo, planar=True),
    }
    return files


@needs("TIFF")
def test_tiff_is_as_pillow_decodes_it() -> None:
    assert_as_pillow(tiff_files())


@needs("TIFF")
def test_tiff_of_16_bits_planes_and_tiles() -> None:
    rng = np.random.default_rng(10)
    for dtype in (np.uint8, np.uint16):
        pixels = rng.integers(0, np.iinfo(dtype).max, (33, 41, 4), dtype)
        for tile in (0, 16):
            for planar in (False, True):
                for channels in (1, 2, 3, 4):
                    want = pixels[..., :channels]
                    file = tiff(want, tile=tile, planar=planar, endian="<>"[channels % 2])
                    (got,) = decode(
                        [file],
                        output_type=types.ANY_DATA,
                        dtype=types.UINT8 if dtype == np.uint8 else types.UINT16,
                    )
                    assert np.array_equal(got, want), (dtype, tile, planar, channels)
    deep = pixels[..., :3]
    (got,) = decode([cv2.imencode(".tiff", deep)[1].tobytes()], dtype=types.UINT16)
    assert np.array_equal(got, deep[..., ::-1])


@needs("TIFF")
def test_tiff_is_turned_as_it_says() -> None:
    photo = jpegs.picture(21, 37, 4)
    for orientation in range(1, 9):
        file = tiff(photo, orientation=orientation)
        assert np.array_equal(decode([file])[0], pillow(file)), orientation


@needs("TIFF")
def test_tiff_names_what_is_wrong() -> None:
    photo = jpegs.picture(60, 80, 1)
    file = tiff(photo)
    assert "TIFF header is damaged" in error_of(file[: len(file) // 2])
    lzw = bytearray(saved(photo, "TIFF", compression="tiff_lzw"))
    lzw[100:400] = bytes(b ^ 0xFF for b in lzw[100:400])
    assert "TIFF data is damaged" in error_of(bytes(lzw))
    floats = saved(np.zeros((5, 5), np.float32), "TIFF")
    assert "TIFF of 1 samples of 32 bits" in error_of(floats)
    assert "is not supported" in error_of(saved(photo, "TIFF", "CMYK"))


# All formats.

ALIKE: dict[str, Callable[[Array], bytes]] = {
    "BMP": lambda p: saved(p, "BMP"),
    "GIF": lambda p: saved(p, "GIF"),
    "PNG": lambda p: saved(p, "PNG"),
    "PNM": lambda p: saved(p, "PPM"),
    "TIFF": lambda p: tiff(p, tile=16),
    "WebP": lambda p: saved(p, "WEBP"),
}


def a_file_of(format_: str, pixels: Array) -> bytes:
    return jpegs.encode(pixels, "444") if format_ == "JPEG" else ALIKE[format_](pixels)


@pytest.mark.parametrize("format_", sorted(ALIKE))
def test_windows_are_those_of_the_whole(format_: str) -> None:
    if format_ not in THERE:
        pytest.skip(f"this build has no codec of {format_}")
    files = [a_file_of(format_, jpegs.picture(60 + i, 90 - i, i)) for i in range(6)]
    whole = decode(files)
    for x, y in ((0.0, 0.0), (0.5, 0.3), (1.0, 1.0)):
        place = {"crop": [17, 23], "crop_pos_x": x, "crop_pos_y": y}
        got = decode(files, fn.decoders.image_crop, **place)
        later = decode(files, lambda e, **a: fn.crop(fn.decoders.image(e), **a), **place)
        for w, g, c in zip(whole, got, later, strict=True):
            top, left = (int((w.shape[0] - 17) * y + 0.5), int((w.shape[1] - 23) * x + 0.5))
            assert np.array_equal(g, w[top : top + 17, left : left + 23])
            assert np.array_equal(g, c)


def graph(files: list[str], device: str = "cpu") -> Callable[[], Any]:
    def define() -> list[Any]:
        encoded, label = fn.readers.file(files=files, name="reader")
        image = fn.decoders.image(encoded, device=device)
        random = fn.decoders.image_random_crop(encoded, device=device)
        return [label, fn.random_resized_crop(image, size=[16, 16]), random, image]

    return define


@pytest.fixture
def mixed(tmp_path: Path) -> list[str]:
    """Files of all formats that are there, under names that say nothing."""
    formats = ["JPEG", *(f for f in sorted(ALIKE) if f in THERE)]
    paths = []
    for i in range(3 * len(formats)):
        path = tmp_path / f"{i:02}.jpg"
        path.write_bytes(a_file_of(formats[i % len(formats)], jpegs.picture(40 + i, 50, i)))
        paths.append(str(path))
    return paths


def test_a_folder_may_mix_formats(mixed: list[str]) -> None:
    fast, simple = make(graph(mixed), batch_size=5), make(graph(mixed), batch_size=5, **SIMPLE)
    for step in range(4):
        assert_same(samples_of(fast.run()), samples_of(simple.run()), f"step {step}")


def test_a_device_gets_pixels_of_all_formats(
    mixed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STOKER_SIMULATED_DEVICES", "1")
    device = make(graph(mixed, "mixed"), batch_size=4, device_id=0)
    cpu = make(graph(mixed), batch_size=4)
    for step in range(3):
        got = [b if b.device == "cpu" else b.as_cpu() for b in device.run()]
        right = cpu.run()
        for output in (0, 2, 3):
            for g, r in zip(got[output], right[output], strict=True):
                assert np.array_equal(np.array(g), np.array(r)), (step, output)


@pytest.mark.parametrize("policy", ["skip", "replace"])
@pytest.mark.parametrize("format_", sorted(ALIKE))
def test_a_damaged_file_is_skipped_or_replaced(mixed: list[str], format_: str, policy: str) -> None:
    if format_ not in THERE:
        pytest.skip(f"this build has no codec of {format_}")
    file = a_file_of(format_, jpegs.picture(50, 60, 9))
    Path(mixed[2]).write_bytes(file[: len(file) * 2 // 3])
    pipe = make(graph(mixed), batch_size=3, on_error=policy)
    count = sum(len(samples_of(pipe.run())) for _ in range(len(mixed) // 3))
    assert count == len(mixed) - (policy == "skip")
    (entry,) = {(e["source"], e["message"]) for e in pipe.quarantine()}
    assert entry[0] == mixed[2] and format_ in entry[1]


@pytest.mark.parametrize("format_", ["JPEG", *sorted(ALIKE)])
def test_damage_is_named(format_: str) -> None:
    """Cut at 20 places, and with each of 300 bits turned."""
    if format_ not in THERE:
        pytest.skip(f"this build has no codec of {format_}")
    rng = np.random.default_rng(12)
    file = a_file_of(format_, jpegs.picture(24, 31, 3))
    files = [file[: len(file) * i // 20] for i in range(1, 20)]
    for _ in range(300):
        bad = bytearray(file)
        bad[rng.integers(len(bad))] ^= 1 << rng.integers(8)
        files.append(bytes(bad))
    with pytest.raises(SampleError) as caught:
        make(
            lambda: fn.decoders.image(fn.external_source(source(files), batch=False)),
            batch_size=len(files),
        ).run()
    assert len(caught.value.samples) >= 15
    for sample in caught.value.samples:
        assert format_ in sample["message"] or "not an image" in sample["message"], sample


def test_formats_are_listed() -> None:
    listed = {c.format: c for c in stoker.codecs()}
    assert listed["JPEG"].is_there and listed["JPEG"].package == "libjpeg62-turbo-dev"
    assert listed["PNG"].package == "libisal-dev"


@pytest.mark.parametrize("codec", [c for c in stoker.codecs() if not c.is_there])
def test_an_error_names_the_missing_package(codec: stoker.Codec) -> None:
    beginnings = {"PNG": b"\x89PNG\r\n\x1a\n", "WebP": b"RIFF    WEBPVP8 ", "TIFF": b"II*\0"}
    assert codec.package in error_of(beginnings[codec.format] + bytes(50))


# Real files, of the test data.


@pytest.mark.parametrize(
    "format_,folder",
    [
        ("PNG", "images/png"),
        ("PNG", "images/multichannel"),
        ("BMP", "images/bmp"),
        ("PNM", "images/pnm"),
        ("TIFF", "images/tiff"),
        ("WebP", "images/webp"),
    ],
)
def test_real_files_are_as_pillow_decodes_them(test_data: Path, format_: str, folder: str) -> None:
    if format_ not in THERE:
        pytest.skip(f"this build has no codec of {format_}")
    paths = [p for p in sorted((test_data / folder).iterdir()) if "16bpp" not in p.name]
    kinds = {"PNG": [".png"]}.get(format_, [p.suffix for p in paths])
    files = {p.name: p.read_bytes() for p in paths if p.suffix in kinds}
    assert files
    assert_as_pillow(files)
