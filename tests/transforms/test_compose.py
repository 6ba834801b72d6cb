# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Compose and its relatives: encoded pictures, samples, foreign callables, loaders and batches."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import jpegs
from stoker import transforms as T  # noqa: N812
from stoker._calls.kept import kept
from stoker.errors import GraphError, SampleError

torch = pytest.importorskip("torch")
theirs = pytest.importorskip("torchvision.transforms.v2")
PIL_Image = pytest.importorskip("PIL.Image")
stoker_torch = pytest.importorskip("stoker.torch")

MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]


def imagenet(of: Any, jitter: float = 0) -> Any:
    """The usual transform of a training, by one of the two packages."""
    return of.Compose(
        [
            of.RandomResizedCrop(32),
            of.RandomHorizontalFlip(),
            *([of.ColorJitter(jitter, jitter)] if jitter else []),
            of.ToImage(),
            of.ToDtype(torch.float32, scale=True),
            of.Normalize(MEAN, STD),
        ]
    )


def write(folder: Path, count: int = 9) -> list[str]:
    paths = []
    for i in range(count):
        path = folder / str(i % 3) / f"{i}.jpg"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(jpegs.encode(jpegs.picture(40 + 5 * i, 60 + 3 * i, i)))
        paths.append(str(path))
    return paths


def opened(path: str) -> Any:
    with PIL_Image.open(path) as picture:
        return picture.convert("RGB")


def close(a: Any, b: Any) -> bool:
    """Within a level of each channel, as normalised."""
    return bool(torch.all((a - b).abs() <= 1.01 / 255 / min(STD)))


def test_files_as_torchvision_transforms_what_pillow_opens(tmp_path: Path) -> None:
    for jitter in (0, 0.3):
        mine, judge = imagenet(T, jitter), imagenet(theirs, jitter)
        for i, path in enumerate(write(tmp_path)):
            torch.manual_seed(i)
            expected = judge(opened(path))
            data = Path(path).read_bytes()
            for value in (path, Path(path), T.lazy(path), data, opened(path)):
                torch.manual_seed(i)
                got = mine(value)
                assert type(got) is type(expected)
                assert got.dtype == torch.float32
                slack = 1 if not jitter else 3  # a level of the crop, times two factors
                assert (got - expected).abs().max() <= slack * 1.01 / 255 / min(STD)


def test_a_file_alone_becomes_a_picture_of_pil(tmp_path: Path) -> None:
    (path,) = write(tmp_path, 1)
    got, expected = T.Resize(20)(T.lazy(path)), theirs.Resize(20)(opened(path))
    assert got.size == expected.size
    assert np.abs(np.asarray(got).astype(int) - np.asarray(expected)).max() <= 1
    assert np.array_equal(np.asarray(T.Identity()(T.lazy(path))), np.asarray(opened(path)))


def test_arrays_stay_arrays() -> None:
    pixels = jpegs.picture(20, 30)
    assert np.array_equal(T.CenterCrop(10)(pixels), pixels[5:15, 10:20])
    assert T.CenterCrop(10)(pixels[:, :, 0]).shape == (10, 10)
    assert T.RandomHorizontalFlip(0.0)(pixels) is pixels


@pytest.mark.parametrize("mode", ["RGB", "L"])
def test_pictures_of_pil_are_read_where_they_lie(mode: str) -> None:
    """Also those of several blocks, and parts and copies of others."""
    for size in ((33, 21), (2500, 2300)):
        picture = PIL_Image.fromarray(jpegs.picture(size[1], size[0])).convert(mode)
        for of in (picture, picture.copy(), picture.crop((3, 2, 30, 20))):
            got = T.Compose([T.RandomHorizontalFlip(1.0), T.PILToTensor()])(of)
            judge = np.asarray(of).reshape(of.height, of.width, -1)[:, ::-1].transpose(2, 0, 1)
            assert np.array_equal(got.numpy(), judge)


def test_a_compose_is_one_graph() -> None:
    t = imagenet(T)
    before = len(kept)
    for i in range(5):
        t(jpegs.picture(40 + i, 50))
    assert len(kept) == min(before + 1, 128)


