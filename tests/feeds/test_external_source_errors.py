# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Sources that fail or do not fit, and wrong calls of fn.external_source."""

from __future__ import annotations

import traceback
from typing import Any

import numpy as np
import pytest

from helpers import make
from sources import BATCH, EXECUTORS, external, generator, numbers, up_to
from stoker import Pipeline, fn, types
from stoker.errors import GraphError, SourceError


class Shy:
    """Lets nobody ask for its attributes."""

    def __getattr__(self, name: str) -> Any:
        raise ValueError("odd")

    def __call__(self, i: int) -> Any:
        return numbers(i)


def test_another_type_later_is_named() -> None:
    def source(i: int) -> Any:
        batch = [np.zeros(2, np.float32) for _ in range(BATCH)]
        if i == 1:
            batch[2] = np.zeros(2, np.float64)
        if i == 2:
            batch[1] = np.zeros((2, 2), np.float32)
        return batch

    pipe = external(source, name="in")
    pipe.run()
    expected = r"'in'.*sample 2 that was fed is float64 \(2,\), expected float32 \(\?,\)"
    with pytest.raises(GraphError, match=expected) as caught:
        pipe.run()
    told = "".join(traceback.format_exception(caught.value))
    assert "During handling" not in told, "the engine's own way of saying so"
    with pytest.raises(GraphError, match=r"sample 1 that was fed is float32 \(2, 2\)"):
        pipe.run()
    assert len(pipe.run()[0]) == BATCH


def test_declared_types_are_checked() -> None:
    pipe = external(lambda i: numbers(i), dtype=types.FLOAT, ndim=1)
    with pytest.raises(GraphError, match=r"is int32 \(2,\), expected float32"):
        pipe.run()
    with pytest.raises(GraphError, match=r"'ndim'.*9"):
        external(lambda i: numbers(i), dtype=types.FLOAT, ndim=9).build()
    with pytest.raises(GraphError, match="layout' is 'HW', ndim is 3"):
        external(lambda i: numbers(i), dtype=types.FLOAT, ndim=3, layout="HW").build()


@pytest.mark.parametrize("settings", EXECUTORS, ids=["pipelined", "simple", "depth 1"])
@pytest.mark.parametrize("batch", [True, False])
def test_what_a_source_raises(batch: bool, settings: dict[str, Any]) -> None:
    def source(x: Any) -> Any:
        i = x if batch else x.iteration
        if i == 1 and (batch or x.idx_in_batch == 2):
            raise KeyError("its own words")
        return numbers(i) if batch else numbers(i)[0]

    pipe = external(source, batch=batch, name="broken", settings=settings)
    assert pipe.run()[0].as_array()[0][0] == 0
    with pytest.raises(SourceError) as caught:
        pipe.run()
    message = str(caught.value)
    assert "'broken'" in message and "iteration 1 of epoch 0" in message
    assert "sources.py:" in message and "its own words" in message
    assert batch or "sample 2" in message
    cause = caught.value.__cause__
    assert isinstance(cause, KeyError) and cause.__traceback__ is not None
    assert traceback.extract_tb(cause.__traceback__)[-1].name == "source"
    assert pipe.run()[0].as_array()[0][0] == 2, "the pipeline goes on, the step is gone"


def test_a_failure_takes_the_step_of_all_outputs() -> None:
    def source(i: int) -> Any:
        if i % 2:
            raise ValueError("odd")
        return [np.full((1, 1), i)] * 8

    pipe = make(lambda: fn.external_source(source, 8))
    for i in range(0, 200, 2):
        assert [int(b.at(0)[0]) for b in pipe.run()] == [i] * 8
        with pytest.raises(SourceError, match="odd"):
            pipe.run()


def test_a_source_that_fails_at_once() -> None:
    def source(i: int) -> Any:
        if i == 0:
            raise OSError("not yet")
        return numbers(i)

    pipe = external(source)
    with pytest.raises(SourceError, match="not yet"):
        pipe.run()
    assert pipe.run()[0].as_array()[0][0] == 1


def test_a_wrong_number_of_outputs() -> None:
    pipe = make(lambda: fn.external_source(lambda i: (1, 2, 3), num_outputs=2), batch_size=1)
    with pytest.raises(SourceError, match="expected a tuple of num_outputs=2 outputs, got 3"):
        pipe.run()


