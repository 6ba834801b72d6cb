# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: SIM108
"""Sides of a conditional whose types differ from batch to batch: types_by_batch.py FOLDER.

Prints a JSON line for each pipeline: what its batches are, or that one was refused.
"""

import json
import sys

import numpy as np
from nvidia.dali import fn, pipeline_def, types

COUNT, STEPS = 3, 6


def every(number):
    """Whether the number of the batch is a multiple of this one: the same for all samples."""
    return fn.external_source(source=lambda i: [np.array(i % number == 0)] * COUNT)


def picture():
    def batch(i):
        return [np.arange(12, dtype=np.uint8).reshape(2, 2, 3) + 3 * i + k for k in range(COUNT)]

    return fn.external_source(source=batch, layout="HWC")


def floats(x):
    return fn.cast(x, dtype=types.FLOAT) / 2


def two_dtypes():
    x, c = picture(), every(2)
    if c:
        y = x
    else:
        y = floats(x)
    return y, x


def two_ranks():
    x, c = picture(), every(2)
    if c:
        y = x
    else:
        y = fn.reshape(x, shape=[-1])
    return y


def two_layouts():
    x, c = picture(), every(2)
    if c:
        y = x
    else:
        y = fn.reshape(x, layout="CHW")
    return y


def behind(apply):
    def define():
        x, c = picture(), every(2)
        if c:
            y = x
        else:
            y = floats(x)
        return apply(y)

    return define


def three_types():
    x, a, b = picture(), every(2), every(3)
    if a:
        y = x
    elif b:
        y = floats(x)
    else:
        y = fn.cast(x, dtype=types.INT16)
    return fn.flip(y)


def within_a_side():
    x, a, b = picture(), every(2), every(3)
    if a:
        if b:
            y = x
        else:
            y = floats(x)
        y = fn.flip(y)
    else:
        y = fn.cast(x, dtype=types.INT16)
    return y


def returned():
    x, c = picture(), every(2)
    if c:
        return x, floats(x)
    else:
        return floats(x), x


def by_each_sample():
    x = picture()
    c = fn.external_source(source=lambda _: [np.array(k > 0) for k in range(COUNT)])
    if c:
        y = x
    else:
        y = floats(x)
    return y


def one_type_after_all():
    x, c = picture(), every(2)
    if c:
        y = x
    else:
        y = floats(x)
    return fn.cast(y, dtype=types.INT32), fn.crop_mirror_normalize(y, mean=[1.0], std=[2.0])


def function(a):
    return np.array([a.sum()], np.float32)


PIPELINES = {
    **{f.__name__: f for f in (two_dtypes, two_ranks, two_layouts, three_types, within_a_side)},
    **{f.__name__: f for f in (returned, by_each_sample, one_type_after_all)},
    "flip": behind(lambda y: fn.flip(y)),
    "copy": behind(lambda y: (fn.copy(y), y)),
    "slice": behind(lambda y: (y[0], fn.slice(y, 0, 1, axes=[1]))),
    "stack": behind(lambda y: (fn.stack(y, y), fn.cat(y, y, axis=0))),
    "reductions": behind(lambda y: fn.reductions.max(y, axes=[0, 1])),
    "transpose": behind(lambda y: fn.transpose(y, perm=[2, 0, 1])),
    "permute_batch": behind(lambda y: fn.permute_batch(y, indices=[1, 2, 0])),
    "python_function": behind(lambda y: fn.python_function(y, function=function)),
}


def described(batch):
    arrays = [np.array(x) for x in batch]
    return {
        "layout": batch.layout(),
        "dtypes": sorted({str(a.dtype) for a in arrays}),
        "samples": [a.tolist() for a in arrays],
    }


def main(_):
    for name, define in PIPELINES.items():
        pipe = pipeline_def(
            define, batch_size=COUNT, num_threads=2, device_id=None, enable_conditionals=True
        )()
        pipe.build()
        try:
            steps = [[described(batch) for batch in pipe.run()] for _ in range(STEPS)]
        except RuntimeError as e:
            print(f"{name}: {e}", file=sys.stderr)
            steps = "refused"
        print(json.dumps({"of": name, "steps": steps}))


if __name__ == "__main__":
    main(sys.argv[1])
