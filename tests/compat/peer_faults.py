# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Short pipelines, each an expression, and what becomes of them: their outputs, or an error's type.

tools/record_peer_faults.py records what the established library makes of them, and
tests/compat/test_peer_faults.py compares. This module needs only NumPy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

PICTURE = (np.arange(4 * 5 * 3) % 251).astype(np.uint8).reshape(4, 5, 3)

# In these, hwc is a picture with a layout, x one of floats without, and bare() gives data of a
# shape without a layout.
DEFINITIONS = [
    # wrong types
    "fn.resize(hwc, resize_x=[1, 2, 3])",
    "fn.resize(hwc, size='big')",
    "fn.resize(None, resize_x=3)",
    "fn.resize('text', resize_x=3)",
    "fn.resize(hwc, name=3, resize_x=3)",
    "fn.flip(hwc, horizontal=[1, 0])",
    "fn.rotate(hwc, angle=[1.0, 2.0])",
    "fn.cast(hwc, dtype=x)",
    "fn.crop(hwc, crop=[x, 2])",
    "fn.random.uniform(seed=[1, 2])",
    "fn.resize(hwc, resize_x=3, interp_type=[types.INTERP_NN])",
    "types.Constant([types.FLOAT, 3])",
    "types.Constant([types.FLOAT, types.INTERP_NN])",
    # unknown names
    "fn.resize(hwc, bogus=3)",
    "fn.mel_filter_bank(x, axis=9)",
    "fn.external_source(source=lambda: [PICTURE], bogus=3)",
    # axes that are not there
    "fn.reductions.sum(hwc, axes=[9])",
    "fn.reductions.sum(hwc, axes=9)",
    "fn.reductions.sum(hwc, axes=[-9])",
    "fn.reductions.mean(bare(4, 5, 3), axes=[9])",
    "fn.reductions.sum(hwc, axis_names='Q')",
    "fn.reductions.sum(bare(4, 5, 3), axes=[0, 0])",
    "fn.normalize(hwc, axes=[9])",
    "fn.pad(hwc, axes=[0, 9])",
    "fn.slice(hwc, [0.1, 0.2], [0.5, 0.6], axes=[0, 7])",
    "fn.cat(hwc, hwc, axis=9)",
    "fn.stack(hwc, hwc, axis=9)",
    # wrong values
    "fn.resize()",
    "fn.resize(hwc, device='tpu', resize_x=3)",
    "fn.resize(bare(3), resize_x=3)",
    "fn.cast(hwc)",
    # axes by number and by letter
    "fn.slice(hwc, [0.1, 0.2], [0.5, 0.6], axis_names='HW', axes=[0, 1])",
    "fn.pad(hwc, axis_names='H', axes=[0])",
    "fn.squeeze(hwc, axis_names='H', axes=[0])",
    "fn.normalize(hwc, axis_names='HW', axes=[0, 1])",
    "fn.normalize(bare(4, 5, 3), axis_names='HW', axes=[0, 1])",
    *(
        f"fn.reductions.{name}, axis_names='H', axes=[0])"
        for name in ("sum(hwc", "mean(hwc", "max(hwc", "rms(hwc", "variance(hwc, 0.0")
    ),
    "fn.erase(hwc, anchor=[1], shape=[1], axis_names='H', axes=[0])",
    # letters without a layout
    "fn.slice(bare(4, 5), [0.2, 0.2], [0.5, 0.6])",
    "fn.slice(bare(4, 5, 3), [0.2, 0.2], [0.5, 0.6])",
    "fn.slice(bare(2, 4, 5, 3), [0.2, 0.2], [0.5, 0.6])",
    "fn.slice(bare(4, 5), [0.2, 0.2], [0.5, 0.6], axis_names='HW')",
    "fn.slice(bare(4, 5, 3), [0.2, 0.2], [0.5, 0.6], axis_names='HC')",
    "fn.slice(bare(2, 4, 5, 3), [0.2, 0.2], [0.5, 0.6], axis_names='DC')",
    "fn.slice(bare(2, 4, 5, 3), [0.2, 0.2], [0.5, 0.6], axis_names='FC')",
    "fn.slice(bare(5), [0.2], [0.5], axis_names='W')",
    "fn.slice(bare(4, 5, 3), start=[1], end=[2], axis_names='C')",
    # the layout of the input
    "fn.crop_mirror_normalize(hwc, output_layout='')",
    "fn.crop_mirror_normalize(bare(4, 5, 3), output_layout='')",
    "fn.crop_mirror_normalize(hwc, output_layout=types.SAME)",
    "fn.crop_mirror_normalize(hwc, output_layout='WHC')",
    "fn.crop_mirror_normalize(hwc, output_layout='HW')",
    # constants of types
    "fn.cast(types.FLOAT, dtype=types.INT32)",
    "fn.cast(types.INTERP_LINEAR, dtype=types.INT32)",
    "fn.cast([types.FLOAT, types.INT32], dtype=types.INT32)",
    "fn.cast(types.Constant([types.INTERP_NN, types.INTERP_LINEAR]), dtype=types.INT32)",
    "types.Constant(types.FLOAT, dtype=types.INT32)",
    "fn.resize(hwc, resize_x=3, interp_type=types.Constant(types.INTERP_NN))",
    "fn.resize(hwc, resize_x=3, interp_type=fn.random.choice([types.INTERP_NN]))",
    # seeds where nothing is random
    "fn.flip(hwc, seed=3)",
    "fn.cast(hwc, dtype=types.FLOAT, seed=3)",
    "fn.constant(idata=[1], seed=3)",
    "fn.external_source(source=lambda: [PICTURE], seed=3)",
    "fn.python_function(hwc, function=lambda a: a, seed=3)",
    "fn.stack(hwc, hwc, seed=3)",
    "fn.reductions.sum(hwc, seed=3)",
    "fn.zeros(shape=[2], seed=3)",
    "fn.transforms.rotation(angle=90.0, seed=3)",
]
DEFINITIONS += [
    # functions by position
    "ops.PythonFunction(lambda a: a + 1)(x)",
    "tuple(ops.PythonFunction(lambda a: (a + 1, a), 2)(x))",
    "ops.PythonFunction(lambda a: [v + 1 for v in a], 1, 'cpu', True)(x)",
    "ops.PythonFunction(lambda a: a, 1, 'cpu', True, 3)(x)",
    "ops.DLTensorPythonFunction(lambda a: a, 1, 'cpu', False, True)(x)",
    "ops.Resize(3)(hwc)",
    # texts and other numbers as arguments
    *(
        f"fn.one_hot(fn.constant(idata=[1]), num_classes={v})"
        for v in ("'3'", "3.7", "'3.7'", "'a'")
    ),
    *(f"fn.rotate(hwc, angle={v}, keep_size=True)" for v in ("'0'", "False", "'a'")),
    *(f"fn.reductions.sum(hwc, axes={v})" for v in ("'1'", "1.7", "['0', '1']", "['a']")),
    *(f"fn.crop_mirror_normalize(hwc, mean={v})" for v in ("'2'", "['1', 2]", "['a']")),
    *(f"fn.reductions.sum(hwc, axes=0, keep_dims={v})" for v in ("'false'", "''", "2", "0.0")),
    *(f"fn.resize(hwc, resize_x=3, interp_type={v})" for v in ("0", "0.0", "'0'", "77")),
    *(f"fn.cast(hwc, dtype={v})" for v in ("9", "'9'", "99")),
    "fn.color_space_conversion(hwc, image_type=0, output_type=1)",
    # numbers out of range, and what does not matter
    *(f"fn.flip(hwc, horizontal={v})" for v in (2, -1, 0.5)),
    *(f"fn.crop(hwc, crop={given})" for given in ([0.5, 2], [-1, 2])),
    "fn.reductions.sum(fn.jpeg_compression_distortion(hwc, quality=0))",
    "fn.reductions.sum(fn.jpeg_compression_distortion(hwc, quality=200))",
    "fn.resize(hwc, resize_x=5, roi_relative=True)",
    "fn.reshape(hwc, shape=[-1], src_dims=[1, 2])",
    "fn.reshape(hwc, src_dims=[2, 0, 1])",
    "fn.resize(hwc, resize_x=5, roi_relative=True, roi_start=[0., 0.], roi_end=[1., 1.])",
    *(f"fn.hue(hwc, hue=90., image_type=types.{kind})" for kind in ("RGB", "BGR", "GRAY")),
    # a constant as an index
    "x[types.Constant(1)]",
    # lists of numbers as outputs
    *("[1, 2]", "(1, 2)", "[True, False]", "[1.5, 2.5]", "(1, [2, 3], 2.5)"),
    # empty lists
    *(
        f"fn.slice(hwc, {given})"
        for given in (
            "start=[], shape=[]",
            "start=[1], end=[], axes=[0]",
            "start=[], shape=[2, 2]",
            "rel_start=[], rel_end=[]",
            "start=[1, 1], rel_start=[]",
            "end=fn.external_source(source=lambda: [np.zeros(0, np.int32)])",
        )
    ),
    "fn.crop(hwc, crop=[6, 6], out_of_bounds_policy='pad', fill_values=[])",
    # capitals and other words
    *(
        f"fn.filter(hwc, np.float32([[0, 1, 2]]), border={v!r})"
        for v in ("CLAMP", "Edge", "fill", "Reflect_101", "reflect-101", "zero")
    ),
    "fn.filter(hwc, np.float32([[0, 1, 2]]), mode='Valid')",
    "fn.crop(hwc, crop=[6, 6], out_of_bounds_policy='Pad')",
    "fn.resize(hwc, resize_x=3, mode='Stretch')",
]
# What claims to be of a type that no tensor has.
_CLAIMS = [
    "types.Constant(types.FLOAT)",
    "types.Constant([types.FLOAT])",
    "types.Constant([types.INTERP_NN])",
    "types.Constant(2, dtype=types.IMAGE_TYPE)",
    *(
        f"fn.{call}"
        for call in (
            "copy(types.FLOAT)",
            "reshape(types.Constant([types.RGB]), shape=[1, 1])",
            "squeeze(types.Constant([types.RGB]), axes=[0])",
            "expand_dims(types.Constant([types.RGB]), axes=[0])",
            "permute_batch(types.Constant(types.RGB), indices=[0])",
            "random.choice([types.INTERP_NN, types.INTERP_CUBIC])",
            "random.choice(types.Constant([types.INTERP_NN]), shape=[2])",
            "cast(3, dtype=types.DATA_TYPE)",
            "cast(types.FLOAT, dtype=types.UINT8)",
            "cast_like(3, types.Constant(types.FLOAT))",
            "reinterpret(types.Constant([1]), dtype=types.IMAGE_TYPE)",
            "reinterpret(types.Constant([types.FLOAT]), dtype=types.INT32)",
            "constant(idata=[1], dtype=types.INTERP_TYPE)",
            "shapes(types.Constant([types.FLOAT]))",
        )
    ),
    "types.Constant([types.FLOAT, types.UINT8])[1]",
    "fn.copy(fn.reshape(types.Constant([types.FLOAT, types.UINT8])[0:1], shape=[]))",
]
_NOT_FED = "pipeline(lambda: fn.external_source(name='a'))"
# Each is evaluated outside of a pipeline; pipeline() makes and builds one.
PROGRAMS = [
    "pipeline(lambda: fn.random.uniform()).seed",
    "pipeline(lambda: fn.random.uniform(), seed=5).seed",
    "pipeline(lambda: fn.random.uniform(), seed=-1).seed",
    f"{_NOT_FED}.run()",
    "pipeline(lambda: fn.external_source(name='a', dtype=types.FLOAT, ndim=1)).run()",
    f"{_NOT_FED}.feed_input('b', [PICTURE])",
    "pipeline(lambda: 'a')",
    "pipeline(lambda: fn.external_source(source=3))",
    "pipeline(lambda: fn.random.uniform(), seed='a')",
    "pipeline(lambda: fn.random.uniform(), num_threads='a')",
    "str(types.DALIDataType.FLOAT) and int(types.DALIDataType.FLOAT)",
    *(f"pipeline(lambda: {made}).run()[0].dtype.name" for made in _CLAIMS),
    "repr(pipeline(lambda: types.Constant(types.FLOAT)).run()[0])",
    "pipeline(lambda: types.Constant(types.FLOAT)).run()[0].as_tensor().dtype.name",
    "pipeline(lambda: types.Constant(types.FLOAT)).run()[0].as_cpu()[0].dtype.name",
    "f'{types.Constant(3)} {types.Constant(3, dtype=types.FLOAT)!r}'",
    "repr(types.TensorLayout('HWC'))",
]


