# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Pipelines that are fed resume with the same bytes, from every step, also within an epoch."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers import Sample, assert_same, make, samples_of
from stoker import Pipeline, fn, types
from stoker.errors import SourceError, StateError

BATCH = 3
STEPS = 5  # in an epoch


def by_iteration(iteration: int) -> Any:
    if iteration == STEPS:
        raise StopIteration
    return [np.array([iteration, k]) for k in range(BATCH - iteration % 2)]


def by_batch(info: types.BatchInfo) -> Any:
    return [a * 10 + info.epoch_idx for a in by_iteration(info.iteration)]


def by_sample(info: types.SampleInfo) -> Any:
    if info.idx_in_epoch >= STEPS * BATCH:
        raise StopIteration
    return np.array([info.idx_in_epoch, info.epoch_idx])


class Stateful:
    """An iterable that has hooks for its state."""

    def __init__(self) -> None:
        self.at = 0

    def __iter__(self) -> Iterator[Any]:
        while self.at < STEPS:
            self.at += 1
            yield by_iteration(self.at - 1)
        self.at = 0

    def state(self) -> dict[str, int]:
        return {"at": self.at}

    def restore(self, state: dict[str, int]) -> None:
        self.at = state["at"]


class StatefulSamples(Stateful):
    """An iterable of single samples, whose number is no multiple of a batch's."""

    def __iter__(self) -> Iterator[Any]:
        while self.at < STEPS:
            self.at += 1
            yield np.array([self.at])
        self.at = 0


class StatefulCall:
    """A callable without arguments, with the other names for the hooks."""

    def __init__(self) -> None:
        self.at = 0

    def __call__(self) -> Any:
        self.at += 1
        if self.at > STEPS:
            self.at = 0
            raise StopIteration
        return by_iteration(self.at - 1)

    def state_dict(self) -> dict[str, int]:
        return {"at": self.at}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.at = state["at"]


SOURCES: dict[str, tuple[Callable[[], Any], dict[str, Any]]] = {
    "iteration": (lambda: by_iteration, {}),
    "batch info": (lambda: by_batch, {"batch_info": True}),
    "sample info": (lambda: by_sample, {"batch": False}),
    "stateful": (Stateful, {}),
    "stateful, quiet": (Stateful, {"cycle": "quiet"}),
    "stateful, raise": (Stateful, {"cycle": "raise"}),
    "stateful samples": (StatefulSamples, {"batch": False}),
    "stateful samples, quiet": (StatefulSamples, {"batch": False, "cycle": "quiet"}),
    "stateful call": (StatefulCall, {}),
    "parallel iteration": (lambda: by_iteration, {"parallel": True}),
    "parallel samples": (lambda: by_sample, {"parallel": True, "batch": False}),
    "parallel stateful": (Stateful, {"parallel": True, "prefetch_queue_depth": 2}),
    "parallel stateful samples, quiet": (
        StatefulSamples,
        {"parallel": True, "batch": False, "cycle": "quiet"},
    ),
}


def pipeline(name: str, **settings: Any) -> Pipeline:
    source, keywords = SOURCES[name]

    def define() -> Any:
        x = fn.external_source(source(), name="in", **keywords)
        return x, fn.random.uniform()

    return make(define, **{"batch_size": BATCH, "py_num_workers": 2, **settings})


def steps(pipe: Pipeline, count: int) -> list[list[Sample] | None]:
    """The next steps, with None where an epoch ended."""
    got: list[list[Sample] | None] = []
    for _ in range(count):
        try:
            got.append(samples_of(pipe.run()))
        except StopIteration:
            got.append(None)
            pipe.reset()
    return got


def assert_same_steps(got: Any, expected: Any, what: str) -> None:
    assert [g is None for g in got] == [e is None for e in expected], what
    for i, (g, e) in enumerate(zip(got, expected, strict=True)):
        if g is not None:
            assert_same(g, e, f"{what}, step {i}")


@pytest.mark.parametrize("name", SOURCES)
def test_resumes_from_every_step(name: str) -> None:
    judge = pipeline(name)
    whole = steps(judge, 3 * STEPS)
    judge.close()
    first = pipeline(name, prefetch_queue_depth=3)
    for k in range(0, STEPS + 3, 1 if "parallel" not in name else 3):
        while len(seen := getattr(first, "_seen", [])) < k:
            first._seen = [*seen, *steps(first, 1)]  # type: ignore[attr-defined]
        state = json.loads(json.dumps(first.state()))
        resumed = pipeline(name, num_threads=1, prefetch_queue_depth=1)
        resumed.restore(state)
        assert_same_steps(steps(resumed, 7), whole[k : k + 7], f"{name}, resumed after {k}")
        resumed.close()
    first.close()


