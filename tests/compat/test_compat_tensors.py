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
from stoker.compat import _types as there
from stoker.compat._gpu_tensors import TensorGPU, TensorListGPU
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
    assert repr(images).startswith("TensorListCPU(\n    dtype=DALIDataType.UINT8")
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
    assert (pipe.cpu_queue_size, pipe.gpu_queue_size, pipe.exec_separated) == (3, 3, False)
    assert (pipe.prefetch_queue_depth, pipe.output_dtype()) == (3, [])
    assert (pipe.device_id, pipe.max_batch_size, pipe.py_start_method) == (None, 2, "fork")
    with pipe, pytest.raises(errors.GraphError, match="no outputs"):
        pipe.build()


def test_declared_outputs_are_told_for_each_output() -> None:
    def told(**declared: Any) -> Any:
        pipe = Pipeline(2, 1, None, **declared)
        pipe.set_outputs(1, 2)
        return pipe.output_dtype(), pipe.output_ndim(), pipe.output_layout()

    assert told() == ([None, None],) * 3
    dtypes, ndims, layouts = told(output_dtype=types.INT32, output_ndim=0, output_layout="")
    assert (dtypes, ndims, layouts) == ([types.INT32] * 2, [0, 0], ["", ""])
    assert all(isinstance(dtype, types.DType) for dtype in dtypes)
    one_of_two = told(output_dtype=[types.FLOAT, None], output_ndim=(None, 1))
    assert one_of_two == ([types.FLOAT, None], [None, 1], [None, None])


def test_two_queues_are_told_as_given() -> None:
    sizes = {"cpu_size": 2, "gpu_size": 3}
    pipe = Pipeline(2, 1, None, prefetch_queue_depth=sizes)
    assert (pipe.prefetch_queue_depth, pipe.cpu_queue_size, pipe.gpu_queue_size) == (sizes, 2, 3)
    with pipe:
        pipe.set_outputs(fn.external_source(name="x"))
    assert pipe.input_feed_count("x") == 3, "the one queue's depth"


def test_tensors_change_in_place() -> None:
    a = np.arange(6, dtype=np.uint8).reshape(1, 2, 3, 1)
    t = TensorCPU(a, "FHWC")
    assert t.ndim == t.ndim() == 4 and t.dtype() == "=B" and t.get_property("layout") == "FHWC"
    assert t.squeeze(0) and (t.shape(), t.layout()) == ([2, 3, 1], "HWC")
    assert not t.squeeze(0) and t.squeeze() and (t.shape(), t.layout()) == ([2, 3], "HW")
    assert t.data_ptr() == a.ctypes.data
    with pytest.raises(RuntimeError, match="no axis 5"):
        t.squeeze(5)
    t.set_layout("AB")
    t.reinterpret(types.INT8)
    assert (t.layout(), t.dtype) == ("AB", types.INT8)
    with pytest.raises(RuntimeError, match="a type of 1 bytes"):
        t.reinterpret(types.INT16)
    with pytest.raises(ValueError, match="'ABC' has 3 axes, expected 2"):
        t.set_layout("ABC")
    t.set_layout(None)
    assert t.layout() == "" and t.get_property("layout") is t.get_property("other") is None


def test_batches_change_in_place(pictures: Path) -> None:
    images, _ = pictures_and_labels(pictures, size=8).run()
    name = images[1].source_info()
    images.set_layout("ABC")
    images.reinterpret(types.INT8)
    assert (images.layout(), images.dtype, images[0].layout()) == ("ABC", types.INT8, "ABC")
    assert images.source_info(1) == name and images.is_dense_tensor()
    assert images.as_tensor().layout() == "NABC"
    assert images.as_reshaped_tensor([3, 64, 3]).shape() == [3, 64, 3]
    with pytest.raises(RuntimeError, match="a shape of 576 elements"):
        images.as_reshaped_tensor([5])
    with pytest.raises(ValueError, match="'AB' has 2 axes, expected 3"):
        images.set_layout("AB")
    images.reset()
    assert len(images) == 0 and images.shape() == []


