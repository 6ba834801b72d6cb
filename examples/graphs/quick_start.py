# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The shortest useful graph: files become pictures of one size."""

from __future__ import annotations

from typing import Any

from show import on, show

from stoker import Pipeline, fn, ops, pipeline_def, types


class SimplePipeline(Pipeline):
    """This class uses old spellings, which warn and name the present ones."""

    def __init__(self, folder: str, device: str = "cpu", size: int = 224, **settings: Any) -> None:
        super().__init__(**settings)
        self.input = ops.FileReader(file_root=folder)
        self.decode = ops.nvJPEGDecoder(device="cpu", output_type=types.RGB)
        self.resize = ops.Resize(device=device, resize_x=size, resize_y=size)
        self.device = device

    def define_graph(self) -> Any:
        jpegs, labels = self.input()
        return self.resize(on(self.device, self.decode(jpegs))), labels


@pipeline_def
def as_function(folder: str, device: str = "cpu", size: int = 224) -> Any:
    jpegs, labels = fn.readers.file(file_root=folder)
    return fn.resize(on(device, fn.decoders.image(jpegs)), size=(size, size)), labels


if __name__ == "__main__":
    show(SimplePipeline, as_function)
