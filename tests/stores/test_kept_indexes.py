# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Indexes: kept ones of readers, and those that other programs want."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import store_writers as writers
from containers import Json, archive_of, expected, pipe_of, read, set_of, sha

from helpers import samples_of
from stoker import Pipeline, fn, index
from stoker import tfrecord as tf

BYTES = tf.FixedLenFeature([], tf.string, "")


def test_indexes_are_kept_and_found_damaged(
    test_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, table = expected(test_data, "tfrecord")
    monkeypatch.delenv("STOKER_INDEX_DIR")
    (shard, *_) = set_of(table, "imagenet")["shards"]
    path = tmp_path / "data.tfrecord"
    shutil.copyfile(folder / shard["file"], path)
    count = len(shard["records"])

    def hashes() -> list[str]:
        features = {"image/encoded": BYTES}
        got = read(lambda: fn.readers.tfrecord(path=str(path), features=features), count)
        return [sha(image) for (image,) in got]

    wanted = [r["sha256"] for r in shard["records"]]
    assert hashes() == wanted
    kept = tmp_path / "data.tfrecord.stoker-index"
    assert kept.stat().st_size == 64 + 16 * count
    before = kept.read_bytes()
    for at in (3, 30, 100, len(before) - 1):
        kept.write_bytes(before[:at] + bytes([before[at] ^ 1]) + before[at + 1 :])
        assert hashes() == wanted
        assert kept.read_bytes() == before
    # An index of other people's that is of another file is not followed.
    wrong = tmp_path / "wrong.idx"
    wrong.write_text("0 100\n100 200\n")
    got = read(
        lambda: fn.readers.tfrecord(
            path=str(path), index_path=str(wrong), features={"image/encoded": BYTES}
        ),
        count,
    )
    assert [sha(image) for (image,) in got] == wanted


def test_a_running_reader_does_not_miss_its_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("STOKER_INDEX_DIR", raising=False)
    payloads = [bytes([i]) * 9 for i in range(40)]
    path = tmp_path / "data.tfrecord"
    path.write_bytes(writers.tfrecord([writers.example({"x": [p]}) for p in payloads])[0])
    kept = tmp_path / "data.tfrecord.stoker-index"

    def running() -> Pipeline:
        return pipe_of(lambda: (fn.readers.tfrecord(path=path, features={"x": BYTES})["x"],), 1)

    def taken(pipe: Pipeline, count: int) -> list[bytes]:
        return [bytes(x) for _ in range(count) for (x,) in samples_of(pipe.run())]

    running()  # leaves an index for the next one
    for change in (
        lambda: kept.write_bytes(b""),
        lambda: kept.write_bytes(b"x" * 704),
        kept.unlink,
    ):
        pipe = running()
        assert taken(pipe, 2) == payloads[:2]
        change()
        assert taken(pipe, 38) == payloads[2:]
        assert taken(running(), 40) == payloads  # which makes the index again
        assert kept.stat().st_size == 64 + 16 * 40


def test_an_empty_index_is_none_of_a_file_with_records(tmp_path: Path) -> None:
    payloads = [bytes([i]) * 9 for i in range(5)]
    empty = tmp_path / "empty.idx"
    empty.write_text("\n")
    records = tmp_path / "data.tfrecord"
    records.write_bytes(writers.tfrecord([writers.example({"x": [p]}) for p in payloads])[0])
    given: Json = {"path": str(records), "index_path": str(empty), "features": {"x": BYTES}}
    assert [bytes(x) for (x,) in read(lambda: fn.readers.tfrecord(**given), 5)] == payloads
    pictures = tmp_path / "data.rec"
    pictures.write_bytes(writers.recordio([bytes(24) + p for p in payloads])[0])
    given = {"path": str(pictures), "index_path": str(empty)}
    assert [bytes(x) for x, _ in read(lambda: fn.readers.mxnet(**given), 5)] == payloads
    # A file without records has such an index.
    none = tmp_path / "none.tfrecord"
    none.write_bytes(b"")
    given = {"path": [str(none), str(records)], "index_path": [str(empty)] * 2}
    pipe = pipe_of(lambda: fn.readers.tfrecord(**given, features={"x": BYTES}), 5)
    assert list(pipe.epoch_size().values()) == [5]


@pytest.mark.parametrize(
    ("kind", "file", "wanted"),
    [
        ("tfrecord", "tfrecord/imagenet/train-00000-of-00003", ".idx"),
        ("tfrecord", "tfrecord/detection/coco_small-00000-of-00001", ".idx"),
        ("recordio", "recordio/imagenet.rec", None),
        ("recordio", "recordio/multipart.rec", None),
        ("webdataset", "webdataset/imagenet-000000.tar", None),
        ("webdataset", "webdataset/missing.tar", None),
        ("webdataset", "webdataset/gnu_longname.tar", None),
        ("webdataset", "webdataset/pax.tar", None),
    ],
)
def test_index_command(
    test_data: Path, tmp_path: Path, kind: str, file: str, wanted: str | None
) -> None:
    source = test_data / "containers" / file
    assert index.main([kind, str(source), "--output-dir", str(tmp_path)]) == 0
    (made,) = tmp_path.glob("*.idx")
    reference = source.with_name(source.name + wanted) if wanted else source.with_suffix(".idx")
    assert made.name == reference.name
    assert made.read_text() == reference.read_text()


def test_index_command_takes_the_readers_members(tmp_path: Path) -> None:
    members = {"a.txt": b"1", "a.": b"2", "b.": b"3", ".txt": b"4", "c": b"5", "d.txt": b"6"}
    archive = tmp_path / "a.tar"
    archive_of(archive, members)
    (tmp_path / ".a.idx.part").mkdir()  # what another process is writing
    assert index.main(["webdataset", str(archive)]) == 0
    made = tmp_path / "a.idx"
    assert made.read_text() == "v1.2 2\ntxt 512 1 a.txt\ntxt 5632 1 d.txt\n"
    assert made.stat().st_mode & 0o777 == 0o644
    assert len(list(tmp_path.iterdir())) == 3
    given: Json = {"paths": [str(archive)], "ext": ["txt"]}
    for more in ({}, {"index_paths": [str(made)]}, {"index_paths": []}):
        pipe = pipe_of(lambda more=more: (fn.readers.webdataset(**given, **more),), 2)
        assert list(pipe.epoch_size().values()) == [2]
        assert [bytes(t) for (t,) in samples_of(pipe.run())] == [b"1", b"6"]


def test_index_command_names_damage(
    test_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, _ = expected(test_data, "tfrecord")
    bad = folder / "damaged" / "truncated_data.tfrecord"
    assert index.main(["tfrecord", str(bad), "--output-dir", str(tmp_path)]) == 1
    assert not list(tmp_path.glob("*.idx"))
    assert "at byte" in capsys.readouterr().err
