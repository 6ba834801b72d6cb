# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""What a pipeline may give, and what its build refuses, in scripts of the established library."""

from __future__ import annotations

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
