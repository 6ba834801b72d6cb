# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""A validation input: the shorter side becomes 256, the centre of 224 is cropped and normalised."""

from __future__ import annotations

from typing import Any

from show import MEAN, STD, on, show

from stoker import Pipeline, fn, ops, pipeline_def, types


class ValidationPipe(Pipeline):
    """This class uses old spellings, which warn and name the present ones."""

    def __init__(self, folder: str, device: str = "cpu", crop: int = 224, **settings: Any) -> None:
        super().__init__(**settings)
        self.input = ops.FileReader(file_root=folder, pad_last_batch=True)
        self.decode = ops.nvJPEGDecoder(device="cpu", output_type=types.RGB)
        self.resize = ops.Resize(device=device, resize_shorter=crop * 8 // 7)
        self.cmn = ops.CropMirrorNormalize(
            device=device,
            output_dtype=types.FLOAT16,
            output_layout=types.NCHW,
            crop=(crop, crop),
            image_type=types.RGB,
            mean=MEAN,
            std=STD,
        )
        self.device = device

    def define_graph(self) -> Any:
        jpegs, labels = self.input(name="Reader")
        return self.cmn(self.resize(on(self.device, self.decode(jpegs)))), labels


@pipeline_def
def as_function(folder: str, device: str = "cpu", crop: int = 224) -> Any:
    jpegs, labels = fn.readers.file(file_root=folder, pad_last_batch=True, name="Reader")
    images = fn.resize(on(device, fn.decoders.image(jpegs)), resize_shorter=crop * 8 // 7)
    images = fn.crop_mirror_normalize(
        images, crop=(crop, crop), mean=MEAN, std=STD, dtype=types.FLOAT16
    )
    return images, labels


if __name__ == "__main__":
    show(ValidationPipe, as_function)
