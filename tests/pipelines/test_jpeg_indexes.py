# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Indexes of JPEG files in pipelines: the same bytes with them, hits, their room, .sti files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import jpegs
from helpers import Sample, assert_same, epoch
from stoker import Pipeline, _core, fn, index, jpeg, pipeline_def
from stoker.errors import SampleError

COUNT = 12


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    kinds = ("444", "420", "gray", "restart", "422")
    files = {
        f"{i:02}.jpg": jpegs.encode(
            jpegs.picture(150 + i, 210, i), kinds[i % 5], exif_orientation=i % 3 * 3
        )
        for i in range(COUNT)
    }
    (tmp_path / "pictures").mkdir()
    return jpegs.write_folder(tmp_path / "pictures", files)


def crops(folder: Path, **settings: Any) -> Pipeline:
    @pipeline_def(batch_size=4, num_threads=2, seed=5, **settings)
    def define() -> Any:
        encoded, _ = fn.readers.file(files=sorted(map(str, folder.rglob("*.*"))), name="Reader")
        return fn.decoders.image_random_crop(encoded, random_area=[0.1, 0.5])

    return define()


def epochs(pipe: Pipeline, count: int = 3) -> list[Sample]:
    return [sample for _ in range(count) for sample in epoch(pipe)]


def counted(pipe: Pipeline) -> tuple[int, int, int, int]:
    s = pipe.stats()["jpeg_indexes"]
    return s["hits"], s["misses"], s["wrong"], s["files"]


@pytest.mark.parametrize("executor", ["pipelined", "simple"])
def test_the_first_epoch_makes_them_and_no_byte_changes(folder: Path, executor: str) -> None:
    pipe = crops(folder, executor=executor, prefetch_queue_depth=0)
    assert_same(epoch(pipe), epoch(crops(folder, jpeg_index_limit=0)), "the first epoch")
    assert counted(pipe) == (0, COUNT, 0, COUNT)
    with_index = [*epoch(pipe), *epoch(pipe)]
    assert_same(with_index, epochs(crops(folder, jpeg_index_limit=0))[COUNT:], "with indexes")
    assert counted(pipe) == (2 * COUNT, COUNT, 0, COUNT)
    memory = pipe.stats()["memory"]["jpeg_indexes"]
    assert 0 < memory["in_use"] <= memory["limit"] == 64 << 20
    assert f"{2 * COUNT} of {3 * COUNT} windows of JPEG files" in str(pipe.stats())


def test_their_room_is_a_setting(folder: Path) -> None:
    none = crops(folder, jpeg_index_limit=0)
    few = crops(folder, jpeg_index_limit=2000)
    assert_same(epochs(few), epochs(none), "with few indexes")
    assert counted(none) == (0, 0, 0, 0)
    hits, misses, wrong, files = counted(few)
    assert 0 < files < COUNT and hits > 0 and misses > hits and wrong == 0
    assert few.stats()["jpeg_indexes"]["every"] == 0
    assert few.stats()["memory"]["jpeg_indexes"]["in_use"] <= 2000
    small = crops(folder, memory_limit=32 << 20)
    assert small.stats()["memory"]["jpeg_indexes"]["limit"] == 1 << 20
    assert small.stats()["memory"]["read_ahead"]["limit"] == 3 << 20


def test_they_are_thinned_before_files_have_none(tmp_path: Path) -> None:
    files = {f"{i}.jpg": jpegs.encode(jpegs.picture(150, 430, i), "420") for i in range(COUNT)}
    folder = jpegs.write_folder(tmp_path, files)

    def every(limit: int) -> int:
        pipe = crops(folder, jpeg_index_limit=limit, prefetch_queue_depth=0)
        assert_same(epochs(pipe, 2), epochs(crops(folder, jpeg_index_limit=0), 2), str(limit))
        assert counted(pipe) == (COUNT, COUNT, 0, COUNT)
        memory = pipe.stats()["memory"]["jpeg_indexes"]
        assert 0 < memory["in_use"] <= memory["limit"] == limit
        return int(pipe.stats()["jpeg_indexes"]["every"])

    # 10 rows of 27 MCUs: 4, 2 or 1 places of 10 bytes in a row, and about 180 bytes for a file.
    assert [every(COUNT * room) for room in (700, 450, 320)] == [8, 16, 0]


def test_whole_pictures_have_no_use_of_them(folder: Path) -> None:
    @pipeline_def(batch_size=4, num_threads=2)
    def define() -> Any:
        encoded, _ = fn.readers.file(file_root=str(folder.parent), name="Reader")
        return fn.decoders.image(encoded)

    pipe = define()
    epochs(pipe, 2)
    assert counted(pipe) == (0, 0, 0, 0)


