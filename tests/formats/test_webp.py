# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""WebP: pixels as Pillow and OpenCV have them, metadata, and words for what is wrong."""

from __future__ import annotations

import cv2
import numpy as np
from PIL import Image

import jpegs
from pictures import assert_as_pillow, decode, error_of, needs, pillow, saved
from stoker import fn, types


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
