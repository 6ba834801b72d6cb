# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Samples of several parts, and arguments that change in place, as torchvision takes them."""

from __future__ import annotations

import os
from collections import OrderedDict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import jpegs
from stoker import transforms as T  # noqa: N812
from stoker._calls import process as processes
from stoker._calls.kept import kept
from stoker.errors import SampleError

torch = pytest.importorskip("torch")
theirs = pytest.importorskip("torchvision.transforms.v2")
tv_tensors = pytest.importorskip("torchvision.tv_tensors")
PIL_Image = pytest.importorskip("PIL.Image")
stoker_torch = pytest.importorskip("stoker.torch")


class Named(NamedTuple):
    """A sample with names."""

    picture: Any
    label: Any


def of_pil() -> Any:
    return PIL_Image.fromarray(jpegs.picture(20, 31, 3))


def of_torch() -> Any:
    return torch.from_numpy(np.moveaxis(jpegs.picture(20, 31, 4), 2, 0).copy())


def shapes(sample: Any) -> Any:
    """What the parts are, and how large."""
    if isinstance(sample, dict):
        return type(sample), [(k, shapes(v)) for k, v in sample.items()]
    if isinstance(sample, (list, tuple)):
        return type(sample), [shapes(v) for v in sample]
    is_pil = isinstance(sample, PIL_Image.Image)
    return type(sample), sample.size if is_pil else getattr(sample, "shape", sample)


@pytest.mark.parametrize(
    "sample",
    [
        Named(of_pil(), 1),
        OrderedDict(a=of_pil(), b=3),
        {"a": of_pil(), "b": [1, "name"]},
        (of_torch(), np.zeros((20, 31), np.uint8)),
        (of_pil(), np.arange(4)),
        (of_pil(), b"a name"),
        (of_torch(), b"a name"),
        (of_pil(), of_torch()),
        [of_torch(), of_torch()],
    ],
    ids=lambda s: type(s).__name__,
)
def test_the_same_part_is_transformed_as_there(sample: Any) -> None:
    assert shapes(T.CenterCrop(8)(sample)) == shapes(theirs.CenterCrop(8)(sample))


def test_arrays_and_bytes_are_pictures_where_nothing_else_is() -> None:
    array, _ = T.CenterCrop(8)((jpegs.picture(20, 31, 1), 5))
    assert array.shape == (8, 8, 3)
    encoded, _ = T.CenterCrop(8)((jpegs.encode(jpegs.picture(20, 31, 1), jpegs.KINDS[0]), 5))
    assert encoded.size == (8, 8)


def test_what_changes_in_place_is_seen() -> None:
    both = [of.Normalize([0.0, 0.0, 0.0], [1.0, 1.0, 1.0]) for of in (T, theirs)]
    picture = of_torch().to(torch.float32)
    for normalize in both:
        normalize(picture)
        normalize.mean[0] = 5.0
    assert torch.equal(both[0](picture), both[1](picture))
    compose = T.Compose([T.CenterCrop(8)])
    assert compose(of_pil()).size == (8, 8)
    compose.transforms.insert(0, lambda p: p.resize((9, 9)))
    compose.transforms.append(lambda p: p.resize((4, 4)))
    assert compose(of_pil()).size == (4, 4)


@pytest.mark.parametrize(
    "transform",
    [
        T.Resize(None, max_size=10),
        T.Resize(15, max_size=18),
        T.RandomShortestSize(1, max_size=10),
    ],
    ids=repr,
)
def test_sizes_of_zero_are_refused(transform: Any) -> None:
    with pytest.raises(ValueError, match="height and width must be above 0"):
        transform(PIL_Image.new("RGB", (50, 1)))


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    path = tmp_path / "page.jpg"
    path.write_text("<html>not a picture</html>", encoding="utf-8")
    with pytest.raises(SampleError, match=r"page\.jpg': not an image"):
        T.CenterCrop(4)(os.fspath(path))
    with pytest.raises(ValueError, match="takes 1 or 3 channels, got 4"):
        T.ToPILImage()(torch.zeros(4, 3, 3))
    with pytest.raises(TypeError, match="expects a sequence of callables"):
        T.Compose(t for t in [T.CenterCrop(4)])


def test_a_batch_of_several_graphs_is_an_image_too() -> None:
    collate = stoker_torch.collate(T.Compose([T.ToImage(), T.CenterCrop(8)]))
    pictures, _ = collate([(of_pil(), 0), (of_torch(), 1)])
    assert type(pictures) is tv_tensors.Image
    assert pictures.shape == (2, 3, 8, 8)


def test_a_child_keeps_what_it_drops_of_its_parent() -> None:
    call = T.CenterCrop(8)
    call(of_pil())
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            before = len(processes._of_parents)
            kept._calls.clear()
            code = 0 if len(processes._of_parents) > before else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
