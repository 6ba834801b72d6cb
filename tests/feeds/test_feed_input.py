# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Feeding by name: kinds of arrays, copies, and missing batches."""

from __future__ import annotations

import array
import gc
import itertools
import sys
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from PIL import Image

from helpers import SIMPLE, make, run_script, samples_of
from stoker import DataNode, Pipeline, fn, ops, types
from stoker._sources.inputs import Inputs
from stoker._sources.runner import Runner
from stoker.errors import BudgetError, GraphError, SourceError


def fed(**keywords: Any) -> Pipeline:
    """A pipeline with one input, "in", and up to four samples a batch."""
    settings = keywords.pop("settings", {})
    return make(lambda: fn.external_source(name="in", **keywords), **{"batch_size": 4, **settings})


def given_back(data: Any, layout: str | None = None, **keywords: Any) -> list[Any]:
    """The samples that come out when this is fed."""
    pipe = fed(**keywords)
    pipe.feed_input("in", data, layout=layout)
    return [s[0] for s in samples_of(pipe.run())]


DTYPES = [d.value for d in types.DType if d is not types.NO_TYPE]


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype(dtype: str) -> None:
    data = np.arange(24).reshape(4, 2, 3).astype(dtype)
    for form in (data, list(data), tuple(data)):
        got = given_back(form)
        assert all(g.dtype == dtype for g in got)
        np.testing.assert_array_equal(np.stack(got), data)


@pytest.mark.parametrize(
    "view",
    [
        lambda a: a[:, ::2],
        lambda a: a[::-1, ::-1, ::-1],
        lambda a: a.transpose(0, 2, 1),
        lambda a: np.broadcast_to(a[:1], a.shape),
        lambda a: a[1:3, 1:, 1:2],
        lambda a: np.asfortranarray(a),
        lambda a: a[:, :0],
    ],
    ids=["steps", "backwards", "transposed", "broadcast", "window", "fortran", "empty"],
)
@pytest.mark.parametrize("no_copy", [False, True])
def test_strides(view: Any, no_copy: bool) -> None:
    data = view(np.arange(96, dtype=np.int16).reshape(4, 4, 6))
    for form in (data, list(data)):
        np.testing.assert_array_equal(np.stack(given_back(form, no_copy=no_copy)), data)


def field(picture: np.ndarray, name: str) -> np.ndarray:
    """The picture as a field of records, where values lie at any address."""
    kinds = [("flag", "u1"), (name, picture.dtype), ("tail", "u1", 2)]
    records = np.zeros(picture.shape, np.dtype(kinds))
    records[name] = picture
    return records[name]


def locked(picture: np.ndarray) -> np.ndarray:
    view = picture[::-1, 2:-3]
    view.flags.writeable = False
    return view


PICTURE_VIEWS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "rows mirrored": lambda p: p[::-1],
    "columns mirrored": lambda p: p[:, ::-1],
    "turned around": lambda p: p[::-1, ::-1],
    "all mirrored": lambda p: p[::-1, ::-1, ::-1],
    "BGR": lambda p: p[..., ::-1],
    "crop": lambda p: p[3:-2, 5:-4],
    "crop, BGR": lambda p: p[3:-2, -4:5:-1, ::-1],
    "CHW": lambda p: p.transpose(2, 0, 1),
    "CHW, BGR, crop": lambda p: p[3:-2, 5:-4, ::-1].transpose(2, 0, 1),
    "HWC of CHW": lambda p: p.transpose(2, 0, 1).copy().transpose(1, 2, 0),
    "transposed": lambda p: p.transpose(1, 0, 2),
    "axes reversed": lambda p: p.transpose(2, 1, 0),
    "quarter turn": np.rot90,
    "thinned out": lambda p: p[::2, ::3],
    "two channels": lambda p: p[..., :2],
    "one channel": lambda p: p[..., 1:2],
    "grey as RGB": lambda p: np.broadcast_to(p[..., :1], p.shape),
    "one colour": lambda p: np.broadcast_to(p[0, 0], p.shape),
    "one row": lambda p: np.broadcast_to(p[:1], p.shape),
    "field of records": lambda p: field(p, "value"),
    "field, mirrored": lambda p: field(p, "value")[:, ::-1],
    "read-only": locked,
    "no columns": lambda p: p[:, :0],
}


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "int64"])
@pytest.mark.parametrize("view", PICTURE_VIEWS.values(), ids=PICTURE_VIEWS.keys())
def test_views_of_pictures(view: Callable[[np.ndarray], np.ndarray], dtype: str) -> None:
    rng = np.random.default_rng(3)
    pictures = [
        view(rng.integers(0, 256, size, np.uint8).astype(dtype))
        for size in [(37, 53, 3), (8, 70, 4), (9, 9, 3)]
    ]
    for picture, got in zip(pictures, given_back(pictures), strict=True):
        np.testing.assert_array_equal(got, picture)


