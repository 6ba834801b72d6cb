# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The transforms of ``torchvision.transforms.v2``, made by Stoker.

    from stoker import transforms as T  # instead of: from torchvision.transforms import v2 as T

They have the names, arguments, defaults and order that torchvision gives them, and draw from
torch's generator as it does. They take pictures of PIL, tensors, arrays, and encoded pictures: the
bytes or the path of a file, or what ``lazy`` gives, the loader for an ``ImageFolder``. ``Compose``
makes one graph of them, decodes only what the crop asks for, and makes the rest in one pass. A
callable of yours, or a transform of torchvision, may stand between them.

``fn.transforms`` is something else: its operators make matrices of affine maps.
"""

from __future__ import annotations

from typing import NoReturn

from stoker.transforms._arguments import InterpolationMode
from stoker.transforms._color import (
    RGB,
    ColorJitter,
    GaussianBlur,
    Grayscale,
    RandomAutocontrast,
    RandomChannelPermutation,
    RandomErasing,
    RandomGrayscale,
    RandomInvert,
    RandomPosterize,
    RandomSolarize,
)
from stoker.transforms._containers import (
    Compose,
    Identity,
    Lambda,
    RandomApply,
    RandomChoice,
    RandomOrder,
)
from stoker.transforms._conversion import (
    ConvertImageDtype,
    Normalize,
    PILToTensor,
    ToDtype,
    ToImage,
    ToPILImage,
    ToPureTensor,
    ToTensor,
)
from stoker.transforms._geometry import (
    CenterCrop,
    Pad,
    RandomCrop,
    RandomHorizontalFlip,
    RandomResize,
    RandomResizedCrop,
    RandomShortestSize,
    RandomVerticalFlip,
    RandomZoomOut,
    Resize,
    ScaleJitter,
)
from stoker.transforms._pictures import Encoded, lazy
from stoker.transforms._table import NOT_HERE
from stoker.transforms._transform import Transform

__all__ = [
    "RGB",
    "CenterCrop",
    "ColorJitter",
    "Compose",
    "ConvertImageDtype",
    "Encoded",
    "GaussianBlur",
    "Grayscale",
    "Identity",
    "InterpolationMode",
    "Lambda",
    "Normalize",
    "PILToTensor",
    "Pad",
    "RandomApply",
    "RandomAutocontrast",
    "RandomChannelPermutation",
    "RandomChoice",
    "RandomCrop",
    "RandomErasing",
    "RandomGrayscale",
    "RandomHorizontalFlip",
    "RandomInvert",
    "RandomOrder",
    "RandomPosterize",
    "RandomResize",
    "RandomResizedCrop",
    "RandomShortestSize",
    "RandomSolarize",
    "RandomVerticalFlip",
    "RandomZoomOut",
    "Resize",
    "ScaleJitter",
    "ToDtype",
    "ToImage",
    "ToPILImage",
    "ToPureTensor",
    "ToTensor",
    "Transform",
    "lazy",
]


def __getattr__(name: str) -> NoReturn:
    why = NOT_HERE.get(name)
    if why is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    raise AttributeError(
        f"stoker.transforms has no {name} yet: {why}. torchvision's may stand beside Stoker's "
        "transforms in a Compose"
    )