def test_other_parts_of_a_sample_stay() -> None:
    pixels = torch.from_numpy(jpegs.picture(20, 30)).permute(2, 0, 1)
    other = torch.zeros(3, 4, 4)
    crop = T.Compose([T.CenterCrop(10)])
    picture, label = crop(pixels, 7)
    assert picture.shape == (3, 10, 10)
    assert label == 7
    got = crop({"image": pixels, "more": [other, "text"]})
    assert got["image"].shape == (3, 10, 10)
    assert got["more"][0] is other
    as_pil = T.ToPILImage()(pixels)
    tensor, changed = crop((pixels, as_pil))
    assert tensor is pixels
    assert changed.size == (10, 10)
    with pytest.raises(TypeError, match="may have one picture, got 2"):
        crop((as_pil, as_pil))


def test_targets_are_refused() -> None:
    from torchvision import tv_tensors

    boxes = tv_tensors.BoundingBoxes([[0, 0, 2, 2]], format="XYXY", canvas_size=(9, 9))
    with pytest.raises(TypeError, match="BoundingBoxes is not changed here yet"):
        T.CenterCrop(3)(T.ToPILImage()(np.zeros((9, 9, 3), np.uint8)), boxes)


def test_foreign_callables_stand_between(tmp_path: Path) -> None:
    (path,) = write(tmp_path, 1)
    seen = []

    def look(picture: Any) -> Any:
        seen.append(picture.size)
        return picture

    t = T.Compose([T.Resize(24), look, theirs.RandomRotation(0), T.ToImage(), T.CenterCrop(8)])
    assert t(path).shape == (3, 8, 8)
    assert seen == [(36, 24)]
    with_label = T.Compose([T.Resize(24), lambda image, label: (image, label + 1), T.ToImage()])
    image, label = with_label(opened(path), 3)
    assert image.shape == (3, 24, 36)
    assert label == 4
    doubled = T.Lambda(lambda x: 2 * x, int)
    assert doubled((1, "a", 2)) == (2, "a", 4)


@pytest.mark.parametrize("name", ["RandomApply", "RandomChoice", "RandomOrder"])
def test_containers_draw_as_torchvision(name: str) -> None:
    def make(of: Any) -> Any:
        parts = [of.RandomVerticalFlip(), of.Pad(2), of.RandomHorizontalFlip(), of.CenterCrop(12)]
        return getattr(of, name)(parts)

    mine, judge = make(T), make(theirs)
    pixels = torch.from_numpy(jpegs.picture(20, 30)).permute(2, 0, 1).contiguous()
    for i in range(30):
        torch.manual_seed(i)
        expected = judge(pixels)
        torch.manual_seed(i)
        assert torch.equal(mine(pixels), expected)


def test_what_is_wrong_is_said() -> None:
    pixels = torch.zeros(3, 9, 9)
    for call, text in (
        (lambda: T.Resize("x"), "size expects"),
        (lambda: T.Resize(9, "cubic"), "interpolation expects one of nearest"),
        (lambda: T.RandomHorizontalFlip(2), "p expects a number from 0 to 1, got 2"),
        (lambda: T.Pad(1, padding_mode="edge"), "padding_mode may be 'constant' here"),
        (
            lambda: T.ColorJitter(hue=0.1),
            "ColorJitter.hue=....  is not here yet".replace("  ", " "),
        ),
        (lambda: T.Compose([]), "at least one"),
        (lambda: T.RandomCrop(20)(pixels), "is larger than the picture"),
        (lambda: T.Normalize([0.5], [0.5])(pixels.to(torch.uint8)), "Normalize expects float32"),
        (lambda: T.Normalize([0.5], [0.0]), "std expects a number other than 0"),
        (lambda: T.Resize(4)(pixels.to(torch.float64)), "got float64"),
        (lambda: T.Resize(4)(PIL_Image.new("RGBA", (4, 4))), "got 'RGBA'"),
        (lambda: T.GaussianBlur(4), "kernel_size expects odd numbers"),
    ):
        with pytest.raises((ValueError, TypeError), match=text):
            call()


def test_damaged_files_are_named(tmp_path: Path) -> None:
    bad = tmp_path / "bad.jpg"
    bad.write_bytes(jpegs.truncated(jpegs.encode(jpegs.picture(60, 60))))
    with pytest.raises(SampleError, match=r"from '.*bad.jpg' at byte .*test_compose.py"):
        T.Compose([T.Resize(8), T.ToImage()])(T.lazy(bad))


