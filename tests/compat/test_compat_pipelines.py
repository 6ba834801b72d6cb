# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Pipelines, sources and modules as scripts of the established library use them."""

from __future__ import annotations

import ctypes
import itertools
import random
import threading
from typing import Any

import numpy as np
import pytest

import stoker
from stoker import DataNode, errors, fn, ops, tfrecord, types
from stoker import Pipeline as Native
from stoker.compat import module
from stoker.compat._pipeline import Pipeline
from stoker.compat._report import report
from stoker.compat._tensors import TensorCPU, TensorListCPU


def made(*outputs: Any, **settings: Any) -> Any:
    pipe = Pipeline(batch_size=2, num_threads=1, device_id=None, **settings)
    pipe.set_outputs(*outputs)
    return pipe


class Counted:
    """Gives its number of the call, and notes the threads that call it."""

    def __init__(self, end: int = 1000) -> None:
        self.asked: list[int] = []
        self.threads: set[int] = set()
        self._end = end

    def __call__(self, index: int) -> Any:
        self.asked.append(index)
        self.threads.add(threading.get_ident())
        if index == self._end:
            raise StopIteration
        return np.full((2, 3), index)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_sources_are_called_by_run(depth: int) -> None:
    source = Counted(end=5)
    pipe = made(fn.external_source(source), prefetch_queue_depth=depth)
    pipe.build()
    assert source.asked == []
    for k in range(5):
        assert pipe.run()[0].as_array()[0, 0] == k
        assert source.asked == list(range(min(depth + k, 6)))
    with pytest.raises(StopIteration):
        pipe.run()
    pipe.reset()
    assert pipe.run()[0].as_array()[0, 0] == 0
    assert source.threads == {threading.get_ident()}


def test_native_sources_have_a_thread_of_their_own() -> None:
    source = Counted()
    pipe = Native(batch_size=2, num_threads=1)
    pipe.set_outputs(fn.external_source(source))
    pipe.run()
    assert threading.get_ident() not in source.threads


def test_global_random_state_is_that_of_the_script() -> None:
    def draw() -> Any:
        return [np.array([random.random()])] * 2

    random.seed(5)
    expected = [random.random() for _ in range(4)]
    random.seed(5)
    pipe = made(fn.external_source(draw), prefetch_queue_depth=1)
    drawn = []
    for _ in range(2):
        drawn += [pipe.run()[0].as_array()[0, 0], random.random()]
    assert drawn == expected


def test_several_sources_and_the_scheduled_way() -> None:
    sources = Counted(), Counted()
    pipe = made(*map(fn.external_source, sources))
    for k in range(3):
        pipe.schedule_run()
        assert [o.as_array()[0, 0] for o in pipe.outputs()] == [k, k]
    assert sources[0].asked == sources[1].asked == [0, 1, 2, 3]


def test_sources_wait_where_memory_is_short() -> None:
    source = lambda i: np.full((2, 300_000), i, np.uint8)  # noqa: E731
    settings = {"prefetch_queue_depth": 4, "memory_limit": 16 << 20}
    pipe = made(fn.external_source(source), **settings)
    assert [pipe.run()[0].as_array()[0, 0] for _ in range(12)] == list(range(12))


def test_a_source_s_error_is_raised_itself() -> None:
    def fails(index: int) -> Any:
        if index == 1:
            raise LookupError("no such picture")
        return np.full((2, 1), index)

    pipe = made(fn.external_source(fails))
    pipe.run()
    with pytest.raises(LookupError, match="no such picture"):
        pipe.run()
    assert pipe.run()[0].as_array()[0, 0] == 2


def test_an_interrupted_source_is_asked_again() -> None:
    interrupts = iter([True])

    def source(index: int) -> Any:
        if index == 1 and next(interrupts, False):
            raise KeyboardInterrupt
        return np.full((2, 1), index)

    pipe = made(fn.external_source(source))
    with pytest.raises(KeyboardInterrupt):
        pipe.run()
    assert [pipe.run()[0].as_array()[0, 0] for _ in range(3)] == [0, 1, 2]


