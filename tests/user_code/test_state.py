# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""States of pipelines with functions: what depends on inputs only, and what keeps a state."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from calling import BATCH, EXECUTORS, arrays, drawn

from helpers import assert_same, make, take
from stoker import fn
from stoker.errors import SampleError, StateError

Array = np.ndarray[Any, Any]


class Counting:
    """Counts the samples that it has seen."""

    def __init__(self) -> None:
        self.count = 0
        self.calls = 0

    def __call__(self, samples: list[Array]) -> list[Array]:
        self.calls += 1
        first, self.count = self.count, self.count + len(samples)
        return [np.array([first + i, self.calls]) for i in range(len(samples))]

    def state(self) -> Any:
        return {"count": self.count}

    def restore(self, state: Any) -> None:
        self.count = state["count"]


class InTorchsWords(Counting):
    state_dict = Counting.state
    load_state_dict = Counting.restore
    state = restore = None


class Stateless:
    def __init__(self) -> None:
        self.made = Counting()

    def __call__(self, samples: list[Array]) -> list[Array]:
        return self.made(samples)


def counting(function: Any, settings: Any = None, **arguments: Any) -> Any:
    given = {"stateful": True, "batch_processing": True, "name": "counts", **arguments}

    def define() -> Any:
        x = drawn()
        return x, fn.python_function(x, function=function, **given)

    return make(define, **{"batch_size": BATCH, "prefetch_queue_depth": 3, **(settings or {})})


def first_of(pipe: Any) -> int:
    return int(arrays(pipe.run()[1])[0][0])


@pytest.mark.parametrize("settings", EXECUTORS)
def test_resume_at_every_position(settings: dict[str, Any]) -> None:
    def define() -> Any:
        x = drawn()
        return x, fn.python_function(x, function=lambda x: x.sum())

    whole = take(make(define, batch_size=BATCH), 12 * BATCH)
    first = make(define, **{"batch_size": BATCH, **settings})
    for k in range(8):
        resumed = make(define, **{"batch_size": BATCH, **settings})
        resumed.restore(json.loads(json.dumps(first.state())))
        assert_same(take(resumed, 8), whole[BATCH * k : BATCH * k + 8], f"after {k} steps")
        first.run()


@pytest.mark.parametrize("kind", [Counting, InTorchsWords])
@pytest.mark.parametrize("settings", EXECUTORS)
def test_a_stateful_function_resumes_at_every_position(settings: dict[str, Any], kind: Any) -> None:
    first = counting(kind(), settings)
    for k in range(8):
        state = json.loads(json.dumps(first.state()))
        assert state["functions"] == {"counts": {"count": BATCH * k}}
        resumed = counting(kind(), settings)
        resumed.restore(state)
        assert [first_of(resumed) for _ in range(3)] == [BATCH * (k + i) for i in range(3)]
        begun = counting(kind(), {**settings, "checkpoint": json.dumps(state)})
        assert first_of(begun) == BATCH * k
        assert first_of(first) == BATCH * k


@pytest.mark.parametrize("settings", EXECUTORS)
def test_it_is_called_once_for_a_step(settings: dict[str, Any]) -> None:
    function = Counting()
    pipe = counting(function, settings, dtype="int64", ndim=1)
    for k in range(20):
        assert [int(x) for x in arrays(pipe.run()[1])[1]] == [BATCH * k + 1, k + 1]
    pipe.close()
    assert function.calls <= 21


@pytest.mark.parametrize("settings", EXECUTORS)
def test_a_step_that_is_made_again_begins_with_the_same_state(settings: dict[str, Any]) -> None:
    pipe = counting(Counting(), settings)
    for k in range(20):
        assert first_of(pipe) == BATCH * k
        pipe._prepare()
        pipe.close()  # perhaps in the midst of the next call, or behind it
        assert pipe.state()["functions"]["counts"]["count"] == BATCH * (k + 1)


