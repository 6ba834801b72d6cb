# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Pipelines as subclasses, the scheduled way of running, and errors in both."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers import make
from stoker import Pipeline, errors, fn, ops, types
from trainings import in_order


class Counting(Pipeline):
    """Counts the calls of iter_setup(), of which the one numbered `last` ends the epoch."""

    def __init__(self, last: int | None = None, depth: int = 2, **settings: Any) -> None:
        super().__init__(batch_size=2, num_threads=1, prefetch_queue_depth=depth, **settings)
        self.draw = ops.random.Uniform()
        self.calls = 0
        self.last = last

    def define_graph(self) -> Any:
        return self.draw()

    def iter_setup(self) -> None:
        if self.calls == self.last:
            raise StopIteration
        self.calls += 1


@pytest.mark.parametrize("depth", [1, 2, 5])
def test_iter_setup_is_called_for_every_iteration_that_begins(depth: int) -> None:
    pipe = Counting(depth=depth)
    pipe.build()
    assert (pipe.calls, pipe.empty()) == (0, True)
    for step in range(3):
        pipe.run()
        assert pipe.calls == depth + step
    assert pipe.empty() == (depth == 1)


@pytest.mark.parametrize("is_scheduled", [False, True])
def test_iter_setup_ends_the_epoch(is_scheduled: bool) -> None:
    pipe = Counting(last=3)

    def step() -> Any:
        if is_scheduled:
            pipe.schedule_run()
            return pipe.outputs()
        return pipe.run()

    for _ in range(2):
        pipe.calls = 0
        for _ in range(3):
            assert len(step()[0]) == 2
        for _ in range(2):
            with pytest.raises(StopIteration):
                step()
        assert pipe.empty()
        pipe.reset()


def test_a_loop_ends_with_iter_setup_and_begins_again() -> None:
    pipe = Counting(last=5)
    assert len(list(pipe)) == 5
    pipe.calls = 0
    assert len(list(pipe)) == 5


def test_a_step_that_fails_is_an_iteration(damaged: Path) -> None:
    class Damaged(Counting):
        def define_graph(self) -> Any:
            return fn.decoders.image(fn.readers.file(file_root=damaged)[0])

    pipe = Damaged(depth=2)
    failures = 0
    for step in range(12):
        try:
            pipe.run()
        except errors.SampleError:
            failures += 1
        assert pipe.calls == 2 + step
    assert failures == 1


@pytest.mark.parametrize("first", ["run", "schedule_run"])
def test_styles_do_not_mix(first: str) -> None:
    pipe = Counting()
    getattr(pipe, first)()
    for other in ("run", "schedule_run", "outputs", "share_outputs", "release_outputs"):
        if (other == "run") != (first == "run"):
            with pytest.raises(errors.GraphError, match="Mixing pipeline API type"):
                getattr(pipe, other)()
    if first == "schedule_run":
        with pytest.raises(errors.GraphError, match="Mixing pipeline API type"):
            next(iter(pipe))
    pipe.enable_api_check(False)
    pipe.run()
    pipe.schedule_run()
    pipe.outputs()


def test_iterators_prepare_before_they_take() -> None:
    pipe = Counting(last=4, depth=2)
    pipe._prepare()
    assert pipe.calls == 2
    for step in range(4):
        assert len(pipe.run()[0]) == 2
        assert pipe.calls == min(2 + step, 4)
    with pytest.raises(StopIteration):
        pipe.run()
    with pytest.raises(errors.GraphError, match="Mixing pipeline API type"):
        pipe.schedule_run()


def test_a_subclass_and_a_function_give_the_same(pictures: Path) -> None:
    class InOrder(Pipeline):
        def __init__(self, root: Path) -> None:
            super().__init__(batch_size=4, num_threads=2)
            self.read = ops.readers.File(file_root=root)
            self.decode = ops.decoders.Image()

        def define_graph(self) -> Any:
            encoded, label = self.read()
            return self.decode(encoded), label

    pipe, other = InOrder(pictures), in_order(pictures)
    for (images, labels), (expected, numbers) in zip(pipe, other, strict=True):
        assert images.shape() == expected.shape()
        np.testing.assert_array_equal(labels.as_array(), numbers.as_array())


