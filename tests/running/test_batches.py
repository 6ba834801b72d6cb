# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""What run() gives: batches and tensors, arrays on their memory, and who owns that."""

from __future__ import annotations

import gc
import pickle
from pathlib import Path

import numpy as np
import pytest

from stoker import Pipeline, errors, fn, types
from trainings import SIZE, in_order, sources, training


def test_bytes_come_as_the_files_hold_them(pictures: Path) -> None:
    pipe = Pipeline(batch_size=SIZE, num_threads=2)
    with pipe:
        pipe.set_outputs(*fn.readers.file(file_root=pictures))
    encoded, labels = pipe.run()
    classes = sorted(p.name for p in pictures.iterdir())
    for i in range(SIZE):
        path = Path(encoded.source_info(i))
        assert np.asarray(encoded[i]).tobytes() == path.read_bytes()
        assert classes[int(np.asarray(labels[i]).item())] == path.parent.name
        assert encoded[i].source_info == str(path)


def test_pictures_are_those_that_pillow_sees(pictures: Path) -> None:
    from PIL import Image

    images, _ = in_order(pictures, batch_size=SIZE).run()
    for i, path in enumerate(sources(images)):
        with Image.open(path) as file:
            expected = np.asarray(file.convert("RGB"), np.int16)
        difference = np.abs(np.asarray(images[i]).astype(np.int16) - expected)
        assert difference.max() <= 1


def test_batch_and_tensor_facts(pictures: Path) -> None:
    images, labels = training(pictures).run()
    assert (len(images), images.dtype, images.layout, images.device) == (4, "uint8", "HWC", "cpu")
    assert images.shape == (4, 16, 16, 3)
    assert images.shape() == [(16, 16, 3)] * 4
    assert images.is_dense
    tensor = images[-1]
    assert (tensor.shape, tensor.dtype, tensor.layout) == ((16, 16, 3), "uint8", "HWC")
    whole = images.as_tensor()
    assert (whole.shape, whole.layout) == ((4, 16, 16, 3), "NHWC")
    assert labels.dtype == types.INT32
    np.testing.assert_array_equal(images.as_cpu().as_array()[3], np.asarray(images.at(3)))
    with pytest.raises(IndexError):
        images[4]


def test_the_shape_of_a_batch_has_none_where_samples_differ() -> None:
    samples = [np.zeros((2, 3, 1)), np.zeros((2, 5, 1)), np.zeros((2, 3, 1))]
    pipe = Pipeline(batch_size=3, num_threads=1)
    with pipe:
        pipe.set_outputs(fn.external_source(source=lambda: samples), fn.random.coin_flip())
    ragged, numbers = pipe.run()
    assert ragged.shape == (3, 2, None, 1)
    assert ragged.shape() == [s.shape for s in samples]
    assert numbers.shape == (3,)
    assert str(ragged.shape) == "(3, 2, None, 1)"
    assert pickle.loads(pickle.dumps(ragged.shape)) == ragged.shape


def test_arrays_share_the_batch_s_memory(pictures: Path) -> None:
    images, _ = training(pictures).run()
    a, b = images.as_array(), np.from_dlpack(images.as_tensor())
    a[2, 3, 4, 1] ^= 0xFF
    assert b[2, 3, 4, 1] == a[2, 3, 4, 1]
    assert np.asarray(images[2])[3, 4, 1] == a[2, 3, 4, 1]
    copy = np.array(images[2])
    copy[3, 4, 1] ^= 0xFF
    assert copy[3, 4, 1] != a[2, 3, 4, 1]
    assert np.asarray(images[2], dtype=np.float32).dtype == np.float32


def test_torch_takes_batches_without_a_copy(pictures: Path) -> None:
    import torch

    images, _ = training(pictures).run()
    tensor = torch.from_dlpack(images.as_tensor())
    assert tuple(tensor.shape) == (4, 16, 16, 3)
    tensor[1] = 7
    assert np.all(images.as_array()[1] == 7)


def test_ragged_batches_say_why_they_are_no_array(pictures: Path) -> None:
    images, _ = in_order(pictures, batch_size=SIZE).run()
    assert not images.is_dense
    with pytest.raises(errors.Error, match=r"differ in shape.*\(\d+, \d+, 3\)"):
        images.as_tensor()
    assert len({np.asarray(images[i]).shape for i in range(SIZE)}) > 1


def test_outputs_belong_to_whoever_holds_them(pictures: Path) -> None:
    pipe = training(pictures, prefetch_queue_depth=1)
    held = [pipe.run()[0].as_array() for _ in range(8)]
    copies = [a.copy() for a in held]
    for a in held:
        a[0] ^= 0xFF
    for _ in range(8):
        pipe.run()
    pipe.close()
    del pipe
    gc.collect()
    for a, c in zip(held, copies, strict=True):
        np.testing.assert_array_equal(a[0], c[0] ^ 0xFF)
        np.testing.assert_array_equal(a[1:], c[1:])
