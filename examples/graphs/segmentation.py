# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures and their masks, cropped alike, as all inputs of a list get the same draws.

FOLDER holds images/ and masks/ with files of the same names.
"""

from __future__ import annotations

from typing import Any

from show import on, show

from stoker import Pipeline, fn, ops, pipeline_def, types


class SegmentationPipe(Pipeline):
    """This class uses old spellings, which warn and name the present ones."""

    def __init__(self, folder: str, device: str = "cpu", crop: int = 224, **settings: Any) -> None:
        super().__init__(**settings)
        self.images = ops.FileReader(file_root=f"{folder}/images", random_shuffle=True)
        self.masks = ops.FileReader(file_root=f"{folder}/masks", random_shuffle=True)
        self.decode = ops.HostDecoder(output_type=types.RGB)
        self.resize = ops.Resize(
            device=device, resize_a=crop * 8 // 7, resize_b=crop * 2, random_resize=True
        )
        self.crop = ops.Crop(device=device, random_crop=True, crop=(crop, crop))
        self.device = device

    def define_graph(self) -> Any:
        images, _ = self.images(name="Images")
        masks, _ = self.masks(name="Masks")
        both = on(self.device, *self.decode([images, masks]))
        return self.crop(self.resize(both))


@pipeline_def
def as_function(folder: str, device: str = "cpu", crop: int = 224) -> Any:
    images, _ = fn.readers.file(file_root=f"{folder}/images", random_shuffle=True, name="Images")
    masks, _ = fn.readers.file(file_root=f"{folder}/masks", random_shuffle=True, name="Masks")
    both = on(device, *fn.decoders.image([images, masks], output_type=types.RGB))
    both = fn.resize(both, resize_shorter=fn.random.uniform(range=[crop * 8 // 7, crop * 2]))
    return fn.crop(
        both,
        crop=(crop, crop),
        crop_pos_x=fn.random.uniform(range=[0, 1]),
        crop_pos_y=fn.random.uniform(range=[0, 1]),
    )


if __name__ == "__main__":
    show(SegmentationPipe, as_function)
