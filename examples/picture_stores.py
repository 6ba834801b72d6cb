# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""A folder of pictures in each kind of store, and how that is read.

All stores hold the files as they are, in the same order, so that all give the same pixels.
"""

from __future__ import annotations

import csv
import hashlib
import inspect
import io
import json
import os
import shutil
import struct
import tarfile
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import store_writers as writers

from stoker import DataNode, fn, tfrecord, types

SHARD = 100  # pictures in each file of a store
# A file and its label.
Entry = tuple[Path, int]
Pair = tuple[DataNode, DataNode]


def entries_of(root: Path) -> list[Entry]:
    """The files of a folder of class folders, as ``fn.readers.file`` finds them."""
    filters = inspect.signature(fn.readers.file).parameters["file_filters"].default
    there = [path for path in root.iterdir() if path.is_dir() and path.name[0] != "."]
    folders = sorted(there, key=lambda p: os.fsencode(p.name))
    return [
        (path, label)
        for label, folder in enumerate(folders)
        for path in sorted(folder.iterdir(), key=lambda p: os.fsencode(p.name))
        if path.name[0] != "." and not path.is_dir()
        if any(fnmatch(path.name.lower(), pattern) for pattern in filters)
    ]


def _shards(entries: Sequence[Entry]) -> Iterator[tuple[int, Sequence[Entry]]]:
    for first in range(0, len(entries), SHARD):
        yield first, entries[first : first + SHARD]


def _write_tfrecord(entries: Sequence[Entry], folder: Path) -> None:
    for first, some in _shards(entries):
        records = [
            writers.example({"image/encoded": [path.read_bytes()], "image/class/label": [label]})
            for path, label in some
        ]
        (folder / f"{first:06}.tfrecord").write_bytes(writers.tfrecord(records)[0])


def _read_tfrecord(folder: Path, **how: Any) -> Pair:
    features = {
        "image/encoded": tfrecord.FixedLenFeature([], tfrecord.string, ""),
        "image/class/label": tfrecord.FixedLenFeature([1], tfrecord.int64, -1),
    }
    found = fn.readers.tfrecord(path=_files(folder, "*.tfrecord"), features=features, **how)
    return found["image/encoded"], fn.cast(found["image/class/label"], dtype=types.INT32)


def _write_recordio(entries: Sequence[Entry], folder: Path) -> None:
    for first, some in _shards(entries):
        records = [
            writers.picture_record(first + i, [float(label)], path.read_bytes())
            for i, (path, label) in enumerate(some)
        ]
        (folder / f"{first:06}.rec").write_bytes(writers.recordio(records)[0])


def _read_recordio(folder: Path, **how: Any) -> Pair:
    encoded, label = fn.readers.mxnet(path=_files(folder, "*.rec"), **how)
    return encoded, fn.cast(label, dtype=types.INT32)


def _write_lmdb(
    pack: Callable[[bytes, int], bytes],
) -> Callable[[Sequence[Entry], Path], None]:
    def write(entries: Sequence[Entry], folder: Path) -> None:
        for first, some in _shards(entries):
            values = {
                f"{first + i:08}".encode(): pack(path.read_bytes(), label)
                for i, (path, label) in enumerate(some)
            }
            (folder / f"{first:06}.mdb").write_bytes(writers.lmdb(values, most_in_leaf=0)[0])

    return write


def _read_lmdb(folder: Path, **how: Any) -> Pair:
    encoded, label = fn.readers.caffe(path=_files(folder, "*.mdb"), **how)
    return encoded, label


def _read_caffe2(folder: Path, **how: Any) -> Pair:
    encoded, label = fn.readers.caffe2(path=_files(folder, "*.mdb"), **how)
    return encoded, label


def _write_webdataset(entries: Sequence[Entry], folder: Path) -> None:
    for first, some in _shards(entries):
        with tarfile.open(folder / f"{first:06}.tar", "w") as archive:
            for i, (path, label) in enumerate(some):
                parts = {"jpg": path.read_bytes(), "label": struct.pack("<i", label)}
                for ending, data in parts.items():
                    info = tarfile.TarInfo(f"{first + i:08}.{ending}")
                    info.size = len(data)
                    archive.addfile(info, io.BytesIO(data))


def _read_webdataset(folder: Path, **how: Any) -> Pair:
    encoded, label = fn.readers.webdataset(
        paths=_files(folder, "*.tar"), ext=["jpg", "label"], dtypes=["uint8", "int32"], **how
    )
    return encoded, label


def _write_coco(entries: Sequence[Entry], folder: Path) -> None:
    """Each picture has one object of the picture's class. The pictures stay where they are."""
    images = [
        {"id": i, "file_name": str(path.resolve()), "width": 0, "height": 0}
        for i, (path, _) in enumerate(entries)
    ]
    annotations = [
        {"image_id": i, "category_id": label, "bbox": [0, 0, 9, 9]}
        for i, (_, label) in enumerate(entries)
    ]
    table = {"images": images, "annotations": annotations, "categories": []}
    (folder / "instances.json").write_text(json.dumps(table), encoding="utf-8")


