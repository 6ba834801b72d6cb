# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""A training as users write it: train.py SETTINGS, which are JSON with the keys of ``main``.

It prints the exact loss of every step, and saves a checkpoint once. It may be killed some steps
later. If there is a checkpoint, it begins from that.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import torch
from torchvision.models import resnet18

from stoker import DataNode, fn, pipeline_def, types
from stoker.torch import DataIterator

EPOCHS = 3


@pipeline_def(seed=3)
def pictures(root: str, size: int) -> tuple[DataNode, DataNode]:
    encoded, label = fn.readers.file(file_root=root, random_shuffle=True, name="reader")
    image = fn.decoders.image(encoded, output_type=types.RGB)
    image = fn.random_resized_crop(image, size=[size, size], random_area=[0.4, 1.0])
    image = fn.crop_mirror_normalize(
        image, mirror=fn.random.coin_flip(), mean=[124, 116, 104], std=[58, 57, 57]
    )
    return image, label


def main(
    root: str, batch_size: int, threads: int, checkpoint: str, save_after: int, die_after: int
) -> None:
    torch.use_deterministic_algorithms(True)
    torch.set_num_threads(1)
    torch.manual_seed(5)
    classes = sum(1 for entry in Path(root).iterdir() if entry.is_dir())
    model = resnet18(num_classes=classes)
    optimizer = torch.optim.SGD(model.parameters(), lr=batch_size * 6e-4, momentum=0.9)
    pipe = pictures(root, 32, batch_size=batch_size, num_threads=threads)
    data = DataIterator(pipe, ["image", "label"])
    step = 0
    if checkpoint and Path(checkpoint).exists():
        saved = torch.load(checkpoint, weights_only=True)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        data.load_state_dict(saved["data"])
        step = saved["step"]
    for epoch in range(data.epoch, EPOCHS):
        for batch in data:
            loss = torch.nn.functional.cross_entropy(
                model(batch["image"]), batch["label"].squeeze(1).long()
            )
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            print(step, epoch, loss.item().hex(), flush=True)
            if step == save_after:
                state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
                torch.save({**state, "data": data.state_dict(), "step": step}, checkpoint)
            if step == die_after:
                os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main(**json.loads(sys.argv[1]))
