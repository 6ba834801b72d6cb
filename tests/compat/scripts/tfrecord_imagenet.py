# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""ResNet-50's input from TFRecord, by classes and by functions: tfrecord_imagenet.py FOLDER.

The files and their indexes are made on the spot, of the pictures in FOLDER.
"""

import json
import sys
import tempfile
from pathlib import Path

import numpy as np
import nvidia.dali.ops as ops
import nvidia.dali.tfrecord as tfrec
from nvidia.dali import fn, pipeline_def, types
from nvidia.dali.pipeline import Pipeline

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "examples"))

import store_writers

FEATURES = {
    "image/encoded": tfrec.FixedLenFeature((), tfrec.string, ""),
    "image/class/label": tfrec.FixedLenFeature([1], tfrec.int64, -1),
    "image/class/text": tfrec.FixedLenFeature([], tfrec.string, ""),
    "image/object/bbox/xmin": tfrec.VarLenFeature(tfrec.float32, 0.0),
    "image/object/bbox/ymin": tfrec.VarLenFeature(tfrec.float32, 0.0),
}


def write_shards(folder, place):
    """Two files and their indexes. Every other picture has boxes."""
    paths, indexes = [], []
    pictures = sorted(folder.glob("*/*.jpg"))
    for shard in range(2):
        records = []
        for i in range(shard, len(pictures), 2):
            kind = pictures[i].parent.name
            boxes = [i / 64 + k / 128 for k in range(i % 4)]
            records.append(
                store_writers.example(
                    {
                        "image/encoded": [pictures[i].read_bytes()],
                        "image/class/label": ["abc".index(kind) + 1],
                        "image/class/text": [kind.encode()],
                        "image/object/bbox/xmin": boxes or [0.0],
                        "image/object/bbox/ymin": boxes or [0.0],
                    }
                )
            )
        data, places = store_writers.tfrecord(records)
        path, index = place / f"train-{shard}", place / f"train-{shard}.idx"
        path.write_bytes(data)
        index.write_text("".join(f"{offset} {size}\n" for offset, size in places))
        paths.append(str(path))
        indexes.append(str(index))
    return paths, indexes


class TFRecordPipeline(Pipeline):
    def __init__(self, paths, indexes, batch_size, num_threads):
        super().__init__(batch_size, num_threads, device_id=None, seed=12)
        self.input = ops.readers.TFRecord(path=paths, index_path=indexes, features=FEATURES)
        self.decode = ops.decoders.Image(device="cpu", output_type=types.RGB)
        self.resize = ops.Resize(device="cpu", resize_shorter=36.0)
        self.cmnp = ops.CropMirrorNormalize(
            device="cpu",
            dtype=types.FLOAT,
            output_layout="CHW",
            crop=(24, 24),
            mean=[0.485 * 255, 0.456 * 255, 0.406 * 255],
            std=[0.229 * 255, 0.224 * 255, 0.225 * 255],
        )
        self.uniform = ops.random.Uniform(range=(0.0, 1.0))

    def define_graph(self):
        inputs = self.input(name="Reader")
        images = self.decode(inputs["image/encoded"])
        images = self.resize(images)
        output = self.cmnp(images, crop_pos_x=self.uniform(), crop_pos_y=self.uniform())
        return (
            output,
            inputs["image/class/label"],
            inputs["image/class/text"],
            inputs["image/object/bbox/xmin"],
        )


@pipeline_def
def by_functions(paths, indexes):
    inputs = fn.readers.tfrecord(
        path=paths, index_path=indexes, features=FEATURES, name="Reader", pad_last_batch=True
    )
    images = fn.decoders.image_random_crop(
        inputs["image/encoded"], device="cpu", output_type=types.RGB
    )
    images = fn.resize(images, device="cpu", resize_x=24, resize_y=24)
    images = fn.crop_mirror_normalize(
        images, dtype=types.FLOAT, output_layout="CHW", mirror=fn.random.coin_flip()
    )
    labels = inputs["image/class/label"] - 1
    return images, labels, inputs["image/class/text"], inputs["image/object/bbox/ymin"]


def show(pipe):
    pipe.build()
    print(json.dumps({"epoch_size": pipe.epoch_size("Reader")}))
    for _ in range(5):
        images, labels, texts, boxes = pipe.run()
        line = {
            "shape": list(images.as_tensor().shape()),
            "dtype": str(np.asarray(images.at(0)).dtype),
            "labels": [np.array(labels.at(i)).tolist() for i in range(4)],
            "texts": [bytes(np.array(texts.at(i))).decode() for i in range(4)],
            "boxes": [np.array(boxes.at(i)).tolist() for i in range(4)],
        }
        print(json.dumps(line))


def main():
    with tempfile.TemporaryDirectory() as place:
        paths, indexes = write_shards(Path(sys.argv[1]), Path(place))
        show(TFRecordPipeline(paths, indexes, batch_size=4, num_threads=2))
        settings = {"batch_size": 4, "num_threads": 2, "device_id": None, "seed": 12}
        show(by_functions(paths, indexes, **settings))


if __name__ == "__main__":
    main()
