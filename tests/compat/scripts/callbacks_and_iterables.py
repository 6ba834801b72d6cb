# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""External sources of every kind that is called or iterated: callbacks_and_iterables.py FOLDER."""

import json
import os
import sys

import numpy as np
import nvidia.dali.ops as ops
import nvidia.dali.types as types
from nvidia.dali import Pipeline, fn, pipeline_def

BATCH = 3


class Files:
    """An iterable that can be begun again."""

    def __init__(self, data_dir):
        folder = os.path.join(data_dir, "a")
        self.files = [os.path.join(folder, name) for name in sorted(os.listdir(folder))]

    def __iter__(self):
        self.at = 0
        return self

    def __next__(self):
        if self.at >= len(self.files):
            raise StopIteration
        batch = self.files[self.at : self.at + 2]
        self.at += 2
        encoded = [np.fromfile(file, dtype=np.uint8) for file in batch]
        return encoded, np.array([[len(data)] for data in encoded], dtype=np.int64)


def by_sample(info):
    if info.iteration >= 2:
        raise StopIteration
    return np.full(info.idx_in_batch + 1, info.idx_in_epoch, np.int16), np.float32(info.epoch_idx)


def by_batch(info):
    return np.full((BATCH, 2), info.iteration + 10 * info.epoch_idx, np.uint8)


def numbers():
    for k in range(2):
        yield [np.array([k, i], dtype=np.int32) for i in range(BATCH)]


@pipeline_def(batch_size=BATCH, num_threads=2, device_id=None)
def decoded(data_dir):
    encoded, sizes = fn.external_source(Files(data_dir), num_outputs=2, cycle="raise")
    return fn.resize(fn.decoders.image(encoded), size=[8, 8]), sizes


@pipeline_def(batch_size=BATCH, num_threads=2, device_id=None)
def by_infos():
    ids, epochs = fn.external_source(by_sample, num_outputs=2, batch=False, parallel=False)
    batches = fn.external_source(by_batch, batch_info=True, layout="A", dtype=types.UINT8)
    return ids, epochs, batches


@pipeline_def(batch_size=BATCH, num_threads=2, device_id=None)
def endless():
    again = fn.external_source(numbers, cycle="quiet")
    steps = fn.external_source(lambda n: [np.float32(n)] * BATCH, no_copy=True)
    each = fn.external_source(
        [[np.uint8(k)] * BATCH for k in (7, 8)], cycle=True, repeat_last=False
    )
    return again, steps, each


class Fed(Pipeline):
    def __init__(self):
        super().__init__(BATCH, 1, None, prefetch_queue_depth=1)
        self.first = ops.ExternalSource(name="first")
        self.second = ops.ExternalSource()

    def define_graph(self):
        self.wanted = self.second(name="second")
        return self.first(), self.wanted

    def iter_setup(self):
        self.feed_input("first", np.zeros((2, 2), np.float32), layout="X")
        self.feed_input(self.wanted, [np.ones(k, np.uint8) for k in (1, 2)])


def shown(outputs):
    return [[np.array(x).tolist() for x in output] for output in outputs]


def main(data_dir):
    pipe = decoded(data_dir)
    for _ in range(2):
        while True:
            try:
                images, sizes = pipe.run()
            except StopIteration:
                break
            means = images.as_array().mean(axis=(1, 2)).astype(float)
            print(json.dumps([images.shape(), means.tolist(), sizes.as_array().tolist()]))
        pipe.reset()
    for outputs in (pipe.run() for pipe in [endless()] for _ in range(5)):
        print(json.dumps([shown(outputs), [o.dtype.name for o in outputs]]))
    pipe = by_infos()
    for _ in range(2):
        for _ in range(3):
            try:
                outputs = pipe.run()
            except StopIteration:
                print(json.dumps("end"))
                pipe.reset()
                break
            print(json.dumps([shown(outputs), [o.dtype.name for o in outputs]]))
    pipe = Fed()
    pipe.build()
    outputs = pipe.run()
    print(json.dumps([shown(outputs), [o.layout() for o in outputs]]))


if __name__ == "__main__":
    main(sys.argv[1])
