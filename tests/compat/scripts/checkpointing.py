# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Goes on after a checkpoint: checkpointing.py FOLDER, which prints JSON lines."""

import json
import os
import sys
import tempfile

import numpy as np
from nvidia.dali import fn, pipeline_def


@pipeline_def(batch_size=4, num_threads=2, device_id=None, seed=7, enable_checkpointing=True)
def training(folder, shuffle):
    encoded, labels = fn.readers.file(file_root=folder, random_shuffle=shuffle, name="Reader")
    images = fn.decoders.image(encoded)
    images = fn.random_resized_crop(images, size=[12, 10])
    return fn.flip(images, horizontal=fn.random.coin_flip()), labels


def step(pipe):
    images, labels = pipe.run()
    return np.array(images.as_array()), labels.as_array().ravel().tolist()


def main(folder):
    for shuffle in (False, True):
        pipe = training(folder, shuffle)
        pipe.build()
        for _ in range(4):
            step(pipe)
        with tempfile.TemporaryDirectory() as place:
            path = os.path.join(place, "checkpoint")
            saved = pipe.checkpoint(path)
            with open(path, "rb") as file:
                is_same = file.read() == saved
        expected = [step(pipe) for _ in range(5)]
        again = training(folder, shuffle, checkpoint=saved)
        again.build()
        got = [step(again) for _ in range(5)]
        line = {
            "file": is_same,
            "restored": [pipe.is_restored_from_checkpoint, again.is_restored_from_checkpoint],
            "pixels": all(np.array_equal(a[0], b[0]) for a, b in zip(expected, got, strict=True)),
            "labels": [a[1] == b[1] for a, b in zip(expected, got, strict=True)],
        }
        if not shuffle:
            line["after"] = [labels for _, labels in got]
        print(json.dumps(line))


if __name__ == "__main__":
    main(sys.argv[1])
