# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""tf.data: decodes the window, resizes with antialiasing, flips, normalises, CHW."""

from __future__ import annotations

import tensorflow as tf
from _peer import BATCH, MEAN, SIZE, STD, Step, serve

SCALE = [1 / s for s in STD]
OFFSET = [-m / s for m, s in zip(MEAN, STD, strict=True)]


def load(path: tf.Tensor) -> tf.Tensor:
    jpeg = tf.io.read_file(path)
    begin, size, _ = tf.image.sample_distorted_bounding_box(
        tf.io.extract_jpeg_shape(jpeg),
        bounding_boxes=tf.zeros([1, 0, 4]),
        min_object_covered=0.0,
        area_range=(0.08, 1.0),
        aspect_ratio_range=(3 / 4, 4 / 3),
        max_attempts=10,
        use_image_if_no_bounding_boxes=True,
    )
    window = tf.stack([begin[0], begin[1], size[0], size[1]])
    image = tf.io.decode_and_crop_jpeg(jpeg, window, channels=3)
    image = tf.image.resize(image, (SIZE, SIZE), antialias=True)
    image = tf.image.random_flip_left_right(image)
    return tf.transpose(image * SCALE + OFFSET, (2, 0, 1))


def make(files: list[str], threads: int, _: str) -> Step:
    tf.config.threading.set_intra_op_parallelism_threads(threads)
    tf.config.threading.set_inter_op_parallelism_threads(threads)
    options = tf.data.Options()
    options.threading.private_threadpool_size = threads
    options.deterministic = False
    pictures = tf.data.Dataset.from_tensor_slices(files).repeat()
    pictures = pictures.map(load, num_parallel_calls=threads).batch(BATCH).prefetch(2)
    batches = iter(pictures.with_options(options))
    return lambda: next(batches)


serve(make, f"tf.data {tf.__version__}", ahead=4)
