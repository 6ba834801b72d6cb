# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Nodes made before their pipeline, and several pipelines of one process: ... FOLDER."""

import json
import sys

import numpy as np
import nvidia.dali.fn as fn
import nvidia.dali.ops as ops
import nvidia.dali.types as types
from nvidia.dali import Pipeline
from nvidia.dali.pipeline import DataNode

BATCH = 3


def numbers(count):
    return fn.external_source(source=lambda: [np.float32([k, k + 1]) for k in range(count)])


def before_the_pipeline(data_dir):
    """The whole graph is made first, and set_outputs() finds it."""
    encoded, labels = fn.readers.file(file_root=data_dir, name="Reader")
    images = fn.resize(fn.decoders.image(encoded), size=[14, 12])
    scaled = fn.cast(images, dtype=types.FLOAT) / 2.0 + 1.0
    pipe = Pipeline(batch_size=BATCH, num_threads=2, device_id=None)
    pipe.set_outputs(images, scaled, labels)
    return pipe


def within_and_without(data_dir):
    pipe = Pipeline(BATCH, 2, None)
    encoded, labels = fn.readers.file(file_root=data_dir, name="Reader")
    with pipe:
        images = fn.decoders.image(encoded)
    small = fn.resize(images, resize_x=9, resize_y=11)
    with pipe:
        pipe.set_outputs(fn.flip(small), labels)
    return pipe


def by_classes(data_dir):
    reader = ops.readers.File(file_root=data_dir)
    decode = ops.decoders.Image(output_type=types.GRAY)
    resize = ops.Resize(resize_x=8, resize_y=8)
    shift = ops.Constant(idata=[5], dtype=types.UINT8)
    encoded, labels = reader(name="Reader")
    outputs = [resize(decode(encoded)) + shift(), labels]
    pipe = Pipeline(BATCH, 1, None)
    pipe.set_outputs(*outputs)
    return pipe


def constants_and_arrays():
    pipe = Pipeline(BATCH, 1, None)
    fed = numbers(BATCH)
    pipe.set_outputs(
        fed + types.Constant(np.float32([10, 20])),
        types.Constant(np.arange(6, dtype=np.int16).reshape(2, 3)),
        types.Constant(2.5, shape=[2], dtype=types.FLOAT),
        np.int32([1, 2, 3]),
    )
    return pipe


def a_helper_s_nodes():
    def branch(scale):
        return fn.reductions.sum(numbers(BATCH) * scale)

    parts = [branch(float(k)) for k in range(1, 4)]
    print(json.dumps([isinstance(p, DataNode) for p in parts]))
    with Pipeline(BATCH, 1, None) as pipe:
        pipe.set_outputs(fn.stack(*parts))
    return pipe


def one_builder_two_pipelines():
    def build(scale):
        node = numbers(BATCH) * scale
        pipe = Pipeline(BATCH, 1, None)
        pipe.set_outputs(node)
        return pipe

    return [build(2.0), build(3.0)]


def middle(array):
    """A few values, of a picture those in its middle."""
    if array.ndim == 3:
        array = array[4:7, 3:6]
    return array.astype(float).ravel()[::5].tolist()


def show(pipe, steps=2):
    pipe.build()
    for _ in range(steps):
        for batch in pipe.run():
            found = [np.array(batch[i]) for i in range(len(batch))]
            line = {"layout": batch.layout(), "dtype": str(found[0].dtype)}
            line["shapes"] = [list(a.shape) for a in found]
            print(json.dumps(line | {"some": [middle(a) for a in found]}))


def main(data_dir):
    for made in (before_the_pipeline, within_and_without, by_classes):
        pipe = made(data_dir)
        show(pipe)
        print(json.dumps({"made by": made.__name__, "size": pipe.epoch_size("Reader")}))
    show(constants_and_arrays())
    show(a_helper_s_nodes())
    for pipe in one_builder_two_pipelines():
        show(pipe, steps=1)


if __name__ == "__main__":
    main(sys.argv[1])
