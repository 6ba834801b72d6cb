# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Feeds from the script's own function: external_source_callable.py FOLDER."""

import json
import sys
from pathlib import Path

import numpy as np
import nvidia.dali.fn as fn
import nvidia.dali.types as types
from nvidia.dali import pipeline_def

BATCH = 4


class Files:
    def __init__(self, folder):
        folders = sorted(p for p in Path(folder).iterdir() if p.is_dir())
        self.files = [(f, i) for i, p in enumerate(folders) for f in sorted(p.iterdir())]
        self.full_steps = len(self.files) // BATCH

    def __call__(self, sample_info):
        if sample_info.iteration >= self.full_steps:
            raise StopIteration
        order = np.random.default_rng(seed=sample_info.epoch_idx).permutation(len(self.files))
        path, label = self.files[order[sample_info.idx_in_epoch]]
        return np.fromfile(path, dtype=np.uint8), np.array([label], dtype=np.int32)


@pipeline_def(batch_size=BATCH, num_threads=2, device_id=None, prefetch_queue_depth=1)
def from_callable(folder):
    jpegs, labels = fn.external_source(
        source=Files(folder), num_outputs=2, batch=False, dtype=[types.UINT8, types.INT32]
    )
    images = fn.decoders.image(jpegs, device="cpu")
    return fn.resize(images, resize_x=20, resize_y=16), labels


def batches():
    for i in range(3):
        yield [np.full((2, 3), 10 * i + k, dtype=np.float32) for k in range(BATCH)]


@pipeline_def(batch_size=BATCH, num_threads=1, device_id=None)
def from_generator():
    numbers = fn.external_source(source=batches, cycle="raise")
    return fn.cast(numbers, dtype=types.INT32)


def epochs(pipe, count):
    pipe.build()
    for epoch in range(count):
        steps = 0
        while True:
            try:
                outputs = pipe.run()
            except StopIteration:
                pipe.reset()
                break
            steps += 1
            shapes = [list(s) for s in outputs[0].shape()]
            values = outputs[-1].as_array().reshape(len(outputs[-1]), -1)[:, 0].tolist()
            print(json.dumps({"shape": shapes, "values": values}))
        print(json.dumps({"epoch": epoch, "steps": steps}))


def main(folder):
    epochs(from_callable(folder), 3)
    epochs(from_generator(), 2)


if __name__ == "__main__":
    main(sys.argv[1])
