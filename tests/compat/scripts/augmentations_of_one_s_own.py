# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Policies of augmentations behind conditions: augmentations_of_one_s_own.py FOLDER."""

import json
import sys

import numpy as np
from nvidia.dali import fn, pipeline_def, types
from nvidia.dali.auto_aug import augmentations, auto_augment, rand_augment, trivial_augment
from nvidia.dali.auto_aug.core import Policy, augmentation


@augmentation(mag_range=(0, 40), randomly_negate=False, mag_to_param=lambda m: np.float32([m, 0]))
def moved(data, offset, fill_value=0, interp_type=None):
    matrix = fn.transforms.translation(offset=offset)
    return fn.warp_affine(data, matrix=matrix, fill_value=fill_value, inverse_map=False)


@augmentation
def inverted(data, _):
    return types.Constant(255, dtype=types.UINT8) - data


def policy():
    strong = augmentations.brightness.augmentation(mag_range=(1.5, 1.5), randomly_negate=False)
    return Policy(
        name="Mine",
        num_magnitude_bins=5,
        sub_policies=[
            [(moved, 1.0, 2), (inverted, 1.0, None)],
            [(inverted, 1.0, 1), (strong, 1.0, 4)],
        ],
    )


@pipeline_def(enable_conditionals=True, batch_size=6, num_threads=2, device_id=None, seed=4)
def training(data_dir, kind):
    encoded, labels = fn.readers.file(file_root=data_dir, name="Reader")
    shape = fn.peek_image_shape(encoded)
    images = fn.resize(fn.decoders.image(encoded), size=[32, 32])
    is_wide = shape[1] > shape[0]
    if kind == "mine":
        changed = auto_augment.apply_auto_augment(policy(), images)
    elif kind == "auto":
        if is_wide:  # noqa: SIM108
            changed = auto_augment.auto_augment(images, shape=shape)
        else:
            changed = images
    elif kind == "rand":
        changed = rand_augment.rand_augment(images, n=2, m=9, monotonic_mag=False)
    else:
        if labels[0] == 0:
            changed = images
        elif not is_wide and labels[0] < 2:
            changed = trivial_augment.trivial_augment_wide(images, num_magnitude_bins=11)
        else:
            changed = fn.zeros_like(images)
    return images, changed, labels, is_wide


def main(data_dir):
    for kind in ("mine", "auto", "rand", "trivial"):
        pipe = training(data_dir, kind)
        pipe.build()
        for _ in range(2):
            images, changed, labels, wide = pipe.run()
            for i in range(6):
                image, other = images.at(i).astype(int), changed.at(i).astype(int)
                line = [kind, list(other.shape), str(changed.at(i).dtype), int(wide.at(i))]
                line.append(labels.at(i).tolist())
                if kind == "mine":
                    inverse = np.array_equal(255 - image, other)
                    bright = np.abs(np.clip((255 - image) * 2.5, 0, 255) - other).max() <= 1
                    shifted = np.array_equal(255 - image[:, :12], other[:, 20:])
                    line.append(bool(inverse or bright or shifted))
                if kind == "trivial" and labels.at(i)[0] == 0:
                    line.append(bool(np.array_equal(image, other)))
                if kind == "auto" and not wide.at(i):
                    line.append(bool(np.array_equal(image, other)))
                print(json.dumps(line))


if __name__ == "__main__":
    main(sys.argv[1])
