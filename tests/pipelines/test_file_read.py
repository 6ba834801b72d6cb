# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""io.file.read: files whose names come from elsewhere in the graph."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from helpers import SIMPLE, make, samples_of
from stoker import Pipeline, fn
from stoker.errors import SampleError


def read(names: list[bytes], **settings: object) -> Pipeline:
    def define() -> object:
        arrays = [np.frombuffer(n, np.uint8) for n in names]
        return fn.io.file.read(
            fn.external_source(lambda info: arrays[info.idx_in_epoch % len(arrays)], batch=False)
        )

    return make(define, **{"batch_size": len(names), **settings})


@pytest.mark.parametrize("settings", [{}, SIMPLE], ids=["pipelined", "simple"])
def test_reads_what_is_named(tmp_path: Path, settings: dict[str, object]) -> None:
    contents = [b"one", b"", bytes(range(256)) * 999]
    names = []
    for i, data in enumerate(contents):
        path = tmp_path / f"Zürich {i}.bin"
        path.write_bytes(data)
        names.append(bytes(path) + b"\0" * i)
    pipe = read(names, **settings)
    for _ in range(2):
        assert [s[0].tobytes() for s in samples_of(pipe.run())] == contents


def test_files_that_cannot_be_read_fail_their_samples(tmp_path: Path) -> None:
    good = tmp_path / "good"
    good.write_bytes(b"good")
    names = [bytes(good), b"/nothere/at all", bytes(tmp_path), b"\0\0", b""]
    for bad in range(1, len(names)):
        with pytest.raises(SampleError) as raised:
            read([names[0], names[bad]]).run()
        assert "io.file.read" in str(raised.value)
        skipping = read([names[0], names[bad]], on_error="skip")
        assert [s[0].tobytes() for s in samples_of(skipping.run())] == [b"good"]
