# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""All picture formats alike: windows, mixed folders, devices, damage, and real files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import jpegs
import stoker
import tiffs
from helpers import SIMPLE, Array, assert_same, make, samples_of
from pictures import LEFT_OUT, assert_as_pillow, decode, error_of, formats, needs, saved, source
from stoker import fn
from stoker.errors import SampleError

ALIKE: dict[str, Callable[[Array], bytes]] = {
    "AVIF": lambda p: saved(p, "AVIF", speed=8),
    "BMP": lambda p: saved(p, "BMP"),
    "GIF": lambda p: saved(p, "GIF"),
    "HEIF": lambda p: saved(p, "HEIF"),
    "JPEG 2000": lambda p: saved(p, "JPEG2000"),
    "JPEG XL": lambda p: saved(p, "JXL", lossless=True, effort=1),
    "PNG": lambda p: saved(p, "PNG"),
    "PNM": lambda p: saved(p, "PPM"),
    "TIFF": lambda p: tiffs.encode(p, tile=16),
    "WebP": lambda p: saved(p, "WEBP"),
}


def a_file_of(format_: str, pixels: Array) -> bytes:
    return jpegs.encode(pixels, "444") if format_ == "JPEG" else ALIKE[format_](pixels)


@pytest.mark.parametrize("format_", formats(*sorted(ALIKE)))
def test_windows_are_those_of_the_whole(format_: str) -> None:
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
    formats = ["JPEG", *(f for f in sorted(ALIKE) if f not in LEFT_OUT)]
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
@pytest.mark.parametrize("format_", formats(*sorted(ALIKE)))
def test_a_damaged_file_is_skipped_or_replaced(mixed: list[str], format_: str, policy: str) -> None:
    file = a_file_of(format_, jpegs.picture(50, 60, 9))
    Path(mixed[2]).write_bytes(file[: len(file) * 2 // 3])
    pipe = make(graph(mixed), batch_size=3, on_error=policy)
    count = sum(len(samples_of(pipe.run())) for _ in range(len(mixed) // 3))
    assert count == len(mixed) - (policy == "skip")
    (entry,) = {(e["source"], e["message"]) for e in pipe.quarantine()}
    assert entry[0] == mixed[2] and format_ in entry[1]


@pytest.mark.parametrize("format_", formats("JPEG", *sorted(ALIKE)))
def test_damage_is_named(format_: str) -> None:
    """Cut at 20 places, and with each of 300 bits turned."""
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


def test_formats_are_listed_as_they_are_there() -> None:
    listed = {c.format: c for c in stoker.codecs() if c.kind == "picture"}
    assert set(listed) == {"JPEG", *ALIKE}
    assert {name for name, c in listed.items() if not c.is_there} == LEFT_OUT
    assert listed["JPEG"].package == "libjpeg62-turbo-dev"
    assert listed["PNG"].package == "libisal-dev"
    photo = jpegs.picture(24, 31, 3)
    for name, codec in listed.items():
        if codec.is_there:
            assert decode([a_file_of(name, photo)])[0].shape == photo.shape
        else:
            assert codec.package in error_of(a_file_of(name, photo))


@pytest.mark.parametrize(
    "format_,folder",
    [
        pytest.param("PNG", "images/png", marks=needs("PNG")),
        pytest.param("PNG", "images/multichannel", marks=needs("PNG")),
        pytest.param("BMP", "images/bmp", marks=needs("BMP")),
        pytest.param("PNM", "images/pnm", marks=needs("PNM")),
        pytest.param("TIFF", "images/tiff", marks=needs("TIFF")),
        pytest.param("WebP", "images/webp", marks=needs("WebP")),
    ],
)
def test_real_files_are_as_pillow_decodes_them(test_data: Path, format_: str, folder: str) -> None:
    paths = [p for p in sorted((test_data / folder).iterdir()) if "16bpp" not in p.name]
    kinds = {"PNG": [".png"]}.get(format_, [p.suffix for p in paths])
    files = {p.name: p.read_bytes() for p in paths if p.suffix in kinds}
    assert files
    assert_as_pillow(files)
