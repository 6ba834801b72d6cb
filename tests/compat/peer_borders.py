# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Calls that look at the edges of pictures, for tools/record_peer_operators.py to record."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

FILTERS = ["LINEAR", "CUBIC", "LANCZOS3", "TRIANGULAR", "GAUSSIAN"]
TILTED = [1.1, 0.2, -9.0, -0.1, 0.9, 5.0, 0.003, 0.002, 0.9]
# Calls that want values from places exactly between two pixels.
TIED: list[tuple[str, dict[str, Any]]] = [
    ("25,14,1", {"size": [16, 16], "mode": "not_smaller"}),
    ("46,12,1", {"resize_shorter": 30.0}),
    ("12,20,1", {"resize_shorter": 20.0}),
    ("34,6,1", {"resize_shorter": 5.0}),
    ("48,26,1", {"size": [42, 13], "mode": "stretch"}),
    ("35,18,1", {"size": [46, 6], "roi_start": [3.0, 3.5], "roi_end": [35.0, 18.0]}),
    ("36,5,1", {"size": [35, 11], "mode": "not_smaller"}),
]
MOVED = [1.0, 0.0, -20.25, 0.0, 1.0, 14.375, 0.0, 0.0, 1.0]


def entries(operator: str) -> Iterator[dict[str, Any]]:
    """The calls of an operator as the tool records them."""
    for layout, sample, arguments in _CALLS.get(operator, lambda: iter(()))():
        texts = [sample] if isinstance(sample, str) else sample
        yield {
            "arguments": arguments,
            "layouts": [layout, *[""] * (len(texts) - 1)],
            "samples": [texts],
        }


def _resize() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for k, name in enumerate(FILTERS):
        how = {"interp_type": f"INTERP_{name}"}
        for size in ([11, 15], [61, 83], [13, 90]):
            yield "HWC", f"picture uint8[29,37,{k % 4 + 1}] 0.0 255.0", {"size": size, **how}
        yield "HWC", f"picture float32[29,37,{(k + 2) % 4 + 1}] 0.0 1.0", {"size": [8, 60], **how}
        rough = {"size": [9, 12], "antialias": False, **how}
        yield "HWC", "picture uint8[29,37,3] 0.0 255.0", rough
        region = {"roi_start": [3.5, 10.0], "roi_end": [22.0, 31.0], "size": [7, 70], **how}
        yield "HWC", "picture uint8[29,37,3] 0.0 255.0", region
        region = {"roi_start": [0.0, 1.0], "roi_end": [0.5, 0.4], "roi_relative": True, **how}
        yield "CHW", "picture float32[3,29,37] 0.0 1.0", {**region, "size": [20, 9]}
        yield "DHWC", "picture uint8[7,9,11,2] 0.0 255.0", {"size": [3, 14, 5], **how}
    blurred = {"interp_type": "INTERP_GAUSSIAN"}
    for size in ([29, 37], [29, 12], [87, 37], [29, 111]):
        for kind in ("uint8", "float32", "int16"):
            yield "HWC", f"picture {kind}[29,37,3] 0.0 255.0", {"size": size, **blurred}
        rough = {"size": size, "antialias": False, **blurred}
        yield "HWC", "picture float32[29,37,3] 0.0 255.0", rough
    for size in ([11, 7], [9, 35], [15, 5]):
        yield "HWC", "picture uint8[33,35,3] 0.0 255.0", {"size": size, **blurred}
        yield "HWC", "picture float32[45,35,3] 0.0 255.0", {"size": size, **blurred}
    for shape, tied in TIED:
        yield "HWC", f"picture uint8[{shape}] 0.0 255.0", {"interp_type": "INTERP_NN", **tied}
    for start, end in ([0, 0], [20, 37]), ([9, 10], [29, 25]), ([0, 0], [29, 37]):
        window = {"roi_start": start, "roi_end": end, "size": [14, 19]}
        for name in ("LINEAR", "CUBIC", "LANCZOS3"):
            how = {**window, "interp_type": f"INTERP_{name}"}
            yield "HWC", "picture uint8[29,37,3] 0.0 255.0", how
    one = "picture uint8[29,37,3] 0.0 255.0"
    yield "HWC", one, {"size": [9, 80], "min_filter": "INTERP_CUBIC", "mag_filter": "INTERP_NN"}
    yield "HWC", one, {"size": [9, 80], "min_filter": "INTERP_NN", "mag_filter": "INTERP_LANCZOS3"}
    yield "HWC", one, {"resize_shorter": 10.0, "interp_type": "INTERP_CUBIC"}
    yield "FHWC", "picture uint8[3,29,37,1] 0.0 255.0", {"size": [10, 50]}


def _resize_crop_mirror() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for name in ("LINEAR", "CUBIC", "LANCZOS3"):
        how = {
            "size": [12, 55],
            "crop": [9, 50],
            "crop_pos_x": 0.0,
            "interp_type": f"INTERP_{name}",
        }
        yield "HWC", "picture uint8[29,37,3] 0.0 255.0", how
        yield "HWC", "picture float32[29,37,3] 0.0 1.0", {**how, "mirror": 1, "crop_pos_y": 1.0}


def _warp_perspective() -> Iterator[tuple[str, str, dict[str, Any]]]:
    picture = "picture uint8[29,37,3] 0.0 255.0"
    for border in ("constant", "replicate", "reflect", "reflect_101", "wrap"):
        for matrix in (TILTED, MOVED):
            how = {"matrix": matrix, "border_mode": border}
            yield "HWC", picture, how
            yield "HWC", "picture float32[29,37,1] 0.0 1.0", how
            yield "HWC", picture, {**how, "interp_type": "INTERP_NN"}
        # DALI rounds these places to multiples of 1/32, which those of MOVED are.
        sharp = {"matrix": MOVED, "border_mode": border, "interp_type": "INTERP_CUBIC"}
        yield "HWC", picture, {**sharp, "pixel_origin": "center"}
        yield "HWC", "picture float32[29,37,1] 0.0 1.0", {**sharp, "size": [40, 50]}
    for name in ("NN", "LINEAR", "CUBIC"):
        fills = {"fill_value": [10.0, 200.0, 90.0], "interp_type": f"INTERP_{name}"}
        yield "HWC", picture, {"matrix": MOVED, **fills}


def _filter() -> Iterator[tuple[str, list[str], dict[str, Any]]]:
    texts = ["picture uint8[13,17,3] 0.0 255.0", "picture float32[5,3] -0.3 0.4"]
    for border in ("101", "1001", "reflect", "reflect101", "reflect1001", "wrap", "clamp"):
        yield "HWC", texts, {"border": border}


_CALLS: dict[str, Any] = {
    "filter": _filter,
    "resize": _resize,
    "resize_crop_mirror": _resize_crop_mirror,
    "fast_resize_crop_mirror": _resize_crop_mirror,
    "warp_perspective": _warp_perspective,
}
