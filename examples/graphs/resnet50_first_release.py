# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""ResNet-50's training input in the spellings of the first release, and the same as a function.

FOLDER holds databases of LMDB, as Caffe2's tools write them: *.mdb.
"""

from __future__ import annotations

from typing import Any

from show import files_of, on, show

from stoker import Pipeline, fn, ops, pipeline_def, types


class HybridPipe(Pipeline):
    """This class uses old spellings, which warn and name the present ones."""

    def __init__(self, folder: str, device: str = "cpu", crop: int = 224, **settings: Any) -> None:
        super().__init__(**settings)
        smallest, largest = crop * 8 // 7, crop * 15 // 7  # 256 and 480, if the size is 224
        self.input = ops.Caffe2Reader(path=files_of(folder, "*.mdb"), shard_id=0, num_shards=1)
        self.decode = ops.HybridDecode(device="cpu", output_type=types.RGB)
        self.resize = ops.Resize(
            device=device,
            resize_a=smallest,
            resize_b=largest,
            random_resize=True,
            image_type=types.RGB,
        )
        self.cmn = ops.CropMirrorNormalize(
            device=device,
            output_dtype=types.FLOAT,
            random_crop=True,
            crop=(crop, crop),
            mirror_prob=0.5,
            image_type=types.RGB,
            mean=[128.0, 128.0, 128.0],
            std=[1.0, 1.0, 1.0],
            output_layout=types.NCHW,
        )
        self.device = device

    def define_graph(self) -> Any:
        jpegs, labels = self.input(name="Reader")
        images = on(self.device, self.decode(jpegs))
        return self.cmn(self.resize(images)), labels


@pipeline_def
def as_function(folder: str, device: str = "cpu", crop: int = 224) -> Any:
    jpegs, labels = fn.readers.caffe2(path=files_of(folder, "*.mdb"), name="Reader")
    images = on(device, fn.decoders.image(jpegs, output_type=types.RGB))
    shorter = fn.random.uniform(range=[crop * 8 // 7, crop * 15 // 7])
    images = fn.resize(images, resize_shorter=shorter)
    images = fn.crop_mirror_normalize(
        images,
        crop=(crop, crop),
        crop_pos_x=fn.random.uniform(range=[0, 1]),
        crop_pos_y=fn.random.uniform(range=[0, 1]),
        mirror=fn.random.coin_flip(probability=0.5),
        mean=[128, 128, 128],
        std=[1, 1, 1],
    )
    return images, labels


if __name__ == "__main__":
    show(HybridPipe, as_function)
