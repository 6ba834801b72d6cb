# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Pipelines that are fed and saved, as for inference: inference.py FOLDER, which prints JSON."""

import json
import os
import sys
import tempfile

import numpy as np
import nvidia.dali as dali
import nvidia.dali.fn as fn
import nvidia.dali.types as types

BATCH = 5


@dali.pipeline_def(batch_size=BATCH, num_threads=2, device_id=None, prefetch_queue_depth=1)
def preprocessing():
    encoded = fn.external_source(device="cpu", name="ENCODED", dtype=types.UINT8, ndim=1)
    sizes = fn.external_source(device="cpu", name="SIZES", dtype=types.FLOAT, ndim=1)
    shapes = fn.peek_image_shape(encoded)
    images = fn.decoders.image(encoded, device="cpu")
    small = fn.resize(images, size=sizes, mode="not_larger")
    small = fn.crop(small, crop=(16, 16), out_of_bounds_policy="pad", fill_values=[7, 8, 9])
    tensors = fn.crop_mirror_normalize(
        small, dtype=types.FLOAT16, mean=[128.0], std=[64.0], output_layout="CHW", scale=0.5
    )
    return tensors, shapes


@dali.pipeline_def(batch_size=BATCH, num_threads=1, device_id=None, prefetch_queue_depth=1)
def postprocessing():
    scores = fn.external_source(name="SCORES", batch=False)
    boxes = fn.external_source(name="BOXES")
    shapes = fn.external_source(name="SHAPES")
    heat = fn.reshape(fn.expand_dims(scores, axes=[2]), layout="HWC")
    heat = fn.resize(heat, size=fn.cast(shapes[:2], dtype=types.FLOAT))
    frame = fn.stack(shapes[1], shapes[0], shapes[1], shapes[0])
    scaled = boxes * fn.cast(frame, dtype=types.FLOAT)
    return heat > 0.5, fn.cast(scaled, dtype=types.INT32), fn.reductions.max(scores)


def files_of(data_dir):
    for name in sorted(os.listdir(data_dir)):
        for file in sorted(os.listdir(os.path.join(data_dir, name))):
            with open(os.path.join(data_dir, name, file), "rb") as opened:
                yield np.frombuffer(opened.read(), dtype=np.uint8)


def inner(array):
    """A few values that are not at the border of a picture."""
    part = array[..., 5:-5, 5:-5] if array.ndim == 3 and array.shape[0] == 3 else array
    return part.astype(float).ravel()[::23].tolist()


def about(outputs):
    for batch in outputs:
        found = [np.array(batch[i]) for i in range(len(batch))]
        line = {"layout": batch.layout(), "dtypes": sorted({str(a.dtype) for a in found})}
        line["shapes"] = [list(a.shape) for a in found]
        line["means"] = [float(a.astype(float).mean()) for a in found]
        line["some"] = [inner(a) for a in found]
        print(json.dumps(line))


def main(data_dir):
    files = list(files_of(data_dir))
    pipe = preprocessing()
    pipe.build()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.dali")
        pipe.serialize(filename=path)
        size = os.path.getsize(path)
        saved = dali.pipeline.Pipeline.deserialize(filename=path)
    text = dali.pipeline.Pipeline.deserialize(pipe.serialize())
    print(json.dumps({"saved": size > 100, "batch": [saved.max_batch_size, text.max_batch_size]}))
    for made in (pipe, saved, text):
        made.build()
        for count in (BATCH, 2, 4):
            made.feed_input("ENCODED", files[:count])
            made.feed_input("SIZES", [np.float32([20 - i, 12 + i]) for i in range(count)])
            tensors, shapes = made.run()
            about([tensors, shapes])
    again = preprocessing()
    again.build()
    tensors, shapes = again.run(
        ENCODED=files[-3:], SIZES=np.float32([[25, 34], [26, 22], [25, 30]])
    )
    about([tensors, shapes])

    post = postprocessing()
    post.build()
    for count in (3, 5):
        rng = np.random.default_rng(count)
        post.feed_input("SCORES", [rng.random((4, 5), dtype=np.float32) for _ in range(count)])
        post.feed_input("BOXES", rng.random((count, 4), dtype=np.float32))
        post.feed_input("SHAPES", np.int64([[30 + i, 20 + 2 * i, 3] for i in range(count)]))
        about(post.run())


if __name__ == "__main__":
    main(sys.argv[1])