def test_several_stateful_functions() -> None:
    def define() -> Any:
        x = drawn()
        a = fn.python_function(
            x, function=Counting(), stateful=True, batch_processing=True, name="a"
        )
        b = fn.python_function(
            a, function=Counting(), stateful=True, batch_processing=True, name="b"
        )
        return x, a, b

    first, second = (make(define, batch_size=3) for _ in range(2))
    whole = [arrays(b) for _ in range(4) for b in first.run()[1:]]
    for _ in range(2):
        second.run()
    third = make(define, batch_size=3)
    third.restore(second.state())
    got = [arrays(b) for _ in range(2) for b in third.run()[1:]]
    for x, y in zip(got, whole[4:], strict=True):
        np.testing.assert_array_equal(np.array(x)[:, 0], np.array(y)[:, 0])


def chained(first: Any, **arguments: Any) -> Any:
    """A pipeline with a stateful function in front of a simple one."""

    def define() -> Any:
        a = fn.python_function(drawn(), function=first, stateful=True, name="first", **arguments)
        return a, fn.python_function(a, function=lambda x: x, name="second")

    return make(define, batch_size=BATCH)


class StatesOneAfterTheOther(Counting):
    """Its state is another one in each call, and it forgets nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.restored: list[int] = []

    def restore(self, state: Any) -> None:
        super().restore(state)
        self.restored.append(self.count)


def test_learning_types_leaves_no_trace_in_the_functions_before() -> None:
    function = StatesOneAfterTheOther()
    pipe = chained(function, batch_processing=True)
    # The types of both are learned by now, and nothing has been prepared.
    assert pipe.state()["functions"] == {"first": {"count": 0}}
    assert (function.restored, function.calls) == ([], 1)


def test_types_behind_a_function_that_cannot_be_called_again() -> None:
    pipe = chained(Stateless(), batch_processing=True)
    assert [int(arrays(pipe.run()[1])[0][0]) for _ in range(3)] == [0, BATCH, 2 * BATCH]


def test_a_state_that_cannot_be_given_or_taken() -> None:
    pipe = counting(Stateless(), dtype="int64", ndim=1)
    assert first_of(pipe) == 0
    words = "the function of python_function 'counts' .* is stateful and cannot say where it stands"
    with pytest.raises(StateError, match=words):
        pipe.state()
    with pytest.raises(StateError, match=r"the state knows the stateful functions .*'counts'"):
        counting(Counting()).restore(counting(Counting(), name="other").state())
    state = counting(Counting()).state()
    state["functions"]["counts"] = {}
    with pytest.raises(StateError, match="failed to take its state: KeyError: 'count'"):
        counting(Counting()).restore(state)
    state["functions"] = 3
    with pytest.raises(StateError, match="'functions' expects a value of type dict, got 3"):
        counting(Counting()).restore(state)


@pytest.mark.parametrize("settings", EXECUTORS)
def test_a_stateful_function_without_a_state_is_called_once(settings: dict[str, Any]) -> None:
    pipe = counting(Stateless(), settings)
    assert [first_of(pipe) for _ in range(3)] == [0, BATCH, 2 * BATCH]


@pytest.mark.parametrize("settings", EXECUTORS)
def test_a_stateful_function_goes_on_after_a_failure(settings: dict[str, Any]) -> None:
    class Failing(Counting):
        def __call__(self, samples: list[Array]) -> list[Array]:
            made = super().__call__(samples)
            if self.count == 2 * BATCH:
                raise ValueError("the second step")
            return made

    pipe = counting(Failing(), settings)
    assert first_of(pipe) == 0
    with pytest.raises(SampleError, match="the second step"):
        pipe.run()
    assert pipe.state()["functions"]["counts"]["count"] == 2 * BATCH
    assert first_of(pipe) == 2 * BATCH


def test_checkpoints_of_iterators(tmp_path: Path) -> None:
    from stoker.numpy import DataIterator

    def iterator() -> Any:
        return DataIterator(counting(Counting()), ["x", "n"], size=5 * BATCH)

    first = iterator()
    steps = iter(first)
    next(steps), next(steps)
    second = iterator()
    second.load_state_dict(first.state_dict())
    assert int(next(iter(second))["n"][0][0]) == 2 * BATCH
