# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Files of every format and kind, by writers that know nothing of each other."""

from __future__ import annotations

import io
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import cv2
import imagecodecs
import numpy as np
import tifffile
from PIL import Image

import jpegs
import lossless_jpegs
import pngs
import tiffs
from bmps import bmp
from helpers import Array
from pictures import saved

PHOTO = jpegs.picture(43, 61, 1)
ALPHA = np.dstack([PHOTO, jpegs.picture(43, 61, 2)[..., 0]])
GRAY = np.ascontiguousarray(PHOTO[..., 0])
KINDS = {"gray": "gray", "rgb": "RGB", "palette": "palette", "gray alpha": "alpha", "rgba": "alpha"}
MODES = {"RGB": "RGB", "L": "gray", "P": "palette", "1": "bilevel"}
DEEP = np.random.default_rng(20).integers(0, 1 << 16, (43, 61, 4), np.uint16)
FLOATS = np.random.default_rng(21).standard_normal((43, 61, 4)).astype(np.float32)


class Made(NamedTuple):
    """A file. ``want`` is what it holds; without it, Pillow says what that is."""

    kind: str
    writer: str
    file: bytes
    want: Array | None = None


def by_opencv(kind: str, name: str, pixels: Array, *options: int) -> Made:
    return Made(kind, "OpenCV", cv2.imencode(f".{name}", pixels, options)[1].tobytes())


def by_opencv_deep(name: str, channels: int) -> Made:
    """OpenCV orders channels the other way round."""
    pixels = DEEP[..., :channels]
    order = {1: [0], 3: [2, 1, 0], 4: [2, 1, 0, 3]}[channels]
    file = cv2.imencode(f".{name}", pixels)[1].tobytes()
    return Made("16 bits", "OpenCV", file, pixels[..., order])


def jpeg_files() -> list[Made]:
    made = [Made("lossy", "Pillow", jpegs.encode(PHOTO, k)) for k in jpegs.KINDS if "4" in k]
    made += [Made("lossy", "Pillow", saved(PHOTO, "JPEG", quality=q)) for q in (1, 40, 95, 100)]
    made += [
        Made(k.split()[0], "Pillow", jpegs.encode(PHOTO, k))
        for k in jpegs.KINDS
        if k.startswith(("gray", "progressive", "cmyk", "restart"))
    ]
    for quality in (20, 75, 98):
        made.append(by_opencv("lossy", "jpg", PHOTO, cv2.IMWRITE_JPEG_QUALITY, quality))
        made.append(by_opencv("gray", "jpg", GRAY, cv2.IMWRITE_JPEG_QUALITY, quality))
        made.append(
            by_opencv(
                "progressive", "jpg", PHOTO,
                cv2.IMWRITE_JPEG_QUALITY, quality, cv2.IMWRITE_JPEG_PROGRESSIVE, 1,
            )
        )  # fmt: skip
        for sampling in ("444", "422", "420"):
            file = imagecodecs.jpeg8_encode(PHOTO, level=quality, subsampling=sampling)
            made.append(Made("lossy", "imagecodecs", file))
    for predictor in range(1, 8):
        for bits in (8, 12, 16):
            whole = (DEEP >> (16 - bits)).astype(np.uint8 if bits == 8 else np.uint16)
            pixels = np.ascontiguousarray(whole[..., : 1 + 2 * (predictor % 2)].squeeze())
            file = imagecodecs.jpeg8_encode(
                pixels, lossless=True, predictor=predictor, bitspersample=bits
            )
            want = pixels if bits != 12 else np.rint(pixels / 4095 * 65535).astype(np.uint16)
            made.append(Made("lossless", "imagecodecs", file, want))
        planes = [PHOTO[:20, :20, c] for c in range(3)]
        file = lossless_jpegs.encode(planes, (20, 20), 8, predictor=predictor, restart_rows=7)
        made.append(Made("lossless", "the tests", file, PHOTO[:20, :20]))
    return made


