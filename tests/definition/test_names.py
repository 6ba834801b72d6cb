# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Files whose names are not UTF-8 are read like all others, and messages stay readable."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import jpegs
from helpers import make, run_script
from stoker import Pipeline, fn
from stoker.errors import GraphError, SampleError

GOOD, BAD = b"caf\xe9.jpg", b"\xff bad.jpg"
ESCAPED = r"\xff bad.jpg"


@pytest.fixture
def folder(tmp_path: Path) -> bytes:
    """A class folder with one picture and one damaged file."""
    root = os.fsencode(tmp_path) + b"/\xe0 set"
    os.makedirs(root + b"/\xe9t\xe9")
    for name, data in ((GOOD, jpegs.encode(jpegs.picture(20, 20))), (BAD, b"no picture")):
        with open(root + b"/\xe9t\xe9/" + name, "wb") as file:
            file.write(data)
    return root


def paths_in(root: bytes) -> list[bytes]:
    return [root + b"/\xe9t\xe9/" + name for name in (GOOD, BAD)]


def by_root(root: bytes) -> dict[str, Any]:
    return {"file_root": os.fsdecode(root)}


def by_files(root: bytes) -> dict[str, Any]:
    return {"files": [os.fsdecode(path) for path in paths_in(root)], "labels": [0, 0]}


def by_list(root: bytes) -> dict[str, Any]:
    names = [os.path.relpath(path, root) for path in paths_in(root)]
    with open(root + b"/\xe9.txt", "wb") as file:
        file.writelines(name + b" 0\n" for name in names)
    return {"file_list": Path(os.fsdecode(root)) / os.fsdecode(b"\xe9.txt")}


def pipeline(arguments: dict[str, Any], **settings: Any) -> Pipeline:
    def define() -> Any:
        encoded, label = fn.readers.file(**arguments)
        return fn.decoders.image(encoded), label

    return make(define, batch_size=2, **settings)


@pytest.mark.parametrize("find", [by_root, by_files, by_list])
def test_they_are_read(find: Callable[[bytes], dict[str, Any]], folder: bytes) -> None:
    pipe = pipeline(find(folder), on_error="skip")
    loaded = Pipeline.deserialize(pipe.serialize())
    assert loaded.serialize() == pipe.serialize()
    good, bad = paths_in(folder)
    for one in (pipe, loaded):
        images, labels = one.run()
        assert labels.as_array().tolist() == [[0]]
        assert os.fsencode(images.source_info(0)) == good
        assert os.fsencode(images[0].source_info) == good
        assert [os.fsencode(entry["source"]) for entry in one.quarantine()] == [bad]
    loaded.restore(json.dumps(pipe.state()))


def test_messages_escape_them(folder: bytes) -> None:
    with pytest.raises(SampleError) as caught:
        pipeline(by_root(folder)).run()
    assert ESCAPED in str(caught.value)
    str(caught.value).encode()
    (bad,) = caught.value.samples
    assert os.path.exists(bad["source"])
    for where in ({"file_root": "/\udce9"}, {"file_list": "/\udce9"}):
        with pytest.raises(GraphError, match=r"'/\\xe9'") as refused:
            pipeline(where).build()
        str(refused.value).encode()
    with pytest.raises(GraphError, match=r"'\\ud800'.*encoding of file names"):
        pipeline({"files": ["\ud800"]})


def test_the_quarantine_holds_their_bytes(folder: bytes, tmp_path: Path) -> None:
    pipe = pipeline(by_root(folder), on_error="skip")
    pipe.run()
    pipe.write_quarantine(tmp_path / "bad.jsonl")
    (line,) = (tmp_path / "bad.jsonl").read_text("utf-8").splitlines()
    entry = json.loads(line)
    entry["source"].encode()
    assert entry["source"].endswith(ESCAPED)
    assert bytes.fromhex(entry["source_bytes"]) == paths_in(folder)[1]


def test_names_of_operators_are_texts() -> None:
    with pytest.raises(GraphError, match=r"expect UTF-8, got 'caf\\xe9'"):
        make(lambda: fn.random.uniform(name="caf\udce9"))
    with pytest.raises(GraphError, match=r"no argument named '\\xe9'"):
        make(lambda: fn.random.uniform(**{"\udce9": 1}))


SCRIPT = """
import sys
from stoker import errors, fn, pipeline_def

@pipeline_def(batch_size=1)
def reading():
    encoded, _ = fn.readers.file(files=sys.argv[1:])
    return fn.decoders.image(encoded)

pipe = reading()
pipe.serialize()
try:
    pipe.run()
except errors.SampleError as e:
    print(e)
try:
    fn.random.uniform(device="nowhere")
except errors.GraphError as e:
    print(e)
"""


def test_a_script_in_such_a_folder(folder: bytes) -> None:
    script = folder + b"/train\xe9.py"
    with open(script, "w") as file:
        file.write(SCRIPT)
    done = subprocess.run([sys.executable, script, paths_in(folder)[1]], capture_output=True)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.decode()
    assert ESCAPED in lines
    assert lines.count(r"train\xe9.py:") == 2


def test_the_encoding_of_names_may_be_another(folder: bytes, tmp_path: Path) -> None:
    """Python in the C locale takes names for ASCII with other bytes among them."""
    name = os.fsencode(tmp_path) + "/über.jpg".encode()
    os.link(paths_in(folder)[0], name)
    text = f"""
import os, sys
assert sys.getfilesystemencoding() == "ascii"
from stoker import fn, pipeline_def

@pipeline_def(batch_size=1, num_threads=1)
def reading():
    return fn.readers.file(files=[os.fsdecode({name!r})])

source = reading().run()[0].source_info(0)
assert os.fsencode(source) == {name!r} and os.path.exists(source)
"""
    c_locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = run_script(text, **c_locale)
    assert done.returncode == 0, done.stderr
