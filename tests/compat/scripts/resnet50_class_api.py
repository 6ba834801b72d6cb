# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""ResNet-50's training and validation input, with classes: resnet50_class_api.py FOLDER."""

import json
import sys

import nvidia.dali.ops as ops
import nvidia.dali.types as types
from nvidia.dali.pipeline import Pipeline

MEAN = [0.485 * 255, 0.456 * 255, 0.406 * 255]
STD = [0.229 * 255, 0.224 * 255, 0.225 * 255]


class TrainPipe(Pipeline):
    def __init__(self, batch_size, num_threads, device_id, data_dir, crop, shuffle):
        super().__init__(batch_size, num_threads, device_id, seed=12 + (device_id or 0))
        self.input = ops.FileReader(
            file_root=data_dir, shard_id=0, num_shards=1, random_shuffle=shuffle
        )
        self.decode = ops.ImageDecoderRandomCrop(
            device="cpu",
            output_type=types.RGB,
            random_aspect_ratio=[0.8, 1.25],
            random_area=[0.1, 1.0],
            num_attempts=100,
        )
        self.res = ops.Resize(
            device="cpu", resize_x=crop, resize_y=crop, interp_type=types.INTERP_TRIANGULAR
        )
        self.cmnp = ops.CropMirrorNormalize(
            device="cpu",
            dtype=types.FLOAT,
            output_layout=types.NCHW,
            crop=(crop, crop),
            image_type=types.RGB,
            mean=MEAN,
            std=STD,
        )
        self.coin = ops.CoinFlip(probability=0.5)

    def define_graph(self):
        rng = self.coin()
        self.jpegs, self.labels = self.input(name="Reader")
        images = self.decode(self.jpegs)
        images = self.res(images)
        output = self.cmnp(images, mirror=rng)
        return [output, self.labels]


class ValPipe(Pipeline):
    def __init__(self, batch_size, num_threads, device_id, data_dir, crop, size):
        super().__init__(batch_size, num_threads, device_id, seed=12)
        self.input = ops.FileReader(file_root=data_dir, random_shuffle=False)
        self.decode = ops.ImageDecoder(device="cpu", output_type=types.RGB)
        self.res = ops.Resize(
            device="cpu", resize_shorter=size, interp_type=types.INTERP_TRIANGULAR
        )
        self.cmnp = ops.CropMirrorNormalize(
            device="cpu",
            output_dtype=types.FLOAT16,
            output_layout=types.NHWC,
            crop=(crop, crop),
            mean=MEAN,
            std=STD,
            pad_output=True,
        )

    def define_graph(self):
        self.jpegs, self.labels = self.input(name="Reader")
        resized = self.res(self.decode(self.jpegs))
        return self.cmnp(resized), resized, self.labels


def about(output):
    dtype = str(output.as_array().dtype) if output.is_dense_tensor() else None
    return {"shape": [list(s) for s in output.shape()], "dtype": dtype, "layout": output.layout()}


def main(data_dir):
    for pipe in (
        TrainPipe(5, 2, None, data_dir, 32, shuffle=False),
        ValPipe(5, 2, None, data_dir, 24, size=30),
    ):
        pipe.build()
        size = pipe.epoch_size("Reader")
        meta = pipe.reader_meta("Reader")
        print(json.dumps({"epoch_size": size, "padded": meta["epoch_size_padded"]}))
        for _ in range(2 * (-(-size // 5))):
            *images, labels = pipe.run()
            line = {"labels": labels.as_array().ravel().tolist()}
            print(json.dumps({**line, "images": [about(o) for o in images]}))

    # An epoch has every file once, in a drawn order.
    pipe = TrainPipe(1, 2, None, data_dir, 32, shuffle=True)
    pipe.build()
    drawn = []
    for _ in range(pipe.epoch_size("Reader")):
        pipe.schedule_run()
        _, labels = pipe.share_outputs()
        drawn.append(int(labels.at(0)[0]))
        pipe.release_outputs()
    print(json.dumps({"shuffled": sorted(drawn)}))


if __name__ == "__main__":
    main(sys.argv[1])
