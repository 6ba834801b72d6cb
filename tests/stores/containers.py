# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Stores that the formats' own writers wrote, and what is in them."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from helpers import make, samples_of
from stoker import DataNode, Pipeline

Json = dict[str, Any]


def expected(test_data: Path, kind: str) -> tuple[Path, Json]:
    folder = test_data / "containers" / kind
    return folder, listed_in(folder)


def listed_in(folder: Path) -> Json:
    """What expected.json of a folder says."""
    return dict(json.loads((folder / "expected.json").read_text()))


def set_of(table: Json, name: str) -> Json:
    (found,) = (s for s in table["sets"] if s["name"] == name)
    return dict(found)


def sha(data: Any) -> str:
    """Of an array's elements in C order and in little-endian order of bytes."""
    array = np.asarray(data)
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    return hashlib.sha256(np.ascontiguousarray(little).tobytes()).hexdigest()


def read(define: Callable[[], Any], count: int, **settings: Any) -> list[Any]:
    """So many samples of a pipeline of one reader."""
    return samples_of(pipe_of(define, count, **settings).run())


def pipe_of(define: Callable[[], Any], count: int, **settings: Any) -> Pipeline:
    def flat() -> tuple[Any, ...]:
        result = define()
        nodes = result.values() if isinstance(result, dict) else result
        nodes = (nodes,) if isinstance(nodes, DataNode) else nodes
        return tuple(n for v in nodes for n in (v if isinstance(v, tuple) else (v,)))

    return make(flat, **{"batch_size": count, **settings})


def archive_of(path: Path, members: dict[str, bytes]) -> None:
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as tar:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
