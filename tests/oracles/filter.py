# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""filter, by sums in double precision; where OpenCV has the border, it must agree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import cv2
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from .common import Array, Tolerance, numbers, refused_layouts, spatial_axes, to_dtype

# A sum next to a half may be rounded either way.
TOLERANCE = Tolerance(levels=1, share=1e-5)

PADS: dict[str, Any] = {
    "clamp": "edge",
    "reflect_1001": "symmetric",
    "reflect_101": "reflect",
    "wrap": "wrap",
    "constant": "constant",
}
ALSO = {"101": "reflect_101", "1001": "reflect_1001", "reflect": "reflect_1001"}
ALSO |= {"reflect101": "reflect_101", "reflect1001": "reflect_1001", "replicate": "clamp"}
ALSO |= {"edge": "clamp", "fill": "constant"}
OF_OPENCV = {
    "constant": cv2.BORDER_CONSTANT,
    "clamp": cv2.BORDER_REPLICATE,
    "reflect_101": cv2.BORDER_REFLECT_101,
    "reflect_1001": cv2.BORDER_REFLECT,
}


def expected(
    inputs: list[Array],
    layout: str,
    anchor: Any = (-1,),
    border: str = "reflect_101",
    mode: str = "same",
    dtype: str | None = None,
) -> Array:
    data, weights = inputs[0], inputs[1].astype(np.float64)
    border = ALSO.get(border, border)
    fill = float(inputs[2].reshape(())) if len(inputs) > 2 else 0.0
    axes = spatial_axes(layout, data)
    shape = np.array(weights.shape)
    place = np.broadcast_to(anchor, len(axes))
    place = np.where(place < 0, shape // 2, place)
    planes = np.moveaxis(data, axes, range(-len(axes), 0)).astype(np.float64)
    if data.size == 0:
        return data.astype(dtype or data.dtype)
    made = []
    for plane in planes.reshape(-1, *planes.shape[-len(axes) :]):
        whole = plane
        if mode == "same":
            pads = list(zip(place, shape - 1 - place, strict=True))
            more = {"constant_values": fill} if border == "constant" else {}
            whole = np.pad(plane, pads, PADS[border], **more)
        windows = sliding_window_view(whole, weights.shape)
        made.append(np.tensordot(windows, weights, len(axes)))
        if len(axes) == 2 and mode == "same" and border in OF_OPENCV and fill == 0:
            flag, at = OF_OPENCV[border], place[::-1].tolist()
            theirs = cv2.filter2D(plane, cv2.CV_64F, weights, anchor=at, borderType=flag)
            np.testing.assert_allclose(made[-1], theirs, atol=1e-6 * np.abs(theirs).max())
    result = np.stack(made).reshape(*planes.shape[: -len(axes)], *made[0].shape)
    return to_dtype(np.moveaxis(result, range(-len(axes), 0), axes), dtype or str(data.dtype))


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], Any, dict[str, Any]]]:
    image = numbers(rng, (13, 47, 3), "uint8")
    no_layouts = ["HWC", ""]

    def weights(*shape: int) -> Array:
        return (rng.integers(-9, 10, shape) / 16).astype(np.float32)

    for shape in ((3, 3), (1, 1), (2, 4), (5, 1), (1, 6), (9, 7), (20, 3)):
        given = weights(*shape)
        for border in PADS:
            yield [image, given], no_layouts, {"border": border}
            yield [image, given], no_layouts, {"border": border, "dtype": "float32"}
        if shape[0] < 13:
            yield [image, given], no_layouts, {"mode": "valid", "dtype": "float32"}
    for border in ALSO:
        yield [image, weights(3, 4)], no_layouts, {"border": border}
    for anchor in (0, [2, 1], [-1, 3]):
        yield [image, weights(3, 4)], no_layouts, {"anchor": anchor, "border": "wrap"}
        yield [image, weights(4, 4)], no_layouts, {"anchor": anchor, "dtype": "float32"}
    for fill in (np.uint8(200), np.float32(-3.5), np.array([7], np.int32)):
        filled = [image, weights(3, 5), np.asarray(fill)]
        yield filled, no_layouts, {"border": "constant"}
        yield filled, no_layouts, {"border": "clamp"}
    for dtype in ("float32", "float16", "int8", "uint16", "int16", "int32", "float64", "bool"):
        yield [numbers(rng, (2, 9, 18), dtype), weights(3, 3)], ["CHW", ""], {}
        yield [numbers(rng, (9, 18), dtype), weights(2, 2)], ["HW", ""], {"border": "wrap"}
    yield [numbers(rng, (4, 9, 11, 2), "uint8"), weights(3, 3)], ["FHWC", ""], {"anchor": 0}
    yield [numbers(rng, (4, 9, 11, 2), "uint8"), weights(3, 3)], ["FHWC", ""], {"anchor": [2, 1]}
    yield [numbers(rng, (4, 9, 11, 2), "int16"), weights(4, 3)], ["FHWC", ""], {"anchor": -1}
    for border in PADS:
        volume = numbers(rng, (5, 6, 7, 2), "uint8")
        yield [volume, weights(3, 3, 3)], ["DHWC", ""], {"border": border, "dtype": "float32"}
        yield [volume, weights(2, 1, 4)], ["CDHW", ""], {"border": border, "anchor": [1, 0, 3]}
    yield [numbers(rng, (5, 6, 7), "float32"), weights(2, 2, 3)], ["DHW", ""], {"mode": "valid"}
    for border in PADS:
        yield [image, weights(3, 2, 3)], ["", ""], {"border": border, "dtype": "float32"}
        yield [numbers(rng, (40,), "int16"), weights(5)], ["", ""], {"border": border}
        yield [image, weights(4)], ["FWC", ""], {"border": border, "anchor": 3}
    for layout in ("CWH", "XYC", "WHC"):
        yield [image, weights(3, 2)], [layout, ""], {"anchor": [0, 1], "dtype": "float32"}
        yield [image, weights(3, 2)], [layout, ""], {"mode": "valid"}
    yield [image, weights(2, 3, 2)], ["XYZ", ""], {"anchor": [0, 1, 1], "dtype": "float32"}
    yield [numbers(rng, (9, 8), "uint8"), weights(3, 3)], ["", ""], {}
    yield [numbers(rng, (3, 4, 9, 8), "uint8"), weights(3, 2)], ["CFHW", ""], {}
    yield [numbers(rng, (2, 3, 4, 6, 5), "uint8"), weights(1, 2, 3)], ["CFDHW", ""], {}
    yield [numbers(rng, (0, 5, 3), "uint8"), weights(3, 3)], no_layouts, {}


def refused() -> Iterator[tuple[list[Array], Any, dict[str, Any], str]]:
    image, square = np.zeros((5, 4, 3), np.uint8), np.ones((3, 3), np.float32)
    words = "the filter has the shape (3, 3), expected 3 axes that are not empty"
    yield [image, square], "", {}, words
    yield [image, square], "HWC", {"anchor": 3}, "'anchor' has 3, and the filter the shape (3, 3)"
    yield from refused_layouts({}, square)