@pytest.mark.parametrize("what", ["words", None, {"a": 1}, [np.array(["x"])], [object()]])
def test_what_is_no_array(what: Any) -> None:
    with pytest.raises(SourceError, match=r"that was fed|what is fed"):
        external(lambda i: what).run()


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"source": 3}, "source expects a callable"),
        ({"source": lambda a, b: 0}, "one argument, it takes 2"),
        ({"source": up_to(1), "cycle": "quiet"}, "needs a source that can begin anew"),
        ({"source": iter([1]), "cycle": True}, "needs a source that can begin anew"),
        ({"source": generator(), "cycle": True}, "the generator function itself"),
        ({"source": generator, "cycle": "often"}, "cycle expects"),
        ({"source": generator, "num_outputs": 0}, "num_outputs expects"),
        ({"source": generator, "num_outputs": 2, "layout": ["HW"]}, "'layout' has 1 entries"),
        ({"source": generator, "sources": 2}, "Did you mean 'source'"),
        ({"source": lambda: 0, "parallel": True}, "could not be told apart"),
        ({"source": up_to(1), "prefetch_queue_depth": 3}, "parallel=True"),
        ({"name": "x", "parallel": True}, "'parallel' needs a source"),
        ({"name": "x", "device": "mixed"}, "device expects"),
        ({"source": generator, "name": np.zeros(2)}, "name expects a str .*got array"),
        ({"source": generator, "batch": np.zeros(2)}, "'batch' expects bool, got array"),
        ({"source": generator, "parallel": "no"}, "'parallel' expects bool, got 'no'"),
        ({"source": generator, "num_outputs": 10**30}, "num_outputs expects an int from 1"),
        ({"source": generator, "num_outputs": object()}, "num_outputs expects an int from 1"),
        ({"source": Shy()}, "source is a Shy whose attributes cannot be read: ValueError: odd"),
    ],
)
def test_wrong_calls_are_named(keywords: dict[str, Any], message: str) -> None:
    with pytest.raises(GraphError, match=message) as caught:
        external(**keywords)
    assert "external_source" in str(caught.value) and "sources.py:" in str(caught.value)


def test_what_an_array_raises_ends_no_thread() -> None:
    class Leaving:
        def __array__(self, *_: Any, **__: Any) -> Any:
            raise SystemExit("bye")

    pipe = external(lambda i: [Leaving()] if i == 0 else numbers(i), name="in")
    with pytest.raises(SourceError, match=r"'in'.* gave for 'in': bye"):
        pipe.run()
    assert pipe.run()[0].as_array()[0][0] == 1


def test_a_signature_that_nobody_can_read() -> None:
    class Source:
        __signature__ = "odd"

        def __call__(self) -> Any:
            return numbers(7)

    assert external(Source()).run()[0].as_array()[0][0] == 7


@pytest.mark.parametrize("count", [np.int64(2), np.array(2)])
def test_num_outputs_may_be_of_numpy(count: Any) -> None:
    pipe = make(lambda: fn.external_source(lambda i: ([1], [2]), num_outputs=count))
    assert int(pipe.run()[1].at(0)) == 2


def test_a_source_that_does_not_take_its_state() -> None:
    class Source:
        def __call__(self, i: int) -> Any:
            return numbers(i)

        def state(self) -> int:
            return 0

        def restore(self, state: Any) -> None:
            raise OSError("no file")

    pipe = external(Source(), name="in")
    state = pipe.state()
    with pytest.raises(SourceError, match=r"'in'.* failed to take its state: OSError: no file"):
        pipe.restore(state)


def test_by_position_and_by_name() -> None:
    with pytest.raises(GraphError, match="'source' is given twice"):
        external(up_to(1), source=up_to(1))
    with pytest.raises(GraphError, match="takes 2 arguments by position"):
        external(up_to(1), 1, 2)


@pytest.mark.parametrize("declared", [{}, {"dtype": "int64", "ndim": 1}], ids=["", "declared"])
def test_a_source_that_no_output_needs_is_not_asked_for_batches(declared: dict[str, Any]) -> None:
    asked: list[int] = []

    def source(i: int) -> Any:
        asked.append(i)
        if i > 0:
            raise ValueError("not asked for")
        return np.zeros((2, 1), np.int64)

    pipe = Pipeline(batch_size=2)
    with pipe:
        fn.shapes(fn.external_source(source, **declared))
        pipe.set_outputs(fn.random.coin_flip())
    for _ in range(20):
        pipe.run()
    pipe.close()
    assert asked == ([] if declared else [0])  # the first one tells the type