def test_a_source_cannot_run_its_own_pipeline() -> None:
    def source() -> Any:
        return pipe.run()

    pipe = made(fn.external_source(source))
    with pytest.raises(errors.StateError, match="a source cannot run"):
        pipe.run()


def test_layouts_survive_feeding() -> None:
    ragged = [np.zeros((3, 4), np.float32), np.ones((2, 5), np.float32)]
    images = made(fn.external_source(lambda: ragged, layout="HW")).run()[0]
    for fed in (
        images,
        list(images),
        TensorListCPU(ragged, "HW"),
        TensorListCPU([TensorCPU(a, "HW") for a in ragged]),
        TensorListCPU(np.zeros((2, 3, 4)), "HW"),
        TensorCPU(np.zeros((2, 3, 4)), "NHW"),
    ):
        pipe = made(fn.external_source(name="in"))
        pipe.feed_input("in", fed)
        (got,) = pipe.run()
        assert got.layout() == "HW" and len(got) == 2
        source = made(fn.external_source(itertools.repeat(fed)))
        assert source.run()[0].layout() == "HW"


def test_inputs_are_fed_by_run() -> None:
    pipe = made(fn.external_source(name="a") + fn.external_source(name="b"))
    (got,) = pipe.run(None, a=np.ones((2, 3)), b=np.full((2, 3), 4.0))
    assert got.as_array().tolist() == [[5, 5, 5]] * 2
    assert pipe.input_feed_count("a") == 2
    with pytest.raises(KeyError, match="no input named 'c'"):
        pipe.input_feed_count("c")


def test_settings_of_all_releases_are_taken() -> None:
    pipe = Pipeline(
        2, 1, None, 7, True, {"cpu_size": 2, "gpu_size": 3}, True, 0, False, None, None,
        enable_memory_stats=False, enable_checkpointing=False, py_num_workers=None,
        py_start_method="fork", exec_dynamic=None, experimental_exec_dynamic=None,
        stream_policy=None, concurrency=None, output_layout=None,
    )  # fmt: skip
    assert pipe.py_num_workers is None
    assert Pipeline(2, 1, None, py_num_workers=2).py_num_workers == 2
    before = set(report.without_effect)
    Pipeline(2, 1, None, max_streams=3, concurrency="full")
    new = set(report.without_effect) - before
    assert new <= {"Pipeline(max_streams=3)", "Pipeline(concurrency='full')"}
    assert pipe.output_stream() is None
    assert "Pipeline.output_stream()" in report.without_effect


