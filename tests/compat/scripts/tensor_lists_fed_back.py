# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Tensors and lists of them between pipelines: tensor_lists_fed_back.py FOLDER."""

import json
import sys

import numpy as np
import nvidia.dali as dali
import nvidia.dali.fn as fn
import nvidia.dali.types as types
from nvidia.dali import pipeline_def
from nvidia.dali.backend import TensorCPU, TensorListCPU

BATCH = 4


@pipeline_def(batch_size=BATCH, num_threads=2, device_id=None)
def decoded(data_dir):
    encoded, labels = fn.readers.file(file_root=data_dir)
    return fn.decoders.image(encoded), labels


@pipeline_def(batch_size=BATCH, num_threads=2, device_id=None, prefetch_queue_depth=1)
def cropped():
    images = fn.external_source(name="IMAGES")
    labels = fn.external_source(name="LABELS")
    return fn.crop(images, crop=[20, 18]), labels + 100


@pipeline_def(batch_size=BATCH, num_threads=1, device_id=None)
def from_source(source, batch=True, dtype=None):
    return fn.copy(fn.external_source(source=source, batch=batch, dtype=dtype))


def about(batch):
    dense = batch.is_dense_tensor()
    line = {"length": len(batch), "layout": batch.layout(), "dense": dense}
    line["shape"] = [list(s) for s in batch.shape()]
    line["dtype"] = str(np.array(batch[0]).dtype)
    line["some"] = [np.array(t).astype(float).ravel()[::211].tolist() for t in batch]
    print(json.dumps(line))


def of_arrays():
    table = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    tensor = TensorCPU(table, layout="HWC")
    print(json.dumps([tensor.shape(), tensor.layout(), np.array_equal(np.array(tensor), table)]))
    single = TensorCPU(np.zeros((1, 5, 1), dtype=np.uint8), "HWC")
    single.squeeze()
    print(json.dumps([single.shape(), single.layout()]))
    stacked = TensorListCPU(table, layout="HW")
    print(json.dumps([len(stacked), stacked.layout(), stacked.at(1).tolist()]))
    several = TensorListCPU([TensorCPU(table[i, : i + 1].copy(), "HW") for i in range(2)])
    print(json.dumps([len(several), several.shape(), several.is_dense_tensor()]))
    print(json.dumps([np.array(t).tolist() for t in several]))
    dense = stacked.as_tensor()
    print(json.dumps([dense.shape(), dense.layout(), np.array(dense).tolist()]))


def lists(batches):
    yield from batches


def main(data_dir):
    of_arrays()
    first, second = decoded(data_dir), cropped()
    first.build()
    second.build()
    for _ in range(2):
        images, labels = first.run()
        second.feed_input("IMAGES", images)
        second.feed_input("LABELS", labels)
        for batch in second.run():
            about(batch)
    # As arrays, as tensors, and as a list of them.
    images, labels = first.run()
    second.feed_input("IMAGES", [images[i] for i in range(BATCH)])
    second.feed_input("LABELS", labels.as_tensor())
    for batch in second.run():
        about(batch)
    second.feed_input("IMAGES", [np.array(images[i]) for i in range(BATCH)], layout="HWC")
    second.feed_input("LABELS", labels.as_array())
    for batch in second.run():
        about(batch)

    fed = [
        TensorListCPU(np.arange(BATCH * 6, dtype=np.uint8).reshape(BATCH, 2, 3) + i, layout="HW")
        for i in range(3)
    ]
    pipe = from_source(lists(fed))
    pipe.build()
    for _ in range(2):
        about(pipe.run()[0])
    samples = [TensorCPU(np.full((1 + i, 2), i, dtype=np.float32), "AB") for i in range(BATCH)]
    pipe = from_source(lambda: samples)
    pipe.build()
    about(pipe.run()[0])
    one = [dali.tensors.TensorCPU(np.full(3, k, dtype=np.int64), "X") for k in range(BATCH)]
    pipe = from_source(lambda info: one[info.idx_in_batch], batch=False, dtype=types.INT64)
    pipe.build()
    about(pipe.run()[0])


if __name__ == "__main__":
    main(sys.argv[1])
