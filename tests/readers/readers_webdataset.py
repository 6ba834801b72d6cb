# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""readers.webdataset: several tar archives, plain, with an index, or compressed by gzip."""

from __future__ import annotations

import gzip
import io
import tarfile
from pathlib import Path

import numpy as np

from .common import Store, array_of, some_bytes

EACH = 6  # samples of an archive


def _components(index: int) -> dict[str, bytes]:
    numbers = np.arange(index, index + 3, dtype=np.int32)
    return {
        "bin": some_bytes(index, 40 + 217 * index % 3000),
        "txt": b"" if index == 5 else str(index).encode(),
        "i4": numbers.tobytes(),
    }


def _sample(index: int) -> tuple[np.ndarray, ...]:
    parts = _components(index)
    return array_of(parts["bin"]), np.frombuffer(parts["i4"], np.int32), array_of(parts["txt"])


def _write(folder: Path, count: int) -> list[Path]:
    paths = []
    for first in range(0, count, EACH):
        path = folder / f"shard-{first:03}.tar"
        kinds = (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT)
        with tarfile.open(path, "w", format=kinds[first // EACH % 3]) as tar:
            for i in range(first, min(first + EACH, count)):
                for ending, data in _components(i).items():
                    info = tarfile.TarInfo(f"part.{i % 2}/{'long' * 22 * (i % 2)}{i:04}.{ending}")
                    info.size = len(data)
                    tar.addfile(info, io.BytesIO(data))
        paths.append(path)
    return paths


def make(folder: Path, count: int) -> Store:
    """Found by searching."""
    paths = _write(folder, count)
    files = [paths[i // EACH] for i in range(count)]
    arguments = {
        "paths": [str(p) for p in paths],
        "ext": ["jpg;bin", "i4", "txt"],
        "dtypes": ["uint8", "int32", "uint8"],
    }

    return Store(arguments, [_sample(i) for i in range(count)], files)


def make_indexed(folder: Path, count: int) -> Store:
    """With index files, as wds2idx writes them."""
    store = make(folder, count)
    indexes = []
    for path in store.arguments["paths"]:
        lines: dict[str, list[str]] = {}
        with tarfile.open(path) as tar:
            for m in tar:
                key, ending = m.name.rsplit(".", 1)
                text = f"{ending} {m.offset_data} {m.size} {m.name}"
                lines.setdefault(key, []).append(text)
        index = Path(path).with_suffix(".idx")
        index.write_text(
            f"v1.2 {len(lines)}\n" + "\n".join(" ".join(parts) for parts in lines.values()) + "\n"
        )
        indexes.append(str(index))
    store.arguments = {**store.arguments, "index_paths": indexes}
    return store


def make_compressed(folder: Path, count: int) -> Store:
    """By gzip, the second half in two members of a gzip file."""
    store = make(folder, count)
    packed = []
    for i, path in enumerate(map(Path, store.arguments["paths"])):
        data = path.read_bytes()
        middle = len(data) // 2 if i % 2 else len(data)
        name = path.with_suffix(".tar.gz")
        name.write_bytes(
            gzip.compress(data[:middle]) + (gzip.compress(data[middle:]) if i % 2 else b"")
        )
        path.unlink()
        packed.append(name)
    store.arguments = {**store.arguments, "paths": [str(p) for p in packed]}
    store.files = [packed[i // EACH] for i in range(count)]
    return store


VARIANTS = {"archives": make, "indexed": make_indexed, "compressed": make_compressed}
