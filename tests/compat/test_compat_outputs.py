# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""What a pipeline may give, and what its build refuses, in scripts of the established library."""

from __future__ import annotations

import io
import tarfile
import warnings
from typing import Any

import numpy as np
import pytest

import stoker
from stoker import errors, fn
from stoker.compat._pipeline import Pipeline, pipeline_def

WRONG: dict[str, Any] = {
    "text": lambda: "test",
    "dict": lambda: {"image": fn.random.uniform()},
    "object": object,
    "nested": lambda: (fn.random.uniform(), [fn.random.uniform()]),
    "texts": lambda: (["a", "b"],),
}


@pytest.mark.parametrize("outputs", WRONG.values(), ids=WRONG)
def test_what_is_no_output_is_refused_by_the_build(outputs: Any) -> None:
    pipe = pipeline_def(batch_size=2, num_threads=1, device_id=None)(outputs)()
    for use in (pipe.build, pipe.run, pipe.serialize):
        with pytest.raises(TypeError, match=r"output \d|returns a dict"):
            use()
    with pytest.raises(TypeError):
        stoker.pipeline_def(batch_size=2)(outputs)()


def test_no_outputs_are_refused_by_the_build() -> None:
    for outputs in (lambda: None, lambda: ()):
        pipe = pipeline_def(batch_size=2, num_threads=1, device_id=None)(outputs)()
        with pytest.raises(errors.GraphError, match=r"returns no outputs|at least one output"):
            pipe.build()


def test_outputs_that_are_set_again_replace_wrong_ones() -> None:
    pipe = Pipeline(batch_size=2, num_threads=1, device_id=None)
    pipe.set_outputs("test")
    pipe.set_outputs(np.int32(5))
    (five,) = pipe.run()
    assert [int(np.array(sample)) for sample in five] == [5, 5]
    with pytest.raises(errors.GraphError, match="the pipeline is built"):
        pipe.set_outputs(6)


def test_nodes_of_another_pipeline_are_refused_by_the_build() -> None:
    with Pipeline(batch_size=2, num_threads=1, device_id=None):
        foreign = fn.random.uniform()
    pipe = Pipeline(batch_size=2, num_threads=1, device_id=None)
    pipe.set_outputs(foreign)
    with pytest.raises(errors.GraphError, match="belongs to another pipeline"):
        pipe.build()


SOURCES: dict[str, Any] = {
    "iterator": lambda: iter([[np.int32(1)] * 2]),
    "iterable": lambda: [[np.int32(1)] * 2],
    "callable": lambda: lambda: [np.int32(1)] * 2,
}


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_sources_that_cannot_be_checkpointed_are_told_by_the_build(source: Any) -> None:
    def of(**settings: Any) -> Pipeline:
        pipe = Pipeline(batch_size=2, num_threads=1, device_id=None, **settings)
        pipe.set_outputs(fn.external_source(source()))
        return pipe

    pipe = of(enable_checkpointing=True)
    with pytest.warns(UserWarning, match=r"checkpoint\(\) will fail.* cannot say where it stands"):
        pipe.build()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pipe.build()
        of().build()


def test_a_source_of_an_index_can_be_checkpointed() -> None:
    pipe = Pipeline(batch_size=2, num_threads=1, device_id=None, enable_checkpointing=True)
    pipe.set_outputs(fn.external_source(lambda index: [np.int32(index)] * 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pipe.build()


def test_missing_components_are_treated_as_told_in_any_capitals(tmp_path: Any) -> None:
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        for name in ("0.jpg", "1.jpg", "1.cls"):
            member = tarfile.TarInfo(name)
            member.size = 1
            archive.addfile(member, io.BytesIO(b"x"))

    def read(behaviour: str) -> int:
        with Pipeline(batch_size=1, num_threads=1, device_id=None) as pipe:
            read = fn.readers.webdataset(
                paths=[str(tmp_path / "a.tar")],
                ext=["jpg", "cls"],
                missing_component_behavior=behaviour,
                name="reader",
            )
            pipe.set_outputs(*read)
        pipe.build()
        return int(pipe.epoch_size("reader"))

    assert [read(told) for told in ("Skip", "SKIP", "empty", "Empty")] == [1, 1, 2, 2]
    with pytest.raises(errors.GraphError, match="expects one of empty, skip, error"):
        read("Jump")
