# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Where operators differ on purpose from those of NVIDIA DALI of the same name.

tools/make_docs.py writes the sentences on the operators' pages. tests/compat/test_peer_operators.py
sees to it that recorded calls differ just there.
"""

from __future__ import annotations

from typing import NamedTuple


class Difference(NamedTuple):
    """A difference: a sentence, and an expression that finds the recorded calls that may differ.

    The expression is searched in the text of a call: the dtypes and shapes of its inputs, their
    layouts, and its arguments.
    """

    text: str
    calls: str


_FILLS = "Fill values are rounded and saturate, while DALI cuts them off and wraps around."
_BORDER = Difference(
    "Where the filter reaches beyond the border, the weights inside are scaled to a sum of 1, as "
    "in Pillow, while DALI repeats the pixels of the border. INTERP_GAUSSIAN leaves what keeps its "
    'size as it is, while DALI adds 2 % of a neighbour. border="clamp" gives both as DALI does, '
    "and is the default in scripts that run on stoker.compat.",
    r"INTERP_(CUBIC|LANCZOS3)|resize_[xyls]|size'",
)
_TABLES = Difference(
    "The weights of INTERP_CUBIC and INTERP_LANCZOS3 are exact, while DALI interpolates in a table "
    "of them. Results of floats differ by up to 0.2 % of the largest value.",
    r"float32\[.*INTERP_(CUBIC|LANCZOS3)",
)
_BGR = Difference("image_type BGR is heeded; DALI computes as for RGB.", "BGR")
_PICKED = Difference(
    "A place that lies exactly between two pixels may be rounded to the other one.", "INTERP_NN"
)
_WEIGHTS = Difference(
    "The weights of resampling are exact, while DALI interpolates in a table of them. Results "
    "differ by up to 0.4 % of the largest value.",
    r"rate'|scale'|out_length'",
)
_GRAY = Difference(
    "GRAY is the luma that a JPEG file stores, while DALI computes it of the colours.", "GRAY"
)
_WHOLE = Difference("32-bit numbers that do not change stay exact.", r"int32.*\{\}")
_MIRROR = Difference(
    "mirror flips W in every layout; DALI flips another axis where channels or frames come first.",
    r"'(CHW|FHWC)'.*'mirror': 1",
)
_SINGLE_VALUES = Difference(
    "With no degree of freedom left (ddof not below the number of values), the result is that of "
    "the division by 0, while DALI gives 0. One given mean stands for all results.",
    r"'ddof': [12]|'axes': \[\]",
)

DIFFERENCES: dict[str, list[Difference]] = {
    "audio_resample": [
        _WEIGHTS,
        Difference(
            "Unsigned samples have their zero at 0, while DALI has it in the middle of the range.",
            r"^\['uint8|'dtype': 'uint8'",
        ),
    ],
    "color_twist": [_BGR],
    "coord_transform": [
        Difference("Whole numbers are computed in double precision.", r"'dtype': 'int32'")
    ],
    "crop_mirror_normalize": [
        Difference(
            "fill_values also fill the channels that pad_output adds if no window reaches outside; "
            "DALI then fills them with 0.",
            r"pad_output': True, 'fill_values",
        )
    ],
    "decoders.audio": [_WEIGHTS],
    "decoders.image_random_crop": [_GRAY],
    "erase": [
        Difference(_FILLS, r"fill_value': \[(1\.5|300)"),
        Difference("Axes may be counted from the end; DALI then erases too much.", r"axes': \[-1"),
    ],
    "grid_mask": [
        Difference(
            "The layout says which axes are masked; DALI always masks the first two of three.",
            r"'CHW'|'HW'",
        )
    ],
    "fast_resize_crop_mirror": [_BORDER, _TABLES, _MIRROR],
    "full": [
        Difference(
            "Without a shape, the shape is that of the value; DALI takes its first number.",
            r"\[2\]'\]",
        )
    ],
    "hue": [_BGR, _WHOLE],
    "noise.salt_and_pepper": [
        Difference("salt_val and pepper_val are rounded, while DALI cuts them off.", "pepper_val")
    ],
    "noise.shot": [
        Difference(
            "factor is 20 by default, as DALI's documentation says too; DALI then uses 12.",
            r"\{\}$",
        )
    ],
    "one_hot": [
        Difference("on_value and off_value are rounded and saturate; DALI wraps.", "on_value")
    ],
    "pad": [Difference(_FILLS, "fill_value")],
    "paste": [Difference(_FILLS, r"300\]")],
    "preemphasis_filter": [
        Difference(
            "A signal of one number is reflected to itself; DALI reads beyond its end.", "reflect"
        )
    ],
    "random.uniform": [
        Difference(
            "With a dtype of whole numbers, numbers are drawn of the given range, rounded and "
            "saturated. DALI first converts the range, which may wrap around.",
            r"int",
        ),
        Difference("A range may be wider than the largest float32.", r"e\+38"),
    ],
    "random_bbox_crop": [
        Difference(
            "With a single aspect_ratio and input_shape, extents stay within scaling; DALI keeps "
            "the largest one in pixels, and its window may be larger than the picture.",
            r"'aspect_ratio': \[1\.5, 1\.5\]",
        ),
        Difference(
            "Where no window reaches the threshold, the first of equally good ones is taken; "
            "DALI's rounding prefers some of them.",
            r"'shape_layout': 'HW', 'thresholds': 0\.1",
        ),
    ],
    "random_crop_generator": [
        Difference("Areas above 2^31 do not overflow.", r"\['int64\[2\]'\] \[''\] \{\}")
    ],
    "random_resized_crop": [_BORDER],
    "reductions.std_dev": [_SINGLE_VALUES],
    "reductions.sum": [
        Difference("A sum beyond the dtype saturates, while DALI wraps around.", "'dtype': 'int16'")
    ],
    "reductions.variance": [_SINGLE_VALUES],
    "resize": [_BORDER, _TABLES],
    "resize_crop_mirror": [
        _BORDER,
        _TABLES,
        _MIRROR,
    ],
    "saturation": [_BGR, _WHOLE],
    "segmentation.select_masks": [
        Difference(
            "A mask may have several polygons, which are all kept; DALI keeps one of them.",
            r"int32",
        )
    ],
    "slice": [
        Difference(
            "A constant fraction counts as the decimal that it is written as: 0.35 of 10 is 3.5.",
            r"float32\[1\]', 'float32\[1\]",
        )
    ],
    "spectrogram": [
        Difference(
            "A signal shorter than a window that is not centred has no window; DALI makes one.",
            "'center_windows': False",
        )
    ],
    "sphere": [
        Difference(_FILLS, r"300\.0"),
        Difference("A single pixel stays as it is; DALI divides by 0.", r"\[1,1,\d\]"),
    ],
    "squeeze": [
        Difference("Axes may be counted from the end; DALI leaves those as they are.", r"\[-")
    ],
    "ssd_random_crop": [
        Difference("A picture without boxes is cut too; DALI leaves it whole.", r"float32\[0,4\]")
    ],
    "to_decibels": [Difference("NaN stays NaN.", r"float32\[3\]'\] \[''\] \{\}")],
    "warp_affine": [_PICKED],
    "water": [
        _PICKED,
        Difference("Sines are computed in double precision.", "float32.*INTERP_LINEAR"),
    ],
    "warp_perspective": [
        _PICKED,
        Difference("Two channels are computed as exactly as three.", r"17,2\]"),
    ],
}
