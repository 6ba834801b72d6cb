# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's iterators over sources of the script: iterators_over_sources.py FOLDER."""

import json
import os
import sys
from random import Random

import numpy as np
import nvidia.dali.fn as fn
import nvidia.dali.ops as ops
import nvidia.dali.types as types
from nvidia.dali.pipeline import Pipeline
from nvidia.dali.plugin.pytorch import (
    DALIClassificationIterator,
    DALIGenericIterator,
    LastBatchPolicy,
)


class ExternalInputIterator:
    """Goes through the files of a shard, and ends an epoch with StopIteration."""

    def __init__(self, data_dir, batch_size, shard, shards):
        self.batch_size = batch_size
        names = sorted(os.listdir(data_dir))
        files = [
            (os.path.join(data_dir, name, file), k)
            for k, name in enumerate(names)
            for file in sorted(os.listdir(os.path.join(data_dir, name)))
        ]
        count = len(files)
        self.files = files[count * shard // shards : count * (shard + 1) // shards]
        self.n = len(self.files)
        Random(5).shuffle(self.files)

    def __iter__(self):
        self.i = 0
        return self

    def __next__(self):
        if self.i >= self.n:
            self.__iter__()
            raise StopIteration
        batch, labels = [], []
        for _ in range(self.batch_size):
            path, label = self.files[self.i % self.n]
            with open(path, "rb") as file:
                batch.append(np.frombuffer(file.read(), dtype=np.uint8))
            labels.append(np.array([label], dtype=np.uint8))
            self.i += 1
        return batch, labels

    def __len__(self):
        return self.n

    next = __next__


def external_source_pipeline(batch_size, source):
    pipe = Pipeline(batch_size, num_threads=2, device_id=None)
    with pipe:
        jpegs, labels = fn.external_source(source=source, num_outputs=2, dtype=types.UINT8)
        images = fn.decoders.image(jpegs, device="cpu")
        images = fn.resize(images, resize_x=16, resize_y=12)
        output = fn.cast(images, dtype=types.INT32)
        pipe.set_outputs(output, labels)
    return pipe


class FedPipeline(Pipeline):
    """As in early releases: the batches are fed by hand."""

    def __init__(self, batch_size, source):
        super().__init__(batch_size, 2, None, seed=12)
        self.source = iter(source)
        self.input = ops.ExternalSource()
        self.input_label = ops.ExternalSource()
        self.decode = ops.decoders.Image(device="cpu", output_type=types.RGB)
        self.res = ops.Resize(device="cpu", resize_x=10, resize_y=8)

    def define_graph(self):
        self.jpegs = self.input()
        self.labels = self.input_label()
        return self.res(self.decode(self.jpegs)), self.labels

    def iter_setup(self):
        images, labels = next(self.source)
        self.feed_input(self.jpegs, images)
        self.feed_input(self.labels, labels)


def batches(count):
    for i in range(count):
        yield [np.full((2,), 10 * i + k, dtype=np.float32) for k in range(2)]


class Numbers:
    """An iterable of arrays that begins anew for each epoch."""

    def __iter__(self):
        return batches(2)


def two_batches():
    yield from batches(2)


def numbers_pipeline(source, cycle):
    pipe = Pipeline(2, 1, None)
    with pipe:
        pipe.set_outputs(fn.external_source(source=source, layout="W", cycle=cycle))
    return pipe


def middle(batch):
    """The values in the middle, as pictures may differ a little at their borders."""
    if batch.dim() == 4:
        batch = batch[:, 3:5, 3:5]
    return batch.reshape(len(batch), -1)


def show(loader, epochs, keys):
    for epoch in range(epochs):
        steps = []
        for data in loader:
            values = [middle(data[0][k]) for k in keys]
            steps.append([[list(data[0][k].shape), str(data[0][k].dtype)] for k in keys])
            print(json.dumps([v[:, :3].float().tolist() for v in values]))
        print(json.dumps({"epoch": epoch, "steps": steps}))


def main(data_dir):
    source = ExternalInputIterator(data_dir, 3, 0, 2)
    pipe = external_source_pipeline(3, source)
    loader = DALIClassificationIterator(
        pipe, last_batch_padded=True, size=len(source), auto_reset=True
    )
    show(loader, 3, ["data", "label"])
    pipe = external_source_pipeline(2, ExternalInputIterator(data_dir, 2, 1, 2))
    loader = DALIGenericIterator(
        [pipe], ["images", "kinds"], last_batch_policy=LastBatchPolicy.PARTIAL, auto_reset=True
    )
    show(loader, 2, ["kinds", "images"])
    pipe = FedPipeline(2, ExternalInputIterator(data_dir, 2, 0, 1))
    loader = DALIGenericIterator([pipe], ["images", "labels"], size=6)
    for _ in range(2):
        show(loader, 1, ["images", "labels"])
        loader.reset()
    for source, cycle in ((Numbers(), "raise"), (two_batches, "raise"), (Numbers(), "quiet")):
        loader = DALIGenericIterator(
            [numbers_pipeline(source, cycle)], ["x"], size=4, auto_reset=True
        )
        show(loader, 3, ["x"])


if __name__ == "__main__":
    main(sys.argv[1])
