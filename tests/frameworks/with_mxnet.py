# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""MXNet's iterators: what a step holds, descriptions, padding. Run by test_mxnet.py."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import mxnet as mx
import numpy as np
import pytest
from numbered import Numbers

from helpers import make
from stoker import Pipeline, fn
from stoker.errors import EpochWarning, GraphError, StateError
from stoker.mxnet import (
    DALIClassificationIterator,
    DALIGenericIterator,
    LastBatchPolicy,
    feed_ndarray,
)


def training(pictures: Path) -> Pipeline:
    def define() -> Any:
        encoded, label = fn.readers.file(file_root=pictures, random_shuffle=True, name="reader")
        image = fn.random_resized_crop(fn.decoders.image(encoded), size=[16, 16])
        return fn.crop_mirror_normalize(image), label

    return make(define, batch_size=4)


def test_a_step_is_a_list_of_batches(pictures: Path) -> None:
    iterator = DALIClassificationIterator(training(pictures), reader_name="reader")
    assert isinstance(iterator, mx.io.DataIter)
    judge = training(pictures)
    for (one,), (image, label) in zip(iterator, judge, strict=True):
        assert isinstance(one, mx.io.DataBatch)
        (data,), (labels,) = one.data, one.label
        assert np.array_equal(data.asnumpy(), image.as_array())
        assert labels.shape == (4,)
        assert np.array_equal(labels.asnumpy(), label.as_array().ravel())
        assert one.pad == 0
    kept = DALIClassificationIterator(training(pictures), size=24, squeeze_labels=False)
    assert next(kept)[0].label[0].shape == (4, 1)


def test_descriptions_do_not_take_a_step(pictures: Path) -> None:
    iterator = DALIClassificationIterator(training(pictures), reader_name="reader", auto_reset=True)
    judge = [image.as_array() for image, _ in training(pictures)]
    (data,), (label,) = iterator.provide_data, iterator.provide_label
    assert (data.name, data.shape, data.dtype, data.layout) == (
        ("data", (4, 3, 16, 16), np.float32, "NCHW")
    )
    assert (label.name, label.shape, label.dtype) == ("softmax_label", (4,), np.int32)
    before = iterator.state_dict()
    for expected in judge[:-1]:
        assert np.array_equal(next(iterator)[0].data[0].asnumpy(), expected)
    assert iterator.state_dict() != before
    assert iterator.provide_data == [data]  # reads the last step of the epoch
    assert iterator.epoch == 0
    for (one,) in iterator:
        assert np.array_equal(one.data[0].asnumpy(), judge[-1])
    assert iterator.epoch == 1


def test_a_state_does_not_count_what_was_only_looked_at(numbers: Numbers) -> None:
    def opened(**settings: Any) -> DALIGenericIterator:
        pipe = numbers(9, 2, **settings)
        return DALIGenericIterator(pipe, [("label", "label")], reader_name="reader")

    def labels(step: Any) -> list[int]:
        return [int(x) for x in step[0].label[0].asnumpy().ravel()]

    iterator = opened()
    next(iterator)
    assert labels(iterator.peek()) == [3, 4]
    state, (checkpoint,) = iterator.state_dict(), iterator.checkpoints()
    assert labels(next(iterator)) == [3, 4]
    iterator.load_state_dict(state)
    assert labels(next(iterator)) == [3, 4]
    assert labels(next(opened(checkpoint=checkpoint))) == [3, 4]
    iterator.peek()
    iterator.load_state_dict(state)
    assert labels(iterator.peek()) == [3, 4]


def test_descriptions_begin_no_epoch(numbers: Numbers) -> None:
    """A fit that asks for descriptions and resets before its loop loses nothing."""
    iterator = DALIGenericIterator(numbers(6, 2), [("label", "label")], reader_name="reader")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            assert iterator.provide_label[0].shape == (2,)
            iterator.reset()
            assert len(list(iterator)) == 3
            iterator.reset()
    next(iterator)
    with pytest.warns(EpochWarning, match="of which 2 of 3 steps are left"):
        iter(iterator)


def test_partial_batches_are_full_with_padding(numbers: Numbers) -> None:
    iterator = DALIGenericIterator(
        numbers(7, 3),
        [("label", DALIGenericIterator.LABEL_TAG)],
        reader_name="reader",
        last_batch_policy=LastBatchPolicy.PARTIAL,
    )
    steps = [step[0] for step in iterator]
    assert [one.pad for one in steps] == [0, 0, 2]
    assert [one.label[0].shape for one in steps] == [(3,)] * 3
    assert steps[-1].label[0].asnumpy()[0] == 7


def test_padding_does_not_count_what_was_skipped(damaged: Path) -> None:
    def define() -> Any:
        encoded, label = fn.readers.file(file_root=damaged)
        return fn.resize(fn.decoders.image(encoded), size=[8, 8]), fn.cast(label, dtype="bool")

    (one,) = next(
        DALIClassificationIterator(
            make(define, batch_size=4, on_error="skip"),
            size=3,
            last_batch_policy=LastBatchPolicy.PARTIAL,
        )
    )
    assert one.data[0].shape[0] == one.label[0].shape[0] == 3, "the second of four is damaged"
    assert one.pad == 1


def test_sources_that_cannot_say_where_they_stand() -> None:
    def source() -> Any:
        for i in range(3):
            yield np.full((2, 1), i, np.int32)

    pipe = make(lambda: fn.external_source(source), batch_size=2)
    iterator = DALIGenericIterator(pipe, [("x", "data")])
    assert iterator.provide_data[0].shape == (2, 1)
    with pytest.raises(StateError, match="cannot say where it stands"):
        iterator.state_dict()
    got = [int(step[0].data[0].asnumpy()[0, 0]) for step in iterator]
    assert got == [0, 1, 2]


def test_a_network_learns_from_it(pictures: Path) -> None:
    """Gluon uses the arrays, and its engine their memory, while the pipeline goes on."""
    net = mx.gluon.nn.Dense(1)
    net.initialize(mx.init.Zero())
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.001})
    loss = mx.gluon.loss.L2Loss()
    iterator = DALIClassificationIterator(training(pictures), reader_name="reader", auto_reset=True)
    means = []
    for _ in range(4):
        losses = []
        for (one,) in iterator:
            image = one.data[0].reshape((4, -1)) / 255
            with mx.autograd.record():
                value = loss(net(image), image.mean(axis=1))  # the brightness of a picture
            value.backward()
            trainer.step(4)
            losses.append(value)
        means.append(float(mx.nd.concat(*losses, dim=0).mean().asscalar()))
    assert means[-1] < means[0] / 2


def test_outputs_are_tagged(numbers: Numbers) -> None:
    for wrong in (["label"], [("label", "target")], [("label",)]):
        with pytest.raises(GraphError, match=r"output_map expects \(name, tag\)"):
            DALIGenericIterator(numbers(7, 2), wrong, size=7)


def test_feed_ndarray(pictures: Path) -> None:
    image, label = training(pictures).run()
    target = mx.nd.zeros((4, 3, 16, 16))
    assert feed_ndarray(image, target) is target
    assert np.array_equal(target.asnumpy(), image.as_array())
    one = mx.nd.zeros((1,), dtype="int32")
    feed_ndarray(label[1], one)
    assert one.asnumpy() == label.as_array()[1]
    with pytest.raises(GraphError, match=r"float32 \(4, 3, 16, 16\), got float64 \(2,\)"):
        feed_ndarray(image, mx.nd.zeros((2,), dtype="float64"))
