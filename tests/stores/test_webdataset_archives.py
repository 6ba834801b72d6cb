# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Archives in the layout of WebDataset: by tar, by its own writer, damaged."""

from __future__ import annotations

import gzip
import io
import os
import re
import struct
import tarfile
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import store_writers as writers
from containers import Json, archive_of, listed_in, pipe_of, read, sha

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
    assert len(before) == 64 + 8 * (5 + 3) + 32 * 4 + len("jpga.jpgclsa.clsjpgb.jpgclsb.cls")
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


def archives_pipe(paths: Sequence[Path], count: int, on_error: str = "raise", **given: Any) -> Any:
    arguments: Json = {"paths": [str(p) for p in paths], "ext": ["jpg", "cls"], **given}
    return pipe_of(lambda: fn.readers.webdataset(**arguments), count, on_error=on_error)


def components(path: Path, **given: Any) -> list[tuple[bytes, ...]]:
    pipe = archives_pipe([path], 1, **given)
    (size,) = pipe.epoch_size().values()
    samples = [sample for _ in range(size) for sample in samples_of(pipe.run())]
    return [tuple(bytes(x) for x in sample) for sample in samples]


def index_of(path: Path, version: str = "v1.2") -> Path:
    """As wds2idx writes it."""
    lines: dict[str, list[str]] = {}
    with tarfile.open(path) as tar:
        for m in tar:
            key, ending = m.name.split(".", 1)
            name = f" {m.name}" if version == "v1.2" else ""
            lines.setdefault(key, []).append(f"{ending} {m.offset_data} {m.size}{name}")
    index = path.with_suffix(".idx")
    text = "".join(" ".join(line) + "\n" for line in lines.values())
    index.write_text(f"{version} {len(lines)}\n{text}")
    return index


FOUR = {"1.jpg": b"x", "1.cls": b"1", "2.jpg": b"y", "2.cls": b"2"}


@pytest.mark.parametrize("version", ["v1.1", "v1.2"])
@pytest.mark.parametrize(
    "members",
    [
        {"1.cls": b"1", "1.jpg": b"x", "2.jpg": b"y", "2.cls": b"2"},  # in another order
        {"1.jpg": b"x", "1.fold": b"0", "2.jpg": b"y", "2.cls": b"2"},  # another component
        {"1.jpg": b"x" * 2000, "1.cls": b"1", "2.jpg": b"y", "2.cls": b"2"},  # shifted
        {"1.jpg": b"x", "1.cls": b"10", "2.jpg": b"y", "2.cls": b"2"},  # of another size
        {"1.jpg": b"x", "2.cls": b"2", "2.jpg": b"y", "1.cls": b"1"},  # labels of others
    ],
)
def test_an_index_of_another_archive(
    tmp_path: Path, version: str, members: dict[str, bytes]
) -> None:
    path = tmp_path / "a.tar"
    archive_of(path, FOUR)
    index = index_of(path, version)
    given = {"index_paths": [str(index)]}
    assert components(path, **given) == [(b"x", b"1"), (b"y", b"2")]
    archive_of(path, members)
    pipe = webdataset([path], ["jpg", "cls"], **given)
    with pytest.raises(SampleError, match=r"a\.tar.*index.*of another archive"):
        pipe.run()


def test_indexes_in_another_order_than_archives(tmp_path: Path) -> None:
    paths = [tmp_path / "a.tar", tmp_path / "b.tar"]
    archive_of(paths[0], FOUR)
    archive_of(paths[1], {name.replace("2", "3"): data for name, data in FOUR.items()})
    swapped = [str(index_of(p)) for p in reversed(paths)]
    pipe = archives_pipe(paths, 4, "skip", index_paths=swapped)
    # The first samples of both lie alike and have one name, so that they are right.
    assert [bytes(cls) for _, cls in samples_of(pipe.run())] == [b"1", b"1"]
    assert len(pipe.quarantine()) == 2


NAMES = ["k", "k" * 96, "d" * 90 + "/" + "k" * 90, "gr\u00f6\u00dfe"]
LONG = ["k" * 99, "k" * 700]  # which only extensions of the format can hold


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    ("format_", "key"),
    [(tarfile.USTAR_FORMAT, key) for key in NAMES]
    + [(tarfile.GNU_FORMAT, key) for key in NAMES + LONG]
    + [(tarfile.PAX_FORMAT, key) for key in NAMES + LONG],
)
def test_names_of_all_kinds_are_compared(
    tmp_path: Path, format_: int, packed: bool, key: str
) -> None:
    def write(order: str) -> None:
        with tarfile.open(path, "w", format=format_) as tar:
            for ending in order.split():
                info = tarfile.TarInfo(f"{key}.{ending}")
                info.size = 1
                tar.addfile(info, io.BytesIO(ending[:1].encode()))

    path = tmp_path / "a.tar"
    write("jpg cls")
    index = index_of(path)
    for given in ({}, {"index_paths": [str(index)]}):
        assert components(path, **given) == [(b"j", b"c")]
    if packed:
        path.write_bytes(gzip.compress(path.read_bytes()))
        assert components(path) == [(b"j", b"c")]
        return
    write("cls jpg")
    with pytest.raises(SampleError, match="of another archive"):
        components(path, index_paths=[str(index)])


