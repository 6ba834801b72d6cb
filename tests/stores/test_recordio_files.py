# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Files of RecordIO, by MXNet."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import store_writers as writers
from containers import Json, expected, pipe_of, read, set_of, sha

from helpers import samples_of
from stoker import fn
from stoker.errors import SampleError


@pytest.mark.parametrize("indexed", [False, True])
def test_recordio(test_data: Path, indexed: bool) -> None:
    folder, table = expected(test_data, "recordio")
    for part in table["sets"]:
        if part["name"] == "multi-part":  # also holds records without pictures
            continue
        given: Json = {"path": [str(folder / part["file"])]}
        if indexed:
            given["index_path"] = [str(folder / part["index"])]
        got = read(lambda given=given: fn.readers.mxnet(**given), len(part["records"]))
        for (image, label), record in zip(got, part["records"], strict=True):
            assert sha(image) == record["sha256"]
            np.testing.assert_array_equal(label, np.array(record["label"], np.float32))


def test_recordio_of_several_parts(test_data: Path) -> None:
    folder, table = expected(test_data, "recordio")
    part = set_of(table, "multi-part")
    path = [str(folder / part["file"])]
    pipe = pipe_of(lambda: fn.readers.mxnet(path=path), len(part["records"]), on_error="skip")
    got = samples_of(pipe.run())
    pictures = [r for r in part["records"] if "sha256" in r]
    assert [sha(image) for image, _ in got] == [r["sha256"] for r in pictures]
    assert [label.tobytes().hex() for _, label in got] == [r["label_hex"] for r in pictures]


def test_recordio_damage(test_data: Path) -> None:
    folder, table = expected(test_data, "recordio")
    records = set_of(table, "damaged")["records"]
    for damaged in set_of(table, "damaged")["damaged"]:
        path = str(folder / damaged["file"])
        for arguments in ({}, {"index_path": [str(folder / damaged["index"])]}):

            def define(given: Json = {"path": [path], **arguments}) -> Any:  # noqa: B006
                return fn.readers.mxnet(**given)

            good = damaged["readable_records"]
            got = read(define, good)
            assert [sha(image) for image, _ in got] == [r["sha256"] for r in records[:good]]
            with pytest.raises(SampleError, match=r"at byte \d+") as error:
                read(define, 20)
            assert Path(path).name in str(error.value)


@pytest.mark.parametrize("kept", [slice(0, 3), slice(1, 4), slice(2, 3)])
def test_an_index_that_leaves_out_records(tmp_path: Path, kept: slice) -> None:
    """As one of a file to which records were added later."""
    data, offsets = writers.recordio([bytes(24) + bytes([i]) * (5 + i) for i in range(4)])
    path, index = tmp_path / "a.rec", tmp_path / "a.idx"
    path.write_bytes(data)

    def labels() -> list[int]:
        given = {"path": str(path), "index_path": str(index)}
        pipe = pipe_of(lambda: fn.readers.mxnet(**given), 1)
        (size,) = pipe.epoch_size().values()
        return [int(samples_of(pipe.run())[0][0][0]) for _ in range(size)]

    starts = [offset for offset, _ in offsets]
    index.write_text("".join(f"{i}\t{at}\n" for i, at in list(enumerate(starts))[kept]))
    with pytest.warns(UserWarning, match=r"a\.idx' leaves out records of '.*a\.rec'"):
        assert labels() == list(range(4))[kept]
    index.write_text("".join(f"{i}\t{at}\n" for i, at in enumerate(starts)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert labels() == [0, 1, 2, 3]
