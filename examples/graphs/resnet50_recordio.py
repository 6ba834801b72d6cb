# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""ResNet-50's training input with a random window, which is drawn after the decoder or by it.

FOLDER holds archives of RecordIO, as MXNet's tools write them: *.rec.
"""

from __future__ import annotations

from typing import Any

from show import MEAN, STD, files_of, on, show

from stoker import Pipeline, fn, ops, pipeline_def, types


class CropAfterPipe(Pipeline):
    """Decodes the picture, then draws a window and resizes it."""

    def __init__(self, folder: str, device: str = "cpu", size: int = 224, **settings: Any) -> None:
        super().__init__(**settings)
        self.input = ops.MXNetReader(path=files_of(folder, "*.rec"), random_shuffle=True)
        self.decode = ops.nvJPEGDecoder(device="cpu", output_type=types.RGB)
        self.crop = ops.RandomResizedCrop(device=device, size=(size, size))
        self.cmn = ops.CropMirrorNormalize(
            device=device, output_layout=types.NCHW, crop=(size, size), mean=MEAN, std=STD
        )
        self.coin = ops.CoinFlip()
        self.device = device

    def define_graph(self) -> Any:
        coin = self.coin()
        jpegs, labels = self.input(name="Reader")
        images = self.crop(on(self.device, self.decode(jpegs)))
        return self.cmn(images, mirror=coin), labels


@pipeline_def
def crop_after(folder: str, device: str = "cpu", size: int = 224) -> Any:
    files = files_of(folder, "*.rec")
    jpegs, labels = fn.readers.mxnet(path=files, random_shuffle=True, name="Reader")
    images = on(device, fn.decoders.image(jpegs))
    images = fn.random_resized_crop(images, size=(size, size))
    mirror = fn.random.coin_flip()
    return fn.crop_mirror_normalize(images, mirror=mirror, mean=MEAN, std=STD), labels


class CropInDecoderPipe(Pipeline):
    """Decodes only the window."""

    def __init__(self, folder: str, device: str = "cpu", size: int = 224, **settings: Any) -> None:
        super().__init__(**settings)
        self.input = ops.MXNetReader(path=files_of(folder, "*.rec"), random_shuffle=True)
        self.decode = ops.nvJPEGDecoderRandomCrop(device="cpu", output_type=types.RGB)
        self.resize = ops.Resize(device=device, resize_x=size, resize_y=size)
        self.cmn = ops.CropMirrorNormalize(
            device=device, output_layout=types.NCHW, crop=(size, size), mean=MEAN, std=STD
        )
        self.coin = ops.CoinFlip(probability=0.5)
        self.device = device

    def define_graph(self) -> Any:
        jpegs, labels = self.input(name="Reader")
        images = self.resize(on(self.device, self.decode(jpegs)))
        return self.cmn(images, mirror=self.coin()), labels


@pipeline_def
def crop_in_decoder(folder: str, device: str = "cpu", size: int = 224) -> Any:
    files = files_of(folder, "*.rec")
    jpegs, labels = fn.readers.mxnet(path=files, random_shuffle=True, name="Reader")
    images = on(device, fn.decoders.image_random_crop(jpegs))
    images = fn.resize(images, size=(size, size))
    mirror = fn.random.coin_flip()
    return fn.crop_mirror_normalize(images, mirror=mirror, mean=MEAN, std=STD), labels


if __name__ == "__main__":
    show(CropAfterPipe, crop_after, CropInDecoderPipe, crop_in_decoder)
