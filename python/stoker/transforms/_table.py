# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""What ``torchvision.transforms.v2`` has and Stoker has not yet, with one reason for each."""

from __future__ import annotations

_TARGETS = "boxes, masks and key points are not changed here yet"
_PARTS = "what it is made of is not all here yet"
_WARPS = "warps that agree with torchvision to the pixel are not here yet"
_SEVERAL = "it gives several pictures, or takes batches of tensors"
_NO_SAMPLE = "it asks about samples and changes none; torchvision's serves"

# What is here without some of its arguments.
_CONSTANT = 'here, with padding_mode="constant" alone, and no dict for fill'
_FILTERS = (
    "here; without box and hamming, not for nearest on tensors, and bicubic on tensors only with "
    "antialias"
)
PARTLY = {
    "ColorJitter": "here without hue; a pixel in ten thousand may be a few levels off behind "
    "several factors",
    "GaussianBlur": "here; torchvision refuses pictures smaller than its bell",
    "Pad": _CONSTANT,
    "RandomCrop": _CONSTANT,
    "RandomErasing": 'here without value="random"',
    "RandomPosterize": "here for uint8",
    "RandomResize": _FILTERS,
    "RandomResizedCrop": _FILTERS,
    "RandomShortestSize": _FILTERS,
    "RandomSolarize": "here for uint8",
    "Resize": _FILTERS,
    "RandomZoomOut": "here; no dict for fill",
    "ScaleJitter": _FILTERS,
    "ToDtype": "here for uint8 and float32",
    "ConvertImageDtype": "here for uint8 and float32",
    "ToPILImage": "here for modes L and RGB",
    "Transform": "here as the base class of these, and no nn.Module; one of yours derives from "
    "torchvision's",
}

NOT_HERE = {
    "AugMix": _PARTS,
    "AutoAugment": _PARTS,
    "AutoAugmentPolicy": _PARTS,
    "ClampBoundingBoxes": _TARGETS,
    "ClampKeyPoints": _TARGETS,
    "ConvertBoundingBoxFormat": _TARGETS,
    "CutMix": _SEVERAL,
    "ElasticTransform": _WARPS,
    "FiveCrop": _SEVERAL,
    "GaussianNoise": "its noise would have to come from torch's generator, pixel by pixel",
    "JPEG": "files of torchvision's encoder are not made here",
    "LinearTransformation": "it is a product with a matrix of the user's, which torch computes",
    "MixUp": _SEVERAL,
    "RandAugment": _PARTS,
    "RandomAdjustSharpness": "the filter of its rim is not here yet",
    "RandomAffine": _WARPS,
    "RandomEqualize": "the operator equalises by another formula than Pillow",
    "RandomIoUCrop": _TARGETS,
    "RandomPerspective": _WARPS,
    "RandomPhotometricDistort": "the hue is not changed here yet",
    "RandomRotation": _WARPS,
    "SanitizeBoundingBoxes": _TARGETS,
    "SanitizeKeyPoints": _TARGETS,
    "SetClampingMode": _TARGETS,
    "TenCrop": _SEVERAL,
    "TrivialAugmentWide": _PARTS,
    "UniformTemporalSubsample": "videos are not read here",
    "check_type": _NO_SAMPLE,
    "functional": "functional forms are not here yet",
    "get_bounding_boxes": _NO_SAMPLE,
    "get_keypoints": _NO_SAMPLE,
    "has_all": _NO_SAMPLE,
    "has_any": _NO_SAMPLE,
    "query_chw": _NO_SAMPLE,
    "query_size": _NO_SAMPLE,
}
