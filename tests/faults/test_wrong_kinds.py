# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Values of a wrong kind get an error that names the argument, what it expects and what came."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from damage import nested

from helpers import make, run_script
from stoker import Pipeline, fn
from stoker.errors import GraphError, SampleError, SourceError


class SilentError(Exception):
    def __str__(self) -> str:
        raise ValueError("no text")


class Odd:
    """Every question raises."""

    def __repr__(self) -> str:
        raise ValueError("no text")

    def __index__(self) -> int:
        raise ValueError("no number")

    def __float__(self) -> float:
        raise ValueError("no number")


class Endless:
    def tolist(self) -> Any:
        return self


class NoPath:
    def __fspath__(self) -> Any:
        return 3


class OddList(list[int]):
    def __iter__(self) -> Any:
        raise ValueError("no elements")


class OddText(str):
    def __str__(self) -> str:
        raise ValueError("no text")


@pytest.mark.parametrize("flags", [{"blocking": 1}, {"repeat_last": 0}, {"no_copy": 1}])
def test_flags_may_be_numbers(flags: dict[str, int]) -> None:
    pipe = make(lambda: fn.external_source(name="x", dtype="int32", ndim=1, **flags))
    pipe.feed_input("x", [np.array([5], np.int32)])
    assert pipe.run()[0].as_array().tolist() == [[5]]


@pytest.mark.parametrize("name", ["blocking", "repeat_last", "no_copy"])
def test_flags_are_nothing_else(name: str) -> None:
    with pytest.raises(GraphError, match=f"'{name}' expects bool, got 'yes'"):
        make(lambda: fn.external_source(dtype="int32", ndim=1, **{name: "yes"})).build()


@pytest.mark.parametrize(
    ("value", "came"),
    [
        (float, "<class 'float'>"),
        (1j, "1j"),
        (b"float32", "b'float32'"),
        (object(), "<object object at"),
        (Odd(), "<Odd instance"),
        (nested(100_000), "nested too deep"),
        (Endless(), "nested too deep"),
        (NoPath(), "<.*NoPath object at"),
        (OddList([1]), r"\[1\]|<OddList instance"),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize("name", ["dtype", "mean", "crop_pos_x"])
def test_what_is_no_argument(name: str, value: Any, came: str) -> None:
    with pytest.raises(GraphError, match=f"argument '{name}' expects.*({came})"):
        make(lambda: fn.crop_mirror_normalize(np.zeros((2, 2, 3)), **{name: value}))


@pytest.mark.parametrize("value", [Odd(), np.zeros(2)], ids=["odd", "array"])
def test_names_and_settings_of_a_wrong_kind(value: Any) -> None:
    with pytest.raises(GraphError, match=r"copy \(.*\): name expects a str .*, got"):
        make(lambda: fn.copy(np.zeros(2), name=value))
    with pytest.raises(GraphError, match=r"copy \(.*\): device expects 'cpu', .*, got"):
        make(lambda: fn.copy(np.zeros(2), device=value))
    with pytest.raises(GraphError, match=r"'py_start_method' expects one of fork, .*, got"):
        Pipeline(batch_size=1, py_start_method=value)
    with pytest.raises(GraphError, match=r"'batch_size' expects .*, got"):
        Pipeline(batch_size=Odd())


@pytest.mark.parametrize("name", ["\ud800", b"x", 3])
def test_a_name_is_a_whole_text(name: Any) -> None:
    expected = r"copy \(.*\): name expects a str that can be written as UTF-8"
    with pytest.raises(GraphError, match=expected):
        make(lambda: fn.copy(np.zeros(2), name=name))


@pytest.mark.parametrize("value", [5, ["x"], {"format": 1}, bytearray(b"{}"), Path("graph.json")])
def test_what_is_no_saved_graph(value: Any) -> None:
    with pytest.raises(GraphError, match="deserialize expects the text as str or bytes, got"):
        Pipeline.deserialize(value)
    with pytest.raises(GraphError, match="deserialize expects the text as str or bytes, got"):
        Pipeline(batch_size=1).deserialize_and_build(value)


@pytest.mark.parametrize("value", [b"\xff\xfe", "\ud800", "\udce9", b"", "no JSON"])
def test_what_is_no_text_of_a_graph(value: str | bytes, tmp_path: Path) -> None:
    with pytest.raises(GraphError, match="the saved graph is damaged: it is no JSON"):
        Pipeline.deserialize(value)
    if isinstance(value, bytes):
        (tmp_path / "graph").write_bytes(value)
        with pytest.raises(GraphError, match="the saved graph is damaged: it is no JSON"):
            Pipeline.deserialize(filename=tmp_path / "graph")


@pytest.mark.parametrize("parallel", [False, True])
def test_a_source_whose_error_has_no_text(parallel: bool) -> None:
    def source(info: Any) -> Any:
        if info.iteration == 1:
            raise SilentError
        return np.array([info.iteration])

    pipe = make(lambda: fn.external_source(source, batch=False, parallel=parallel, name="x"))
    assert pipe.run()[0].as_array().tolist() == [[0]]
    silent = r"SilentError: \(it has no text: its __str__ raised ValueError\)"
    with pytest.raises(SourceError, match=f"'x'.*iteration 1 of epoch 0.*{silent}"):
        pipe.run()
    assert pipe.run()[0].as_array().tolist() == [[2]]
    pipe.close()


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy, pickle.dumps])
def test_pipelines_are_not_copied(how: Any) -> None:
    pipe = make(fn.random.uniform)
    with pytest.raises(TypeError, match=r"cannot be copied or pickled; serialize\(\)"):
        how(pipe)
    pipe.run()


def test_what_is_half_made_goes_quietly() -> None:
    text = "from stoker._sources.inputs import Inputs\nInputs.__new__(Inputs)"
    done = run_script(text)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("size", [1, 2])
def test_with_nothing_left_to_replace(size: int, tmp_path: Path) -> None:
    (tmp_path / "bad").write_bytes(b"no picture")

    def define() -> Any:
        encoded, _ = fn.readers.file(files=[str(tmp_path / "bad")])
        return fn.decoders.image(encoded)

    pipe = make(define, batch_size=size, on_error="replace")
    message = f"^{size} of {size} samples could not be made, after {17 * size} failures:"
    with pytest.raises(SampleError, match=message) as caught:
        pipe.run()
    assert len(caught.value.samples) == 17 * size


def test_a_message_does_not_end_at_a_zero_byte() -> None:
    with pytest.raises(GraphError, match=r"folder '\\x00': No such file"):
        make(lambda: fn.readers.file(file_root="\0")).build()
    with pytest.raises(SampleError, match=r"the name holds a zero byte"):
        make(lambda: fn.readers.file(files=["/nowhere\0else"])).run()


def test_a_list_of_inputs_may_be_of_a_class_of_its_own() -> None:
    assert make(lambda: fn.copy(OddList([1, 2]))).run()[0].as_array().tolist() == [[1, 2]]
    pipe = make(lambda: fn.copy(OddList([fn.random.uniform(), fn.random.uniform()])))
    assert len(pipe.run()) == 2


def test_a_name_may_be_of_a_class_of_its_own() -> None:
    pipe = make(
        lambda: fn.external_source(lambda: [[0]], name=OddText("fed"), num_outputs=1, batch=True)
    )
    assert [node["name"] for node in pipe._definition.graph.nodes()] == ["fed_0"]
