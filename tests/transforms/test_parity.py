# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Each transform beside torchvision's: the same seed gives the same draws and the same picture.

Pictures of PIL are judged by Pillow, tensors by torch. uint8 is at most one level off.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import jpegs
from helpers import load_tool
from stoker import transforms as ours
from stoker.transforms._table import PARTLY

torch = pytest.importorskip("torch")
theirs = pytest.importorskip("torchvision.transforms.v2")
tv_tensors = pytest.importorskip("torchvision.tv_tensors")
PIL_Image = pytest.importorskip("PIL.Image")

ROOT = Path(__file__).resolve().parents[2]
SIZES = [(120, 160), (161, 99), (77, 77), (31, 200), (5, 7)]
TRIALS = 10
OVERSHOOTING = ("bicubic", "lanczos")
Case = tuple[str, tuple[Any, ...], dict[str, Any]]


def case(name: str, *given: Any, **named: Any) -> Case:
    return name, given, named


CASES = [
    *(case("Resize", 64, mode) for mode in ("bilinear", *OVERSHOOTING)),
    case("Resize", (50, 70)),
    case("Resize", [33], max_size=60),
    case("Resize", None, max_size=90),
    case("Resize", 300, interpolation=theirs.InterpolationMode.BILINEAR),
    case("Resize", (40, 41), antialias=False),
    case("CenterCrop", 40),
    case("CenterCrop", (200, 41)),
    case("RandomCrop", (4, 6)),
    case("RandomCrop", (5, 7), padding=4, fill=9),
    case("RandomCrop", (180, 60), pad_if_needed=True),
    case("RandomResizedCrop", 48),
    case("RandomResizedCrop", (48, 30), ratio=(0.2, 0.3), scale=(0.5, 1)),
    case("RandomResizedCrop", 24, interpolation="bicubic"),
    case("RandomHorizontalFlip"),
    case("RandomHorizontalFlip", 1.0),
    case("RandomVerticalFlip", p=0.7),
    case("Pad", 5),
    case("Pad", (1, 2), 9),
    case("Pad", (1, 2, 3, 4), fill=(1, 2, 3)),
    case("RandomZoomOut"),
    case("RandomZoomOut", fill=7, side_range=(1, 2), p=1.0),
    case("ScaleJitter", (100, 90)),
    case("RandomShortestSize", [40, 60], max_size=70),
    case("RandomShortestSize", 30),
    case("RandomResize", 30, 90),
    case("Grayscale"),
    case("Grayscale", 3),
    case("RandomGrayscale", 0.5),
    case("RGB"),
    case("ColorJitter", 0.4),
    case("ColorJitter", contrast=0.4),
    case("ColorJitter", saturation=(0.2, 1.7)),
    case("ColorJitter", brightness=(0.5, 0.9), contrast=(0.9, 0.9)),
    case("RandomInvert"),
    case("RandomAutocontrast", 0.8),
    case("RandomChannelPermutation"),
    case("RandomErasing", 0.9),
    case("RandomErasing", 1.0, value=(1, 2, 3), scale=(0.3, 0.9)),
    case("RandomSolarize", 128, p=0.8),
    case("RandomPosterize", 3),
    case("GaussianBlur", 3),
    case("GaussianBlur", (3, 5), sigma=1.5),
    case("ToImage"),
    case("PILToTensor"),
    case("ToTensor"),
    case("ToPILImage"),
    case("ToPureTensor"),
    case("ToDtype", torch.float32, scale=True),
    case("ToDtype", torch.float32),
    case("ToDtype", torch.uint8, True),
    case("ToDtype", {tv_tensors.Image: torch.float32, "others": None}, scale=True),
    case("ConvertImageDtype"),
    case("ConvertImageDtype", torch.uint8),
    case("Identity"),
]


def picture(i: int, channels: int = 3) -> np.ndarray[Any, Any]:
    pixels = jpegs.picture(*SIZES[i % len(SIZES)], seed=i)
    return pixels if channels == 3 else pixels[:, :, :1].copy()


def tensor(pixels: np.ndarray[Any, Any]) -> Any:
    return torch.from_numpy(pixels).permute(2, 0, 1).contiguous()


FORMS: dict[str, Callable[[np.ndarray[Any, Any]], Any]] = {
    "pil": lambda a: PIL_Image.fromarray(a if a.shape[2] == 3 else a[:, :, 0]),
    "tensor": tensor,
    "image": lambda a: tv_tensors.Image(tensor(a)),
    "float": lambda a: tensor(a).float() / 255,
}
# What torchvision refuses, or computes by another rule for floats.
LEFT_OUT = {
    ("RandomSolarize", "float"): "its threshold is a share there, and ours is for uint8",
    ("RandomPosterize", "float"): "ours is for uint8",
    ("GaussianBlur", "small"): "torch pads by reflection, which needs a larger picture",
}


def both(of: Case) -> tuple[Any, Any]:
    name, given, named = of
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of ToTensor
        return getattr(ours, name)(*given, **named), getattr(theirs, name)(*given, **named)


