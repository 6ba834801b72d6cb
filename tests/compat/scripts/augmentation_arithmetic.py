# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Augmentations by arithmetic, transforms and colours: augmentation_arithmetic.py FOLDER."""

import json
import sys

import numpy as np
import nvidia.dali as dali
from nvidia.dali import fn, math, pipeline_def, types


@pipeline_def
def values(data_dir):
    """Everything is decided, so all values can be compared."""
    encoded, labels = fn.readers.file(file_root=data_dir, name="Reader")
    images = fn.crop(fn.decoders.image(encoded), crop=[20, 24])
    scaled = fn.cast(images, dtype=types.FLOAT) / 255
    red, green, blue = (scaled[:, :, c : c + 1] for c in range(3))
    gray = 0.299 * red + 0.587 * green + 0.114 * blue
    contrast = math.clamp((scaled - 0.5) * 1.5 + 0.5, 0.0, 1.0)
    mirrored = images[:, ::-1]
    quadrants = fn.cat(images[:10, :12], images[10:, 12:], axis=0)
    inverted = np.uint8(255) - images
    high = fn.cast(images >> 4, dtype=types.UINT8)
    matrix = fn.transforms.combine(
        fn.transforms.translation(offset=(-12, -10)),
        fn.transforms.rotation(angle=30.0),
        fn.transforms.scale(scale=(1.25, 0.75)),
        fn.transforms.translation(offset=(12, 10)),
    )
    warped = fn.warp_affine(images, matrix, fill_value=42, inverse_map=False)
    corners = fn.coord_transform(np.float32([[0, 0], [24, 20], [12, 10]]), MT=matrix)
    twisted = fn.color_twist(images, hue=25.0, saturation=1.25, brightness=0.9)
    turned = fn.rotate(images, angle=labels * 15.0 + 10.0, fill_value=9, keep_size=True)
    masked = fn.erase(
        images, anchor=[2, 3, 12, 15], shape=[4, 5, 6, 7], axes=(0, 1), fill_value=[1, 2, 3]
    )
    gridded = fn.grid_mask(images, tile=8, ratio=0.4, angle=0.3, shift_x=1.0, shift_y=2.0)
    blurred = fn.gaussian_blur(images, window_size=5)
    edges = fn.laplacian(gray, window_size=3)
    stacked = fn.stack(gray, fn.full_like(gray, 0.25), axis=0)
    space = fn.color_space_conversion(images, image_type=types.RGB, output_type=types.YCbCr)
    wide = fn.expand_dims(fn.hsv(images, saturation=0.3, value=1.1), axes=[0], new_axis_names="F")
    return (
        *(gray, contrast, mirrored, quadrants, inverted, high, warped, corners, twisted),
        *(turned, masked, gridded, blurred, edges, stacked, space, wide),
        scaled[:, :, dali.newaxis],
    )


@pipeline_def(enable_conditionals=True)
def chance(data_dir):
    """Whatever is drawn, a relation holds between the outputs."""
    encoded, _ = fn.readers.file(file_root=data_dir, random_shuffle=True)
    images = fn.resize(fn.decoders.image(encoded), size=[18, 16])
    factor = fn.random.uniform(range=[0.5, 1.5])
    kind = fn.random.uniform(values=[1.0, 2.0, 3.0])
    if kind == 1.0:
        changed = fn.brightness_contrast(images, brightness=factor)
    elif kind == 2.0:
        changed = fn.saturation(images, saturation=factor)
    else:
        changed = images
    noise = fn.noise.salt_and_pepper(images, prob=0.2)
    unlike = fn.cast(noise != images, dtype=types.INT32)
    shift = fn.cast(fn.random.uniform(range=[0, 4], shape=[2]), dtype=types.INT32)
    moved = fn.slice(images, shift, [12, 12], axes=(0, 1), out_of_bounds_policy="error")
    return images, changed, kind, factor, unlike, noise, moved, shift


def arrays(batch):
    return [np.array(batch[i]) for i in range(len(batch))]


def some(array):
    """The mean, and a few values that are not at the border."""
    inner = array[..., 3:-3, 3:-3, :] if array.ndim > 2 else array
    flat = inner.astype(float).ravel()
    return [float(array.mean()), *flat[:: max(1, flat.size // 12)].tolist()]


def main(data_dir):
    settings = {"batch_size": 3, "num_threads": 2, "device_id": None}
    pipe = values(data_dir, **settings)
    pipe.build()
    for _ in range(3):
        for batch in pipe.run():
            found = arrays(batch)
            line = {"layout": batch.layout(), "dtype": str(found[0].dtype)}
            line["shapes"] = [list(a.shape) for a in found]
            print(json.dumps(line | {"some": [some(a) for a in found]}))
    pipe = chance(data_dir, **settings, seed=99)
    pipe.build()
    for _ in range(5):
        outputs = [arrays(batch) for batch in pipe.run()]
        true = []
        for before, after, kind, factor, unlike, noise, moved, shift in zip(*outputs, strict=True):
            if kind == 3.0:
                true.append(bool(np.array_equal(before, after)))
            elif kind == 1.0:
                right = np.clip(before * float(factor), 0, 255)
                true.append(bool(np.abs(right - after).max() < 1))
            else:
                gray = before.astype(float) @ [0.299, 0.587, 0.114]
                right = gray[..., None] + (before - gray[..., None]) * float(factor)
                true.append(bool(np.abs(np.clip(right, 0, 255) - after).max() < 3))
            is_salt = np.isin(noise[unlike.astype(bool)], (0, 255)).all()
            y, x = (int(v) for v in shift)
            is_part = np.array_equal(before[y : y + 12, x : x + 12], moved)
            true += [bool(is_salt), bool(is_part), bool(0 < unlike.mean() < 0.5)]
        print(json.dumps(true))


if __name__ == "__main__":
    main(sys.argv[1])