def png_files() -> list[Made]:
    rng = np.random.default_rng(22)
    made = [
        Made(kind, "Pillow", saved(PHOTO, "PNG", mode, compress_level=level))
        for mode, kind in MODES.items()
        for level in (0, 1, 9)
    ]
    made += [Made("alpha", "Pillow", saved(ALPHA, "PNG", mode)) for mode in ("RGBA", "LA")]
    for strategy in range(5):
        made.append(by_opencv("RGB", "png", PHOTO, cv2.IMWRITE_PNG_STRATEGY, strategy))
    made += [by_opencv("gray", "png", GRAY), by_opencv("alpha", "png", ALPHA)]
    made += [by_opencv_deep("png", channels) for channels in (1, 3, 4)]
    for name, write in {
        "imagecodecs": imagecodecs.png_encode,
        "libspng": imagecodecs.spng_encode,
    }.items():
        made += [Made("RGB", name, write(PHOTO)), Made("gray", name, write(GRAY))]
        for channels in (1, 3, 4):
            deep = np.ascontiguousarray(DEEP[..., :channels].squeeze())
            made.append(Made("16 bits", name, write(deep), deep))
    for interlaced in (False, True):
        for color, depths in pngs.DEPTHS.items():
            for depth in depths:
                samples = pngs.samples(rng, 23, 37, color, depth)
                palette = rng.integers(0, 256, (1 << depth, 3)) if color == "palette" else None
                file = pngs.encode(samples, color, depth, interlaced=interlaced, palette=palette)
                kind = "interlaced" if interlaced else "16 bits" if depth == 16 else KINDS[color]
                made.append(Made(kind, "the tests", file, samples if depth == 16 else None))
    return made


def webp_files() -> list[Made]:
    made = []
    for quality in (10, 60, 90):
        for method in (0, 4, 6):
            file = saved(PHOTO, "WEBP", quality=quality, method=method)
            made.append(Made("lossy", "Pillow", file))
        for pixels, name in ((PHOTO, ""), (ALPHA, " alpha")):
            lossless = {"lossless": True, "exact": True, "quality": quality}
            made.append(Made("lossless" + name, "Pillow", saved(pixels, "WEBP", **lossless)))
            made.append(
                by_opencv("lossy" + name, "webp", pixels, cv2.IMWRITE_WEBP_QUALITY, quality)
            )
            for kind in ("lossy", "lossless"):
                file = imagecodecs.webp_encode(pixels, level=quality, lossless=kind == "lossless")
                made.append(Made(kind + name, "imagecodecs", file))
        made.append(Made("lossy alpha", "Pillow", saved(ALPHA, "WEBP", quality=quality)))
    made.append(by_opencv("lossless", "webp", PHOTO, cv2.IMWRITE_WEBP_QUALITY, 101))
    made.append(by_opencv("lossless alpha", "webp", ALPHA, cv2.IMWRITE_WEBP_QUALITY, 101))
    return made


def by_tifffile(kind: str, pixels: Array, want: Array | None = None, **options: object) -> Made:
    file = io.BytesIO()
    photometric = "rgb" if pixels.ndim == 3 else "minisblack"
    tifffile.imwrite(file, pixels, **{"photometric": photometric, "metadata": None} | options)
    return Made(kind, "tifffile", file.getvalue(), want)


