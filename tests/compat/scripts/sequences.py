# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Sequences of frames, moved alike and each on its own: sequences.py FOLDER."""

import glob
import json
import os
import shutil
import sys
import tempfile

import numpy as np
from nvidia.dali import fn, pipeline_def, types


def frames(data_dir, folder):
    """Folders of five frames of one size, which are one picture each."""
    files = sorted(glob.glob(os.path.join(data_dir, "*", "*.jpg")))
    for k in range(3):
        os.makedirs(os.path.join(folder, f"clip{k}"))
        for i in range(5):
            shutil.copy(files[2 * k], os.path.join(folder, f"clip{k}", f"{i:05d}.jpg"))


@pipeline_def
def clips(folder):
    video = fn.readers.sequence(file_root=folder, sequence_length=3, step=2, name="Reader")
    small = fn.resize(video, resize_x=20, resize_y=16, interp_type=types.INTERP_LINEAR)
    window = fn.crop(small, crop=(10, 12), crop_pos_x=0.25, crop_pos_y=1.0)
    gain = fn.per_frame(np.array([1.0, 0.5, 2.0], np.float32))
    faded = fn.brightness(small, brightness=gain)
    angles = types.Constant(np.array([0.0, 90.0, 180.0], np.float32))
    turned = fn.rotate(small, angle=fn.per_frame(angles), size=(20, 20), fill_value=7)
    shifts = np.array([[0, 0], [1, 2], [-3, 0.5]], np.float32)
    turns = fn.transforms.rotation(angle=fn.per_frame(angles), center=(10, 8))
    maps = fn.transforms.translation(turns, offset=fn.per_frame(shifts))
    both = fn.transforms.combine(maps, np.array([[2, 0, 1], [0, 1, 0]], np.float32))
    warped = fn.warp_affine(small, matrix=both)
    corners = np.array([[[0, 0], [20, 16]], [[1, 2], [3, 4]], [[5, 6], [7, 8]]], np.float32)
    points = fn.coord_transform(fn.per_frame(corners), MT=both)
    first, last = fn.element_extract(faded, element_map=[0, 2])
    reordered = fn.sequence_rearrange(small, new_order=[2, 0])
    ready = fn.crop_mirror_normalize(
        window, mean=[127.5] * 3, std=[127.5] * 3, output_layout="CFHW", mirror=1
    )
    planes = fn.transpose(small, perm=[3, 0, 1, 2])
    difference = fn.cast(last, dtype=types.FLOAT) - first
    moved = turns, both, warped, points
    return window, faded, turned, *moved, reordered, ready, planes, difference


def main(data_dir):
    with tempfile.TemporaryDirectory() as folder:
        frames(data_dir, folder)
        pipe = clips(folder, batch_size=2, num_threads=2, device_id=None, seed=1)
        pipe.build()
        print(json.dumps(pipe.reader_meta("Reader")["epoch_size"]))
        for _ in range(2):
            for output in pipe.run():
                values = output.as_array().astype(np.float64)
                means = values.reshape(len(output), -1).mean(axis=1)
                print(json.dumps([list(values.shape), output.layout(), means.tolist()]))


if __name__ == "__main__":
    main(sys.argv[1])