def numbers(value: Any) -> np.ndarray[Any, Any]:
    return np.asarray(value).astype(np.float64)


def assert_alike(got: Any, judge: Any, what: str) -> None:
    assert type(got) is type(judge), what
    if not isinstance(judge, torch.Tensor):
        assert got.mode == judge.mode, what
    else:
        assert got.dtype == judge.dtype, what
    a, b = numbers(got), numbers(judge)
    assert a.shape == b.shape, f"{what}: {a.shape} instead of {b.shape}"
    is_float = isinstance(judge, torch.Tensor) and judge.is_floating_point()
    off = np.abs(a - b)
    if any(mode in what for mode in OVERSHOOTING) and not is_float:
        # Each axis is rounded by itself, and weights above 1 make two levels of one.
        assert np.mean(off > 1) < 1e-3, what
        off = off / 2
    assert off.max(initial=0) <= (2e-4 if is_float else 1), what


def with_seed(seed: int, f: Callable[[Any], Any], value: Any) -> tuple[Any, Any]:
    torch.manual_seed(seed)
    return f(value), torch.rand(1).item()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("of", CASES, ids=lambda c: f"{c[0]}-{c[1]}-{c[2]}")
def test_as_torchvision(of: Case, form: str) -> None:
    name = of[0]
    if (name, form) in LEFT_OUT:
        pytest.skip(LEFT_OUT[name, form])
    mine, judge = both(of)
    for i in range(TRIALS):
        pixels = picture(i)
        if min(pixels.shape[:2]) < 30 and name in ("RandomCrop", "GaussianBlur"):
            pixels = picture(0)
        value = FORMS[form](pixels)
        expected, next_of_theirs = with_seed(i, judge, value)
        got, next_of_ours = with_seed(i, mine, value)
        assert_alike(got, expected, f"{of}, {form} {i} of {pixels.shape}")
        assert next_of_ours == next_of_theirs, "the generator stands elsewhere"


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["Resize", "ColorJitter", "Grayscale", "RGB", "ToImage"])
def test_gray_pictures(name: str, form: str) -> None:
    given = {"Resize": (40,), "ColorJitter": (0.3, 0.3, 0.3)}.get(name, ())
    mine, judge = both(case(name, *given))
    value = FORMS[form](picture(1, channels=1))
    assert_alike(with_seed(3, mine, value)[0], with_seed(3, judge, value)[0], name)


def test_jitter_of_all_colours_is_seldom_more_than_a_level_off() -> None:
    """A level between two factors may become several behind them, at a pixel in ten thousand."""
    mine, judge = both(case("ColorJitter", 0.4, 0.4, 0.4))
    for form in FORMS:
        values = [FORMS[form](picture(i)) for i in range(TRIALS)]
        off = [
            np.abs(numbers(with_seed(i, mine, v)[0]) - numbers(with_seed(i, judge, v)[0])).ravel()
            for i, v in enumerate(values)
        ]
        assert np.mean(np.concatenate(off) > 1) < 1e-3, form


def test_windows_are_those_of_torchvision() -> None:
    from stoker.transforms import _draws

    for i in range(300):
        height, width = 20 + 7 * i % 500, 20 + 13 * i % 300
        judge = theirs.RandomResizedCrop(8, (0.3, 1), (0.5, 3))
        expected, after = with_seed(
            i, lambda x, of=judge: of.make_params([x]), torch.empty(3, height, width)
        )
        got, ours_after = with_seed(
            i, lambda _, h=height, w=width: _draws.window(h, w, (0.3, 1), (0.5, 3)), None
        )
        assert got == tuple(expected[k] for k in ("top", "left", "height", "width"))
        assert after == ours_after


@pytest.mark.parametrize("name", sorted({c[0] for c in CASES} | {"Normalize"}))
def test_arguments_are_those_of_torchvision(name: str) -> None:
    """Names, order and defaults."""

    def arguments(of: Any) -> list[tuple[str, Any]]:
        parameters = list(inspect.signature(of).parameters.values())
        return [(p.name, p.default) for p in parameters if p.name != "self"]

    mine, judge = arguments(getattr(ours, name)), arguments(getattr(theirs, name))
    if name == "ConvertImageDtype":  # whose default needs torch
        mine = [("dtype", torch.float32)]
    assert mine == judge


def test_every_name_of_torchvision_is_here_or_says_why_not() -> None:
    names = {n for n in dir(theirs) if not n.startswith("_")}
    for name in names:
        if name in ours.__all__:
            assert name not in ours.NOT_HERE
            continue
        with pytest.raises(AttributeError, match=f"stoker.transforms has no {name} yet: "):
            getattr(ours, name)
    assert set(PARTLY) <= set(ours.__all__)
    tool = load_tool(ROOT, "make_transforms_table")
    page = tool.PAGE.read_text(encoding="utf-8")
    assert tool.page_with_table(page) == page, "run tools/make_transforms_table.py"
    assert all(f"| `{name}` |" in page for name in names)
    assert set(ours.NOT_HERE) - names <= {"functional"}
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        ours.Nothing  # noqa: B018
