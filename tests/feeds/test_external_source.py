# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Sources of fn.external_source: how they are called, and how epochs end."""

from __future__ import annotations

import functools
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import jpegs
from helpers import SIMPLE, assert_same, epoch, make, samples_of, take
from sources import BATCH, EXECUTORS, external, firsts, generator, numbers, up_to
from stoker import Pipeline, fn, types
from stoker.errors import Error, GraphError, SourceError


class Callable1:
    def __call__(self, iteration: int) -> Any:
        return up_to(3)(iteration)

    def method(self, iteration: int) -> Any:
        return self(iteration)


class Countdown:
    """A source that is called without arguments."""

    def __init__(self) -> None:
        self.i = -1

    def __call__(self) -> Any:
        self.i += 1
        if self.i == 3:
            self.i = -1
            raise StopIteration
        return numbers(self.i)


def two_arguments(scale: int, iteration: int) -> Any:
    return up_to(3)(iteration) * scale


@pytest.mark.parametrize("settings", EXECUTORS, ids=["pipelined", "simple", "depth 1"])
@pytest.mark.parametrize(
    "source",
    [
        up_to(3),
        Callable1(),
        Callable1().method,
        functools.partial(two_arguments, 1),
        lambda i=0: up_to(3)(i),
        Countdown(),
        Countdown().__call__,
        generator,
        [numbers(i) for i in range(3)],
        tuple([list(numbers(i)) for i in range(3)]),
    ],
    ids=[
        "function",
        "object",
        "method",
        "partial",
        "default",
        "nothing",
        "bound",
        "generator",
        "list",
        "tuple of lists",
    ],
)
def test_every_kind_of_source(source: Any, settings: dict[str, Any]) -> None:
    pipe = external(source, settings=settings)
    for _ in range(3):
        assert firsts(pipe) == [0, 1, 2]


def test_an_iterator_has_one_epoch() -> None:
    pipe = external(iter([numbers(0), numbers(1)]))
    assert firsts(pipe) == [0, 1]
    with pytest.warns(UserWarning, match="gives one epoch"):
        assert firsts(pipe) == []


def test_run_raises_until_reset() -> None:
    pipe = external(up_to(2))
    for _ in range(2):
        pipe.run()
        pipe.run()
        for _ in range(2):
            with pytest.raises(StopIteration):
                pipe.run()
        pipe.reset()
    pipe.run()
    pipe.reset()  # in the middle of an epoch a reset does nothing
    assert pipe.run()[0].as_array()[0][0] == 1


def test_what_a_callable_is_asked_for() -> None:
    asked: list[Any] = []

    def source(info: Any) -> Any:
        asked.append(info)
        if (info if isinstance(info, int) else info.iteration) == 2:
            raise StopIteration
        return numbers(0)

    list(external(source))
    assert asked == [0, 1, 2]
    asked.clear()
    pipe = external(source, batch_info=True)
    list(pipe), list(pipe)
    assert asked == [types.BatchInfo(i, e) for e in range(2) for i in range(3)]
    assert asked[-1].iteration == 2 and asked[-1].epoch_idx == 1


