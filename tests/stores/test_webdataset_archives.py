# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Archives in the layout of WebDataset: by tar, by its own writer, damaged."""

from __future__ import annotations

import gzip
import struct
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import store_writers as writers
from containers import archive_of, listed_in, read, sha

from helpers import make, samples_of
from stoker import Pipeline, fn
from stoker.errors import GraphError, SampleError


@pytest.fixture(scope="module")
def archives(test_data: Path) -> Path:
    return test_data / "containers" / "webdataset"


def shards_of(archives: Path) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    return [(s, shard) for s in listed_in(archives)["sets"] for shard in s["shards"]]


def webdataset(paths: Sequence[Path], ext: Sequence[str], **arguments: Any) -> Pipeline:
    return make(
        lambda: fn.readers.webdataset(paths=[str(p) for p in paths], ext=list(ext), **arguments)
    )


def check_shard(archives: Path, shard: dict[str, Any], index: str | None) -> None:
    records = shard["records"]
    endings = sorted({e for r in records for e in r["components"]})
    given = {"index_paths": [str(archives / index)]} if index else {}
    pipe = webdataset([archives / shard["file"]], endings, **given)
    assert pipe.reader_meta()[next(iter(pipe.reader_meta()))]["epoch_size"] == len(records)
    for record in records:
        batches = pipe.run()
        batches = batches if isinstance(batches, tuple) else (batches,)
        (sample,) = samples_of(batches)
        for ending, got in zip(endings, sample, strict=True):
            component = record["components"].get(ending)
            assert got.size == (component["size"] if component else 0), (record["key"], ending)
            if component:
                assert sha(got) == component["sha256"], (record["key"], ending)
        source = batches[0].source_info(0)
        assert f"{shard['file']}:{record['key']}." in source


def test_webdataset_archives(archives: Path) -> None:
    for _, shard in shards_of(archives):
        check_shard(archives, shard, None)


def test_webdataset_indexes(archives: Path) -> None:
    checked = 0
    for _, shard in shards_of(archives):
        if shard.get("index"):
            check_shard(archives, shard, shard["index"])
            checked += 1
    assert checked >= 9


def test_webdataset_shards_are_one_set(archives: Path) -> None:
    shards = [s for of, s in shards_of(archives) if of["name"] == "imagenet"]
    pipe = webdataset([archives / s["file"] for s in shards], ["cls"], random_shuffle=True)
    labels = sorted(int(samples_of(pipe.run())[0][0].tobytes()) for _ in range(64))
    assert labels == sorted(r["label"] for s in shards for r in s["records"])


def test_missing_components(archives: Path) -> None:
    (shard,) = (s for of, s in shards_of(archives) if of["name"] == "missing")
    path = archives / shard["file"]
    have = [r for r in shard["records"] if {"jpg", "cls"} <= set(r["components"])]
    skipping = webdataset([path], ["jpg", "cls"], missing_component_behavior="skip")
    for record in have:
        jpg, cls = samples_of(skipping.run())[0]
        assert sha(jpg) == record["components"]["jpg"]["sha256"]
        assert sha(cls) == record["components"]["cls"]["sha256"]
    failing = webdataset([path], ["jpg", "cls"], missing_component_behavior="error")
    for record in shard["records"]:
        if record in have:
            failing.run()
        else:
            with pytest.raises(SampleError, match=r"no component '(cls|jpg)'"):
                failing.run()
    alternatives = webdataset([path], ["npy;seg.png;CLS"], case_sensitive_extensions=False)
    for record in shard["records"]:
        ((got,),) = samples_of(alternatives.run())
        parts = record["components"]
        nearest = next((parts[e] for e in ("npy", "seg.png", "cls") if e in parts), None)
        assert got.size == (nearest["size"] if nearest else 0)


def test_damaged_webdataset_archives(archives: Path) -> None:
    (damaged,) = (s for s in listed_in(archives)["sets"] if s["name"] == "damaged")
    records = damaged["shards"][0]["records"]
    for entry in damaged["damaged"]:
        pipe = webdataset([archives / entry["file"]], ["jpg", "cls"])
        for record in records[: entry["whole_samples"]]:
            jpg, _ = samples_of(pipe.run())[0]
            assert sha(jpg) == record["components"]["jpg"]["sha256"]
        if entry["error"]:
            with pytest.raises(SampleError) as raised:
                pipe.run()
            assert entry["file"] in str(raised.value) and "byte" in str(raised.value)
        pipe.run()  # the next epoch


def test_compressed_archives_cut_off(archives: Path, tmp_path: Path) -> None:
    """Whatever its length, the samples before the end are there, and an error names the file."""
    (shard,) = (s for of, s in shards_of(archives) if of["name"] == "compressed")
    whole = (archives / shard["file"]).read_bytes()
    path = tmp_path / "cut.tar.gz"
    for size in (*range(1000, len(whole), len(whole) // 9), len(whole) - 1):
        path.write_bytes(whole[:size])
        pipe = webdataset([path], ["jpg", "cls"])
        count = pipe.reader_meta()[next(iter(pipe.reader_meta()))]["epoch_size"]
        good = 0
        for i in range(count):
            try:
                jpg, _ = samples_of(pipe.run())[0]
            except SampleError as e:
                assert "cut.tar.gz" in str(e) and "byte" in str(e)
                assert i == count - 1
            else:
                assert sha(jpg) == shard["records"][i]["components"]["jpg"]["sha256"]
                good += 1
        assert good >= count - 1 and (good < 16 or size == len(whole) - 1)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "version"),
        ("v1.3 1\n", "version"),
        ("v1.2 2\ncls 512 3 a.cls\n", "promises 2 samples and has 1"),
        ("v1.2 1\ncls 513 3 a.cls\n", "line 2"),
        ("v1.2 1\ncls x 3 a.cls\n", "line 2"),
        ("v1.2 1\ncls 512\n", "line 2"),
        ("v1.2 1\ncls -512 3 a.cls\n", "line 2"),
    ],
)
def test_wrong_indexes_are_refused(archives: Path, tmp_path: Path, text: str, words: str) -> None:
    index = tmp_path / "wrong.idx"
    index.write_text(text)
    with pytest.raises(GraphError, match=words):
        webdataset([archives / "v7.tar"], ["cls"], index_paths=[str(index)]).build()


