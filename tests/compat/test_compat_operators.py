# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Operators take and refuse what they take and refuse in scripts of the established library.

Each case is one expression of such a script. All are run by one of them, which notes what each
gives, or why it fails.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from compat_scripts import run, written

SCRIPT = """
import json, sys
from collections.abc import Iterable
import numpy as np
from nvidia.dali import fn, math, pipeline_def, types

name = sys.argv[1]
f32, i64, u8 = np.float32, np.int64, np.uint8

def constant(values, layout=""):
    return types.Constant(np.array(values), layout=layout)

def flag(value):
    return types.Constant(np.array(value))

def letters(dtype):
    return np.frombuffer(name.encode(), dtype)

def images(*names):
    read = [fn.readers.file(files=[name + n for n in files])[0] for files in names]
    return [fn.reshape(r, shape=[1, 1, 3], layout="HWC") for r in read]

def source(node):
    return fn.get_property(node, key="source_info")

def picture():
    return constant(np.zeros((4, 6, 3), u8), "HWC")

def frames(values):
    return fn.per_frame(np.array(values, f32))

def made(define):
    @pipeline_def(batch_size=2, num_threads=1, device_id=None)
    def pipe():
        return define()
    p = pipe()
    p.build()
    (batch,) = p.run()
    first = np.array(batch[0])
    values = first.tobytes().decode() if name.encode() in first.tobytes() else first.tolist()
    if isinstance(values, str):
        values = values.replace(name, "")
    return [batch.layout(), str(first.dtype), list(first.shape), values]

@pipeline_def(batch_size=2, num_threads=1, device_id=None, enable_conditionals=True)
def conditional(condition):
    c = condition()
    if c:
        x = flag(f32(1.5))
    else:
        x = flag(np.array([1, 2]))
    return x

@pipeline_def(batch_size=2, num_threads=1, device_id=None, enable_conditionals=True)
def logical(which):
    a, b = flag(3), flag(0)
    if which == "and":
        x = a and b
    elif which == "or":
        x = a or b
    else:
        x = not a
    return x

def drawn(n):
    return max(made(lambda: fn.random.choice(flag(i64(n)), shape=[64]))[3])

def run(pipe):
    pipe.build()
    (batch,) = pipe.run()
    return np.array(batch[0]).tolist()

cases = json.loads(sys.argv[2])
told = {}
for case in cases:
    try:
        result = eval(case)
        told[case] = result
    except Exception as e:
        told[case] = f"{type(e).__name__}: {e}"
print(json.dumps(told))
"""

INF, NAN = float("inf"), float("nan")
RESHAPED = [[[0], [1], [2]]]

