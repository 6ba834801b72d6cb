# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Loops over a pipeline itself that are left before the end of their epoch."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from graphs import label_of, labels_only

from helpers import epoch, make, samples_of
from sources import external, generator, up_to
from stoker import Pipeline, fn
from stoker.errors import EpochWarning, StateError

pytestmark = pytest.mark.filterwarnings("error")


def leave(pipe: Pipeline, steps: int) -> None:
    assert len(list(itertools.islice(pipe, steps))) == steps


def numbers_of(pipe: Pipeline) -> list[int]:
    return [int(s[0][0]) for s in epoch(pipe)]


@pytest.mark.parametrize("end", ["continue", "pad", "drop"])
@pytest.mark.parametrize("executor", ["pipelined", "simple"])
def test_the_next_loop_is_the_next_epoch(files: list[str], end: str, executor: str) -> None:
    define = labels_only(files, random_shuffle=True, epoch_end=end)
    whole, pipe = (make(define, batch_size=5, executor=executor) for _ in range(2))
    expected = [numbers_of(whole) for _ in range(4)]
    leave(pipe, 2)
    assert numbers_of(pipe) == expected[1]
    leave(pipe, 1)
    assert numbers_of(pipe) == expected[3]
    assert pipe.state() == whole.state()


def test_random_draws_are_those_of_the_epoch(files: list[str]) -> None:
    def define() -> Any:
        return fn.readers.file(files=files, pad_last_batch=True)[1], fn.random.uniform()

    whole, pipe = (make(define, batch_size=5, seed=3) for _ in range(2))
    expected = [epoch(whole) for _ in range(2)]
    leave(pipe, 1)
    assert [s[1].tobytes() for s in epoch(pipe)] == [s[1].tobytes() for s in expected[1]]


def test_a_restored_pipeline_goes_on(files: list[str]) -> None:
    pipe = make(labels_only(files), batch_size=5)
    leave(pipe, 2)
    state = pipe.state()
    for one in (pipe, make(labels_only(files), batch_size=5)):
        one.restore(state)
        assert numbers_of(one)[:2] == [10, 11]


def test_run_goes_on(files: list[str]) -> None:
    pipe = make(labels_only(files), batch_size=5)
    pipe.run()
    assert numbers_of(pipe)[0] == 5


def test_a_loop_that_met_its_last_step_is_whole(files: list[str]) -> None:
    pipe = make(labels_only(files, pad_last_batch=True), batch_size=5)
    for _ in range(3):
        leave(pipe, -(-len(files) // 5))
    assert numbers_of(pipe)[: len(files)] == list(range(len(files)))


def test_two_loops_at_once(files: list[str]) -> None:
    pipe = make(labels_only(files), batch_size=5)
    older = iter(pipe)
    next(older)
    next(iter(pipe))
    with pytest.raises(StateError, match="a newer loop over this pipeline has begun"):
        next(older)


@pytest.mark.parametrize("source", [generator, up_to(3)], ids=["generator", "index"])
def test_sources_begin_anew(source: Any) -> None:
    pipe = external(source)
    for _ in range(2):
        leave(pipe, 1)
    assert [int(b.as_array()[0, 0]) for (b,) in pipe] == [0, 1, 2]


def test_a_source_that_cannot_begin_anew_goes_on() -> None:
    pipe = external(generator())
    leave(pipe, 1)
    with pytest.warns(EpochWarning, match="cannot begin anew before its epoch has ended"):
        assert [int(b.as_array()[0, 0]) for (b,) in pipe] == [1, 2]


def test_steps_that_iter_setup_feeds_go_on() -> None:
    class Fed(Pipeline):
        count = 0

        def define_graph(self) -> Any:
            return fn.external_source(name="x")

        def iter_setup(self) -> None:
            if self.count == 4:
                self.count = 0
                raise StopIteration
            self.feed_input("x", [np.array([self.count])])
            self.count += 1

    pipe = Fed(batch_size=1, num_threads=1)
    leave(pipe, 1)
    with pytest.warns(EpochWarning, match=r"iter_setup\(\) of Fed cannot begin anew"):
        assert [label_of(samples_of(step)[0]) for step in pipe] == [1, 2, 3]


def test_endless_pipelines_go_on() -> None:
    whole, pipe = (make(lambda: fn.random.uniform(), batch_size=2, seed=4) for _ in range(2))
    expected = [np.array(whole.run()[0]) for _ in range(4)]
    leave(pipe, 2)
    leave(pipe, 1)
    assert np.array_equal(np.array(pipe.run()[0]), expected[3])


def test_a_function_with_a_state_is_not_called_for_steps_that_are_left(files: list[str]) -> None:
    class Counter:
        def __init__(self) -> None:
            self.count = 0

        def __call__(self, label: Any) -> Any:
            self.count += 1
            return np.array([self.count])

        def state(self) -> int:
            return self.count

        def restore(self, state: int) -> None:
            self.count = state

    def define() -> Any:
        label = fn.readers.file(files=files)[1]
        return fn.python_function(label, function=Counter(), stateful=True)

    pipe = make(define, batch_size=5, num_threads=1)
    leave(pipe, 2)
    assert numbers_of(pipe)[0] == 11