def test_indexes_beyond_the_archive_fail_their_samples(archives: Path, tmp_path: Path) -> None:
    index = tmp_path / "far.idx"
    index.write_text("v1.2 1\ncls 5120000000 3 a.cls\n")
    pipe = webdataset([archives / "v7.tar"], ["cls"], index_paths=[str(index)])
    with pytest.raises(SampleError, match=r"v7.tar.* at byte 5120000000"):
        pipe.run()


@pytest.mark.parametrize(
    "place", [f"1024 {2**63 - 1}", f"1536 {2**62}", f"{2**63 - 512} 600", "20480 10", "1536 100000"]
)
def test_webdataset_index_of_something_else(tmp_path: Path, place: str) -> None:
    archive_of(tmp_path / "a.tar", {"a.jpg": bytes(100), "a.cls": b"7"})
    (tmp_path / "a.idx").write_text(f"v1.1 1\njpg 512 100 cls {place}\n")

    def define() -> Any:
        _, label = fn.readers.webdataset(
            paths=[str(tmp_path / "a.tar")],
            index_paths=[str(tmp_path / "a.idx")],
            ext=["jpg", "cls"],
        )
        return (fn.reductions.sum(label),)

    with pytest.raises(SampleError, match=r"a\.tar"):
        read(define, 1)


@pytest.mark.parametrize("packed", [False, True])
def test_archives_are_searched_once(tmp_path: Path, indexes: Path, packed: bool) -> None:
    path = tmp_path / "a.tar"
    archive_of(path, {"a.jpg": bytes(100), "a.cls": b"7", "b.jpg": bytes(90), "b.cls": b"8"})
    if packed:
        path.write_bytes(gzip.compress(path.read_bytes()))

    def labels(**arguments: Any) -> list[bytes]:
        given: Any = {"paths": [str(path)], "ext": ["cls"], **arguments}
        count = len(labels_there)
        return [bytes(c) for (c,) in read(lambda: (fn.readers.webdataset(**given),), count)]

    labels_there = ["7", "8"]
    assert labels() == [b"7", b"8"]
    (kept,) = indexes.iterdir()
    before, written = kept.read_bytes(), kept.stat().st_mtime_ns
    assert len(before) == 64 + 8 * (4 + 3) + 32 * 4 + len("jpga.jpgclsa.clsjpgb.jpgclsb.cls")
    # Other endings and another treatment of missing ones take the same table.
    assert labels(ext=["seg;cls"], missing_component_behavior="skip") == [b"7", b"8"]
    assert kept.stat().st_mtime_ns == written
    for at in (3, 30, 70, 100, len(before) - 1):
        kept.unlink()  # it is mapped
        kept.write_bytes(before[:at] + bytes([before[at] ^ 1]) + before[at + 1 :])
        assert labels() == [b"7", b"8"]
        assert kept.read_bytes() == before
    archive_of(path, {"a.cls": b"1", "b.cls": b"2"})
    assert labels() == [b"1", b"2"]
    assert kept.read_bytes() != before


def test_tables_of_damaged_archives_are_not_kept(tmp_path: Path, indexes: Path) -> None:
    path = tmp_path / "a.tar"
    archive_of(path, {"a.cls": b"7", "b.cls": b"8"})
    data = bytearray(path.read_bytes())
    data[1024] ^= 1
    path.write_bytes(data)
    for _ in range(2):
        pipe = webdataset([path], ["cls"])
        assert bytes(samples_of(pipe.run())[0][0]) == b"7"
        with pytest.raises(SampleError, match=r"a\.tar.*damaged at byte 1024"):
            pipe.run()
    assert not indexes.exists() or not list(indexes.iterdir())


def test_kept_tables_that_anyone_wrote_are_checked(tmp_path: Path, indexes: Path) -> None:
    """Right checksums over wrong numbers."""
    path = tmp_path / "a.tar"
    archive_of(path, {"a.jpg": bytes(100), "a.cls": b"7", "b.cls": b"8"})
    webdataset([path], ["cls"]).build()
    (kept,) = indexes.iterdir()
    before = kept.read_bytes()
    head, body = before[:64], before[64:]
    for at in range(0, len(body) - 20, 8):
        for value in (0, 1, 7, -1, 2**62, -(2**63)):
            changed = body[:at] + struct.pack("<q", value) + body[at + 8 :]
            start = head[:56] + struct.pack("<I", writers.crc32c(changed))
            kept.unlink()  # it is mapped
            kept.write_bytes(start + struct.pack("<I", writers.crc32c(start)) + changed)
            try:
                pipe = webdataset([path], ["cls"])
                pipe.run()
            except (GraphError, SampleError) as e:
                assert "a.tar" in str(e), (at, value)


def test_a_component_that_no_sample_has(tmp_path: Path) -> None:
    archive_of(tmp_path / "a.tar", {"1.jpg": b"x", "1.cls": b"1", "2.jpg": b"y", "2.cls": b"2"})
    with pytest.warns(UserWarning, match=r"have no component 'jpeg', but 'jpg', 'cls'"):
        webdataset([tmp_path / "a.tar"], ["cls", "jpeg"]).run()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        webdataset([tmp_path / "a.tar"], ["cls", "jpeg;jpg"]).run()
