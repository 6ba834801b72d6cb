# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Outputs that are there with a flag, an input or a text, and that are known early."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from stoker import DataNode, Pipeline, fn, ops
from stoker.errors import GraphError

EXTENTS = [(5, 7), (9, 4), (6, 6)]
EXECUTORS = pytest.mark.parametrize("executor", ["simple", "pipelined"])
DEVICES = pytest.mark.parametrize("device", ["cpu", "gpu"])


@pytest.fixture(autouse=True)
def _simulated_device(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("STOKER_SIMULATED_DEVICES", "1")
    return


def pictures() -> list[Any]:
    return [np.full((h, w, 3), 10 * h + w, np.uint8) for h, w in EXTENTS]


def made(define: Any, executor: str = "pipelined") -> tuple[Pipeline, list[list[Any]]]:
    pipe = Pipeline(batch_size=3, num_threads=2, executor=executor)
    with pipe:
        pipe.set_outputs(*define(fn.external_source(pictures, batch=True, layout="HWC")))
    return pipe, [[np.asarray(t) for t in b.as_cpu()] for b in pipe.run()]


@EXECUTORS
@DEVICES
def test_extents_come_beside_the_resized_picture(executor: str, device: str) -> None:
    def define(x: DataNode) -> Any:
        small, extents = fn.resize(x, size=[2, 3], device=device, save_attrs=True)
        assert extents.device == device
        return fn.cast(small, dtype="float32"), extents

    pipe, (small, extents) = made(define, executor)
    assert [x.shape for x in small] == [(2, 3, 3)] * 3
    assert np.array_equal(extents, EXTENTS) and extents[0].dtype == np.int32
    assert "in one pass with cast_0" in pipe.plan()


@EXECUTORS
@DEVICES
def test_extents_are_arguments_without_another_stage(executor: str, device: str) -> None:
    def define(x: DataNode) -> Any:
        small, extents = fn.resize(x, size=[2, 3], device=device, save_attrs=True)
        return fn.resize(small, size=extents), fn.cast(extents.cpu(), dtype="float32")

    pipe, (back, wide) = made(define, executor)
    assert all(np.array_equal(x, y) for x, y in zip(back, pictures(), strict=True))
    assert np.array_equal(wide, EXTENTS)
    assert "stages" not in pipe.plan() and "decides shapes" not in pipe.plan()


@EXECUTORS
@DEVICES
def test_extents_alone(executor: str, device: str) -> None:
    _, (extents,) = made(
        lambda x: fn.resize(x, size=[2, 3], device=device, save_attrs=True)[1:], executor
    )
    assert np.array_equal(extents, EXTENTS)


@EXECUTORS
@DEVICES
def test_outputs_share_no_bytes_and_may_be_copied(executor: str, device: str) -> None:
    def define(x: DataNode) -> Any:
        _, extents = fn.resize(x, size=[2, 3], device=device, save_attrs=True)
        return extents, extents, extents.cpu(), fn.cast(extents, dtype="int64")

    _, found = made(define, executor)
    assert all(np.array_equal(f, EXTENTS) for f in found)


def test_frames_have_their_extents_once() -> None:
    with Pipeline(batch_size=1) as pipe:
        video = fn.constant(idata=[7], shape=[4, 5, 6, 1], layout="FHWC", dtype="uint8")
        pipe.set_outputs(*fn.resize(video, resize_x=1.0, resize_y=2.0, save_attrs=True))
    small, extents = pipe.run()
    assert np.asarray(small[0]).shape == (4, 2, 1, 1)
    assert np.asarray(extents[0]).tolist() == [5, 6]


def test_the_flag_decides_what_calls_return() -> None:
    with Pipeline(batch_size=1) as pipe:
        x = fn.constant(idata=[7], shape=[5, 6, 1], layout="HWC", dtype="uint8")
        assert isinstance(fn.resize(x, size=[2, 2]), DataNode)
        assert isinstance(fn.resize(x, size=[2, 2], save_attrs=False), DataNode)
        assert len(ops.Resize(size=[2, 2], save_attrs=True)(x)) == 2
        first, second = fn.resize([x, x], size=[2, 2], save_attrs=True)
        assert len(first) == len(second) == 2
        pair = fn.resize(x, size=[2, 2], save_attrs=True, name="pair")
        assert [n.name for n in pair] == ["pair[0]", "pair[1]"]
        with pytest.raises(GraphError, match=r"2 outputs of resize; unpack them: output, extents"):
            fn.cast(pair, dtype="int32")
        pipe.set_outputs(*pair)
    again = Pipeline.deserialize(pipe.serialize(), batch_size=1)
    assert np.asarray(again.run()[1][0]).tolist() == [5, 6]


def boxes() -> DataNode:
    return fn.constant(fdata=[0.25, 0.25, 0.75, 1.0], shape=[1, 4])


def test_outputs_follow_from_an_optional_input() -> None:
    def define(x: DataNode) -> Any:
        assert len(fn.random_bbox_crop(boxes())) == 3
        assert len(fn.random_bbox_crop(boxes(), output_bbox_indices=True)) == 4
        anchor, shape, left, labels = fn.random_bbox_crop(
            boxes(), fn.constant(idata=[7]), scaling=[0.5, 1.0], num_attempts=20
        )
        return fn.slice(x, anchor, shape), left, labels

    _, (windows, left, labels) = made(define)
    assert [b.shape for b in left] == [(1, 4)] * 3 and [list(x) for x in labels] == [[7]] * 3
    assert all(w.shape[0] >= h // 2 - 1 for w, (h, _) in zip(windows, EXTENTS, strict=True))


def test_outputs_follow_from_a_text() -> None:
    def define(x: DataNode) -> Any:
        pick = fn.segmentation.random_object_bbox
        assert len(pick(x)) == 2
        anchor, shape, label = pick(x, output_class=True)
        return fn.cat(anchor, anchor + shape), pick(x, format="box"), label

    _, (corners, box, labels) = made(define)
    assert all(np.array_equal(a, b) for a, b in zip(corners, box, strict=True))
    assert [int(x) for x in labels] == [10 * h + w for h, w in EXTENTS]