def test_what_tensors_are_made_of() -> None:
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert TensorCPU(a.__dlpack__(), "HW").layout() == "HW"
    assert TensorListCPU(a.__dlpack__(), "W").shape() == [(3,), (3,)]
    made = TensorListCPU([TensorCPU(a, "HW"), TensorCPU(a[:1], "HW")])
    assert (made.layout(), made.shape(), made.ndim()) == ("HW", [(2, 3), (1, 3)], 2)
    assert TensorListCPU(made, "XY").layout() == "XY" and made.layout() == "HW"
    spread = TensorListCPU.broadcast(TensorCPU(a, "HW"), 3)
    assert (len(spread), spread.layout()) == (3, "HW") and spread[2].data_ptr() == a.ctypes.data
    assert TensorListCPU.from_dlpack_list([a, a[:1]], "AB").shape() == [(2, 3), (1, 3)]
    assert TensorListCPU([], "HW").layout() == "HW"
    with pytest.raises(TypeError, match="one layout"):
        TensorListCPU([TensorCPU(a, "HW"), TensorCPU(a, "AB")])
    with pytest.raises(TypeError, match="expected 2 axes and float32"):
        TensorListCPU([a, a.astype(int)])
    with pytest.raises(RuntimeError, match="differ in shape"):
        made.as_array()
    with pytest.raises(ValueError, match="expected 2"):
        TensorCPU(a, "A")
    with pytest.raises(TypeError, match="first axis is the batch"):
        TensorListCPU(np.float32(3))


@pytest.fixture
def on_device(monkeypatch: pytest.MonkeyPatch) -> TensorListGPU:
    """Two samples of (1, 4, 3) floats with the layout FHW, which are 1 and 2, on a device."""
    monkeypatch.setenv("STOKER_SIMULATED_DEVICES", "1")

    @pipeline_def(batch_size=2, num_threads=1, device_id=0)
    def ones_and_twos() -> Any:
        samples = [np.full((1, 4, 3), n, np.float32) for n in (1, 2)]
        fed = fn.external_source(source=lambda _: samples, layout="FHW", batch=True)
        return fed.gpu()

    (batch,) = ones_and_twos().run()
    assert isinstance(batch, TensorListGPU)
    return batch


def test_batches_on_a_device_change_in_place(on_device: TensorListGPU) -> None:
    address = on_device.data_ptr()
    on_device.set_layout("ABC")
    on_device.reinterpret(types.INT32)
    assert (on_device.layout(), on_device.dtype, on_device.ndim()) == ("ABC", types.INT32, 3)
    assert (on_device.device_id(), on_device.data_ptr()) == (0, address)
    assert on_device[1].layout() == "ABC" and on_device.as_tensor().layout() == "NABC"
    whole = on_device.as_reshaped_tensor([4, 6])
    assert isinstance(whole, TensorGPU) and whole.data_ptr() == address
    bits = np.repeat(np.array([1, 2], np.float32).view(np.int32), 12)
    np.testing.assert_array_equal(np.asarray(whole.as_cpu()), bits.reshape(4, 6))
    np.testing.assert_array_equal(on_device.as_cpu().as_array(), bits.reshape(2, 1, 4, 3))
    with pytest.raises(RuntimeError, match="a shape of 24 elements"):
        on_device.as_reshaped_tensor([4, 7])
    with pytest.raises(RuntimeError, match="a type of 4 bytes as int32 is"):
        on_device.reinterpret(types.INT16)
    with pytest.raises(ValueError, match="'AB' has 2 axes, expected 3"):
        on_device.set_layout("AB")
    assert TensorListGPU(on_device, "XYZ").layout() == "XYZ" and on_device.layout() == "ABC"
    on_device.reset()
    assert len(on_device) == 0


def test_tensors_on_a_device_change_in_place(on_device: TensorListGPU) -> None:
    tensor = on_device[1]
    assert isinstance(tensor, TensorGPU) and tensor.device_id() == 0
    address = tensor.data_ptr()
    assert tensor.squeeze(0) and (tensor.shape(), tensor.layout()) == ([4, 3], "HW")
    assert not tensor.squeeze()
    tensor.reinterpret(types.UINT32)
    tensor.set_layout("AB")
    assert (tensor.layout(), tensor.dtype, tensor.data_ptr()) == ("AB", types.UINT32, address)
    assert tensor.get_property("layout") == tensor.as_cpu().layout() == "AB"
    expected = np.full((4, 3), 2, np.float32).view(np.uint32)
    np.testing.assert_array_equal(np.asarray(tensor.as_cpu()), expected)


def test_what_came_from_a_device_can_be_fed(on_device: TensorListGPU) -> None:
    pipe = Pipeline(batch_size=2, num_threads=1, device_id=0)
    with pipe:
        pipe.set_outputs(fn.external_source(name="fed", device="gpu"))
    for fed in (on_device, [on_device[0], on_device[1]], list(on_device)):
        pipe.feed_input("fed", fed)
        (got,) = pipe.run()
        assert isinstance(got, TensorListGPU) and got.layout() == "FHW"
        np.testing.assert_array_equal(got.as_cpu().as_array()[:, 0, 0, 0], [1, 2])


