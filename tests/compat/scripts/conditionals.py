# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Conditionals of many kinds: conditionals.py FOLDER, which prints a JSON line for each."""

import itertools
import json
import sys

import numpy as np
from nvidia.dali import fn, pipeline_def, types
from nvidia.dali.pipeline import do_not_convert

# All samples of three flags; a picture of numbers belongs to each.
FLAGS = list(itertools.product((False, True), repeat=3))
COUNT = len(FLAGS)


def pictures(_):
    return [np.arange(6, dtype=np.uint8).reshape(2, 3, 1) + 6 * k for k in range(COUNT)]


def fed(values):
    return fn.external_source(source=lambda _: [np.array(v) for v in values], batch=True)


def flags():
    return [fed([row[k] for row in FLAGS]) for k in range(3)]


def picture():
    return fn.external_source(source=pictures, batch=True, layout="HWC")


def number(value):
    return types.Constant(value)


def across(x):
    return fn.flip(x, horizontal=1, vertical=0)


def upside_down(x):
    return fn.flip(x, horizontal=0, vertical=1)


# If, elif, else


def if_and_else():
    a, _, _ = flags()
    x = picture()
    if a:  # noqa: SIM108
        y = across(x)
    else:
        y = upside_down(x)
    return y


def if_alone():
    a, b, _ = flags()
    x = picture()
    if a:
        x = across(x)
    if b:
        x = upside_down(x)
    return x


def elif_chain():
    a, b, c = flags()
    x = picture()
    if a:
        x = fn.crop(x, crop=(1, 2))
        kind = 1
    elif b:
        x = across(x)
        kind = 2
    elif c:
        kind = 3
    else:
        x = fn.crop(x, crop=(1, 3))
        kind = 4
    return x, kind


def nested():
    a, b, c = flags()
    x = picture()
    level = 0
    if a:
        level = 1
        if b:
            level = 2
            x = across(x)
            if c:
                x = upside_down(x)
                level = 3
    else:
        if c:
            x = fn.crop(x, crop=(2, 2))
    return x, level


def several_names():
    a, b, _ = flags()
    x = picture()
    pair = {"first": x, "second": [x, 7]}
    if a:
        first, second = across(x), fn.cast(x, dtype=types.INT32)
        pair = {"first": upside_down(x), "second": [across(x), 8]}
    else:
        second = fn.cast(upside_down(x), dtype=types.INT32)
        first = x
    if b:
        first, pair = pair["first"], {"first": first, "second": pair["second"]}
    return first, second, pair["first"], pair["second"][0], pair["second"][1]


def numbers_decide():
    x = picture()
    whole = fed(np.int32([0, 1, -1, 5, 0, 0, 2, 0]))
    share = fed(np.float32([0, 0.25, -0.5, 0, 1, 0, 0, 2]))
    if whole:
        x = across(x)
    if share:
        x = upside_down(x)
    return x


# Expressions


def words():
    a, b, c = flags()
    return a and b, a or b, not a, (a and b) or not c, not (a or c) and b


def words_decide():
    a, b, c = flags()
    x = picture()
    if a and not b:
        x = across(x)
    if (b or c) and not (a and c):
        x = upside_down(x)
    return x


def lazy():
    a, b, _ = flags()
    x = picture()

    # Only where `a` is true there is a first column to look at.
    def first_is_even(v):
        narrow = fn.crop(v, crop=(1, 1), crop_pos_x=0.0, crop_pos_y=0.0)
        return fn.cast(fn.reductions.sum(fn.cast(narrow, dtype=types.INT32)), dtype=types.BOOL)

    if a and first_is_even(x):
        x = across(x)
    if b or first_is_even(x):
        x = upside_down(x)
    return x


# Functions


def helper(x, flag):
    if flag:
        return across(x)
    return upside_down(x)


class Cropped:
    def __init__(self, size):
        self.size = size

    def __call__(self, x, flag):
        if flag:
            x = self.only(x)
        return x

    def only(self, x):
        return fn.crop(x, crop=(self.size, self.size))


