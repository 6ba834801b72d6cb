# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Operators that are called outside of a pipeline, and the pipelines that need their results."""

from __future__ import annotations

import gc
import warnings
import weakref
from typing import Any

import numpy as np
import pytest

from stoker import Pipeline, errors, fn, math, ops, pipeline_def, split, types

__stoker_scopes__ = False


def made(*outputs: Any, **settings: Any) -> Pipeline:
    pipe = Pipeline(**{"batch_size": 2, "num_threads": 1, "seed": 7, **settings})
    pipe.set_outputs(*outputs)
    return pipe


def counting(name: str = "numbers") -> Any:
    return fn.external_source(lambda i: np.full((2, 3), i, np.uint8), name=name)


def test_nodes_are_bound_by_set_outputs() -> None:
    data = counting()
    wide = fn.cast(data, dtype=types.INT32)
    pipe = made(wide, data)
    for k in range(3):
        first, second = pipe.run()
        assert (first.dtype, second.dtype) == ("int32", "uint8")
        np.testing.assert_array_equal(first.as_array(), np.full((2, 3), k))
        np.testing.assert_array_equal(second.as_array(), np.full((2, 3), k))


def test_what_was_made_before_is_used_inside() -> None:
    data, size = counting(), fn.random.uniform(seed=3)
    with Pipeline(batch_size=2, num_threads=1) as pipe:
        pipe.set_outputs(fn.copy(data), data + size, fn.normalize(data, shift=size), size)
    copied, added, _, drawn = (b.as_array() for b in pipe.run())
    np.testing.assert_array_equal(added, copied + drawn[:, None])

    @pipeline_def(batch_size=2, num_threads=1, enable_conditionals=True)
    def chooses(condition: Any) -> Any:
        return data + 1 if condition else data + 2

    coin = fn.external_source(lambda i: np.array([i % 2, 1], bool))
    pipe = chooses(coin)
    assert [pipe.run()[0].as_array()[:, 0].tolist() for _ in range(2)] == [[2, 1], [2, 2]]


def test_what_is_called_behind_a_definition_joins_it() -> None:
    with Pipeline(batch_size=2, num_threads=1) as pipe:
        data = counting()
    doubled = fn.copy(data * 2)
    pipe.set_outputs(doubled, data[0])
    assert pipe.run()[0].as_array().tolist() == [[0, 0, 0], [0, 0, 0]]
    with pytest.raises(errors.GraphError, match="belongs to another pipeline"):
        made(doubled)
    with pytest.raises(errors.GraphError, match="is built"):
        fn.copy(data)


def test_results_of_all_kinds() -> None:
    image = types.Constant(np.arange(12, dtype=np.uint8).reshape(2, 2, 3), layout="HWC")
    resized, extents = fn.resize(image, size=[4, 4], save_attrs=True)
    left, right = fn.flip([image, resized], horizontal=1)
    by_class = ops.Crop(crop=[1, 1])(image)
    a, b = fn.external_source(lambda: [np.ones(2), np.zeros(2)], num_outputs=2)
    called = fn.python_function(extents, function=lambda x: x + 1)
    condition = types.Constant(True)
    chosen, other = split(image, condition)
    parts = [
        math.sqrt(image),
        image[..., -1],
        image.gpu().cpu(),
        abs(-fn.cast(image, dtype="int16")),
    ]
    pipe = made(
        resized,
        extents,
        left,
        right,
        by_class,
        a,
        b,
        called,
        fn.merge(chosen, other, condition),
        *parts[:2],
        parts[3],
        [1, 2],
        5,
    )
    outputs = pipe.run()
    assert [o.shape()[0] for o in outputs[:7]] == [
        (4, 4, 3),
        (2,),
        (2, 2, 3),
        (4, 4, 3),
        (1, 1, 3),
        (),
        (),
    ]
    assert outputs[7].as_array().tolist() == [[3, 3]] * 2
    assert outputs[-1].as_array().tolist() == [5, 5]
    assert parts[2].device == "cpu" and image.gpu().device == "gpu"