def _read_coco(folder: Path, **how: Any) -> Pair:
    encoded, _, labels = fn.readers.coco(
        annotations_file=folder / "instances.json", avoid_class_remapping=True, **how
    )
    return encoded, labels


def _write_voc(entries: Sequence[Entry], folder: Path) -> None:
    """Each picture has one object of the picture's class. Links lead to the pictures."""
    for name in ("pictures", "annotations"):
        (folder / name).mkdir()
    lines = []
    for i, (path, label) in enumerate(entries):
        picture, annotation = f"pictures/{i:08}{path.suffix}", f"annotations/{i:08}.xml"
        (folder / picture).symlink_to(path.resolve())
        box = "<xmin>1</xmin><ymin>1</ymin><xmax>9</xmax><ymax>9</ymax>"
        found = f"<object><name>{label}</name><bndbox>{box}</bndbox></object>"
        (folder / annotation).write_text(f"<annotation>{found}</annotation>", encoding="utf-8")
        lines.append(f"{picture} {annotation}\n")
    (folder / "pictures.txt").write_text("".join(lines), encoding="utf-8")
    classes = "".join(f"{label}\n" for label in range(1 + max(label for _, label in entries)))
    (folder / "classes.txt").write_text(classes, encoding="utf-8")


def _read_voc(folder: Path, **how: Any) -> Pair:
    encoded, _, labels, *_ = fn.readers.voc(
        file_list=folder / "pictures.txt",
        classes=(folder / "classes.txt").read_text(encoding="utf-8").split(),
        **how,
    )
    return encoded, fn.cast(labels - 1, dtype=types.INT32)


def _write_csv(entries: Sequence[Entry], folder: Path) -> None:
    with (folder / "table.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows((path.resolve(), label) for path, label in entries)


def _read_csv(folder: Path, **how: Any) -> Pair:
    encoded, label = fn.readers.csv(
        path=folder / "table.csv",
        columns=["0", "1"],
        file_columns=["0"],
        dtypes=["uint8", "int32"],
        has_header=False,
        **how,
    )
    return encoded, label


def _files(folder: Path, pattern: str) -> list[str]:
    return [str(p) for p in sorted(folder.glob(pattern))]


# How each kind is written and read.
_KINDS: dict[str, tuple[Callable[[Sequence[Entry], Path], None], Callable[..., Pair]]] = {
    "tfrecord": (_write_tfrecord, _read_tfrecord),
    "recordio": (_write_recordio, _read_recordio),
    "lmdb": (_write_lmdb(writers.datum), _read_lmdb),
    "caffe2": (_write_lmdb(writers.tensors), _read_caffe2),
    "webdataset": (_write_webdataset, _read_webdataset),
    "coco": (_write_coco, _read_coco),
    "voc": (_write_voc, _read_voc),
    "csv": (_write_csv, _read_csv),
}
KINDS = tuple(_KINDS)


def converted(kind: str, root: Path, stores: Path) -> Path:
    """The folder of the store with the pictures of ``root``, which is made if it is not there."""
    entries = entries_of(root)
    if not entries:
        raise SystemExit(f"{root} has no folders with pictures")
    listed = [(str(p.resolve()), label, *_version(p)) for p, label in entries]
    digest = hashlib.sha256(json.dumps([1, listed]).encode()).hexdigest()[:16]
    folder = stores / f"{kind}-{digest}"
    if not folder.is_dir():
        partial = folder.with_suffix(f".{os.getpid()}")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        _KINDS[kind][0](entries, partial)
        partial.rename(folder)
    return folder


def _version(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_size, found.st_mtime_ns


def read(kind: str, folder: Path, **how: Any) -> Pair:
    """Encoded pictures and labels, int32 of shape (1,), of a store or of a folder of files."""
    if kind == "files":
        encoded, label = fn.readers.file(file_root=folder, **how)
        return encoded, label
    return _KINDS[kind][1](folder, **how)