@pytest.mark.parametrize("packed", [False, True])
def test_a_table_of_an_archive_of_the_same_size_and_time(tmp_path: Path, packed: bool) -> None:
    def write(members: dict[str, bytes]) -> None:
        archive_of(path, members)
        if packed:
            path.write_bytes(gzip.compress(path.read_bytes(), 0, mtime=0))
        os.utime(path, (1, 1))

    path = tmp_path / "a.tar"
    write(FOUR)
    assert components(path) == [(b"x", b"1"), (b"y", b"2")]
    write({"1.cls": b"1", "1.jpg": b"x", "2.cls": b"2", "2.jpg": b"y"})
    with pytest.raises(SampleError, match=r"table '.*' has .* of another archive: remove it"):
        components(path)


@pytest.mark.parametrize("indexed", [False, True])
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("behaviour", ["empty", "skip", "error"])
def test_members_that_are_apart(
    tmp_path: Path, indexed: bool, packed: bool, behaviour: str
) -> None:
    path = tmp_path / "a.tar"
    names = ("1.jpg", "2.jpg", "3.jpg", "3.cls", "1.cls", "2.cls")
    archive_of(path, {name: name.encode() for name in names})
    given: Json = {"missing_component_behavior": behaviour}
    if indexed:  # half samples, as the archive has them
        members = []
        with tarfile.open(path) as tar:
            members = [f"{m.name[2:]} {m.offset_data} {m.size} {m.name}" for m in tar]
        lines = [*members[:2], " ".join(members[2:4]), *members[4:]]
        (tmp_path / "a.idx").write_text("v1.2 5\n" + "\n".join(lines) + "\n")
        given["index_paths"] = [str(tmp_path / "a.idx")]
    elif packed:
        path.write_bytes(gzip.compress(path.read_bytes()))
    for _ in range(2):  # the second time by the table that was kept
        pipe = archives_pipe([path], 5, "skip", **given)
        assert [bytes(cls) for _, cls in samples_of(pipe.run())] == [b"3.cls"]
        bad = pipe.quarantine()
        assert len(bad) == 4
        for entry in bad:
            assert "tar --sort=name" in entry["message"]
            assert re.search(r"'(\d)\.jpg' at byte \d+ and '\1\.cls' at byte", entry["message"])


def test_samples_of_one_name_in_several_archives_are_several(tmp_path: Path) -> None:
    for name in "ab":
        archive_of(tmp_path / f"{name}.tar", FOUR)
    pipe = archives_pipe([tmp_path / "a.tar", tmp_path / "b.tar"], 4, ext=["cls"])
    assert [bytes(cls) for (cls,) in samples_of(pipe.run())] == [b"1", b"2"] * 2


def test_a_component_that_is_there_twice(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        for name, data in (("1.jpg", b"x"), ("1.cls", b"1"), ("1.cls", b"2"), ("1.JPG", b"y")):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    for behaviour in ("empty", "skip", "error"):
        pipe = webdataset(
            [tmp_path / "a.tar"], ["jpg", "cls"], missing_component_behavior=behaviour
        )
        with pytest.raises(SampleError, match=r"'cls' here and, as 'cls', at byte 1536.*only one"):
            pipe.run()
    assert bytes(samples_of(webdataset([tmp_path / "a.tar"], ["jpg"]).run())[0][0]) == b"x"
    folded = webdataset([tmp_path / "a.tar"], ["jpg"], case_sensitive_extensions=False)
    with pytest.raises(SampleError, match=r"'JPG' here and, as 'jpg'"):
        folded.run()


@pytest.mark.parametrize("names", ["a.jpg A.cls b.jpg B.cls", "i/a.jpg l/a.cls i/b.jpg l/b.cls"])
def test_parts_whose_names_are_not_equal(tmp_path: Path, names: str) -> None:
    archive_of(tmp_path / "a.tar", {name: name.encode() for name in names.split()})
    with pytest.warns(UserWarning, match="none of the first 4 samples has all components.*capital"):
        webdataset([tmp_path / "a.tar"], ["jpg", "cls"]).run()
