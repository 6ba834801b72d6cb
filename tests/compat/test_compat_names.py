# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Names of the established library that scripts and tests touch besides operators."""

from __future__ import annotations

import ctypes
import os
from typing import Any

import numpy as np
import pytest
from compat_scripts import run, written

from stoker import errors, fn, types
from stoker.compat import module
from stoker.compat._gpu_tensors import TensorGPU, TensorListGPU
from stoker.compat._pipeline import Pipeline
from stoker.compat._report import report
from stoker.compat._tensors import TensorCPU, TensorListCPU

backend: Any = module("backend")
there: Any = module("types")


def made(*outputs: Any, **settings: Any) -> Any:
    pipe = Pipeline(batch_size=2, num_threads=1, device_id=None, **settings)
    with pipe:
        pipe.set_outputs(*[o() if callable(o) else o for o in outputs])
    return pipe


def test_versions_are_numbers_that_compare() -> None:
    assert isinstance(backend.__cuda_version__, int)
    assert module("").__cuda_version__ == backend.__cuda_version__
    assert isinstance(module("").__git_sha__, str)
    for ask in ("Nvjpeg", "Npp", "Cufft", "Nvimgcodec"):
        assert getattr(backend, f"Get{ask}Version")() >= -1
    assert backend.GetCudaVersion() >= -1


