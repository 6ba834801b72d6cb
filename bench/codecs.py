#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Times of decoding each picture format on one core, beside Pillow, OpenCV and imagecodecs.

    .venv/bin/python bench/codecs.py [--rounds N] [--only WORDS] [FILE]...

Without files, pictures are made. The engine reads its bytes from memory, too. Its times include the
pipeline's, which a line "nothing" shows. "window" is the time of 256 x 256 pixels, which stands
beside that of the whole picture, and "library" that of the library that Stoker uses, alone. Behind
the table stands the main job on PNG files, decode, random crop, resize and normalise, beside a loop
that only decodes them with libspng.
"""

from __future__ import annotations

import argparse
import io
import math
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import imagecodecs
import numpy as np
import pillow_jxl
import tifffile
from PIL import Image

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
import libraries

import jpegs
import stoker
from stoker import Pipeline, fn

ROUNDS = 15


def made() -> dict[str, bytes]:
    """Pictures of 1500 x 1000 pixels, and large ones."""
    photo = jpegs.picture(1000, 1500, 1)
    rgba = np.dstack([photo, photo[..., 1]])
    deep = photo.astype(np.uint16) * 257

    def saved(pixels: Any, name: str, mode: str | None = None, **options: Any) -> bytes:
        file = io.BytesIO()
        image = Image.fromarray(pixels)
        (image.convert(mode) if mode else image).save(file, name, **options)
        return file.getvalue()

    def tiled(pixels: Any, compression: str) -> bytes:
        file = io.BytesIO()
        tifffile.imwrite(
            file,
            pixels,
            photometric="rgb",
            tile=(256, 256),
            compression=compression,
            predictor=True,
        )
        return file.getvalue()

    large = cv2.resize(photo, (4000, 3000), interpolation=cv2.INTER_CUBIC)
    return {
        "PNG RGB": saved(photo, "PNG"),
        "PNG RGB smooth": saved(cv2.GaussianBlur(photo, (0, 0), 3), "PNG"),
        "PNG RGBA": saved(rgba, "PNG"),
        "PNG gray": saved(photo, "PNG", "L"),
        "PNG palette": saved(photo, "PNG", "P"),
        "PNG 16 bit": cv2.imencode(".png", deep)[1].tobytes(),
        "PNG 4000 x 3000": saved(large, "PNG"),
        "BMP": saved(photo, "BMP"),
        "PNM": saved(photo, "PPM"),
        "WebP lossy": saved(photo, "WEBP", quality=85),
        "WebP lossless": saved(photo, "WEBP", lossless=True, method=2),
        "GIF": saved(photo, "GIF"),
        "TIFF raw": saved(photo, "TIFF"),
        "TIFF LZW": saved(photo, "TIFF", compression="tiff_lzw"),
        "TIFF deflate": saved(photo, "TIFF", compression="tiff_adobe_deflate"),
        "TIFF JPEG": saved(photo, "TIFF", compression="jpeg", quality=90),
        "TIFF tiles 4000 x 3000": tiled(large, "lzw"),
        "JPEG lossless": imagecodecs.jpeg8_encode(photo, lossless=True, predictor=1),
        "JPEG 2000": saved(photo, "JPEG2000"),
        "JPEG 2000 lossy": saved(
            photo, "JPEG2000", irreversible=True, quality_mode="rates", quality_layers=[20]
        ),
        "JPEG 2000 large": saved(large, "JPEG2000"),
        "AVIF": saved(photo, "AVIF", quality=80, speed=8),
        "AVIF 4:4:4": saved(photo, "AVIF", quality=80, speed=8, subsampling="4:4:4"),
        "JPEG XL": saved(photo, "JXL", quality=85),
        "JPEG XL lossless": saved(photo, "JXL", lossless=True, effort=3),
    }


FORMATS = ("JPEG 2000", "JPEG XL")  # of two words


def format_of(name: str) -> str:
    return next((f for f in FORMATS if name.startswith(f)), name.split()[0])


def pipeline(file: bytes, decode: Callable[[Any], Any]) -> Callable[[], Any]:
    encoded = np.frombuffer(file, np.uint8)
    pipe = Pipeline(batch_size=1, num_threads=1, executor="simple", device_id=None)
    with pipe:
        source = fn.external_source(lambda info: encoded, batch=False, no_copy=True)
        pipe.set_outputs(decode(source))
    pipe.build()
    return pipe.run


def by_pillow(file: bytes) -> Any:
    with Image.open(io.BytesIO(file)) as image:
        return np.asarray(image.convert("RGB"))


def by_imagecodecs(file: bytes, format_: str) -> Any:
    """Only of formats that it decodes by the same library."""
    if format_ == "JPEG 2000":
        return imagecodecs.jpeg2k_decode(file, numthreads=1)
    if format_ == "AVIF":
        return imagecodecs.avif_decode(file, numthreads=1)
    return imagecodecs.jpegxl_decode(file, numthreads=1) if format_ == "JPEG XL" else None


def by_opencv(file: bytes) -> Any:
    bgr = cv2.imdecode(np.frombuffer(file, np.uint8), cv2.IMREAD_COLOR)
    return bgr if bgr is None else cv2.cvtColor(bgr, cv2.COLOR_BGR2RGB)


def corner(encoded: Any) -> Any:
    return fn.decoders.image_crop(encoded, crop=[256, 256], crop_pos_x=0.3, crop_pos_y=0.3)


def main_job(rounds: int) -> None:
    """What a ResNet-50 trains on, from PNG files of 500 x 375 pixels."""
    files = [cv2.imencode(".png", jpegs.picture(375, 500, seed))[1].tobytes() for seed in range(16)]
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{i}.png" for i in range(len(files))]
        for path, file in zip(paths, files, strict=True):
            path.write_bytes(file)
        pipe = Pipeline(batch_size=len(files), num_threads=1, executor="simple", device_id=None)
        with pipe:
            encoded, label = fn.readers.file(files=[str(p) for p in paths])
            image = fn.resize(fn.decoders.image_random_crop(encoded), size=[224, 224])
            pipe.set_outputs(
                fn.crop_mirror_normalize(
                    image, mirror=fn.random.coin_flip(), mean=[124, 116, 104], std=[58, 57, 57]
                ),
                label,
            )
        pipe.build()
        ways = [pipe.run, lambda: [imagecodecs.spng_decode(f) for f in files]]
        ours, bare = (t / len(files) for t in milliseconds(ways, rounds))
    print(
        f"main job on PNG: {ours:.2f} ms an image; libspng alone: {bare:.2f} ms; "
        f"{bare / ours:.2f} x"
    )


def milliseconds(ways: list[Callable[[], Any]], rounds: int) -> list[float]:
    """The median time of each, in rounds in which each has its turn."""
    times = np.empty((rounds, len(ways)))
    for r in range(rounds):
        for i, way in enumerate(ways):
            begin = time.perf_counter()
            way()
            times[r, i] = time.perf_counter() - begin
    return [float(t) for t in np.median(times, 0) * 1e3]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--only", default="", help="begin of the names of the pictures to decode")
    parser.add_argument("files", nargs="*", type=Path)
    args = parser.parse_args()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    cv2.setNumThreads(1)
    pillow_jxl.JpegXLImagePlugin.DECODE_THREADS = 0
    there = {c.format for c in stoker.codecs() if c.is_there}
    files = {p.name: p.read_bytes() for p in args.files} or made()
    columns = "ms,window,library,Pillow,OpenCV,imagecodecs,x fastest,x library"
    print(f"{'':24}" + "".join(f"{c:>12}" for c in columns.split(",")))
    (nothing,) = milliseconds([pipeline(b"1", lambda e: e)], args.rounds)
    print(f"{'nothing':24}{nothing:12.2f}")
    for name, file in files.items():
        format_ = format_of(name)
        if not name.startswith(args.only) or (not args.files and format_ not in there):
            continue
        library = libraries.PICTURES.get(format_, lambda _: None)(file)
        ways: list[Callable[[], Any]] = [
            pipeline(file, fn.decoders.image),
            pipeline(file, corner),
            library or (lambda: None),
            lambda file=file: by_pillow(file),
            lambda file=file: by_opencv(file),
            lambda file=file, format_=format_: by_imagecodecs(file, format_),
        ]
        ours, window, alone, *others = milliseconds(ways, args.rounds)
        alone = alone if library else math.nan
        # A decoder that returns nothing at once did not decode.
        decoded = [
            t if way() is not None else math.nan for t, way in zip(others, ways[3:], strict=True)
        ]
        ratios = [np.nanmin(decoded) / ours, alone / ours]
        print(
            f"{name:24}" + "".join(f"{t:12.2f}" for t in [ours, window, alone, *decoded, *ratios])
        )
    if not args.files and "PNG" in there and "PNG".startswith(args.only):
        main_job(args.rounds)


if __name__ == "__main__":
    main()