def test_pickled_and_shown() -> None:
    t = imagenet(T)
    again = pickle.loads(pickle.dumps(t))
    pixels = jpegs.picture(40, 40)
    torch.manual_seed(1)
    expected = t(pixels)
    torch.manual_seed(1)
    assert torch.equal(again(pixels), expected)
    assert "RandomHorizontalFlip(p=0.5)" in repr(t)
    t.transforms[0].size = (8, 8)  # what was compiled before is not used any more
    assert t(pixels).shape == (3, 8, 8)


class Folder(torch.utils.data.Dataset[Any]):
    def __init__(self, paths: list[str], transform: Any = None) -> None:
        self.paths = paths
        self.transform = transform

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, i: int) -> Any:
        picture = T.lazy(self.paths[i])
        return (self.transform(picture) if self.transform else picture), i


@pytest.mark.parametrize("workers", [("fork", 2), ("spawn", 2), (None, 0)], ids=str)
def test_in_a_data_loader(tmp_path: Path, workers: tuple[str | None, int]) -> None:
    """The same batches as with torchvision's transforms, also in worker processes."""
    context, count = workers
    paths = write(tmp_path)

    def batches(t: Any, folder: Any) -> list[Any]:
        generator = torch.Generator().manual_seed(3)
        torch.manual_seed(5)
        loader = torch.utils.data.DataLoader(
            folder(paths, t),
            4,
            num_workers=count,
            multiprocessing_context=context,
            generator=generator,
        )
        return list(loader)

    imagenet(T)(paths[0])  # a call that was compiled before the fork works behind it
    got, expected = batches(imagenet(T), Folder), batches(imagenet(theirs), Opened)
    for (mine, numbers), (judge, others) in zip(got, expected, strict=True):
        assert torch.equal(numbers, others)
        assert close(mine, judge)


class Opened(Folder):
    def __getitem__(self, i: int) -> Any:
        return self.transform(opened(self.paths[i])), i


@pytest.mark.parametrize("threads", [1, 3, None])
def test_collate_makes_the_batches_of_one_after_the_other(
    tmp_path: Path, threads: int | None
) -> None:
    paths = write(tmp_path)
    t = T.Compose([T.RandomGrayscale(0.5), imagenet(T)])
    torch.manual_seed(2)
    expected = torch.stack([t(p) for p in paths])
    collate = pickle.loads(pickle.dumps(stoker_torch.collate(t, threads)))
    torch.manual_seed(2)
    images, labels = collate([(T.lazy(p), i) for i, p in enumerate(paths)])
    assert torch.equal(images, expected)
    assert labels.tolist() == list(range(len(paths)))
    torch.manual_seed(2)
    assert torch.equal(collate([Path(p).read_bytes() for p in paths]), expected)
    loader = torch.utils.data.DataLoader(Folder(paths), 4, collate_fn=stoker_torch.collate(t))
    assert [len(x) for x, _ in loader] == [4, 4, 1]


def test_collate_says_what_is_wrong(tmp_path: Path) -> None:
    paths = write(tmp_path)
    with pytest.raises(TypeError, match="a batch needs tensors"):
        stoker_torch.collate(T.Resize(8))(paths)
    with pytest.raises(ValueError, match="different shapes"):
        stoker_torch.collate(T.ToImage())(paths)
    with pytest.raises(GraphError, match="threads expects at least 1"):
        stoker_torch.collate(T.ToImage(), 0)
    Path(paths[4]).write_bytes(b"nothing")
    with pytest.raises(SampleError, match=r"from '.*4.jpg'|not an image"):
        stoker_torch.collate(imagenet(T))(paths)
    foreign = T.Compose([T.Resize((8, 8)), lambda x: x, T.ToImage()])
    assert stoker_torch.collate(foreign)(paths[:3]).shape == (3, 3, 8, 8)


def test_it_is_told_from_the_matrices_of_that_name() -> None:
    from stoker import fn

    assert "``stoker.transforms``" in str(fn.transforms.__doc__)
    assert "``fn.transforms``" in str(T.__doc__)


def test_imports_neither_torch_nor_pillow() -> None:
    code = (
        "import sys, stoker.transforms as T; T.Compose([T.Resize(4), T.ToImage()]);"
        "import numpy; T.CenterCrop(2)(numpy.zeros((4, 4, 3), numpy.uint8));"
        "assert not {'torch', 'torchvision', 'PIL'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
