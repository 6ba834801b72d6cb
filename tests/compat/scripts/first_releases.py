# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Spellings of early releases, and a pipeline that is run in parts: first_releases.py FOLDER."""

import json
import sys

import numpy as np
import nvidia.dali.fn as fn
import nvidia.dali.ops as ops
import nvidia.dali.types as types
from nvidia.dali.pipeline import Pipeline


class CommonPipeline(Pipeline):
    def __init__(self, batch_size, num_threads, device_id):
        super().__init__(
            batch_size=batch_size, num_threads=num_threads, device_id=device_id, seed=12
        )
        self.decode = ops.ImageDecoder(device="cpu", output_type=types.RGB)
        self.resize = ops.Resize(
            device="cpu", image_type=types.RGB, interp_type=types.INTERP_LINEAR, resize_shorter=24.0
        )
        self.cmn = ops.CropMirrorNormalize(
            device="cpu",
            output_dtype=types.FLOAT,
            crop=(20, 22),
            image_type=types.RGB,
            mean=[128.0, 128.0, 128.0],
            std=[1.0, 2.0, 4.0],
        )
        self.uniform = ops.Uniform(range=(0.0, 1.0))
        self.coin = ops.CoinFlip(probability=0.5)

    def base_define_graph(self, inputs, labels):
        images = self.resize(self.decode(inputs))
        straight = self.cmn(images, crop_pos_x=0.25, crop_pos_y=1.0)
        chance = self.cmn(
            images, crop_pos_x=self.uniform(), crop_pos_y=self.uniform(), mirror=self.coin()
        )
        return straight, chance, labels


class FileReadPipeline(CommonPipeline):
    def __init__(self, batch_size, num_threads, device_id, data_dir):
        super().__init__(batch_size, num_threads, device_id)
        self.input = ops.FileReader(file_root=data_dir, shard_id=1, num_shards=2)

    def define_graph(self):
        images, labels = self.input(name="Reader")
        return self.base_define_graph(images, labels)


def with_old_functions(data_dir):
    pipe = Pipeline(batch_size=3, num_threads=1, device_id=None, seed=5)
    with pipe:
        encoded, labels = fn.file_reader(file_root=data_dir)
        images = fn.image_decoder_crop(encoded, crop=(24, 26), crop_pos_x=0.0, crop_pos_y=0.5)
        images = fn.crop(images, crop=(20, 20), output_dtype=types.FLOAT, image_type=types.RGB)
        part = fn.slice(
            images,
            np.float32([0.25, 0.5]),
            np.float32([0.5, 0.25]),
            output_dtype=types.FLOAT,
            image_type=types.RGB,
        )
        matrix = fn.transform_translation(offset=(1.0, 2.0))
        moved = fn.coord_transform(np.float32([[3, 4]]), MT=matrix)
        flip, share = fn.coin_flip(probability=1.0), fn.uniform(values=[3.0])
        normal = fn.normal_distribution(mean=2.0, stddev=1e-6, shape=[2])
        pipe.set_outputs(fn.flip(images, horizontal=flip), part, moved, share, normal, labels)
    return pipe


def arrays(batch):
    return [np.array(batch[i]) for i in range(len(batch))]


def about(batch):
    found = arrays(batch)
    line = {"layout": batch.layout(), "dtype": str(found[0].dtype)}
    line["shapes"] = [list(a.shape) for a in found]
    print(json.dumps(line | {"some": [a.astype(float).ravel()[::101].tolist() for a in found]}))


def main(data_dir):
    pipe = FileReadPipeline(3, 2, None, data_dir)
    pipe.build()
    print(json.dumps([pipe.batch_size, pipe.num_threads, pipe.epoch_size("Reader")]))
    for _ in range(2):
        straight, chance, labels = pipe.run()
        about(straight)
        about(labels)
        print(json.dumps([chance.layout(), [list(s) for s in chance.shape()]]))
    # Running in parts: schedule, wait, hand back.
    pipe = with_old_functions(data_dir)
    pipe.build()
    pipe.schedule_run()
    for _ in range(3):
        pipe.schedule_run()
        for batch in pipe.share_outputs():
            about(batch)
        pipe.release_outputs()
    for batch in pipe.outputs():
        about(batch)


if __name__ == "__main__":
    main(sys.argv[1])