def test_saved_ones_serve_another_pipeline(folder: Path, tmp_path: Path) -> None:
    first = crops(folder, prefetch_queue_depth=0)
    expected = epoch(first)
    first.save_jpeg_indexes(tmp_path / "a.sti")
    second = crops(folder, prefetch_queue_depth=0)
    second.load_jpeg_indexes(str(tmp_path / "a.sti"))
    assert counted(second) == (0, 0, 0, COUNT)
    assert_same(epoch(second), expected, "with loaded indexes")
    assert counted(second) == (COUNT, 0, 0, COUNT)
    second.save_jpeg_indexes(tmp_path / "b.sti")
    assert (tmp_path / "b.sti").read_bytes() == (tmp_path / "a.sti").read_bytes()
    without = crops(folder, jpeg_index_limit=0)
    without.load_jpeg_indexes(tmp_path / "a.sti")
    assert counted(without) == (0, 0, 0, 0)


def test_one_of_changed_files_is_not_used(folder: Path, tmp_path: Path) -> None:
    pipe = crops(folder)
    epoch(pipe)
    pipe.save_jpeg_indexes(tmp_path / "a.sti")
    files = sorted(folder.rglob("*.jpg"))
    swapped = [f.read_bytes() for f in files[::-1]]
    for file, data in zip(files, swapped, strict=True):
        file.write_bytes(data)  # each is another file's: its index is found by its bytes
    late = crops(folder, prefetch_queue_depth=0)
    late.load_jpeg_indexes(tmp_path / "a.sti")
    assert_same(epoch(late), epoch(crops(folder, jpeg_index_limit=0)), "swapped files")
    assert counted(late)[:3] == (COUNT, 0, 0)
    for i, file in enumerate(files):
        file.write_bytes(jpegs.encode(jpegs.picture(150, 210, 100 + i)))
    new = crops(folder, prefetch_queue_depth=0)
    new.load_jpeg_indexes(tmp_path / "a.sti")
    assert_same(epoch(new), epoch(crops(folder, jpeg_index_limit=0)), "new files")
    assert counted(new) == (0, COUNT, 0, 2 * COUNT)


def test_a_damaged_file_of_indexes_is_refused(folder: Path, tmp_path: Path) -> None:
    assert index.main(["jpeg", str(folder)]) == 0
    good = Path(f"{folder}.sti").read_bytes()
    pipe = crops(folder)
    bad = tmp_path / "bad.sti"
    for at in range(0, len(good), 97):
        flipped = bytearray(good)
        flipped[at] ^= 1 << at % 8
        for damaged in (flipped, good[:at]):
            bad.write_bytes(damaged)
            with pytest.raises(SampleError, match="the file of JPEG indexes is damaged"):
                pipe.load_jpeg_indexes(bad)
    assert counted(pipe)[3] == 0
    with pytest.raises(FileNotFoundError):
        pipe.load_jpeg_indexes(tmp_path / "none.sti")


def test_the_command_makes_them_of_a_folder(folder: Path, tmp_path: Path) -> None:
    (folder / "progressive.jpg").write_bytes(jpegs.encode(jpegs.picture(40, 40), "progressive"))
    (folder / "cut.jpg").write_bytes(jpegs.truncated(jpegs.encode(jpegs.picture(40, 40))))
    (folder / "notes.txt").write_text("no picture")
    assert index.main(["jpeg", str(folder), "--output-dir", str(tmp_path)]) == 0
    for name in ("progressive.jpg", "cut.jpg", "notes.txt"):
        (folder / name).unlink()
    pipe = crops(folder, prefetch_queue_depth=0)
    pipe.load_jpeg_indexes(tmp_path / f"{folder.name}.sti")
    assert counted(pipe)[3] == COUNT
    epoch(pipe)
    assert counted(pipe) == (COUNT, 0, 0, COUNT)
    files = sorted(folder.rglob("*.jpg"))
    joined = _core.join_jpeg_indexes([jpeg.build_index(f.read_bytes(), every=8) for f in files])
    assert joined == (tmp_path / f"{folder.name}.sti").read_bytes()
    assert index.main(["jpeg", str(tmp_path / "missing")]) == 1


def test_damage_is_damage_with_an_index(folder: Path, tmp_path: Path) -> None:
    """What lies above a window is judged, although nobody reads it any more."""
    good = crops(folder)
    epoch(good)
    good.save_jpeg_indexes(tmp_path / "a.sti")
    victim = sorted(folder.rglob("*.jpg"))[0]
    data = bytearray(victim.read_bytes())
    at = jpegs.scan_start(bytes(data)) + 200  # an end in the first rows
    data[at : at + 2] = b"\xff\xd9"
    victim.write_bytes(data)
    late = crops(folder, on_error="skip", prefetch_queue_depth=0)
    late.load_jpeg_indexes(tmp_path / "a.sti")
    again = crops(folder, on_error="skip", jpeg_index_limit=0)
    for _ in range(3):
        assert_same(epoch(late), epoch(again), "with a damaged file")
    assert len(late.quarantine()) == len(again.quarantine()) == 1
    assert counted(late) == (3 * (COUNT - 1), 3, 0, COUNT)