def test_kinds_of_arrays() -> None:
    import torch

    expected = np.arange(6, dtype=np.uint8).reshape(2, 3)
    forms = [
        torch.arange(6, dtype=torch.uint8).reshape(2, 3),
        torch.arange(6, dtype=torch.uint8).reshape(3, 2).t().contiguous().t().reshape(2, 3),
        [torch.arange(3, dtype=torch.uint8), torch.arange(3, 6, dtype=torch.uint8)],
        [bytes([0, 1, 2]), bytearray([3, 4, 5])],
        [memoryview(bytes([0, 1, 2])), array.array("B", [3, 4, 5])],
        memoryview(expected),
        expected.astype(">u2").astype("u1"),
    ]
    for form in forms:
        np.testing.assert_array_equal(np.stack(given_back(form)), expected)
    transposed = torch.arange(6, dtype=torch.float64).reshape(3, 2).t()
    np.testing.assert_array_equal(np.stack(given_back(transposed)), transposed.numpy())
    np.testing.assert_array_equal(given_back([np.arange(3, dtype=">i4")])[0], [0, 1, 2])
    picture = Image.fromarray(np.full((2, 3, 3), 7, np.uint8))
    assert given_back([picture])[0].shape == (2, 3, 3)
    assert [int(x) for x in given_back([3, 4])] == [3, 4]
    assert given_back([[1.5, 2.5]])[0].tolist() == [1.5, 2.5]


def test_scalars_and_empty_samples() -> None:
    assert [float(x) for x in given_back(np.array([1.5, 2.5]))] == [1.5, 2.5]
    ragged = given_back([np.zeros((0, 3)), np.zeros((2, 3))])
    assert [r.shape for r in ragged] == [(0, 3), (2, 3)]


class Reluctant:
    def __array__(self, *_: Any, **__: Any) -> Any:
        raise ValueError("odd")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (np.float32(3), "is a scalar"),
        ([], "a batch of no samples"),
        (np.zeros((0, 3)), "a batch of no samples"),
        ("text", "of type str"),
        (None, "of type NoneType"),
        ([np.zeros(3), None], "sample 1 that was fed is of type NoneType"),
        (
            [np.zeros(3, np.complex64)],
            "sample 0 .* holds complex64; expected bool, integers or floats",
        ),
        ([np.zeros((1,) * 7)], "samples of 7 axes"),
        (np.zeros((1,) * 8), "samples of 7 axes"),
        (np.zeros((5, 2)), "a batch of 5 samples was fed; batch_size is 4"),
        ([np.array(["a"])], "holds <U1; expected bool"),
        ([np.datetime64("NaT")], "sample 0 .* holds datetime64; expected bool"),
        (np.zeros(2, "M8[s]"), r"the batch .* holds datetime64\[s\]; expected bool"),
        ([[1, [2]]], "sample 0 .* of type list: .*inhomogeneous"),
        ([Reluctant()], "sample 0 .* of type Reluctant: odd"),
        (np.broadcast_to(np.uint8(1), (1 << 46, 1)), "a batch of 70368744177664 samples was fed"),
    ],
)
def test_what_cannot_be_fed_is_named(data: Any, message: str) -> None:
    pipe = fed(dtype=types.FLOAT64, ndim=1)
    pipe.build()
    with pytest.raises(GraphError, match=f"^feed_input: external_source 'in': .*{message}"):
        pipe.feed_input("in", data)
    pipe.feed_input("in", np.ones((4, 1)))
    assert pipe.run()[0].as_array().sum() == 4, "the pipeline goes on"


