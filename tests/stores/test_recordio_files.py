# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Files of RecordIO, by MXNet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
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