def kinds_of(error: Exception) -> list[str]:
    """The built-in exceptions that it is, the nearest first, but for the base of all."""
    all_of_them = [k for k in type(error).__mro__ if k.__module__ == "builtins"]
    return [k.__name__ for k in all_of_them if k not in (Exception, BaseException, object)]


def outcome(library: Any, text: str) -> dict[str, Any]:
    """What becomes of an expression: {"raises": ...}, {"gives": outputs} or {"is": value}."""
    fn, types = library.fn, library.types
    settings = {"batch_size": 1, "num_threads": 1, "device_id": None}

    def pipeline(definition: Any, **more: Any) -> Any:
        made = library.pipeline_def(definition)(**{**settings, **more})
        made.build()
        return made

    def fed(array: Array, layout: str | None = None) -> Any:
        return fn.external_source(source=lambda: [array], layout=layout)

    def bare(*shape: int) -> Any:
        return fed((np.arange(np.prod(shape)) % 251).astype(np.uint8).reshape(shape))

    def defined() -> Any:
        x = np.arange(6, dtype=np.float32).reshape(2, 3)
        given = {"hwc": fed(PICTURE, "HWC"), "x": fed(x), "bare": bare}
        return eval(text, {**scope, **given})

    scope = {"fn": fn, "ops": library.ops, "types": types, "np": np}
    scope |= {"pipeline": pipeline, "PICTURE": PICTURE}
    try:
        if text in PROGRAMS:
            return {"is": eval(text, scope)}
        return {"gives": [written(batch) for batch in pipeline(defined, seed=3).run()]}
    except Exception as error:
        return {"raises": kinds_of(error)}


def written(batch: Any) -> list[Any]:
    """The layout, and the only sample's dtype, shape and values."""
    array = np.array(batch[0])
    values = array.astype(np.float64).round(4).ravel().tolist()
    return [batch.layout(), str(array.dtype), list(array.shape), values]