def test_versions_follow_the_driver_and_the_decoder(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = {"kind": "cuda", "driver_cuda": "13.0", "decoder": "nvJPEG", "decoder_words": "12.4.0"}
    monkeypatch.setattr("stoker._core.devices", lambda: [gpu])
    assert (backend.__cuda_version__, backend.GetCudaVersion()) == (130, 13000)
    assert backend.GetNvjpegVersion() == 12040
    assert backend.GetCUDACurrentDevice() == 0 and backend.IsDriverInitialized()
    monkeypatch.setattr("stoker._core.devices", lambda: [{**gpu, "decoder": "cpu"}])
    assert backend.GetNvjpegVersion() == -1


def test_without_a_gpu_there_is_no_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stoker._core.devices", list)
    assert (backend.__cuda_version__, backend.GetCudaVersion()) == (0, -1)
    assert backend.GetCUDACurrentDevice() == -1 and not backend.IsDriverInitialized()


def test_a_name_with_underscores_is_still_unknown() -> None:
    with pytest.raises(AttributeError, match="__no_version__"):
        _ = backend.__no_version__


def test_a_schema_tells_of_arguments() -> None:
    schema = backend.GetSchema("Resize")
    assert schema.Name() == "Resize" and schema.HasArgument("size")
    assert schema.IsTensorArgument("resize_x") and not schema.IsTensorArgument("mode")
    assert "interp_type" in schema.GetArgumentNames()
    assert schema.IsArgumentOptional("size") and schema.GetArgumentDox("size")
    assert (schema.MinNumInput(), schema.MaxNumInput()) == (1, 1)
    assert not schema.IsStateful() and not schema.IsDeprecated() and schema.Dox()
    with pytest.raises(RuntimeError, match="Resize has no argument 'sides'"):
        schema.IsTensorArgument("sides")


def test_a_schema_of_a_folder_and_of_many_inputs() -> None:
    assert not backend.GetSchema("Cast").IsArgumentOptional("dtype")
    reader = backend.GetSchema("readers__File")
    assert reader.MaxNumInput() == 0 and reader.HasArgument("read_ahead")
    assert backend.GetSchema("Cat").MaxNumInput() > 1


def test_a_schema_tells_what_an_operator_is() -> None:
    reader, draw, plain = map(backend.GetSchema, ("readers__File", "random__Normal", "Resize"))
    assert [s.IsStateful() for s in (reader, draw, plain)] == [True, True, False]
    assert [s.HasRandomSeedArg() for s in (reader, draw, plain)] == [True, True, False]
    assert [s.HasRandomStateArg() for s in (reader, draw, plain)] == [False, True, False]
    assert backend.GetSchema("ExternalSource").IsStateful()
    assert (reader.ModulePath(), reader.OperatorName()) == (["readers"], "File")
    assert (plain.ModulePath(), plain.OperatorName()) == ([], "Resize")
    assert plain.GetSupportedBackends() == ["cpu", "gpu"] and "HWC" in plain.GetSupportedLayouts(0)
    assert plain.SupportsVolumetric() and plain.AllowsSequences() and plain.HasOutputFn()
    for answer in ("IsAbstract", "IsInternal", "IsNoPrune", "IsDocHidden", "IsSequenceOperator"):
        assert getattr(plain, answer)() is False
    choice = backend.GetSchema("random__Choice")
    assert choice.GetCallSignatureInputs() == "a, shape_like = None"
    assert [choice.GetInputName(i) for i in (0, 1)] == ["a", "shape_like"]
    assert choice.GetInputDox(0) and choice.GetInputDevice(0, None, "gpu") == "gpu"
    with pytest.raises(IndexError, match="no input 2: it takes 2"):
        choice.GetInputName(2)


def test_a_schema_tells_of_types_and_defaults() -> None:
    cases = {
        ("Resize", "size"): ("_FLOAT_VEC", None),
        ("Resize", "antialias"): ("BOOL", "True"),
        ("Resize", "interp_type"): ("INTERP_TYPE", "1"),
        ("Resize", "mode"): ("STRING", "'default'"),
        ("Resize", "minibatch_size"): ("INT32", "32"),
        ("Resize", "resize_x"): ("FLOAT", "0.000000"),
        ("Cast", "dtype"): ("DATA_TYPE", None),
        ("Slice", "fill_values"): ("_FLOAT_VEC", "[0.000000, ]"),
        ("readers__File", "seed"): ("INT32", "-1"),
        ("readers__File", "dir_filters"): ("_STRING_VEC", None),
        ("readers__File", "lazy_init"): ("BOOL", "False"),
        ("Erase", "shape"): ("_FLOAT_VEC", "[]"),
        ("Copy", "bytes_per_sample_hint"): ("_INT32_VEC", "[0, ]"),
    }
    for (operator, name), (kind, default) in cases.items():
        schema = backend.GetSchema(operator)
        assert schema.GetArgumentType(name).name == kind, (operator, name)
        assert schema.HasArgumentDefaultValue(name) == (default is not None), (operator, name)
        if default is None:
            with pytest.raises(ValueError, match="has no default"):
                schema.GetArgumentDefaultValueString(name)
        else:
            assert schema.GetArgumentDefaultValueString(name) == default
    assert backend.GetSchema("GaussianBlur").ArgSupportsPerFrameInput("sigma")


def test_a_schema_tells_of_old_names_and_arguments() -> None:
    old = backend.GetSchema("FileReader")
    assert (old.Name(), old.AliasFor()) == ("FileReader", "readers__File")
    assert old.IsDeprecated() and old.DeprecatedInFavorOf() == "readers__File"
    assert "readers.File" in old.DeprecationMessage()
    assert backend.GetSchema("FileReader", follow_aliases=True).Name() == "readers__File"
    only_there = backend.GetSchema("experimental__Dilate")
    assert not only_there.IsDeprecated() and only_there.ModulePath() == ["experimental"]
    crop = backend.GetSchema("Crop")
    assert crop.IsDeprecatedArg("output_dtype") and not crop.IsDeprecatedArg("dtype")
    assert crop.DeprecatedArgInfo("output_dtype")["renamed_to"] == "dtype"
    assert crop.DeprecatedArgInfo("image_type")["removed"] is True
    with pytest.raises(ValueError, match="is not deprecated"):
        crop.DeprecatedArgInfo("dtype")


def test_every_registered_operator_has_a_schema() -> None:
    for name in backend.RegisteredCPUOps():
        assert backend.GetSchema(name).Name() == name
    assert module("ops").cpu_ops() == set(backend.RegisteredCPUOps())
    assert module("ops").gpu_ops() == set(backend.RegisteredGPUOps())


def test_a_schema_that_is_not_there() -> None:
    assert backend.TryGetSchema("readers__Nothing") is None
    with pytest.raises(KeyError, match=r"readers\.Nothing is not in Stoker"):
        backend.GetSchema("readers__Nothing")
    with pytest.raises(TypeError, match="a text, got 3"):
        backend.GetSchema(3)
    report.missing.clear()


def test_capsules_are_told_from_other_objects() -> None:
    array = np.arange(3, dtype=np.float32)
    capsule = array.__dlpack__()
    assert backend.CheckDLPackCapsule(capsule) == (True, False)
    assert backend.CheckDLPackCapsule(capsule) == (True, False), "it is not consumed"
    assert np.array_equal(np.asarray(TensorCPU(capsule)), array)
    assert backend.CheckDLPackCapsule(array) == (False, False)
    assert backend.CheckDLPackCapsule("text") == (False, False)


def capsule_on(device: int) -> Any:
    """A capsule that claims to hold memory of a kind of device."""
    words = (ctypes.c_int64 * 16)()
    ctypes.c_int32.from_address(ctypes.addressof(words) + 8).value = device
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = (
        ctypes.py_object,
        [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p],
    )
    _kept.append(words)
    return new(ctypes.addressof(words), b"dltensor", None)


_kept: list[Any] = []


def test_a_capsule_of_a_gpu_s_memory_is_not_read_as_host_memory() -> None:
    assert backend.CheckDLPackCapsule(capsule_on(2)) == (True, True)
    assert backend.CheckDLPackCapsule(capsule_on(7)) == (False, False)
    with pytest.raises(TypeError, match="capsule of host memory, got one of a GPU's"):
        TensorCPU(capsule_on(2))


@pytest.mark.parametrize(
    ("constant", "kind", "number"),
    [
        (types.FLOAT, there.DATA_TYPE, 9),
        (types.INTERP_LINEAR, there.INTERP_TYPE, 1),
        (types.GRAY, there.IMAGE_TYPE, 2),
    ],
)
def test_a_constant_keeps_what_it_is(constant: Any, kind: Any, number: int) -> None:
    with Pipeline(batch_size=2, num_threads=1, device_id=None) as pipe:
        whole = [
            there.Constant(constant),
            there.Constant([constant, constant]),
            there.Constant(number, dtype=kind),
        ]
        pipe.set_outputs(*whole, *(fn.cast(node, dtype=types.INT32) for node in whole))
    *batches, one, two, numbered = pipe.run()
    for batch in batches:
        assert batch.dtype == kind and batch[1].dtype == kind
        for as_array in (
            batch.as_array,
            lambda b=batch: np.array(b),
            lambda b=batch: np.array(b[0]),
        ):
            with pytest.raises(TypeError, match=r"fn\.cast gives numbers"):
                as_array()
    assert one.as_array().tolist() == [number] * 2 == numbered.as_array().tolist()
    assert two.as_array().tolist() == [[number] * 2] * 2


def test_all_types_are_members_of_one_name() -> None:
    every = there.DALIDataType
    assert every.UINT8 is types.UINT8 and every.DATA_TYPE is there.DATA_TYPE
    assert all(isinstance(kind, every) for kind in (types.FLOAT, there.STRING, *every))
    assert not isinstance("uint8", every) and not isinstance(types.RGB, every)
    assert [every(int(kind)) for kind in every] == list(every) and len(every) == len(list(every))


def test_only_the_constant_s_own_output_is_of_its_type() -> None:
    def outputs() -> Any:
        return there.Constant(types.FLOAT) + 1

    other, numbers = made(outputs, lambda: there.Constant(types.FLOAT, dtype=types.INT64)).run()
    assert other.dtype == types.INT32 and numbers.dtype == types.INT64


def test_numbers_can_be_called_constants_and_fed() -> None:
    filters = TensorListCPU(np.array([0, 1], np.int32))
    filters.reinterpret(there.INTERP_TYPE)
    assert filters.dtype == filters[0].dtype == TensorListCPU(filters).dtype == there.INTERP_TYPE
    filters[0].reinterpret(types.INT32)
    assert filters.dtype == there.INTERP_TYPE
    with pytest.raises(RuntimeError, match="expects a type of 1 bytes"):
        TensorCPU(np.zeros(2, np.uint8)).reinterpret(there.DATA_TYPE)

    def resized() -> Any:
        picture = types.Constant(np.arange(16, dtype=np.uint8).reshape(4, 4, 1), layout="HWC")
        return fn.resize(picture, size=[2, 2], interp_type=fn.external_source(name="filters"))

    pipe = made(resized)
    pipe.feed_input("filters", filters)
    (batch,) = pipe.run()
    assert batch.shape() == [(2, 2, 1)] * 2 and not np.array_equal(batch.at(0), batch.at(1))


def test_host_memory_is_no_tensor_of_a_gpu() -> None:
    for kind, data in ((TensorGPU, np.zeros(2)), (TensorListGPU, [np.zeros(2)])):
        with pytest.raises(TypeError, match=r"made on a GPU, got a \w+: feed it as Tensor\w*CPU"):
            kind(data)
    for host in (TensorCPU(np.zeros(2)), TensorListCPU(np.zeros((2, 2)))):
        assert not host.is_pinned()
        with pytest.raises(errors.DeviceError, match=r"copied to a GPU by a pipeline: .*\.gpu\(\)"):
            host._as_gpu()


def test_an_input_on_a_gpu_is_fed_by_its_node(tmp_path: Any) -> None:
    text = """
    import numpy as np
    from nvidia.dali import Pipeline, fn
    pipe = Pipeline(batch_size=2, num_threads=1, device_id=0)
    with pipe:
        here, one = fn.external_source(name="x", device="gpu"), fn.external_source(name="y")
        pipe.set_outputs(here, one.gpu())
    pipe.feed_input(here, [np.full(2, 3)] * 2)
    pipe.feed_input(one, [np.full(2, 4)] * 2)
    print([batch.as_cpu().at(1).tolist() for batch in pipe.run()])
    """
    done = run(written(tmp_path, text), STOKER_SIMULATED_DEVICES="1")
    assert done.stdout == "[[3, 3], [4, 4]]\n", done.stderr


def number(info: Any) -> Any:
    return np.array([os.getpid()])


def test_the_pool_tells_its_processes() -> None:
    pipe = made(
        lambda: fn.external_source(number, parallel=True, batch=False),
        py_num_workers=2,
        py_start_method="fork",
    )
    pipe.start_py_workers()
    assert pipe._py_num_workers == pipe._py_pool.num_workers == 2
    pids = pipe._py_pool.pids()
    assert len(set(pids)) == 2 and os.getpid() not in pids
    assert {int(pid) for pid in pipe.run()[0].as_array()[:, 0]} <= set(pids)
    pipe.close()


def test_a_pipeline_without_workers_has_no_pool() -> None:
    pipe = made(lambda: fn.external_source([[np.zeros(1)] * 2]))
    pipe.build()
    assert pipe._py_pool is None


@pytest.mark.parametrize("name", ["_multiproc.pool", "_autograph", "_utils.nvtx"])
def test_inner_modules_are_not_planned(name: str, tmp_path: Any) -> None:
    done = run(written(tmp_path, f"import nvidia.dali.{name}\n"))
    assert "is not in Stoker, and not planned" in done.stderr and done.returncode == 1


def test_names_of_classes_and_schemas() -> None:
    functions, classes = module("fn"), module("ops")
    words = ["RandomBBoxCrop", "Caffe2Reader", "XYZ1ABC", "STFT_CPU", "DOUBLE__X", "testXX"]
    assert [functions._to_snake_case(w) for w in words] == [
        *("random_bbox_crop", "caffe2_reader", "xyz1abc", "stft_cpu", "double__x", "test_xx")
    ]
    assert classes._op_name("readers__File") == "readers.file"
    assert classes._op_name("DLTensorPythonFunction") == "dl_tensor_python_function"
    assert classes._op_name("readers__TFRecord", api="ops") == "readers.TFRecord"


def test_modules_that_scripts_import_parts_of() -> None:
    core = module("auto_aug.core")
    assert module("auto_aug.core._augmentation").Augmentation is core.Augmentation
    assert module("auto_aug.core._select").select is core.select
    assert core._Augmentation is core.Augmentation
    made = module("auto_aug.augmentations")
    assert made.warp_x_param(3).tolist() == [3, 0] and made.warp_y_param(3).tolist() == [0, 3]
    assert (made.shift_enhance_range(0.5), made.solarize_add_shift(7.9)) == (1.5, 7)
    assert made.poster_mask_uint8(3) == 0b11100000 and made.sharpness_kernel(0)[1, 1] == 1
    assert (made.sharpness_kernel_shifted(1) == made.sharpness_kernel(0)).all()
    assert module("auto_aug.core.policy").Policy is core.Policy
    assert module("auto_aug.core.decorator").augmentation is core.augmentation
    assert module("backend_impl.types")._DALIDataType.INT8 is module("types").INT8
    forbid = module("auto_aug.core._args").forbid_unused_kwargs

    @core.augmentation
    def tinted(image: Any, _: Any, colour: Any) -> Any:
        return image

    forbid([tinted], {"colour": 3}, "call")
    with pytest.raises(ValueError, match="call: no augmentation takes the argument 'color'"):
        forbid([tinted], {"color": 3}, "call")