def test_views_of_batches_are_checked(pictures: Path) -> None:
    """The methods of Stoker's own batches on which the others stand."""
    images = pictures_and_labels(pictures, size=8).run()[0]._batch
    assert images.viewed("int8", "").layout == "" and images.dtype == "uint8"
    assert images[0].viewed(shape=[64, 3, 1]).shape == (64, 3, 1)
    for view, message in [
        (lambda: images.viewed("float32"), "a type of 1 bytes, as uint8 is, got 'float32'"),
        (lambda: images.viewed("byte"), "got 'byte'"),
        (lambda: images.viewed(layout="HW"), "3 letters, as a sample has axes, got 'HW'"),
        (lambda: images[0].viewed(shape=[64, -3]), r"192 elements, .* got \(64, -3\)"),
        (lambda: images[0].viewed(shape=[2**62, 4, 0]), "192 elements"),
    ]:
        with pytest.raises(errors.GraphError, match=message):
            view()


def test_constants_have_their_numbers() -> None:
    """The numbers are those that the established library prints for its own."""
    assert [int(types.UINT8), int(types.INT8), int(types.FLOAT16), int(types.FLOAT)] == [0, 4, 8, 9]
    assert (int(types.BOOL), int(types.NO_TYPE), int(there.STRING)) == (11, -1, 12)
    assert (int(there.FEATURE), int(there.PYTHON_OBJECT)) == (17, 24)
    assert (int(types.YCbCr), int(types.INTERP_GAUSSIAN)) == (3, 5)
    for kind in (types.DALIDataType, types.DALIImageType, types.DALIInterpType):
        assert [kind(int(member)) for member in kind] == list(kind)
        with pytest.raises(ValueError, match="99 is not a valid"):
            kind(99)


def test_texts_of_tensors() -> None:
    tensor = TensorCPU(np.arange(6, dtype=np.int16).reshape(2, 3), "HW")
    lines = str(tensor).splitlines()
    assert lines[:3] == ["TensorCPU(", "    [[0 1 2]", "     [3 4 5]],"]
    told = ["dtype=DALIDataType.INT16,", 'layout="HW",', 'device="cpu",', "shape=(2, 3))"]
    assert [line.strip() for line in lines[3:]] == told
    assert [line.strip() for line in repr(tensor).splitlines()] == ["TensorCPU(", *told]


def test_texts_of_lists() -> None:
    of_lists = TensorListCPU
    several = str(of_lists([np.arange(n, dtype=np.float32) for n in (1, 2)]))
    assert several.splitlines()[1:3] == ["    [[0.],", "    [0. 1.]],"]
    assert several.endswith("num_samples=2,\n    shape=[(1,), (2,)])")
    assert str(of_lists(np.arange(3))).splitlines()[1] == "    [0, 1, 2],"
    deep = np.arange(8, dtype=np.uint8).reshape(2, 2, 2)
    blocks = ["    [[[0 1]", "      [2 3]]", "", "     [[4 5]", "      [6 7]]],"]
    assert str(TensorCPU(deep)).splitlines()[1:6] == blocks
    between = str(of_lists([deep, deep])).splitlines()[5:9]
    assert between == ["      [6 7]]],", "", "", "    [[[0 1]"]
    many = of_lists(np.zeros((500, 3), np.uint8))
    assert "shape=[(3,), (3,), ..., (3,), (3,)]" in repr(many)
    assert len(str(many).splitlines()) < 20
    nothing = of_lists(np.empty((0, 3)))
    assert (len(nothing), nothing.dtype.name, nothing.shape()) == (0, "FLOAT64", [])


def test_lists_of_tensors_with_and_without_a_layout() -> None:
    array = np.zeros((2, 3), np.uint8)
    mixed = [TensorCPU(array), TensorCPU(array, "HW")]
    assert TensorListCPU(mixed).layout() == "HW"
    with pytest.raises(TypeError, match="expect one layout"):
        TensorListCPU([TensorCPU(array, "CD"), *mixed])
    for wrong in (1, "text", None, [1, 2]):
        with pytest.raises(TypeError, match="the object at 1 is no tensor"):
            TensorListCPU([mixed[0], wrong])
