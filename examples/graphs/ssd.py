# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""A detector's training input: pictures and boxes are pasted, cut and flipped alike.

FOLDER holds images/ and instances.json, their annotations in COCO's format.
"""

from __future__ import annotations

from typing import Any

from show import MEAN, STD, on, show

from stoker import Pipeline, fn, ops, pipeline_def, types

READ: dict[str, Any] = {"ltrb": True, "ratio": True, "random_shuffle": True}
CUT: dict[str, Any] = {
    "bbox_layout": "xyXY",
    "thresholds": [0.1, 0.3, 0.5],
    "scaling": [0.3, 1.0],
    "aspect_ratio": [0.5, 2.0],
    "num_attempts": 30,
}


class SSDPipe(Pipeline):
    """This class uses old spellings, which warn and name the present ones."""

    def __init__(self, folder: str, device: str = "cpu", size: int = 224, **settings: Any) -> None:
        super().__init__(**settings)
        self.input = ops.COCOReader(
            file_root=f"{folder}/images", annotations_file=f"{folder}/instances.json", **READ
        )
        self.decode = ops.HostDecoder(output_type=types.RGB)
        self.ratio = ops.Uniform(range=[1.0, 2.0])
        self.place = ops.Uniform(range=[0.0, 1.0])
        self.paste = ops.Paste(device=device, fill_value=[124, 116, 104])
        self.paste_boxes = ops.BBoxPaste(ltrb=True)
        self.window = ops.RandomBBoxCrop(**CUT)
        self.slice = ops.Slice(device=device)
        self.resize = ops.Resize(device=device, resize_x=size, resize_y=size)
        self.coin = ops.CoinFlip(probability=0.5)
        self.flip = ops.Flip(device=device)
        self.flip_boxes = ops.BbFlip(ltrb=True)
        self.gain = ops.Uniform(range=[0.5, 1.5])
        self.colour = ops.ColorTwist(device=device, image_type=types.RGB)
        self.cmn = ops.CropMirrorNormalize(
            device=device, output_dtype=types.FLOAT, output_layout=types.NCHW, mean=MEAN, std=STD
        )
        self.pad = ops.Pad(axes=[0], fill_value=-1)
        self.device = device

    def define_graph(self) -> Any:
        encoded, boxes, labels = self.input(name="Reader")
        images = on(self.device, self.decode(encoded))
        where = {"ratio": self.ratio(), "paste_x": self.place(), "paste_y": self.place()}
        images, boxes = self.paste(images, **where), self.paste_boxes(boxes, **where)
        begin, extent, boxes, labels = self.window(boxes, labels)
        images = self.resize(self.slice(images, begin, extent))
        turn = {"horizontal": self.coin(), "vertical": self.coin()}
        images, boxes = self.flip(images, **turn), self.flip_boxes(boxes, **turn)
        images = self.colour(images, saturation=self.gain(), contrast=self.gain())
        return self.cmn(images), self.pad(boxes), self.pad(labels)


@pipeline_def
def as_function(folder: str, device: str = "cpu", size: int = 224) -> Any:
    encoded, boxes, labels = fn.readers.coco(
        file_root=f"{folder}/images",
        annotations_file=f"{folder}/instances.json",
        name="Reader",
        **READ,
    )
    images = on(device, fn.decoders.image(encoded))
    where = {
        "ratio": fn.random.uniform(range=[1.0, 2.0]),
        "paste_x": fn.random.uniform(range=[0.0, 1.0]),
        "paste_y": fn.random.uniform(range=[0.0, 1.0]),
    }
    images = fn.paste(images, fill_value=[124, 116, 104], **where)
    boxes = fn.bbox_paste(boxes, ltrb=True, **where)
    begin, extent, boxes, labels = fn.random_bbox_crop(boxes, labels, **CUT)
    images = fn.resize(fn.slice(images, begin, extent), size=(size, size))
    turn = {"horizontal": fn.random.coin_flip(), "vertical": fn.random.coin_flip()}
    images, boxes = fn.flip(images, **turn), fn.bb_flip(boxes, ltrb=True, **turn)
    gains = [fn.random.uniform(range=[0.5, 1.5]) for _ in range(2)]
    images = fn.color_twist(images, saturation=gains[0], contrast=gains[1])
    images = fn.crop_mirror_normalize(images, mean=MEAN, std=STD)
    return images, *(fn.pad(x, axes=[0], fill_value=-1) for x in (boxes, labels))


if __name__ == "__main__":
    show(SSDPipe, as_function)