def tiff_files() -> list[Made]:
    made = []
    for packing in ("raw", "tiff_lzw", "tiff_adobe_deflate", "packbits"):
        for mode in ("RGB", "L", "P", "1", "CMYK"):
            kind = "CMYK" if mode == "CMYK" else "strips"
            made.append(Made(kind, "Pillow", saved(PHOTO, "TIFF", mode, compression=packing)))
    made += [
        Made("fax", "Pillow", saved(PHOTO, "TIFF", "1", compression=packing))
        for packing in ("group3", "group4")
    ]
    made.append(Made("JPEG in TIFF", "Pillow", saved(PHOTO, "TIFF", compression="jpeg")))
    for packing in ("none", "lzw", "deflate", "packbits", "zstd", "lzma"):
        small: dict[str, object] = {"compression": None if packing == "none" else packing}
        made.append(by_tifffile("strips", PHOTO, rowsperstrip=9, **small))
        made.append(by_tifffile("tiles", PHOTO, tile=(16, 32), **small))
        made.append(by_tifffile("big-endian", GRAY, byteorder=">", **small))
        made.append(by_tifffile("BigTIFF", PHOTO, bigtiff=True, **small))
        planes = np.moveaxis(PHOTO, 2, 0)
        made.append(by_tifffile("planes", planes, PHOTO, planarconfig="separate", **small))
        for byteorder in "<>":
            of_order = {"byteorder": byteorder} | small
            made.append(by_tifffile("16 bits", DEEP[..., :3], DEEP[..., :3], **of_order))
            made.append(by_tifffile("floats", FLOATS[..., :3], FLOATS[..., :3], **of_order))
    for packing in ("lzw", "deflate", "zstd"):
        small = {"compression": packing, "predictor": True}
        made.append(by_tifffile("predicted", PHOTO, **small))
        made.append(by_tifffile("predicted", DEEP[..., 0], DEEP[..., 0], **small))
        for dtype in (np.float16, np.float32, np.float64):
            floats = FLOATS[..., 0].astype(dtype)
            made.append(by_tifffile("floats", floats, floats.astype(np.float32), **small))
    made.append(by_tifffile("JPEG in TIFF", PHOTO, compression="jpeg", tile=(32, 32)))
    made.append(by_tifffile("CMYK", ALPHA, photometric="separated"))
    six = np.dstack([PHOTO, PHOTO[::-1]])
    made.append(by_tifffile("six channels", six, six))
    made += [by_opencv("strips", "tiff", PHOTO), by_opencv("strips", "tiff", GRAY)]
    made += [by_opencv_deep("tiff", channels) for channels in (1, 3, 4)]
    for pixels in (PHOTO, ALPHA, DEEP[..., :3], PHOTO[..., :1]):
        kind = "16 bits" if pixels.itemsize == 2 else "tiles"
        for tile in (0, 16):
            file = tiffs.encode(pixels, tile=tile, planar=True, endian=">")
            made.append(Made(kind, "the tests", file, pixels))
    return made


