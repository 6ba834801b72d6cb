# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Files and folders that may not be read.

Root may read everything. So for root, the reading happens in a process of another user.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import jpegs
from helpers import run_script

# Everything is imported before, as the other user may not be able to read the interpreter's files.
READ = """
import json, os, sys
import numpy
import stoker
from stoker import Pipeline, errors, fn

arguments, settings = json.loads(sys.argv[1])
fn.readers.file, fn.decoders.image, errors.SampleError
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
assert not os.access(sys.argv[2], os.R_OK | os.X_OK), "may be read"

pipe = Pipeline(batch_size=4, num_threads=1, **settings)
with pipe:
    encoded, label = fn.readers.file(**arguments)
    pipe.set_outputs(fn.decoders.image(encoded), label)
try:
    _, labels = pipe.run()
    print(json.dumps({"labels": labels.as_array().ravel().tolist()}))
except errors.SampleError as e:
    print(json.dumps({"kind": "SampleError", "message": str(e), "samples": e.samples}))
except errors.Error as e:
    print(json.dumps({"kind": type(e).__name__, "message": str(e)}))
"""


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """Two classes of pictures in a folder that every user may enter, unlike pytest's own."""
    with tempfile.TemporaryDirectory() as made:
        root = Path(made)
        root.chmod(0o755)
        for i in range(4):
            path = root / f"class{i % 2}" / f"{i}.jpg"
            path.parent.mkdir(exist_ok=True, mode=0o755)
            path.write_bytes(jpegs.encode(jpegs.picture(16, 16, i)))
            path.chmod(0o644)
        yield root


def read(closed: Path, mode: int, settings: Any = None, **arguments: Any) -> Any:
    """The outcome of reading while `closed` has this mode."""
    before = closed.stat().st_mode
    closed.chmod(mode)
    try:
        done = run_script(READ, json.dumps([arguments, settings or {}]), str(closed))
    finally:
        closed.chmod(before)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_class_folder(open_folder: Path) -> None:
    result = read(open_folder / "class1", 0, file_root=str(open_folder))
    assert result["kind"] == "GraphError", result
    assert str(open_folder / "class1") in result["message"]
    assert "readers.file" in result["message"] and "ermission" in result["message"]


def test_the_folder_of_classes(open_folder: Path) -> None:
    result = read(open_folder, 0, file_root=str(open_folder))
    assert result["kind"] == "GraphError", result
    assert str(open_folder) in result["message"] and "ermission" in result["message"]


def test_a_list_of_files(open_folder: Path) -> None:
    listed = open_folder / "list.txt"
    listed.write_text("class0/0.jpg 0\n")
    result = read(listed, 0, file_list=str(listed))
    assert result["kind"] == "GraphError", result
    assert str(listed) in result["message"] and "ermission" in result["message"]


def test_one_file_is_a_bad_sample(open_folder: Path) -> None:
    closed = open_folder / "class0" / "2.jpg"
    result = read(closed, 0, file_root=str(open_folder))
    assert result["kind"] == "SampleError", result
    (bad,) = result["samples"]
    assert (bad["source"], bad["operator"]) == (str(closed), "readers.file")
    assert bad["index_in_batch"] == 1 and "ermission" in bad["message"]


def test_one_file_is_skipped(open_folder: Path) -> None:
    closed = open_folder / "class0" / "2.jpg"
    result = read(closed, 0, {"on_error": "skip"}, file_root=str(open_folder))
    assert result == {"labels": [0, 1, 1]}


def test_files_of_a_closed_folder_are_bad_samples(open_folder: Path) -> None:
    """Files of a list are not looked at in advance, and a folder may permit only listing."""
    paths = [str(p) for p in sorted(open_folder.rglob("*.jpg"))]
    for mode, arguments in ((0, {"files": paths}), (0o444, {"file_root": str(open_folder)})):
        result = read(open_folder / "class1", mode, **arguments)
        assert result["kind"] == "SampleError", result
        assert [bad["source"] for bad in result["samples"]] == paths[2:]
        assert all("ermission" in bad["message"] for bad in result["samples"])