def by_helpers():
    a, b, c = flags()
    x = helper(picture(), a)
    x = Cropped(2)(x, b)
    return helper(x, c)


@do_not_convert
def by_python(x, names):
    for name in names:
        if name == "across":
            x = across(x)
    return x


def with_python():
    a, _, _ = flags()
    x = picture()
    use = len(FLAGS) > 3 and not False
    if use:
        x = upside_down(x)
    if a:
        x = by_python(x, ["across", "nothing"])
    return x


def augmented():
    """A random choice among policies, as automatic augmentation makes it, but not by chance."""
    x = picture()
    policies = [
        lambda y: across(y),
        lambda y: upside_down(y),
        lambda y: fn.brightness_contrast(y, brightness=0.5),
        lambda y: y,
    ]
    for turn in range(2):
        for k, policy in enumerate(policies):
            chosen = fed([(i * (turn + 3)) % len(policies) == k for i in range(COUNT)])
            if chosen:
                x = policy(x)
    return x


def a_reader_goes_on(folder):
    a, _, _ = flags()
    if a:
        _, label = fn.readers.file(file_root=folder, name="Reader")
    else:
        label = fn.copy(np.array([-1], dtype=np.int32))
    return label


# Without rewritten code


def split_and_merge():
    a, b, _ = flags()
    x = picture()
    there, elsewhere = fn._conditional.split(x, predicate=a)
    y = fn._conditional.merge(across(there), elsewhere, predicate=a)
    there, elsewhere = fn._conditional.split(y, predicate=b)
    return fn._conditional.merge(there, upside_down(elsewhere), predicate=b)


# What is refused


def one_sided_name():
    a, _, _ = flags()
    if a:
        only_here = picture()
    return fn.copy(only_here)


def two_types():
    a, _, _ = flags()
    x = picture()
    if a:
        x = fn.cast(x, dtype=types.FLOAT)
    return x


def two_ranks():
    a, _, _ = flags()
    x = picture()
    if a:
        x = fn.reductions.sum(fn.cast(x, dtype=types.UINT8), axes=(0,), dtype=types.UINT8)
    return x


def a_picture_decides():
    x = y = picture()
    if y:
        x = across(x)
    return x


def a_loop():
    a, _, _ = flags()
    while a:
        pass
    return a


GOOD = [
    *(if_and_else, if_alone, elif_chain, nested, several_names, numbers_decide, words),
    *(words_decide, lazy, by_helpers, with_python, augmented, a_reader_goes_on, split_and_merge),
]
REFUSED = [one_sided_name, two_types, two_ranks, a_picture_decides, a_loop]


def made(define, *args, steps=2):
    settings = {"batch_size": COUNT, "num_threads": 2, "device_id": None}
    pipe = pipeline_def(define, **settings, enable_conditionals=define is not split_and_merge)(
        *args
    )
    pipe.build()
    return [[[np.array(x).tolist() for x in batch] for batch in pipe.run()] for _ in range(steps)]


def types_of(define, *args):
    settings = {"batch_size": COUNT, "num_threads": 1, "device_id": None}
    pipe = pipeline_def(define, **settings, enable_conditionals=define is not split_and_merge)(
        *args
    )
    pipe.build()
    return [str(np.array(batch[0]).dtype) for batch in pipe.run()]


def main(folder):
    for define in GOOD:
        args = [folder] if define is a_reader_goes_on else []
        steps = made(define, *args)
        line = {"of": define.__name__, "dtypes": types_of(define, *args), "samples": steps[0]}
        line["second"] = steps[1] if define is a_reader_goes_on else steps[1] == steps[0]
        print(json.dumps(line))
    for define in REFUSED:
        try:
            made(define)
            print(json.dumps({"of": define.__name__, "refused": False}))
        except Exception:
            print(json.dumps({"of": define.__name__, "refused": True}))


if __name__ == "__main__":
    main(sys.argv[1])
