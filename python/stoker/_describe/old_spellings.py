# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Old spellings that scripts still use, and today's spellings for them.

Every call with an old spelling gives one ``DeprecationWarning`` that names today's spelling. Only
the names in ``experimental`` that are else the same give none.
"""

from __future__ import annotations

import functools
import warnings
from typing import Any, NamedTuple

from stoker._messages import user_level

# Functions: fn.<old> is fn.<new>. The old names of classes in `ops` follow from these.
FUNCTIONS = {
    "audio_decoder": "decoders.audio",
    "caffe2_reader": "readers.caffe2",
    "caffe_reader": "readers.caffe",
    "coco_reader": "readers.coco",
    "coin_flip": "random.coin_flip",
    "experimental.audio_resample": "audio_resample",
    "experimental.debayer": "debayer",
    "experimental.decoders.image": "decoders.image",
    "experimental.decoders.image_crop": "decoders.image_crop",
    "experimental.decoders.image_random_crop": "decoders.image_random_crop",
    "experimental.decoders.image_slice": "decoders.image_slice",
    "experimental.decoders.video": "decoders.video",
    "experimental.dilate": "dilate",
    "experimental.equalize": "equalize",
    "experimental.erode": "erode",
    "experimental.filter": "filter",
    "experimental.inflate": "decoders.inflate",
    "experimental.median_blur": "median_blur",
    "experimental.peek_image_shape": "peek_image_shape",
    "experimental.remap": "remap",
    "experimental.tensor_resize": "tensor_resize",
    "experimental.warp_perspective": "warp_perspective",
    "file_reader": "readers.file",
    "image_decoder": "decoders.image",
    "image_decoder_crop": "decoders.image_crop",
    "image_decoder_random_crop": "decoders.image_random_crop",
    "image_decoder_slice": "decoders.image_slice",
    "mxnet_reader": "readers.mxnet",
    "nemo_asr_reader": "readers.nemo_asr",
    "normal_distribution": "random.normal",
    "numpy_reader": "readers.numpy",
    "sequence_reader": "readers.sequence",
    "tfrecord_reader": "readers.tfrecord",
    "transform_translation": "transforms.translation",
    "uniform": "random.uniform",
    "video_reader": "readers.video",
    "video_reader_resize": "readers.video_resize",
}

# Classes that never had a function: ops.<old> -> (operator, default of `device`).
CLASSES = {
    "HostDecoder": ("decoders.image", "cpu"),
    "HostDecoderCrop": ("decoders.image_crop", "cpu"),
    "HostDecoderRandomCrop": ("decoders.image_random_crop", "cpu"),
    "HostDecoderSlice": ("decoders.image_slice", "cpu"),
    "HybridDecode": ("decoders.image", "mixed"),
    "nvJPEGDecoder": ("decoders.image", "mixed"),
    "nvJPEGDecoderCrop": ("decoders.image_crop", "mixed"),
    "nvJPEGDecoderRandomCrop": ("decoders.image_random_crop", "mixed"),
    "nvJPEGDecoderSlice": ("decoders.image_slice", "mixed"),
}


class Old(NamedTuple):
    """An old argument. ``today`` is today's spelling, or "" if the argument has no effect."""

    today: str
    # The other old arguments that must be given with this one.
    needs: tuple[str, ...] = ()


_UNIFORM = "fn.random.uniform(range=[0, 1])"
_RANDOM_CROP = Old(f"crop_pos_x={_UNIFORM}, crop_pos_y={_UNIFORM}")
_RESIZE_SHORTER = "resize_shorter=resize_a"

# Arguments: operator -> old name -> today's spelling.
ARGUMENTS: dict[str, dict[str, Old]] = {
    "crop": {"image_type": Old(""), "output_dtype": Old("dtype"), "random_crop": _RANDOM_CROP},
    "crop_mirror_normalize": {
        "image_type": Old(""),
        "mirror_prob": Old("mirror=fn.random.coin_flip(probability=mirror_prob)"),
        "output_dtype": Old("dtype"),
        "random_crop": _RANDOM_CROP,
    },
    "lookup_table": {"output_dtype": Old("dtype")},
    "readers.coco": {
        "dump_meta_files": Old("save_preprocessed_annotations"),
        "dump_meta_files_path": Old("save_preprocessed_annotations_dir"),
        "masks": Old("polygon_masks, where polygons end at vertices and not at coordinates"),
        "meta_files_path": Old("preprocessed_annotations"),
        "save_img_ids": Old("image_ids"),
    },
    "rotate": {"output_dtype": Old("dtype")},
    "shapes": {"type": Old("dtype")},
    "resize": {
        "image_type": Old(""),
        "random_resize": Old(
            "resize_shorter=fn.random.uniform(range=[resize_a, resize_b])",
            ("resize_a", "resize_b"),
        ),
        "resize_a": Old(_RESIZE_SHORTER),
        "resize_b": Old(_RESIZE_SHORTER, ("resize_a",)),
        "warp_resize": Old("resize_y=resize_a, resize_x=resize_b", ("resize_a", "resize_b")),
    },
    "slice": {"image_type": Old(""), "output_dtype": Old("dtype")},
    "warp_affine": {"output_dtype": Old("dtype")},
}


def announced(made: Any, old: str, today: str) -> Any:
    """The function of an old name, or its class, with the warning in each call.

    An object of the class is called without a warning before: it only holds arguments.
    """
    if isinstance(made, type):
        made.__call__ = announced(made.__call__, old, today)  # type: ignore[method-assign]
        return made

    @functools.wraps(made)
    def call(*inputs: Any, **arguments: Any) -> Any:
        warn(old, today)
        return made(*inputs, **arguments)

    return call


def warn(old: str, today: str) -> None:
    """Gives the ``DeprecationWarning`` for one call, at the user's line."""
    advice = f"is now spelled {today}" if today else "has no effect any more; leave it out"
    warnings.warn(f"{old} {advice}", DeprecationWarning, stacklevel=user_level())
