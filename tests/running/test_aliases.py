# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Operators that give bytes another type copy them only where they must, and outputs never share
them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import jpegs
from helpers import Array, make
from stoker import DataNode, fn

SETTINGS: dict[str, dict[str, Any]] = {
    "simple": {"executor": "simple"},
    "pipelined": {},
    "not narrowed": {"demand": False},
}


@pytest.fixture(autouse=True)
def devices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STOKER_SIMULATED_DEVICES", "1")


def fed(samples: list[Array], device: str, layout: str | None = None) -> DataNode:
    node = fn.external_source(source=lambda: samples, batch=True, layout=layout)
    return node.gpu() if device == "gpu" else node


def ran(define: Any, device: str, size: int, **settings: Any) -> Any:
    device_id = 0 if device == "gpu" else None
    return make(define, batch_size=size, device_id=device_id, **settings).run()


def arrays(batch: Any) -> list[Array]:
    host = batch if batch.device == "cpu" else batch.as_cpu()
    return [np.array(host[i]) for i in range(len(host))]


@pytest.mark.parametrize("device", ["cpu", "gpu"])
@pytest.mark.parametrize("how", SETTINGS)
def test_outputs_share_no_bytes(how: str, device: str) -> None:
    samples = [np.full((2, 3), i, np.uint8) for i in range(4)]

    def define() -> list[DataNode]:
        node = fn.copy(fed(samples, device))
        flat = fn.reshape(node, shape=[-1])
        return [
            node,
            flat,
            fn.expand_dims(flat, axes=[0]),
            flat,
            fn.reinterpret(node, dtype="int8"),
        ]

    outputs = ran(define, device, 4, **SETTINGS[how])
    shapes = [(2, 3), (6,), (1, 6), (6,), (2, 3)]
    for batch, shape in zip(outputs, shapes, strict=True):
        for i, array in enumerate(arrays(batch)):
            assert array.shape == shape and (array == i).all()
    if device == "cpu":
        places = [np.asarray(b[0]).__array_interface__["data"][0] for b in outputs]
        assert len(set(places)) == len(places)


@pytest.mark.parametrize("device", ["cpu", "gpu"])
def test_ragged_samples_become_alike(device: str) -> None:
    samples = [np.arange(6, dtype=np.uint8).reshape(s) for s in ((2, 3), (3, 2), (6, 1))]
    (batch,) = ran(lambda: fn.reshape(fed(samples, device), shape=[-1]), device, 3)
    host = batch if device == "cpu" else batch.as_cpu()
    assert np.array_equal(np.array(host.as_tensor()), [range(6)] * 3)


@pytest.mark.parametrize("device", ["cpu", "gpu"])
def test_alike_samples_become_ragged(device: str) -> None:
    samples = [np.arange(6, dtype=np.uint8).reshape(2, 3) for _ in range(3)]
    shapes = [np.array(s, np.int32) for s in ((3, 2), (1, 6), (6, 1))]

    def define() -> list[DataNode]:
        wanted = fn.external_source(source=lambda: shapes, batch=True)
        node = fn.reshape(fed(samples, device), shape=wanted)
        return [node, node]

    for batch in ran(define, device, 3):
        for array, shape in zip(arrays(batch), shapes, strict=True):
            assert np.array_equal(array, np.arange(6).reshape(tuple(shape)))


@pytest.mark.parametrize("how", SETTINGS)
def test_rows_with_gaps_are_copied(how: str) -> None:
    """A decoder leaves room between rows, and later operators read only a window."""
    file = np.frombuffer(jpegs.encode(jpegs.picture(37, 53, 1), "444"), np.uint8)

    def define() -> list[DataNode]:
        picture = fn.decoders.image(fed([file], "cpu"))
        part = fn.crop(picture, crop=[20, 31])
        rows = fn.reshape(fn.copy(part), src_dims=[0, -1], rel_shape=[1.0, -1.0])
        return [part, fn.slice(rows, axes=[0, 1], start=[3, 7], shape=[5, 40])]

    part, window = (arrays(b)[0] for b in ran(define, "cpu", 1, **SETTINGS[how]))
    assert np.array_equal(window, part.reshape(20, 93)[3:8, 7:47])


def test_bytes_at_any_address_become_wide_numbers() -> None:
    """Memory that the user feeds may begin anywhere."""
    memory = np.arange(33, dtype=np.uint8)
    (batch,) = ran(lambda: fn.reinterpret(fed([memory[1:]], "cpu"), dtype="float64"), "cpu", 1)
    assert np.array_equal(arrays(batch)[0], np.frombuffer(memory[1:].tobytes(), np.float64))