@pytest.mark.parametrize("name", [None, 3, b"in"])
def test_what_is_no_name(name: Any) -> None:
    with pytest.raises(GraphError, match="data_node expects a node or a name, got"):
        fed().feed_input(name, np.ones((4, 1)))


def test_a_name_of_half_a_character() -> None:
    with pytest.raises(GraphError, match="no external_source is named"):
        fed().feed_input("\ud800", np.ones((4, 1)))


@pytest.mark.parametrize("make_nodes", [fn.external_source, lambda **k: ops.ExternalSource(**k)()])
def test_nodes_made_at_once_are_fed_one_by_one(make_nodes: Any) -> None:
    nodes: list[DataNode] = []

    def define() -> Any:
        nodes.extend(make_nodes(num_outputs=2, layout=["X", "Y"]))
        return nodes

    pipe = make(define, batch_size=2)
    for value, node in enumerate(nodes):
        pipe.feed_input(node, np.full((2, 1), value))
    first, second = pipe.run()
    assert (first.as_array().tolist(), second.as_array().tolist()) == ([[0]] * 2, [[1]] * 2)
    assert (first.layout, second.layout) == ("X", "Y")


def test_names_and_nodes() -> None:
    nodes: list[DataNode] = []

    def define() -> Any:
        nodes.append(fn.external_source(name="in"))
        return nodes

    pipe = make(define, batch_size=2)
    pipe.feed_input(nodes[0], np.zeros((2, 1)))
    pipe.feed_input("in", np.ones((1, 1)))
    assert [len(pipe.run()[0]) for _ in range(2)] == [2, 1]
    missing = r"^feed_input: no external_source is named 'inn'. Did you mean 'in'\?$"
    for kind in (GraphError, KeyError):
        with pytest.raises(kind, match=missing):
            pipe.feed_input("inn", np.zeros((2, 1)))
    sourced = make(lambda: fn.external_source(lambda: 0, name="in"))
    with pytest.raises(GraphError, match=r"feeds 'in' already"):
        sourced.feed_input("in", np.zeros((2, 1)))


def test_layouts() -> None:
    pipe = fed(layout="HW")
    pipe.feed_input("in", np.zeros((2, 3, 4)))
    pipe.feed_input("in", np.zeros((2, 3, 4)), layout="HW")
    assert [pipe.run()[0].layout for _ in range(2)] == ["HW", "HW"]
    with pytest.raises(GraphError, match=r"float64 WH \(3, 4\), expected float64 HW"):
        pipe.feed_input("in", np.zeros((2, 3, 4)), layout="WH")
    learned = fed()
    learned.feed_input("in", np.zeros((2, 3, 4)), layout="HW")
    assert learned.run()[0].layout == "HW"


@pytest.mark.parametrize("settings", [{}, SIMPLE], ids=["pipelined", "simple"])
def test_nothing_fed_is_an_error(settings: dict[str, Any]) -> None:
    pipe = fed(settings=settings)
    with pytest.raises(SourceError, match=r"external_source 'in': nothing was fed"):
        pipe.run()
    pipe.feed_input("in", np.zeros((4, 1)))
    pipe.run()
    with pytest.raises(SourceError, match=r"'in'.*nothing was fed for this step"):
        pipe.run()
    pipe.feed_input("in", np.ones((4, 1)))
    assert pipe.run()[0].as_array().sum() == 4


def test_fed_ahead() -> None:
    pipe = fed()
    for i in range(7):
        pipe.feed_input("in", np.full((4, 1), i))
    assert [int(pipe.run()[0].at(0)[0]) for _ in range(7)] == list(range(7))


def run_while_another_thread_feeds(pipe: Pipeline, steps: int) -> None:
    def feed() -> None:
        for i in range(steps):
            pipe.feed_input("in", np.full((4, 1), i))

    thread = threading.Thread(target=feed)
    thread.start()
    assert [int(pipe.run()[0].at(0)[0]) for _ in range(steps)] == list(range(steps))
    thread.join()


