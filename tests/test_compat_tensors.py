# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Batches and pipelines with the methods of the established library."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stoker import errors, fn, types
from stoker.compat._pipeline import Pipeline, pipeline_def
from stoker.compat._tensors import TensorCPU, TensorListCPU


@pipeline_def(batch_size=3, num_threads=1, device_id=None)
def pictures_and_labels(root: Path, size: int = 0) -> Any:
    encoded, label = fn.readers.file(file_root=root)
    image = fn.decoders.image(encoded)
    return (fn.resize(image, size=[size, size]) if size else image), label


def test_lists_have_the_established_methods(pictures: Path) -> None:
    images, labels = pictures_and_labels(pictures, size=8).run()
    assert isinstance(images, TensorListCPU) and len(images) == 3
    assert images.shape() == [(8, 8, 3)] * 3
    assert images.dtype is types.UINT8 and labels.dtype is types.INT32
    assert images.layout() == "HWC" and images.ndim == 3
    assert images.is_dense_tensor()
    array = images.as_array()
    assert array.shape == (3, 8, 8, 3)
    assert images.data_ptr() == array.ctypes.data
    np.testing.assert_array_equal(images.at(1), array[1])
    np.testing.assert_array_equal(np.asarray(images[2]), array[2])
    np.testing.assert_array_equal(np.from_dlpack(images), array)
    np.testing.assert_array_equal(np.asarray(images), array)
    np.testing.assert_array_equal(images.as_cpu().as_array(), array)
    assert images.source_info(0).endswith(".jpg")  # Stoker's own attribute is there too
    assert repr(images).startswith("TensorListCPU(dtype=types.UINT8, shape=[(8, 8, 3)")
    assert [t.shape() for t in images] == [[8, 8, 3]] * 3


def test_loops_give_such_lists_too(pictures: Path) -> None:
    for outputs in pictures_and_labels(pictures):
        assert all(isinstance(o, TensorListCPU) for o in outputs)


def test_tensors_have_the_established_methods(pictures: Path) -> None:
    images, _ = pictures_and_labels(pictures, size=8).run()
    whole, one = images.as_tensor(), images[1]
    assert isinstance(whole, TensorCPU)
    assert whole.shape() == [3, 8, 8, 3] and whole.dtype is types.UINT8
    assert one.layout() == "HWC" and one.source_info().endswith(".jpg")
    assert len(one) == 8 and one.as_cpu() is one
    np.testing.assert_array_equal(np.from_dlpack(whole), images.as_array())
    assert one.data_ptr() == images.data_ptr() + 8 * 8 * 3


@pytest.mark.parametrize("size", [8, 0], ids=["dense", "ragged"])
@pytest.mark.parametrize("kind", ["int", "void", "pointer"])
def test_copies_to_memory_of_the_script(pictures: Path, size: int, kind: str) -> None:
    images, _ = pictures_and_labels(pictures, size=size).run()
    expected = np.concatenate([images.at(i).ravel() for i in range(3)])
    target = np.zeros(expected.size + 1, np.uint8)
    address = target.ctypes.data
    pointer = {
        "int": address,
        "void": ctypes.c_void_p(address),
        "pointer": ctypes.cast(address, ctypes.POINTER(ctypes.c_uint8)),
    }[kind]
    images.copy_to_external(pointer)
    np.testing.assert_array_equal(target[:-1], expected)
    assert target[-1] == 0
    one = images[0]
    one.copy_to_external(address)
    np.testing.assert_array_equal(target[: images.at(0).size], images.at(0).ravel())
    for null in (ctypes.c_void_p(None), 0):
        with pytest.raises(ValueError, match="null pointer"):
            one.copy_to_external(null)


def test_lists_and_tensors_of_a_script_s_own() -> None:
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    tensor = TensorCPU(a, "HW")
    assert (tensor.shape(), tensor.dtype, tensor.layout()) == ([2, 3], types.FLOAT, "HW")
    assert tensor.data_ptr() == a.ctypes.data
    for made in (TensorListCPU([a, a + 1], layout="HW"), TensorListCPU(np.stack([a, a + 1]), "HW")):
        assert made.shape() == [(2, 3), (2, 3)] and made.layout() == "HW" and len(made) == 2
        np.testing.assert_array_equal(made.at(1), a + 1)
        np.testing.assert_array_equal(made.as_array(), np.stack([a, a + 1]))
        assert made.is_dense_tensor() and made.as_tensor().shape() == [2, 2, 3]
    assert not TensorListCPU([a, a[:1]]).is_dense_tensor()
    assert TensorCPU([1, 2]).shape() == [2]


def test_saved_graphs_and_checkpoints_are_bytes(pictures: Path, tmp_path: Path) -> None:
    pipe = pictures_and_labels(pictures)
    saved = pipe.serialize(filename=tmp_path / "graph")
    assert isinstance(saved, bytes) and (tmp_path / "graph").read_bytes() == saved
    copy = Pipeline.deserialize(saved)
    assert isinstance(copy, Pipeline)
    pipe.run()
    state = pipe.checkpoint()
    assert isinstance(state, bytes)
    again = pictures_and_labels(pictures, checkpoint=state)
    expected = pipe.run()[1].as_array()
    np.testing.assert_array_equal(again.run()[1].as_array(), expected)
    copy.run()
    np.testing.assert_array_equal(copy.run()[1].as_array(), expected)


def test_a_graph_from_a_function() -> None:
    pipe = Pipeline(batch_size=2, num_threads=1, device_id=None)
    pipe.serialize(define_graph=lambda: (fn.random.uniform(), fn.random.coin_flip()))
    assert [len(b) for b in pipe.run()] == [2, 2]


def test_settings_can_be_asked() -> None:
    pipe = Pipeline(2, 1, None, output_dtype=types.FLOAT, output_ndim=[0], prefetch_queue_depth=3)
    assert (pipe.output_dtype(), pipe.output_ndim(), pipe.output_layout()) == ("float32", [0], None)
    assert (pipe.cpu_queue_size, pipe.gpu_queue_size, pipe.exec_separated) == (3, 3, False)
    assert (pipe.device_id, pipe.max_batch_size, pipe.py_start_method) == (None, 2, "fork")
    with pipe, pytest.raises(errors.GraphError, match="no outputs"):
        pipe.build()