def test_nodes_say_their_names() -> None:
    data, drawn = counting("first"), fn.random.uniform()
    both = data + drawn
    assert (data.name, drawn.name, both.device) == ("first", "random_uniform_0", "cpu")
    with Pipeline(batch_size=2, num_threads=1) as pipe:
        pipe.set_outputs(fn.random.uniform(), drawn, both)
    assert drawn.name == "random_uniform_1"  # as it is called in its pipeline
    assert "first" in [node["name"] for node in pipe._definition.graph.nodes()]


def test_inputs_can_be_fed_by_node() -> None:
    nameless, named = fn.external_source(), fn.external_source(name="named")
    pipe = made(fn.copy(nameless), named)
    other = fn.external_source(name="other")
    for k in range(2):
        pipe.feed_input(nameless, np.full((2, 1), k))
        pipe.feed_input(named, np.full((2, 1), k + 10))
        assert [o.as_array()[0, 0] for o in pipe.run()] == [k, k + 10]
    with pytest.raises(errors.GraphError, match="no external_source is named 'other'"):
        pipe.feed_input(other, np.ones((2, 1)))


def test_several_pipelines_have_their_own() -> None:
    data, drawn, fed = counting(), fn.random.uniform(shape=[4]), fn.external_source()
    pipes = [made(data, drawn, seed=s) for s in (1, 1, 2)]
    for pipe in pipes:
        assert [pipe.run()[0].as_array()[0, 0] for _ in range(3)] == [0, 1, 2]
    first, same, other = (pipe.run()[1].as_array() for pipe in pipes)
    assert (first == same).all() and (first != other).any()
    pipes = [made(fed + 1), made(drawn, fed)]
    for pipe in pipes:
        pipe.feed_input(fed, np.ones((2, 1)))
    assert [pipe.run()[-1].as_array()[0, 0] for pipe in pipes] == [2, 1]


def test_draws_follow_the_order_in_which_outputs_need_them() -> None:
    def inside() -> Any:
        with Pipeline(batch_size=2, num_threads=1, seed=7) as pipe:
            a, b = fn.random.uniform(), fn.random.uniform()
            pipe.set_outputs(a, b)
        return pipe

    b, a = fn.random.uniform(), fn.random.uniform()
    for here, there in zip(made(a, b).run(), inside().run(), strict=True):
        np.testing.assert_array_equal(here.as_array(), there.as_array())


def test_errors_name_the_line_of_the_call() -> None:
    with pytest.raises(errors.GraphError, match=r"resize.*test_outside.py:.*no argument"):
        fn.resize(counting(), bogus=3)
    wrong = fn.crop(counting(), crop=[2, 2], name="cut")
    with pytest.raises(errors.GraphError, match=r"crop 'cut' \(.*test_outside.py:\d+\)") as caught:
        made(wrong).run()
    line = int(str(caught.value).partition("test_outside.py:")[2].partition(")")[0])
    code = test_errors_name_the_line_of_the_call.__code__
    assert line == code.co_firstlineno + 3


def test_old_spellings_warn_once() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        drawn = fn.uniform(range=[0.0, 1.0])
        made(drawn), made(drawn)
    assert [w.category for w in caught] == [DeprecationWarning]


def test_a_kept_node_does_not_keep_the_pipeline() -> None:
    data = counting()
    result = data + 1
    pipe = made(result)
    pipe.run()
    with Pipeline(batch_size=2, num_threads=1) as other:
        kept = counting()
    other.set_outputs(kept)
    other.run()
    dead = [weakref.ref(pipe), weakref.ref(other)]
    del pipe, other
    gc.collect()
    assert [d() for d in dead] == [None, None]
    assert made(result).run()[0].as_array()[0, 0] == 1  # and the nodes are of use still


def test_a_long_chain_is_bound() -> None:
    node = counting()
    for _ in range(1500):
        node = fn.copy(node)
    assert made(node).run()[0].as_array().shape == (2, 3)


class Unasked:
    """Has no attribute, and says so in its own way."""

    def __getattribute__(self, name: str) -> Any:
        raise ValueError("odd")


def test_objects_among_arguments_are_not_asked() -> None:
    with Pipeline(batch_size=1, num_threads=1), pytest.raises(TypeError, match="not iterable"):
        _a, _b = fn.external_source(source=[((Unasked(),),)])