def test_blocking_waits_for_another_thread() -> None:
    for settings in ({}, SIMPLE):
        run_while_another_thread_feeds(fed(blocking=True, settings=settings), steps=20)


def fed_beside_a_source() -> tuple[Pipeline, list[int]]:
    """A pipeline, not built, whose second output is of a source, and the calls of the source."""
    calls: list[int] = []

    def source(i: int) -> Any:
        calls.append(i)
        return np.full((4, 1), i)

    pipe = Pipeline(batch_size=4)
    with pipe:
        pipe.set_outputs(
            fn.external_source(name="in", blocking=True, dtype="int64", ndim=1),
            fn.external_source(source, dtype="int64", ndim=1),
        )
    return pipe, calls


def test_the_thread_that_feeds_makes_no_second_engine() -> None:
    """The second engine would get what is fed while the first one waits for it."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(100):
            run_while_another_thread_feeds(fed(blocking=True), steps=4)
    finally:
        sys.setswitchinterval(before)


@pytest.mark.parametrize(("whose", "name"), [(Runner, "__init__"), (Inputs, "attach")])
def test_the_thread_that_feeds_waits_for_what_the_other_makes(
    whose: type, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever thread begins, the other one comes in the midst of it."""
    real = getattr(whose, name)
    calls = itertools.count(1)

    def slow(*arguments: Any) -> None:
        time.sleep(0.05 * next(calls))
        real(*arguments)

    monkeypatch.setattr(whose, name, slow)
    for pause in (0, 0.02):
        pipe, asked = fed_beside_a_source()
        monkeypatch.setattr(pipe, "run", lambda run=pipe.run, p=pause: (time.sleep(p), run())[1])
        run_while_another_thread_feeds(pipe, steps=4)
        pipe.close()
        assert asked == list(range(len(asked)))


@pytest.mark.parametrize("declared", [{}, {"dtype": "int64", "ndim": 1}], ids=["", "declared"])
def test_what_was_fed_goes_on_from_a_checkpoint(declared: dict[str, Any]) -> None:
    first = fed(**declared)
    for i in range(3):
        first.feed_input("in", np.full((4, 1), i))
        first.run()
    again = fed(**declared, settings={"checkpoint": first.checkpoint()})
    again.feed_input("in", np.full((4, 1), 7))
    assert int(again.run()[0].at(0)[0]) == 7


def test_repeat_last() -> None:
    pipe = fed(repeat_last=True)
    with pytest.raises(SourceError):
        pipe.run()
    pipe.feed_input("in", np.full((3, 1), 1))
    assert [int(pipe.run()[0].at(0)[0]) for _ in range(3)] == [1, 1, 1]
    pipe.feed_input("in", np.full((2, 1), 2))
    pipe.feed_input("in", np.full((2, 1), 3))
    assert [int(pipe.run()[0].at(0)[0]) for _ in range(4)] == [2, 3, 3, 3]


def test_inputs_of_a_step_agree_on_its_size() -> None:
    pipe = make(
        lambda: [fn.external_source(name=n, dtype=types.FLOAT64, ndim=1) for n in "ab"],
        batch_size=4,
    )
    pipe.build()
    pipe.feed_input("a", np.zeros((3, 1)))
    with pytest.raises(GraphError, match=r"'b'.*2 samples was fed for a step.*'a'.*was fed 3"):
        pipe.feed_input("b", np.zeros((2, 1)))
    pipe.feed_input("b", np.zeros((3, 1)))
    assert [len(b) for b in pipe.run()] == [3, 3]


def test_copies_are_taken_at_once() -> None:
    data = np.zeros((4, 1))
    pipe = fed()
    for i in range(3):
        data[:] = i
        pipe.feed_input("in", data)
    data[:] = 99
    assert [int(pipe.run()[0].at(0)[0]) for _ in range(3)] == [0, 1, 2]


class Freed(np.ndarray[Any, Any]):
    """An array whose end a weak reference can see."""