def test_samples() -> None:
    asked: list[types.SampleInfo] = []

    def source(info: types.SampleInfo) -> Any:
        asked.append(info)
        if info.idx_in_epoch == 10:
            raise StopIteration
        return np.full(info.idx_in_batch + 1, info.idx_in_epoch, np.float32)

    pipe = external(source, batch=False)
    for e in range(2):
        asked.clear()
        got = epoch(pipe)
        # The third batch has only two samples when the source ends, so it is dropped.
        assert [int(s[0][0]) for s in got] == list(range(8))
        assert [s[0].shape for s in got] == [(1,), (2,), (3,), (4,)] * 2
        assert asked == [types.SampleInfo(i, i % BATCH, i // BATCH, e) for i in range(11)]


def test_samples_of_an_iterable() -> None:
    pipe = external([np.array([i]) for i in range(9)], batch=False)
    for _ in range(2):
        assert [int(s[0][0]) for s in epoch(pipe)] == list(range(8))


@pytest.mark.parametrize("batch", [True, False])
def test_several_outputs(batch: bool) -> None:
    def sample(i: int) -> tuple[Any, Any]:
        return np.full((2, 2), i, np.uint8), np.array([i], np.int64)

    def batch_of(i: int) -> tuple[Any, Any]:
        columns = zip(*[sample(BATCH * i + k) for k in range(BATCH)], strict=True)
        return tuple(list(c) for c in columns)  # type: ignore[return-value]

    source: Any = batch_of if batch else (lambda info: sample(info.idx_in_epoch))
    nodes: list[Any] = []

    def define() -> Any:
        nodes.extend(fn.external_source(source, 2, batch=batch, layout=["HW", None], name="pair"))
        return nodes

    pipe = make(define, batch_size=BATCH)
    assert isinstance(nodes, list) and [n.name for n in nodes] == ["pair_0", "pair_1"]
    pictures, labels = pipe.run()
    assert (pictures.layout, labels.layout) == ("HW", "")
    assert labels.as_array().ravel().tolist() == [0, 1, 2, 3]
    assert pictures.at(3).tolist() == [[3, 3], [3, 3]]


class Pair:
    """Has a length and elements, and is no sequence of Python's."""

    def __init__(self, at: int) -> None:
        self.at = at

    def __len__(self) -> int:
        return 2

    def __getitem__(self, k: int) -> Any:
        if self.at == BATCH:
            raise ValueError("no element")
        return np.full(3, 10 * self.at + k)


def test_any_sequence_of_outputs() -> None:
    sources: list[tuple[Any, dict[str, Any]]] = [
        (lambda info: Pair(info.idx_in_epoch), {"batch": False}),
        (lambda info: np.add.outer([0, 1], [10 * info.idx_in_epoch] * 3), {"batch": False}),
        ([np.add.outer([0, 1], [10 * i] * 3) for i in range(BATCH)], {"batch": False}),
        (lambda i: np.add.outer([0, 1], np.add.outer(range(0, 40, 10), [0] * 3)), {}),
    ]
    for source, keywords in sources:
        for parallel in (False, True):
            a, b = external(source, num_outputs=2, parallel=parallel, **keywords).run()
            assert a.as_array().tolist() == [[10 * i] * 3 for i in range(BATCH)]
            assert b.as_array().tolist() == [[10 * i + 1] * 3 for i in range(BATCH)]
    pipe = external(sources[0][0], num_outputs=2, batch=False)
    pipe.run()
    with pytest.raises(SourceError, match="iteration 1 of epoch 0, sample 0: ValueError: no elem"):
        pipe.run()
    for wrong in (np.zeros((3, 2)), np.float32(1), "ab", b"ab", {0: 1, 1: 2}, {1, 2}):
        with pytest.raises(SourceError, match="expected a tuple of num_outputs=2 outputs, got a"):
            external(lambda _, wrong=wrong: wrong, num_outputs=2, batch=False).run()


@pytest.mark.filterwarnings("ignore:.*nothing reads those at 0")
def test_an_output_that_nothing_needs() -> None:
    pipe = make(
        lambda: fn.external_source(lambda i: (numbers(i), numbers(i + 10)), num_outputs=2)[1],
        batch_size=BATCH,
    )
    assert [int(s[0][0]) for s in take(pipe, 2 * BATCH)][::BATCH] == [10, 11]


def test_a_source_that_nothing_reads_is_not_asked() -> None:
    asked: list[int] = []

    def define() -> Any:
        fn.external_source(asked.append)
        fn.copy(fn.external_source(asked.append, num_outputs=2)[1])
        fn.external_source(name="by hand")
        return fn.external_source(up_to(3))

    pipe = make(define, batch_size=BATCH)
    pipe.feed_input("by hand", numbers(0))
    pipe.feed_input("by hand", np.zeros((1, 2, 3), np.float16))
    assert firsts(pipe) == [0, 1, 2] and asked == []
    assert list(pipe.state()["sources"]) == ["external_source_4"]


def test_what_is_made_in_vain_is_warned_of() -> None:
    def define() -> Any:
        return fn.external_source(lambda i: (None, numbers(i), ""), num_outputs=3)[1]

    with pytest.warns(UserWarning, match=r"makes 3 outputs, but nothing reads those at 0, 2;"):
        pipe = make(define, batch_size=BATCH)
        pipe.build()
    assert [pipe.run()[0].as_array()[0][0] for _ in range(3)] == [0, 1, 2]


def test_a_source_that_nothing_needs_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    failed: list[Any] = []
    monkeypatch.setattr(threading, "excepthook", failed.append)

    def source() -> Any:
        yield numbers(0)

    def define() -> Any:
        fn.shapes(fn.external_source(source))
        return fn.random.uniform()

    pipe = make(define, batch_size=BATCH)
    assert len(take(pipe, 3 * BATCH)) == 3 * BATCH
    pipe.close()
    assert not failed
    assert len(take(pipe, BATCH)) == BATCH


def test_two_sources_stay_in_step() -> None:
    """The shorter source ends the epoch. The next one begins with the first batch of both."""
    pipe = make(
        lambda: (fn.external_source(up_to(3)), fn.external_source(lambda: numbers(next(counted)))),
        batch_size=BATCH,
    )
    counted = iter(range(100))
    pairs = [tuple(int(b.as_array()[0][0]) for b in step) for step in pipe]
    assert pairs == [(0, 0), (1, 1), (2, 2)]
    assert firsts(pipe) == [0, 1, 2]


def test_batches_may_differ_in_size() -> None:
    sizes = [4, 1, 3, 2]

    def define() -> Any:
        x = fn.external_source(up_to(4, lambda i: numbers(i, sizes[i])))
        return x, fn.random.uniform(), fn.cast(x, dtype=types.FLOAT)

    judge = epoch(make(define, batch_size=BATCH, **SIMPLE))
    assert len(judge) == sum(sizes)
    for settings in [*EXECUTORS, {"num_threads": 5, "prefetch_queue_depth": 4}]:
        pipe = make(define, **{"batch_size": BATCH, **settings})
        assert_same(epoch(pipe), judge, str(settings))
    draws = [float(s[1]) for s in judge]
    whole = [float(s[0]) for s in take(make(fn.random.uniform, batch_size=BATCH), 16)]
    assert draws == whole[:4] + whole[4:5] + whole[8:11] + whole[12:14]


def test_larger_batches_than_batch_size() -> None:
    pipe = external(lambda i: numbers(i, BATCH + 1))
    with pytest.raises(SourceError, match=r"a batch of 5 samples was fed; batch_size is 4"):
        pipe.run()


def test_beside_a_reader(files: list[str]) -> None:
    def define(size: int) -> Any:
        _, label = fn.readers.file(files=files[:6])
        return label, fn.external_source(lambda i: numbers(i, size))

    pipe = make(lambda: define(3), batch_size=3)
    for _ in range(2):  # the loop ends with the reader's epoch
        assert [int(label.as_array()[0][0]) for label, _ in pipe] == [0, 3]
    with pytest.raises(GraphError, match="beside a reader it must be batch_size, 3"):
        make(lambda: define(2), batch_size=3).run()


def test_encoded_pictures_are_decoded() -> None:
    encoded = [jpegs.encode(jpegs.picture(20 + i, 30, i), "420") for i in range(BATCH)]

    def define(source: Any) -> Any:
        return fn.decoders.image(fn.external_source(source))

    got = take(make(lambda: define(lambda: encoded), batch_size=BATCH), BATCH)
    arrays = [np.frombuffer(e, np.uint8) for e in encoded]
    assert_same(got, take(make(lambda: define([arrays]), batch_size=BATCH), BATCH), "as arrays")
    assert [s[0].shape for s in got] == [(20 + i, 30, 3) for i in range(BATCH)]


def test_a_source_may_steer_arguments() -> None:
    def define() -> Any:
        flag = fn.external_source(lambda i: np.arange(BATCH, dtype=np.int32) % 2)
        picture = fn.constant(idata=[1, 2], shape=[1, 2, 1], layout="HWC")
        return fn.flip(picture, horizontal=flag)

    got = take(make(define, batch_size=BATCH), BATCH)
    assert [s[0].ravel().tolist() for s in got] == [[1, 2], [2, 1]] * 2


def test_layouts_reach_the_operators() -> None:
    def define(**keywords: Any) -> Any:
        x = fn.external_source(
            lambda i: np.arange(24, dtype=np.uint8).reshape(1, 2, 3, 4), **keywords
        )
        return fn.flip(x)

    hwc = make(lambda: define(layout="HWC")).run()[0]
    chw = make(lambda: define(layout="CHW")).run()[0]
    assert (hwc.layout, chw.layout) == ("HWC", "CHW")
    assert hwc.at(0)[0, 0, 0] == 8 and chw.at(0)[0, 0, 0] == 3


def test_a_source_is_asked_ahead_and_not_further() -> None:
    asked: list[int] = []
    reached = threading.Event()

    def source(i: int) -> Any:
        asked.append(i)
        if i == 3:
            reached.set()
        return numbers(i)

    pipe = external(source, dtype=types.INT32, ndim=1, settings={"prefetch_queue_depth": 3})
    pipe.run()
    assert reached.wait(60), "three steps ahead of the one that was received"
    pipe.close()
    assert asked == [0, 1, 2, 3]


def test_sources_run_on_one_thread_of_their_own() -> None:
    seen: list[threading.Thread] = []

    def source(i: int) -> Any:
        seen.append(threading.current_thread())
        return numbers(i)

    pipe = make(lambda: (fn.external_source(source), fn.external_source(source)), batch_size=BATCH)
    for _ in range(5):
        pipe.run()
    assert len(set(seen)) == 1 and seen[0] is not threading.main_thread() and seen[0].daemon


def test_reused_arrays_are_copied() -> None:
    reused = np.zeros((BATCH, 2), np.int32)

    def source(i: int) -> Any:
        reused[:] = i
        return reused

    got = take(external(source, settings={"prefetch_queue_depth": 4}), 10 * BATCH)
    assert [int(s[0][0]) for s in got][::BATCH] == list(range(10))


def test_close_keeps_what_sources_gave() -> None:
    pipe = external(generator, settings={"prefetch_queue_depth": 3})
    got = [int(pipe.run()[0].as_array()[0][0])]
    pipe.close()
    got += firsts(pipe)
    assert got == [0, 1, 2]


def test_the_reader_of_a_plan_sees_what_is_fed() -> None:
    pipe = external(up_to(1), dtype=types.INT32, ndim=1, name="mine")
    assert "'mine'" in pipe.plan() and "fed by the user" in pipe.plan()


def test_a_saved_pipeline_has_no_source(tmp_path: Path) -> None:
    pipe = external(up_to(3), name="in", layout="A")
    pipe.run()
    loaded = Pipeline.deserialize(pipe.serialize())
    with pytest.raises(SourceError, match="nothing was fed"):
        loaded.run()
    loaded.feed_input("in", numbers(7))
    assert loaded.run()[0].as_array()[0][0] == 7
    assert issubclass(SourceError, Error)


def test_pipelines_feed_pipelines() -> None:
    """One pipeline's batches, ragged or dense, may be fed to another."""
    first = make(
        lambda: fn.external_source(
            lambda i: [np.full((k + 1, 2), i, np.uint8) for k in range(BATCH)], layout="HW"
        ),
        batch_size=BATCH,
    )
    second = external(lambda: first.run()[0])
    batch = second.run()[0]
    assert batch.layout == "HW" and batch.shape() == [(k + 1, 2) for k in range(BATCH)]
    assert samples_of([batch])[3][0].shape == (4, 2)


def test_an_iterator_for_a_framework() -> None:
    """A loop ends with the source, and the next loop is the next epoch."""
    from stoker.torch import DataIterator

    sizes = [4, 4, 1]
    iterator = DataIterator(external(up_to(3, lambda i: numbers(i, sizes[i]))), ["x"])
    for _ in range(2):
        assert [b["x"].tolist()[-1] for b in iterator] == [[0, 3], [1, 3], [2, 0]]