# By expression: what it gives. Layout, dtype, shape and values, as made() has them.
TAKEN: dict[str, Any] = {
    # More axes than the input has.
    "made(lambda: fn.reshape(constant([0, 1, 2]), rel_shape=[0.34, 3, -1]))": [
        *("", "int32", [1, 3, 1]),
        RESHAPED,
    ],
    "made(lambda: fn.reshape(constant([[0, 1, 2]]), rel_shape=[1, 1, 1]))": [
        *("", "int32", [1, 3, 1]),
        RESHAPED,
    ],
    "made(lambda: fn.reinterpret(constant([0, 1, 2]), rel_shape=[1, 1, 1, 1]))": [
        *("", "int32", [3, 1, 1, 1]),
        [[[[0]]], [[[1]]], [[[2]]]],
    ],
    # Draws with six axes.
    **{
        f"made(lambda: fn.random.{draw}(shape=[1, 0, 1, 2, 1, 1]))": [
            *("", dtype, [1, 0, 1, 2, 1, 1]),
            [[]],
        ]
        for draw, dtype in (
            ("beta", "float32"),
            ("uniform", "float32"),
            ("normal", "float32"),
            ("coin_flip", "int32"),
        )
    },
    # Sides that no sample takes.
    "run(conditional(lambda: flag(True)))": 1.5,
    "run(conditional(lambda: flag(np.int32(0))))": [1, 2],
    "run(conditional(lambda: fn.random.coin_flip(probability=0.0)))": [1, 2],
    # Choices among more than a word can count.
    "int(2**32 < drawn(2**40) < 2**40)": 1,
    "int(drawn(2**33) < 2**33)": 1,
    "int(drawn(2**62) > 2**55)": 1,
    # Axes of tensors without elements.
    "made(lambda: fn.squeeze(constant(np.zeros((0, 2), f32)), axes=[1]))": [
        *("", "float32", [0]),
        [],
    ],
    "made(lambda: fn.squeeze(constant(np.zeros((3, 0), u8), 'HW'), axis_names='H'))": [
        *("W", "uint8", [0]),
        [],
    ],
    "made(lambda: fn.squeeze(constant(np.zeros((0, 5, 0), u8)), axes=[0, 1]))": [
        *("", "uint8", [0]),
        [],
    ],
    # Boxes without an extent.
    "made(lambda: fn.transforms.crop(from_start=[1.0], from_end=[1.0]))[3]": [[INF, -INF]],
    "made(lambda: fn.transforms.crop(from_start=[1.0], from_end=[1.0], to_end=0.0))[3]": [
        [NAN, NAN]
    ],
    "made(lambda: fn.transforms.crop(to_start=[1.0], to_end=[1.0]))[3]": [[0.0, 1.0]],
    # Sizes below a pixel.
    "made(lambda: fn.resize(picture(), size=[1e-10, 1e-10]))[2]": [1, 1, 3],
    "made(lambda: fn.resize(picture(), resize_x=1e-10, resize_y=2))[2]": [2, 1, 3],
    "made(lambda: fn.resize(picture(), resize_shorter=0.2))[2]": [1, 1, 3],
    # Sizes with channels.
    "made(lambda: fn.multi_paste(picture(), in_ids=[0], output_size=[5, 7, 3]))[2]": [5, 7, 3],
    "made(lambda: fn.multi_paste(picture(), picture(), output_size=[9, 6, 1]))[2]": [9, 6, 3],
    "made(lambda: fn.multi_paste(picture(), in_ids=[1], output_size=np.array([4, 6, 3])))[2]": [
        *(4, 6, 3)
    ],
    # Names of files.
    "made(lambda: fn.io.file.read(letters(np.int8)))[3]": [7, 8, 9],
    "made(lambda: fn.io.file.read(letters(u8)))[3]": [7, 8, 9],
    "made(lambda: fn.io.file.read(fn.constant(idata=list(name.encode()), dtype=types.INT8)))[3]": [
        *(7, 8, 9)
    ],
    # Names of what is pasted.
    "made(lambda: source(fn.multi_paste(*images(['', 'b'], ['c', 'd']))))[3]": ";c",
    "made(lambda: source(fn.multi_paste(*images(['', 'b']), in_ids=[1, 0, 1])))[3]": "b;;b",
    "made(lambda: source(fn.copy(fn.multi_paste(*images(['', 'b']), in_ids=[1]))))[3]": "b",
    "made(lambda: source(fn.multi_paste(*images(['c', 'b']), picture()[:1, :1])))[3]": "c",
    # Layouts.
    "made(lambda: fn.coord_transform(constant(np.ones((1, 1), f32)), M=frames([[1], [2]])))": [
        *("", "float32", [2, 1, 1]),
        [[[1.0]], [[2.0]]],
    ],
    "made(lambda: fn.coord_transform(constant([[1]], 'NC'), M=frames([[1], [2]])))": [
        *("FNC", "float32", [2, 1, 1]),
        [[[1.0]], [[2.0]]],
    ],
    "made(lambda: fn.coord_transform(frames([[[1]], [[3]]]), M=frames([[1], [2]])))": [
        *("F**", "float32", [2, 1, 1]),
        [[[1.0]], [[6.0]]],
    ],
    # Numbers and truth values together.
    "made(lambda: math.max(flag([True, False]), 2))[3]": [2, 2],
    "made(lambda: math.atan2(flag(True), flag(f32(1))))[1]": "float32",
    "made(lambda: math.clamp(flag([True, False]), 0, 5))[3]": [1, 0],
    # More than the established library takes, on purpose: docs/guide/moving-over.md.
    "run(logical('and'))": False,
    "run(logical('or'))": True,
    "run(logical('not'))": False,
    "made(lambda: fn.paste(fn.cast(picture(), dtype=types.INT16), ratio=2.0, fill_value=7))[1:3]": [
        "int16",
        [8, 12, 3],
    ],
}