def test_shared_memory_is_told() -> None:
    source = lambda info: np.full(2000, info.idx_in_epoch)  # noqa: E731
    pipe = made(fn.external_source(source, parallel=True, batch=False), py_num_workers=1)
    pipe.run()
    told = pipe.external_source_shm_statistics()
    assert max(told["capacities"]) >= 2 * 16000
    assert told["per_sample_capacities"] == [-(-c // 2) for c in told["capacities"]]
    none = {"capacities": [], "per_sample_capacities": []}
    assert made(fn.random.uniform()).external_source_shm_statistics() == none


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: made("x").build(),
        lambda: made((fn.random.uniform(), fn.random.uniform())).build(),
        lambda: made(((fn.random.uniform(),),)).build(),
        lambda: made(None).build(),
        lambda: made(fn.random.uniform()).serialize(42),
        lambda: fn.external_source(5),
        lambda: fn.external_source(lambda a, b, c: 0),
        lambda: fn.external_source((i for i in [1]), cycle=True),
        lambda: fn.external_source(lambda: 0, parallel=True),
        lambda: fn.resize(np.zeros((2, 2, 1)), resize_a=3, resize_shorter=4),
        lambda: bool(fn.random.uniform()),
        lambda: list(fn.random.uniform()),
        lambda: fn.random.uniform() + "a",
        lambda: fn.random.uniform()["a"],
        lambda: fn.flip("a"),
        lambda: types.to_numpy_type("image"),
        lambda: Pipeline(2, 1, None, bogus=3),
        lambda: TensorListCPU([np.ones(2), np.ones((2, 2))]),
    ],
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_wrong_types_are_type_errors(wrong: Any) -> None:
    with pytest.raises(TypeError):
        wrong()


def test_nodes_are_asked_for_what_is_known() -> None:
    image = types.Constant(np.zeros((2, 3, 1), np.uint8), layout="HWC")
    asked = [
        image.shape(),
        image.shape(dtype=types.INT32),
        image.property("layout"),
        image.source_info(),
        image.shape(dtype=np.int32),
    ]
    shape, narrow, layout, source, of_numpy = made(*asked).run()
    assert of_numpy.dtype == types.INT32
    assert shape.as_array().tolist() == narrow.as_array().tolist() == [[2, 3, 1]] * 2
    assert (shape.dtype, narrow.dtype) == (types.INT64, types.INT32)
    assert [bytes(a) for a in layout.as_array()] == [b"HWC"] * 2
    assert source.as_array().shape == (2, 0)
    assert image.shape(device="gpu").device == "gpu" and image.gpu().shape().device == "cpu"
    with pytest.raises(errors.GraphError, match="device expects 'cpu' or 'gpu', got 'x'"):
        image.shape(device="x")


def test_several_outputs_come_in_a_list() -> None:
    def added() -> list[Any]:
        x = fn.external_source(lambda: np.zeros((2, 3), np.float32))
        return [
            fn.readers.file(files=["a", "b"]),
            ops.readers.File(files=["a", "b"])(),
            fn.python_function(x, function=lambda a: (a, a), num_outputs=2),
            fn.decoders.image(fn.readers.file(files=["a", "b"])),  # once for each
            module("fn._conditional").split(x, predicate=fn.random.coin_flip()),
            fn.resize([x, x], size=[2, 2], save_attrs=True),
        ]

    pipe = Pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipe:
        outputs = added()
        files = fn.readers.file(files=["a", "b"])
        files += [fn.copy(files[1])]
        pipe.set_outputs(*files)
    assert [type(o) for o in outputs] == [list] * 6 and [len(o) for o in outputs] == [2] * 6
    assert [type(o) for o in outputs[-1]] == [list] * 2, "lists of inputs"
    features = {"x": tfrecord.FixedLenFeature((), tfrecord.int64, 0)}
    with pipe:
        read = fn.readers.tfrecord(path=["a"], features={**features, "y": features["x"]})
    assert list(read) == ["x", "y"]
    assert not any(isinstance(o, list) for o in read.values())
    with Native(batch_size=2, num_threads=1):
        assert type(fn.readers.file(files=["a"])) is tuple
        with pytest.raises(errors.GraphError, match="unpack them: bytes, label"):
            fn.decoders.image(fn.readers.file(files=["a"]))


def test_a_list_of_one_node_gives_a_node() -> None:
    pipe = Pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipe:
        one = fn.external_source(lambda: (np.ones((2, 3, 1), np.float32),), num_outputs=1)
        made = [fn.copy(one), ops.Copy()(one), fn.cat(one, one, axis=0), fn.cat(one, one[0])]
        resized = fn.resize(one, size=[2, 2], save_attrs=True)
        assert [type(o) for o in [*made, *resized]] == [DataNode] * 6
        assert [type(fn.copy([one[0], one[0]])), type(resized)] == [list, list]
        pipe.set_outputs(*made)
    assert [o.as_array().shape for o in pipe.run()] == [(2, 3, 1)] * 2 + [(2, 6, 1)] * 2
    with Native(batch_size=2, num_threads=1):
        assert type(fn.copy([fn.random.uniform()])) is list


def test_functions_may_write_into_their_arrays() -> None:
    def drawn_into(image: Any) -> Any:
        image[0] = 5
        return image

    def both(images: list[Any]) -> list[Any]:
        return [drawn_into(image) for image in images]

    x = fn.external_source(lambda: np.zeros((2, 2, 3), np.float32))
    outputs = made(
        x,
        fn.python_function(x, function=drawn_into),
        fn.python_function(x, function=both, batch_processing=True),
    ).run()
    assert not outputs[0].as_array().any(), "they are copies"
    for output in outputs[1:]:
        assert output.as_array().tolist() == [[[5.0] * 3, [0.0] * 3]] * 2


def test_types_have_the_established_names() -> None:
    t = module("types")
    assert t.Constant(10).uint8().dtype is t.UINT8 and t.Constant(True).dtype is t.BOOL
    assert t.Constant(2.5).int32().value == 2 and float(t.ScalarConstant(2.5)) == 2.5
    assert t.ScalarConstant(3) == 3 and bool(t.Constant(0)) is False
    assert t.Constant(5.5, shape=[2], name="x").name == "x"
    assert [t.to_dali_type(x) for x in (np.int16, np.dtype("f2"), float, "uint8", "double")] == [
        t.INT16, t.FLOAT16, t.FLOAT, t.UINT8, t.FLOAT64
    ]  # fmt: skip
    with pytest.raises(TypeError, match="no type of a tensor's elements"):
        t.to_dali_type("int")
    with pytest.raises(TypeError, match="expects one number"):
        t.ScalarConstant([1, 2])
    assert t.TensorLayout("HWC") == "HWC" and t.SAME == ""
    assert t.CUDAStream(5).ptr.value == 5 and t.CUDAStream(ctypes.c_void_p(7)).ptr.value == 7
    assert [p.name for p in t.PipelineAPIType] == ["BASIC", "ITERATOR", "SCHEDULED"]
    assert set(t._all_types) == set(types.DType) - {types.NO_TYPE} and len(t._all_types) == 12
    assert t.FLOAT() == "=f" and t.INT64() == "=q" and t.UINT8() == "=B"
    names = "STRING FEATURE PYTHON_OBJECT DATA_TYPE IMAGE_TYPE INTERP_TYPE TENSOR_LAYOUT"
    assert len({getattr(t, n) for n in names.split()}) == 7


def test_constants_keep_their_type_on_both_sides() -> None:
    t = module("types")
    drawn = fn.random.uniform(range=[0.0, 3.0], dtype=types.UINT8)
    ten = t.Constant(10).uint8()
    outputs = made(drawn + ten, ten + drawn, t.Constant(5) + drawn, ten == drawn, ten).run()
    assert [o.dtype for o in outputs] == ["uint8", "uint8", "int32", "bool", "uint8"]
    np.testing.assert_array_equal(outputs[0].as_array(), outputs[1].as_array())


def test_members_of_enumerations_are_data() -> None:
    t = module("types")
    filters = [types.INTERP_NN, types.INTERP_CUBIC]

    def numbers(node: Any) -> Any:
        return fn.cast(node, dtype=types.INT32)

    image = fn.external_source(lambda: np.tile(np.arange(48, dtype=np.uint8), (2, 4, 1, 1)))
    drawn = fn.random.choice(filters, seed=3)
    outputs = made(
        numbers(drawn),
        numbers(fn.copy(types.INT16)),
        numbers(types.Constant([types.RGB, types.GRAY])),
        numbers(t.Constant(types.INTERP_CUBIC)),
        fn.resize(image, resize_y=9, interp_type=t.Constant(types.INTERP_CUBIC)),
        fn.resize(image, resize_y=9, interp_type=types.INTERP_CUBIC),
        fn.resize(image, resize_y=9, interp_type=fn.random.choice(filters[1:])),
    ).run()
    assert [o.dtype for o in outputs[:4]] == [types.INT32] * 4
    assert set(outputs[0].as_array().tolist()) <= {0, 2}
    values = [outputs[i].as_array()[0].tolist() for i in (1, 2, 3)]
    assert values == [int(types.INT16), [0, 2], 2]
    for resized in outputs[5:]:
        np.testing.assert_array_equal(resized.as_array(), outputs[4].as_array())
    for wrong in (["INTERP_NN"], [types.RGB, types.INTERP_NN], [types.INTERP_NN, 5], "RGB"):
        with pytest.raises(errors.GraphError, match="not a node"):
            fn.random.choice(wrong)
    with pytest.raises(errors.GraphError, match="an operand of == expects numbers"):
        drawn == types.INTERP_NN  # noqa: B015


def test_modules_have_the_established_names(monkeypatch: pytest.MonkeyPatch) -> None:
    # As the devices of a process are found once, other tests would have none.
    monkeypatch.setenv("STOKER_SIMULATED_DEVICES", "1")
    backend = module("backend_impl")
    assert module("backend_impl.types").DALIDataType is module("types").DALIDataType
    for name in ("TensorCPU", "TensorListCPU", "TensorGPU", "TensorListGPU", "tfrecord"):
        assert hasattr(backend, name) and hasattr(module("backend"), name), name
    assert "Resize" in backend.RegisteredCPUOps() and "readers__File" in backend.RegisteredCPUOps()
    assert "Resize" not in backend.RegisteredMixedOps()
    gpus = [d for d in stoker.devices() if d.kind == "cuda"]
    assert backend.GetCUDADeviceCount() == len(gpus)
    backend.SetHostBufferShrinkThreshold(0.5)
    assert "backend.SetHostBufferShrinkThreshold()" in report.without_effect
    assert module("external_source").external_source is fn.external_source
    for name in ("StreamPolicy", "OperatorConcurrency"):
        assert getattr(module(""), name) is getattr(module("pipeline"), name)
    for kind in (module("").StreamPolicy, module("").OperatorConcurrency):
        setting = "stream_policy" if "SINGLE" in kind.__members__ else "concurrency"
        assert all(getattr(made(1, **{setting: k}), setting) is k for k in kind)
    assert module("data_node").DataNode is type(fn.random.uniform())
    assert module("plugin.numba").NumbaFunction is module("plugin.numba.experimental").NumbaFunction
    functions = module("fn")
    assert [
        functions.rotate._schema_name,
        module("fn.readers").coco._schema_name,
        functions.image_decoder._schema_name,
        module("plugin.numba.fn.experimental").numba_function._schema_name,
    ] == ["Rotate", "readers__COCO", "ImageDecoder", "NumbaFunction"]
    marked = module("pickling").pickle_by_value(test_modules_have_the_established_names)
    assert marked is test_modules_have_the_established_names


def test_plugins_say_that_they_cannot_be_loaded(tmp_path: Any) -> None:
    manager = module("plugin_manager")
    with pytest.raises(RuntimeError, match=r"my\.so: a library of operators .* cannot be loaded"):
        manager.load_library("my.so")
    manager.load_directory(str(tmp_path))
    (tmp_path / "libdali_my.so").write_bytes(b"")
    with pytest.raises(RuntimeError, match="libdali_my"):
        manager.load_directory(str(tmp_path))
    with pytest.raises(RuntimeError, match="no headers"):
        module("sysconfig").get_compile_flags()


def test_settings_without_effect_have_their_established_values() -> None:
    pipe = made(fn.constant(idata=[1]))
    assert (pipe.max_streams, pipe.default_cuda_stream_priority) == (-1, 0)
    asked = Pipeline(batch_size=1, num_threads=1, max_streams=3, default_cuda_stream_priority=-1)
    assert (asked.max_streams, asked.default_cuda_stream_priority) == (3, -1)


@pytest.mark.parametrize("depth", [0, -1])
def test_a_pipeline_makes_at_least_one_step_ahead(depth: int) -> None:
    with pytest.raises(ValueError, match="prefetch_queue_depth expects at least 1"):
        Pipeline(batch_size=1, num_threads=1, prefetch_queue_depth=depth)