def test_no_copy_keeps_the_array_until_it_was_received() -> None:
    def watched(value: int) -> tuple[Any, weakref.ref[Any]]:
        a = np.full((4, 2), value, np.int32).view(Freed)
        return a, weakref.ref(a)

    pipe = fed(no_copy=True, dtype=types.INT32, ndim=1)
    pipe.build()
    data, alive = watched(1)
    pipe.feed_input("in", data)
    del data
    gc.collect()
    assert alive() is not None, "the pipeline keeps it"
    batch = pipe.run()[0]
    gc.collect()
    assert alive() is None, "and lets go of it"
    assert batch.as_array().tolist() == [[1, 1]] * 4, "the output is another memory"
    data, alive = watched(2)
    pipe.feed_input("in", data)
    del data, pipe
    gc.collect()
    assert alive() is None, "a dropped pipeline lets go as well"


def test_no_copy_from_many_threads() -> None:
    """Arrays are freed while workers, the feeding thread and the interpreter are busy."""
    pipe = make(
        lambda: fn.cast(fn.external_source(name="in", no_copy=True, blocking=True), dtype="int64"),
        batch_size=4,
        num_threads=4,
        prefetch_queue_depth=4,
    )

    def feed() -> None:
        for i in range(300):
            pipe.feed_input("in", [np.full(100, i) for _ in range(4)])

    thread = threading.Thread(target=feed)
    thread.start()
    for i in range(300):
        assert int(pipe.run()[0].at(3)[99]) == i
    thread.join()


def test_outputs_are_the_users_own() -> None:
    pipe = fed(repeat_last=True, no_copy=True)
    data = np.zeros((2, 3))
    pipe.feed_input("in", data)
    pipe.run()[0].as_array()[:] = 5
    assert pipe.run()[0].as_array().sum() == 0
    assert data.sum() == 0


def test_memory_is_bounded() -> None:
    pipe = fed(settings={"memory_limit": 8 << 20}, dtype=types.UINT8, ndim=1)
    pipe.build()
    pipe.feed_input("in", np.zeros((4, 150_000), np.uint8))
    with pytest.raises(BudgetError, match="in batches that were fed"):
        pipe.feed_input("in", np.zeros((4, 150_000), np.uint8))
    assert pipe.stats()["memory"]["read_ahead"]["in_use"] >= 600_000
    pipe.run()
    pipe.feed_input("in", np.zeros((4, 150_000), np.uint8))


def test_a_subclass_may_feed_in_iter_setup() -> None:
    class Fed(Pipeline):
        count = 0

        def define_graph(self) -> Any:
            return fn.external_source(name="in")

        def iter_setup(self) -> None:
            if self.count == 3:
                raise StopIteration
            self.feed_input("in", np.full((2, 1), self.count))
            self.count += 1

    pipe = Fed(batch_size=2, num_threads=1)
    assert [int(pipe.run()[0].at(0)[0]) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(StopIteration):
        pipe.run()
    pipe.count = 1
    pipe.reset()
    assert len(list(pipe)) == 2


def test_on_the_device() -> None:
    done = run_script(
        "import numpy as np\n"
        "from stoker import Pipeline, fn\n"
        "pipe = Pipeline(batch_size=2, num_threads=1, device_id=0)\n"
        "with pipe: pipe.set_outputs(fn.external_source(name='in', device='gpu', layout='HW'))\n"
        "pipe.feed_input('in', np.arange(12).reshape(2, 2, 3).astype('u1'))\n"
        "(batch,) = pipe.run()\n"
        "print(batch.device != 'cpu', batch.as_cpu().as_array().ravel().tolist())\n",
        STOKER_SIMULATED_DEVICES="1",
    )
    assert done.stdout == f"True {list(range(12))}\n", done.stderr


def test_the_class_is_fed_by_its_node() -> None:
    """The script feeds as scripts of the established library do."""

    class Fed(Pipeline):
        def define_graph(self) -> Any:
            self.numbers = ops.ExternalSource()()
            return self.numbers

        def iter_setup(self) -> None:
            self.feed_input(self.numbers, np.full((2, 1), 5))

    assert int(Fed(batch_size=2, num_threads=1).run()[0].at(1)[0]) == 5
    sourced = make(lambda: ops.ExternalSource(source=lambda: np.ones((1, 2)), num_outputs=None)())
    assert sourced.run()[0].as_array().tolist() == [[1, 1]]