def test_a_sink_is_a_node_of_this_pipeline() -> None:
    pipe = Pipeline(batch_size=1)
    with pipe:
        node = fn.random.uniform()
        pipe.add_sink(fn.copy(node))
    pipe.set_outputs(node)
    with pytest.raises(errors.GraphError, match="add_sink expects a node, got 3"):
        pipe.add_sink(3)  # type: ignore[arg-type]
    with pytest.raises(errors.GraphError, match="belongs to another pipeline"):
        Pipeline(batch_size=1).add_sink(node)
    assert len(pipe.run()) == 1
    with pytest.raises(errors.GraphError, match="is built"):
        pipe.add_sink(node)


@pytest.mark.parametrize("encode", [str, str.encode])
def test_a_saved_graph_with_this_pipeline_s_settings(pictures: Path, encode: Any) -> None:
    saved = in_order(pictures).serialize()
    pipe = Pipeline(batch_size=3, num_threads=1)
    pipe.deserialize_and_build(encode(saved))
    assert (pipe.num_outputs, pipe.batch_size) == (2, 3)
    assert [len(b) for b in pipe.run()] == [3, 3]


def test_a_saved_graph_brings_the_settings_that_are_missing() -> None:
    saving = Pipeline(batch_size=3, num_threads=2, seed=7, output_ndim=0, prefetch_queue_depth=4)
    with saving:
        saving.set_outputs(fn.random.uniform())
    pipe = Pipeline(num_threads=1)
    pipe.deserialize_and_build(saving.serialize())
    assert (pipe.batch_size, pipe.num_threads, pipe.seed, pipe.output_ndim) == (3, 1, 7, 0)
    assert pipe.prefetch_queue_depth == 2, "a default that is not None stays"
    np.testing.assert_array_equal(pipe.run()[0].as_array(), saving.run()[0].as_array())
    other, text = Pipeline(seed=8), saving.serialize()
    with pytest.raises(errors.GraphError, match="'batch_size' is 0"):
        other.deserialize_and_build(text.replace('"batch_size": 3', '"batch_size": 0'))
    other.deserialize_and_build(text)
    assert other.seed == 8


def test_whether_it_began_from_a_checkpoint(pictures: Path) -> None:
    pipe = in_order(pictures, enable_checkpointing=True)
    pipe.run()
    assert not pipe.is_restored_from_checkpoint
    again = in_order(pictures, enable_checkpointing=True, checkpoint=pipe.checkpoint())
    assert again.is_restored_from_checkpoint
    np.testing.assert_array_equal(again.run()[1].as_array(), pipe.run()[1].as_array())


def drawn(folder: Path, pipe: Pipeline, **options: bool) -> str:
    path = folder / "graph.dot"
    pipe.save_graph_to_dot_file(path, **options)
    return path.read_text()


def test_a_graph_is_drawn(tmp_path: Path) -> None:
    def define() -> Any:
        x = fn.copy(types.Constant(np.zeros((2, 2, 3), np.uint8), layout="HWC"), name="source")
        return fn.flip(x, horizontal=fn.random.coin_flip(name="coin"), name="turn"), x

    plain = drawn(tmp_path, make(define))
    assert '  "source" -> "turn";' in plain
    assert '  "coin" -> "turn" [style=dashed, label="horizontal"];' in plain
    assert '  "turn" -> "output 0";' in plain and '  "source" -> "output 1";' in plain
    assert plain.count("{") == plain.count("}") == 1
    full = drawn(tmp_path, make(define), show_tensors=True, show_ids=True, use_colors=True)
    assert '"source" -> "turn" [label="source[0]"]' in full
    assert re.search(r'"turn" \[label="turn\\nflip\\n3", style=filled, fillcolor=\w+\];', full)


def test_quotes_in_names_are_drawn(tmp_path: Path) -> None:
    text = drawn(tmp_path, make(lambda: fn.random.uniform(name='a "b"')))
    assert r'  "a \"b\"" [label="a \"b\"\nrandom.uniform"];' in text
    assert r'  "a \"b\"" -> "output 0";' in text


def test_no_memory_by_operator() -> None:
    pipe = Counting()
    pipe.run()
    assert pipe.executor_statistics() == {}
