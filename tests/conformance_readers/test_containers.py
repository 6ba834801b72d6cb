# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Stores that other programs wrote: what is in them, and what is said of damaged ones."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers import Array, make, samples_of
from stoker import Pipeline, fn, types
from stoker.errors import GraphError, SampleError


def sha256(array: Array) -> str:
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    return hashlib.sha256(np.ascontiguousarray(little).tobytes()).hexdigest()


def listed(folder: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((folder / "expected.json").read_text())
    return loaded


# readers.numpy


@pytest.fixture(scope="module")
def arrays(test_data: Path) -> Path:
    return test_data / "containers" / "numpy"


def numpy_pipe(files: Sequence[Path], **arguments: Any) -> Pipeline:
    return make(lambda: fn.readers.numpy(files=[str(f) for f in files], **arguments))


def test_numpy_arrays(arrays: Path) -> None:
    expected = listed(arrays)
    read = 0
    for entry in expected["npy"]:
        path = arrays / entry["file"]
        dtype = np.dtype(entry.get("dtype", "O"))
        if dtype.kind in "biuf" and len(entry["shape"]) <= 6:
            ((got,),) = samples_of(numpy_pipe([path]).run())
            assert list(got.shape) == entry["shape"], path.name
            assert got.dtype == dtype.newbyteorder("="), path.name
            assert sha256(got) == entry["sha256"], path.name
            read += 1
        else:
            with pytest.raises(GraphError, match=path.name):
                numpy_pipe([path]).build()
            with pytest.raises(SampleError, match=path.name):
                numpy_pipe([path], dtype=types.FLOAT).run()
    assert read >= 25


def test_damaged_numpy_arrays(arrays: Path) -> None:
    good = arrays / "mri_small.npy"
    damaged = [arrays / d["file"] for d in listed(arrays)["damaged"] if d["file"].endswith(".npy")]
    assert len(damaged) >= 7
    for path in damaged:
        pipe = numpy_pipe([path, good], dtype=types.UINT8)
        with pytest.raises(SampleError) as raised:
            pipe.run()
        assert path.name in str(raised.value) and "byte" in str(raised.value), raised.value
        assert samples_of(pipe.run())[0][0].shape == (7, 32, 40)
        # The type is that of the first file that can be read.
        assert samples_of(numpy_pipe([good, path]).run())[0][0].dtype == np.uint8


# readers.webdataset


@pytest.fixture(scope="module")
def archives(test_data: Path) -> Path:
    return test_data / "containers" / "webdataset"


def shards_of(archives: Path) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    return [(s, shard) for s in listed(archives)["sets"] for shard in s["shards"]]


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
                assert sha256(got) == component["sha256"], (record["key"], ending)
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
        assert sha256(jpg) == record["components"]["jpg"]["sha256"]
        assert sha256(cls) == record["components"]["cls"]["sha256"]
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
    (damaged,) = (s for s in listed(archives)["sets"] if s["name"] == "damaged")
    records = damaged["shards"][0]["records"]
    for entry in damaged["damaged"]:
        pipe = webdataset([archives / entry["file"]], ["jpg", "cls"])
        for record in records[: entry["whole_samples"]]:
            jpg, _ = samples_of(pipe.run())[0]
            assert sha256(jpg) == record["components"]["jpg"]["sha256"]
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
                assert sha256(jpg) == shard["records"][i]["components"]["jpg"]["sha256"]
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
