# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Volumes with labels, as networks for medical pictures get them: segmentation_volumes.py FOLDER.

The folder is not needed: volumes are written as .npy files and read back.
"""

import itertools
import json
import os
import tempfile

import numpy as np
import nvidia.dali.fn as fn
import nvidia.dali.math as math
import nvidia.dali.ops as ops
import nvidia.dali.types as types
from nvidia.dali.pipeline import Pipeline

PATCH = [6, 8, 8]


def write_volumes(folder, count):
    for i in range(count):
        shape = (1, 8 + i % 3, 10 + i % 2, 12)
        grid = np.indices(shape).sum(axis=0).astype(np.float32)
        np.save(os.path.join(folder, f"image_{i}.npy"), np.sin(grid / (3 + i)).astype(np.float32))
        np.save(os.path.join(folder, f"label_{i}.npy"), (grid % (5 + i) < 2).astype(np.uint8))


class GenericPipeline(Pipeline):
    def __init__(self, batch_size, num_threads, device_id, folder):
        super().__init__(batch_size, num_threads, device_id, seed=7)
        images = [os.path.join(folder, f"image_{i}.npy") for i in range(6)]
        labels = [os.path.join(folder, f"label_{i}.npy") for i in range(6)]
        self.input_x = self.get_reader(images)
        self.input_y = self.get_reader(labels)
        self.crop_shape = types.Constant(np.array(PATCH), dtype=types.INT64)
        self.crop_shape_float = types.Constant(np.array(PATCH), dtype=types.FLOAT)
        self.layout = "CDHW"

    def get_reader(self, data):
        return ops.readers.Numpy(
            files=data, device="cpu", shard_id=0, seed=3, num_shards=1, pad_last_batch=True
        )

    def load_data(self):
        return (
            fn.reshape(self.input_x(name="ReaderX"), layout=self.layout),
            fn.reshape(self.input_y(name="ReaderY"), layout=self.layout),
        )


class EvalPipeline(GenericPipeline):
    """Everything is decided, so all values can be compared."""

    def define_graph(self):
        image, label = self.load_data()
        image = fn.crop(image, crop=PATCH, out_of_bounds_policy="pad")
        label = fn.crop(label, crop=PATCH, out_of_bounds_policy="pad")
        blurred = fn.gaussian_blur(image, sigma=0.7)
        zoomed = fn.resize(image, size=[4, 10, 6], interp_type=types.INTERP_CUBIC)
        flipped = fn.flip(label, horizontal=1, vertical=1, depthwise=1)
        low, high = fn.reductions.min(image), fn.reductions.max(image)
        scaled = (image - low) / (high - low)
        gamma = math.pow(math.clamp(scaled, 0.0, 1.0), 0.7) * (high - low) + low
        mean, dev = (
            fn.reductions.mean(image),
            fn.reductions.std_dev(image, fn.reductions.mean(image)),
        )
        clear = fn.cast(label == 0, dtype=types.FLOAT) * image
        return blurred, zoomed, flipped, gamma, mean, dev, clear


class TrainPipeline(GenericPipeline):
    @staticmethod
    def random_augmentation(probability, augmented, original):
        condition = fn.cast(fn.random.coin_flip(probability=probability), dtype=types.BOOL)
        neg_condition = condition ^ True
        return condition * augmented + neg_condition * original

    def slice_fn(self, data, anchor):
        return fn.slice(data, anchor, self.crop_shape, axes=[1, 2, 3], out_of_bounds_policy="pad")

    def crop_fn(self, image, label):
        room = fn.slice(fn.shapes(label), 1, 3, axes=[0])
        start = fn.random.uniform(range=[0.0, 1.0], shape=[3])
        room = fn.cast(room, dtype=types.FLOAT) - self.crop_shape_float
        anchor = fn.cast(math.floor(start * (room + 1.0)), dtype=types.INT64)
        return self.slice_fn(image, anchor), self.slice_fn(label, anchor)

    def noise_fn(self, image):
        noisy = image + fn.random.normal(image, stddev=fn.random.uniform(range=[0.0, 0.33]))
        return self.random_augmentation(0.15, noisy, image)

    def brightness_fn(self, image):
        scale = self.random_augmentation(0.15, fn.random.uniform(range=[0.7, 1.3]), 1.0)
        return image * scale

    def contrast_fn(self, image):
        scale = self.random_augmentation(0.15, fn.random.uniform(range=[0.65, 1.5]), 1.0)
        return math.clamp(image * scale, fn.reductions.min(image), fn.reductions.max(image))

    def flips_fn(self, image, label):
        kwargs = {
            "horizontal": fn.random.coin_flip(probability=0.5),
            "vertical": fn.random.coin_flip(probability=0.5),
            "depthwise": fn.random.coin_flip(probability=0.5),
        }
        return fn.flip(image, **kwargs), fn.flip(label, **kwargs)

    def define_graph(self):
        image, label = self.load_data()
        image, label = self.crop_fn(image, label)
        image, label = self.flips_fn(image, label)
        image = self.contrast_fn(self.brightness_fn(self.noise_fn(image)))
        return image, label


def main():
    with tempfile.TemporaryDirectory() as folder:
        write_volumes(folder, 6)
        pipe = EvalPipeline(2, 2, None, folder)
        pipe.build()
        print(json.dumps({"sizes": pipe.epoch_size()}))
        for _ in range(3):
            outputs = pipe.run()
            for batch in outputs:
                dense = np.array(batch.as_tensor())
                line = {"shape": list(dense.shape), "layout": batch.layout()}
                line |= {"dtype": str(dense.dtype), "mean": float(dense.mean())}
                line["corner"] = dense.reshape(2, -1)[:, ::37].astype(float).tolist()
                print(json.dumps(line))
        pipe = TrainPipeline(3, 2, None, folder)
        pipe.build()
        for _ in range(3):
            image, label = pipe.run()
            patches = np.array(label.as_tensor())
            found = []
            for patch in patches:
                flips = itertools.product((1, -1), repeat=3)
                turned = [patch[0, ::a, ::b, ::c] for a, b, c in flips]
                volumes = [np.load(os.path.join(folder, f"label_{i}.npy"))[0] for i in range(6)]
                found.append(any(is_part(t, v) for t in turned for v in volumes))
            line = {"shapes": [list(s) for s in image.shape()], "found": found}
            line["dtypes"] = [str(np.array(b.as_tensor()).dtype) for b in (image, label)]
            line["layouts"] = [image.layout(), label.layout()]
            print(json.dumps(line))


def is_part(patch, volume):
    views = np.lib.stride_tricks.sliding_window_view(volume, patch.shape)
    return bool((views == patch).all(axis=(3, 4, 5)).any())


if __name__ == "__main__":
    main()