def gif_files() -> list[Made]:
    rng = np.random.default_rng(22)
    noise = rng.integers(0, 256, (60, 40), np.uint8)
    flat = np.zeros((50, 70), np.uint8)
    made = []
    for colors in (2, 3, 5, 16, 17, 64, 255, 256):
        few = np.asarray(Image.fromarray(PHOTO).quantize(colors))
        image = Image.fromarray(PHOTO).quantize(colors)
        for interlace in (0, 1):
            file = io.BytesIO()
            image.save(file, "GIF", interlace=interlace, optimize=False)
            made.append(Made("interlaced" if interlace else "palette", "Pillow", file.getvalue()))
        made.append(Made("gray", "imagecodecs", imagecodecs.gif_encode(few * (255 // colors))))
    made += [Made("gray", "Pillow", saved(p, "GIF", "L")) for p in (noise, flat, PHOTO)]
    made += [
        Made("palette", "imagecodecs", imagecodecs.gif_encode(p)) for p in (PHOTO, ALPHA[..., 1:])
    ]
    made += [Made("gray", "imagecodecs", imagecodecs.gif_encode(p)) for p in (noise, flat)]
    made += [by_opencv("palette", "gif", p) for p in (PHOTO, PHOTO[::-1], PHOTO[:9, :9])]
    made.append(Made("transparent", "Pillow", saved(few, "GIF", "P", transparency=7)))
    return made


def bmp_files() -> list[Made]:
    rng = np.random.default_rng(22)
    made = [
        Made(kind, "Pillow", saved(PHOTO[:h, :w], "BMP", mode))
        for mode, kind in MODES.items()
        for h, w in ((43, 61), (7, 5), (1, 4))
    ]
    for pixels, kind in ((PHOTO, "RGB"), (GRAY, "gray")):
        for width in (61, 60, 31):
            made.append(by_opencv(kind, "bmp", np.ascontiguousarray(pixels[:, :width])))
            file = imagecodecs.bmp_encode(np.ascontiguousarray(pixels[:, :width]))
            made.append(Made(kind, "imagecodecs", file))
    made.append(by_opencv("32 bits", "bmp", ALPHA))
    palette = rng.integers(0, 256, (256, 4), np.uint8).tobytes()
    for bits in (1, 4, 8, 16, 24, 32):
        for height in (20, -20):
            rows = rng.integers(0, 256, 20 * (-(-31 * bits // 32) * 4), np.uint8).tobytes()
            colors = palette[: 4 << bits] if bits <= 8 else b""
            kind = "palette" if bits <= 8 else "RGB" if bits == 24 else f"{bits} bits"
            made.append(Made(kind, "the tests", bmp(rows, (height, 31), bits, palette=colors)))
    return made


def text_of(pixels: Array, kind: int, most: int) -> bytes:
    head = f"P{kind} {pixels.shape[1]} {pixels.shape[0]}" + (f" {most}" if kind > 1 else "")
    return f"{head}\n{' '.join(str(v) for v in pixels.reshape(-1))}\n".encode()


def by_bytes(most: int, pixels: Array) -> bytes:
    return f"P6 {pixels.shape[1]} {pixels.shape[0]} {most}\n".encode() + pixels.tobytes()


def pnm_files() -> list[Made]:
    made = []
    for h, w in ((43, 61), (7, 5), (1, 9)):
        part = np.ascontiguousarray(PHOTO[:h, :w])
        for mode in ("RGB", "L", "1"):
            made.append(Made(MODES[mode], "Pillow", saved(part, "PPM", mode)))
        made.append(by_opencv("RGB", "ppm", part))
        made.append(by_opencv("gray", "pgm", part[..., 0]))
        made.append(by_opencv("PAM", "pam", part)._replace(want=part))
        made.append(Made("text", "the tests", text_of(part, 3, 255)))
        made.append(Made("text", "the tests", text_of(part[..., 0], 2, 255)))
        made.append(Made("text", "the tests", text_of(part[..., 0] // 128, 1, 1)))
        low = part % 8
        made.append(Made("up to 7", "the tests", by_bytes(7, low)))
        deep = np.ascontiguousarray(DEEP[:h, :w, :3])
        made.append(Made("16 bits", "the tests", by_bytes(65535, deep.astype(">u2")), deep))
    made += [by_opencv_deep("ppm", 3), by_opencv_deep("pgm", 1)]
    return made


def avif_files() -> list[Made]:
    made = []
    for chroma in ("4:4:4", "4:2:2", "4:2:0"):
        for range_ in ("full", "limited"):
            for mode in ("RGB", "RGBA", "L"):
                options = {"subsampling": chroma, "range": range_, "quality": 60, "speed": 9}
                kind = {"RGBA": "alpha", "L": "gray"}.get(mode, chroma)
                made.append(Made(kind, "Pillow", saved(ALPHA, "AVIF", mode, **options)))
    for level in (20, 50, 80, 95):
        for kind, pixels in (("gray", GRAY), ("4:4:4", PHOTO), ("alpha", ALPHA)):
            file = imagecodecs.avif_encode(pixels, level=level, speed=9)
            made.append(Made(kind, "imagecodecs", file))
    made += [
        by_opencv("4:2:0", "avif", PHOTO, cv2.IMWRITE_AVIF_QUALITY, q, cv2.IMWRITE_AVIF_SPEED, 9)
        for q in (30, 70, 95)
    ]
    return made


def jpeg2000_files() -> list[Made]:
    made = []
    for mode in ("RGB", "RGBA", "L"):
        kind = {"RGBA": "alpha", "L": "gray"}.get(mode, "RGB")
        ways: list[dict[str, object]] = [
            {},
            {"irreversible": True, "quality_mode": "rates", "quality_layers": [20, 5]},
            {"tile_size": (32, 24)},
            {"progression": "RPCL", "codeblock_size": (16, 16)},
            {"no_jp2": True, "num_resolutions": 2},
        ]
        made += [Made(kind, "Pillow", saved(ALPHA, "JPEG2000", mode, **way)) for way in ways]
    for container in ("jp2", "j2k"):
        for level in (0, 30, 45):
            for kind, pixels in (("RGB", PHOTO), ("gray", GRAY)):
                file = imagecodecs.jpeg2k_encode(pixels, level=level, codecformat=container)
                made.append(Made(kind, "imagecodecs", file))
        for channels in (1, 3):
            deep = np.ascontiguousarray(DEEP[..., :channels].squeeze())
            file = imagecodecs.jpeg2k_encode(deep, level=0, codecformat=container)
            made.append(Made("16 bits", "imagecodecs", file, deep))
    made += [by_opencv("RGB", "jp2", PHOTO), by_opencv("gray", "jp2", GRAY)]
    return made


def jpegxl_files() -> list[Made]:
    made = []
    for h, w in ((43, 61), (7, 5), (1, 9)):
        part = np.ascontiguousarray(ALPHA[:h, :w])
        for effort in (1, 3, 7):
            for kind, channels in (("gray", [0]), ("RGB", [0, 1, 2]), ("alpha", [0, 1, 2, 3])):
                pixels = np.ascontiguousarray(part[..., channels])
                file = imagecodecs.jpegxl_encode(
                    pixels.squeeze(-1) if kind == "gray" else pixels, lossless=True, effort=effort
                )
                made.append(Made(kind, "imagecodecs", file, pixels))
        for mode in ("L", "RGB", "RGBA"):
            kind = {"RGBA": "alpha", "L": "gray"}.get(mode, "RGB")
            file = saved(part, "JXL", mode, lossless=True, use_container=mode == "RGB")
            made.append(Made(kind, "Pillow", file))
        deep = np.ascontiguousarray(DEEP[:h, :w, :3])
        file = imagecodecs.jpegxl_encode(deep, lossless=True)
        made.append(Made("16 bits", "imagecodecs", file, deep))
    return made


def by_program(name: str, file: bytes, before: str, behind: str, *options: str) -> bytes:
    """What a program makes of a file."""
    with tempfile.TemporaryDirectory() as folder:
        encoded, made = Path(folder) / f"a.{before}", Path(folder) / f"b.{behind}"
        encoded.write_bytes(file)
        order = [encoded, made] if name == "heif-convert" else [encoded, "-o", made]
        subprocess.run([name, *options, *order], check=True, capture_output=True)
        return made.read_bytes()


def heif_files() -> list[Made]:
    """Judged by libheif's own program."""
    made = []
    for quality in (30, 60, 90):
        for chroma in ("4:4:4", "4:2:2", "4:2:0"):
            for mode in ("RGB", "RGBA"):
                file = saved(ALPHA, "HEIF", mode, subsampling=chroma, quality=quality)
                made.append(Made("alpha" if mode == "RGBA" else chroma, "pillow-heif", file))
            png = saved(PHOTO, "PNG")
            way = ("-q", str(quality), "-p", f"chroma={chroma.replace(':', '')}")
            file = by_program("heif-enc", png, "png", "heic", *way)
            made.append(Made(chroma, "heif-enc", file))
        made.append(Made("gray", "pillow-heif", saved(GRAY, "HEIF", quality=quality)))
    judged = []
    for m in made:
        png = by_program("heif-convert", m.file, "heic", "png")
        with Image.open(io.BytesIO(png)) as image:
            judged.append(
                m._replace(want=np.asarray(image.convert("RGBA" if m.kind == "alpha" else "RGB")))
            )
    return judged


# Whoever adds a format adds its line here.
MAKERS: dict[str, Callable[[], list[Made]]] = {
    "AVIF": avif_files,
    "BMP": bmp_files,
    "GIF": gif_files,
    "HEIF": heif_files,
    "JPEG": jpeg_files,
    "JPEG 2000": jpeg2000_files,
    "JPEG XL": jpegxl_files,
    "PNG": png_files,
    "PNM": pnm_files,
    "TIFF": tiff_files,
    "WebP": webp_files,
}

# What Pillow calls the formats that it writes.
BY_PILLOW = {
    "AVIF": "AVIF",
    "BMP": "BMP",
    "GIF": "GIF",
    "JPEG": "JPEG",
    "JPEG 2000": "JPEG2000",
    "PNG": "PNG",
    "PNM": "PPM",
    "TIFF": "TIFF",
    "WebP": "WEBP",
}