@pytest.mark.parametrize("name", ["iteration", "stateful", "parallel iteration"])
def test_goes_back_in_one_pipeline(name: str) -> None:
    pipe = pipeline(name)
    steps(pipe, 2)
    state = pipe.state()
    later = steps(pipe, 6)
    pipe.restore(state)
    assert_same_steps(steps(pipe, 6), later, name)


def test_counts_what_was_received() -> None:
    states = []
    for depth in (1, 4):
        pipe = pipeline("iteration", prefetch_queue_depth=depth)
        assert pipe.state()["sources"] == {"in": {"epoch": 0, "iteration": 0}}
        steps(pipe, 3)
        states.append(pipe.state())
    assert states[0] == states[1]
    assert states[0]["sources"] == {"in": {"epoch": 0, "iteration": 3}}


def test_the_end_of_an_epoch() -> None:
    pipe = pipeline("iteration")
    assert len(list(pipe)) == STEPS
    state = pipe.state()
    assert state["sources"]["in"] == {"epoch": 0, "iteration": STEPS, "ended": True}
    resumed = pipeline("iteration")
    resumed.restore(state)
    with pytest.raises(StopIteration):
        resumed.run()
    assert len(list(resumed)) == STEPS
    assert resumed.state()["sources"]["in"]["epoch"] == 1


def test_a_failed_step_counts() -> None:
    def source(i: int) -> Any:
        if i == 1:
            raise ValueError
        return np.full((1, 1), i)

    def new() -> Pipeline:
        return make(lambda: (fn.external_source(source), fn.random.uniform()), batch_size=1)

    pipe = new()
    pipe.run()
    with pytest.raises(SourceError):
        pipe.run()
    resumed = new()
    resumed.restore(pipe.state())
    assert_same(samples_of(resumed.run()), samples_of(pipe.run()), "after a failure")


def test_checkpoints(tmp_path: Path) -> None:
    pipe = pipeline("sample info")
    steps(pipe, 2)
    text = pipe.checkpoint(tmp_path / "state")
    assert (tmp_path / "state").read_text() == text
    resumed = pipeline("sample info", checkpoint=text)
    assert_same_steps(steps(resumed, 6), steps(pipe, 6), "from a checkpoint")


def plain() -> Iterator[Any]:
    yield np.zeros((1, 1))


# In worker processes a callable without arguments is always refused.
@pytest.mark.parametrize(
    ("source", "parallel"),
    [
        (plain, False),
        (plain, True),
        (plain(), False),
        (plain(), True),
        ([np.zeros((1, 1))], False),
        ([np.zeros((1, 1))], True),
        (lambda: np.zeros((1, 1)), False),
    ],
)
def test_sources_that_cannot_say(source: Any, parallel: bool) -> None:
    if inspect.isgenerator(source):
        source = plain()
    pipe = make(lambda: fn.external_source(source, name="mine", parallel=parallel), batch_size=1)
    with pytest.raises(StateError, match=r"'mine' .*test_external_source_state.py.*cannot say"):
        pipe.state()
    with pytest.raises(StateError, match="cannot say"):
        pipe.checkpoint()
    pipe.close()


def test_states_that_do_not_fit() -> None:
    pipe = pipeline("iteration")
    state = pipe.state()
    other = make(
        lambda: (fn.external_source(by_iteration, name="other"), fn.random.uniform()),
        batch_size=BATCH,
    )
    with pytest.raises(StateError, match=r"knows the sources \['in'\], this pipeline has \['other"):
        other.restore(state)
    assert len(other.run()[0]) == BATCH, "nothing was changed"
    with pytest.raises(StateError, match="not a pipeline's state"):
        pipe.restore("[1]")
    with pytest.raises(StateError):
        pipe.restore({k: v for k, v in state.items() if k != "sources"})
    assert len(pipe.run()[0]) == BATCH


def test_a_hook_that_fails_is_a_failed_step() -> None:
    class Broken(Stateful):
        def state(self) -> dict[str, int]:
            if self.at == 2:
                raise RuntimeError("no state today")
            return super().state()

    pipe = make(lambda: fn.external_source(Broken()), batch_size=BATCH)
    pipe.run()
    with pytest.raises(SourceError, match="state"):
        pipe.run()
    assert len(pipe.run()[0]) == BATCH


def test_feeding_by_name_resumes_the_rest() -> None:
    def new() -> Pipeline:
        return make(lambda: (fn.external_source(name="in"), fn.random.uniform()), batch_size=2)

    pipe = new()
    for i in range(3):
        pipe.feed_input("in", np.full((2, 1), i))
    pipe.run()
    state = pipe.state()
    assert "sources" not in state
    resumed = new()
    resumed.feed_input("in", np.full((2, 1), 9))
    resumed.restore(state)
    resumed.feed_input("in", np.full((2, 1), 1))
    assert_same(samples_of(resumed.run()), samples_of(pipe.run()), "fed by name")
