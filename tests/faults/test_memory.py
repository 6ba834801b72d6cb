# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Files that need much memory: bad samples, or made alone, and never more than the limit."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

import jpegs
from helpers import assert_same, epoch, make, run_script
from stoker import fn
from stoker.errors import SampleError

MB = 1 << 20
EXECUTORS = ("pipelined", "simple")


def flat(height: int, width: int, **options: Any) -> bytes:
    """A JPEG file that is quickly made and small, whatever its size."""
    buffer = io.BytesIO()
    Image.new("RGB", (width, height), (90, 140, 60)).save(buffer, "JPEG", **options)
    return buffer.getvalue()


def folder(root: Path, **others: bytes) -> Path:
    """Six small pictures, and others among them."""
    small = {f"c/{k}.jpg": jpegs.encode(jpegs.picture(40 + k, 50)) for k in range(6)}
    return jpegs.write_folder(
        root, small | {f"c/{name}.jpg": data for name, data in others.items()}
    )


def thumbnails(root: Path) -> Any:
    encoded, label = fn.readers.file(file_root=root)
    return fn.resize(fn.decoders.image(encoded), size=[8, 8]), label


@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_header_that_claims_too_much_is_one_bad_sample(tmp_path: Path, executor: str) -> None:
    root = folder(tmp_path, **{"3a": jpegs.claims(16384, 16384)})
    settings: dict[str, Any] = {"memory_limit": 1 << 30, "executor": executor, "batch_size": 7}
    pipe = make(lambda: thumbnails(root), on_error="skip", **settings)
    assert [len(pipe.run()[0]) for _ in range(3)] == [6] * 3
    (bad,) = pipe.quarantine()
    assert bad["source"].endswith("3a.jpg") and bad["operator"] == "decoders.image"
    assert re.search(r"needs at least 7[67]\d\.\d MiB.*384\.0 MiB at most", bad["message"])
    pipe = make(lambda: thumbnails(root), on_error="replace", **settings)
    assert [len(pipe.run()[0]) for _ in range(3)] == [7] * 3
    pipe = make(lambda: thumbnails(root), **settings | {"batch_size": 1})
    for step in range(14):
        if step % 7 != 4:
            assert len(pipe.run()[0]) == 1
            continue
        with pytest.raises(SampleError, match=r"3a\.jpg"):
            pipe.run()


def test_a_picture_above_a_workers_share_is_made(tmp_path: Path) -> None:
    root = folder(tmp_path, **{"3a": flat(2500, 3000), "5a": flat(3000, 2500)})
    expected = epoch(make(lambda: thumbnails(root)))
    for threads in (1, 2, 64):
        pipe = make(lambda: thumbnails(root), num_threads=threads, memory_limit=96 * MB)
        assert_same(epoch(pipe), expected, f"{threads} threads")
        assert not pipe.quarantine()


@pytest.mark.parametrize("executor", EXECUTORS)
def test_coefficients_of_progressive_files_count(tmp_path: Path, executor: str) -> None:
    """For each 64 of them libjpeg takes 128 bytes, also where a small window is wanted. It gets
    what is unusual in such files. Our own decoder keeps a few rows of the others."""
    usual = flat(3000, 3000, progressive=True, subsampling=2)
    codes = usual.index(b"\xff\xc4", usual.index(b"\xff\xda"))
    unusual = usual[:codes] + b"\xff\xfe\x00\x03c" + usual[codes:]  # a comment between scans
    files = {"1a": flat(3000, 3000), "2a": usual, "3a": unusual}
    root = folder(tmp_path, **files)

    def corners() -> Any:
        encoded, _ = fn.readers.file(file_root=root)
        return fn.crop(fn.decoders.image(encoded), crop=[32, 32])

    coefficients = 3000 * 3000 * 3  # chroma has half the rows and columns
    for limit, count in ((coefficients * 2, 8), (coefficients * 4, 9)):
        pipe = make(corners, memory_limit=limit, executor=executor, on_error="skip", batch_size=9)
        assert len(pipe.run()[0]) == count
        assert [Path(b["source"]).stem for b in pipe.quarantine()] == ["3a"][: 9 - count]


def test_a_sparse_file_is_judged_by_its_size_before_it_is_read(tmp_path: Path) -> None:
    root = folder(tmp_path, **{"2a": flat(30, 30), "4a": flat(30, 30)})
    for name in ("2a", "4a"):
        with (root / "c" / f"{name}.jpg").open("r+b") as file:
            file.truncate(3 << 30)
    done = run_script(f"""
from pathlib import Path
from stoker import Pipeline, fn
def status(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(l.split()[1]) << 10 for l in lines if l.startswith(name))
pipe = Pipeline(batch_size=8, num_threads=2, memory_limit=1 << 30, on_error="skip")
with pipe:
    encoded, _ = fn.readers.file(file_root={str(root)!r})
    pipe.set_outputs(fn.resize(fn.decoders.image(encoded), size=[8, 8]))
before = status("VmRSS")
print(len(pipe.run()[0]), len(pipe.run()[0]))
print([(Path(b["source"]).stem, "at least 3.0 GiB" in b["message"]) for b in pipe.quarantine()])
print((status("VmHWM") - before) >> 20 < 100)
""")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["6 6", "[('2a', True), ('4a', True)]", "True"]


def test_a_large_file_that_fits_is_read_by_one_worker(tmp_path: Path) -> None:
    """It is larger than the window of reading ahead, and than its worker's share."""
    root = folder(tmp_path, **{"1a": flat(30, 30), "4a": flat(30, 30)})
    expected = epoch(make(lambda: thumbnails(root)))
    for name in ("1a", "4a"):
        with (root / "c" / f"{name}.jpg").open("r+b") as file:
            file.truncate(40 * MB)
    pipe = make(lambda: thumbnails(root), memory_limit=128 * MB, num_threads=8, batch_size=3)
    assert_same(epoch(pipe)[:8], expected, "padded with zeros")
    assert not pipe.quarantine()