# By expression: what the error says.
BOOL = "there is no such operation on bool; fn.cast makes numbers of truth values"
REFUSED = {
    **{
        f"made(lambda: math.{f}(flag([True, False])))": f"{f}(bool): {BOOL}"
        for f in ("sqrt", "exp", "log", "abs", "fabs", "floor", "sin", "acos", "tanh", "atanh")
    },
    **{
        f"made(lambda: math.{f}(flag(True), flag(False)))": f"{f}(bool, bool): {BOOL}"
        for f in ("min", "max", "pow", "fpow", "atan2")
    },
    "made(lambda: math.clamp(flag(True), flag(False), flag(True)))": f"clamp(bool, bool, bool): "
    f"{BOOL}",
    "made(lambda: fn.to_decibels(f32([1, 2]), reference=0.0))": "'reference' is 0, expected more",
    "made(lambda: fn.to_decibels(f32([1, 2]), reference=0))": "without it the greatest number of",
    "made(lambda: fn.spectrogram(np.zeros(0, f32)))": "the signal has no values",
    "made(lambda: fn.spectrogram(np.zeros((1, 0), f32), center_windows=False))": "has no values",
    "made(lambda: fn.spectrogram(fn.external_source(lambda: [np.zeros(0, f32)] * 2)))": "no values",
    "made(lambda: fn.squeeze(np.zeros((2, 0, 3), f32), axes=[1]))": "its extent is not 1",
    "made(lambda: fn.external_source(lambda: [np.zeros((2, 3), u8), np.zeros((2, 3, 1), u8)]"
    ", layout='HW'))": "sample 1 that was fed is uint8 HW (2, 3, 1), expected uint8 HW (?, ?)",
    "run(conditional(lambda: fn.external_source(lambda: [np.bool_(1), np.bool_(0)])))": "samples "
    "of both sides meet in a batch and expect the same dtype, number of axes and layout",
}

# Nodes are no iterables.
NODES = {
    "made(lambda: isinstance(flag(1), Iterable) or flag(1))[3]": 1,
    "made(lambda: isinstance(flag(1) + 1, Iterable) or flag(1))[3]": 1,
    "made(lambda: iter(flag(1)))": "is not iterable: a node is one output",
    "made(lambda: [x for x in flag([1, 2]) * 2])": "is not iterable: a node is one output",
    "made(lambda: (lambda a, b: a)(*flag([1, 2])))": "external_source has several outputs with num",
}


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("operators")
    for name in ("x", "xb", "xc", "xd"):
        (folder / name).write_bytes(bytes([7, 8, 9]))
    cases = json.dumps([*TAKEN, *REFUSED, *NODES])
    done = run(written(folder, SCRIPT), folder / "x", cases)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


@pytest.mark.parametrize("case", TAKEN)
def test_taken(case: str, told: dict[str, Any]) -> None:
    assert repr(told[case]) == repr(TAKEN[case])  # in which nan is equal to itself


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, told: dict[str, Any]) -> None:
    assert "Error: " in told[case] and REFUSED[case] in told[case]


@pytest.mark.parametrize("case", NODES)
def test_nodes_are_not_iterable(case: str, told: dict[str, Any]) -> None:
    wanted = NODES[case]
    if isinstance(wanted, str):
        assert told[case].startswith("TypeError: ") and wanted in told[case]
    else:
        assert told[case] == wanted
