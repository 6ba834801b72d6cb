# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""What other libraries call things: a message about a missing name says what is meant.

Names of arguments are in C++, which refuses them: ``unknown_argument`` (``src/op/registry.cc``).
"""

from __future__ import annotations

OTHER_NAMES = {  # of operators
    "adjust_brightness": "brightness",
    "adjust_contrast": "contrast",
    "adjust_hue": "hue",
    "adjust_saturation": "saturation",
    "affine": "warp_affine",
    "center_crop": "crop",
    "color_jitter": "color_twist",
    "concat": "cat",
    "concatenate": "cat",
    "cutout": "erase",
    "cvt_color": "color_space_conversion",
    "decode": "decoders.image",
    "decode_image": "decoders.image",
    "decode_jpeg": "decoders.image",
    "grayscale": "color_space_conversion",
    "hflip": "flip",
    "horizontal_flip": "flip",
    "image_folder": "readers.file",
    "imread": "readers.file",
    "permute": "transpose",
    "perspective": "warp_perspective",
    "random_crop": "crop",
    "random_erasing": "erase",
    "random_flip": "flip",
    "random_horizontal_flip": "flip",
    "read_file": "readers.file",
    "rgb_to_hsv": "color_space_conversion",
    "scale": "resize",
    "solarize": "lookup_table",
    "to_float": "cast",
    "to_tensor": "crop_mirror_normalize",
    "translate": "warp_affine",
    "vertical_flip": "flip",
    "vflip": "flip",
    "warp": "warp_affine",
    "zoom": "resize",
}

# What is said behind the name of the operator, or where there is none.
WAYS = {
    "horizontal_flip": "Chance is given to it: horizontal=fn.random.coin_flip(probability=0.5).",
    "random_crop": "Chance is given to it: crop_pos_x=fn.random.uniform(range=[0.0, 1.0]).",
    "random_horizontal_flip": "Chance is given to it: horizontal=fn.random.coin_flip().",
    "video": "Stoker reads no video; fn.readers.sequence reads frames that are pictures.",
}

OTHER_SETTINGS = {  # of a pipeline
    "num_workers": "num_threads",
    "prefetch_factor": "prefetch_queue_depth",
    "workers": "num_threads",
}

OTHER_CONSTANTS = {  # of types
    "DOUBLE": "FLOAT64",
    "FLOAT32": "FLOAT",
    "HALF": "FLOAT16",
    "INTERP_AREA": "INTERP_TRIANGULAR",
    "INTERP_NEAREST": "INTERP_NN",
}
