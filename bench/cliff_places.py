# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The rows of bench/cliff_rows.py whose operators look at other places of a picture: warps and
windows."""

from __future__ import annotations

import cliff_peers as peers
from cliff_row import Row, cv2, to

from stoker import fn, types

PLACES = [
    *(
        Row(
            *(f"rotate {name}", "rotate"),
            lambda node, _, fill=fill: fn.rotate(
                node, angle=peers.ANGLE, keep_size=True, fill_value=fill
            ),
            *("OpenCV warpAffine", lambda x, out, border=border: peers.turned(x, out, border)),
            *(to(dtype), 1.0),
        )
        for name, dtype, fill, border in (
            ("uint8, filled", "uint8", 0.0, "CONSTANT"),
            ("uint8, border repeated", "uint8", None, "REPLICATE"),
            ("float32, filled", "float32", 0.0, "CONSTANT"),
        )
    ),
    Row(
        *("rotate uint8, nearest neighbour", "rotate"),
        lambda node, _: fn.rotate(
            node, angle=peers.ANGLE, keep_size=True, fill_value=0.0, interp_type=types.INTERP_NN
        ),
        *("OpenCV warpAffine", lambda x, out: peers.turned(x, out, "CONSTANT", "NEAREST")),
        apart=None,  # OpenCV takes another neighbour
    ),
    Row(
        *("warp_affine", "warp_affine"),
        lambda node, _: fn.warp_affine(node, matrix=peers.SHEAR, fill_value=0.0),
        *("OpenCV warpAffine", peers.sheared),
        apart=1.0,
    ),
    *(
        Row(
            *(f"warp_perspective {name}", "warp_perspective"),
            lambda node, _, border=border, kind=kind: fn.warp_perspective(
                node, matrix=peers.TILT, border_mode=border, interp_type=kind
            ),
            *("OpenCV warpPerspective", lambda x, out, b=theirs, f=f: peers.tilted(x, out, b, f)),
            *(to(dtype), None if f == "NEAREST" else 1.0),  # OpenCV takes another neighbour
        )
        for name, dtype, border, theirs, kind, f in (
            ("uint8", "uint8", "constant", "CONSTANT", types.INTERP_LINEAR, "LINEAR"),
            ("uint8, clamped", "uint8", "clamp", "REPLICATE", types.INTERP_LINEAR, "LINEAR"),
            ("float32", "float32", "constant", "CONSTANT", types.INTERP_LINEAR, "LINEAR"),
            ("uint8, nearest", "uint8", "constant", "CONSTANT", types.INTERP_NN, "NEAREST"),
        )
    ),
    Row(
        *("gaussian_blur", "gaussian_blur"),
        lambda node, _: fn.gaussian_blur(node, window_size=[5]),
        *("OpenCV GaussianBlur", lambda x, out: cv2.GaussianBlur(x, (5, 5), 0, dst=out)),
        apart=1.0,
    ),
    *(
        Row(
            *(f"filter {dtype}, {n} x {n}", "filter"),
            lambda node, _, n=n: fn.filter(node, peers.weights(n)),
            *(
                "OpenCV filter2D",
                lambda x, out, n=n: cv2.filter2D(x, -1, peers.weights(n), dst=out),
            ),
            *(to(dtype), 1.0),
        )
        for dtype, n in (("uint8", 3), ("uint8", 7), ("float32", 3))
    ),
    *(
        Row(
            *(f"laplacian {dtype}, {n} x {n}", "laplacian"),
            lambda node, _, n=n: fn.laplacian(node, window_size=n, scale=4.0**-n),
            *(
                "OpenCV Laplacian",
                lambda x, out, n=n: cv2.Laplacian(x, -1, dst=out, ksize=n, scale=4.0**-n),
            ),
            *(to(dtype), 1.0),
        )
        for dtype, n in (("uint8", 3), ("float32", 3), ("float32", 5))
    ),
    *(
        Row(
            *(f"median_blur {dtype}, {n} x {n}", "median_blur"),
            lambda node, _, n=n: fn.median_blur(node, window_size=n),
            *("OpenCV medianBlur", lambda x, out, n=n: cv2.medianBlur(x, n, dst=out)),
            to(dtype),
        )
        for dtype, sizes in (("uint8", (3, 5, 7, 15, 31)), ("uint16", (3, 5)), ("float32", (3, 5)))
        for n in sizes
    ),
    *(
        Row(
            *(f"{name} {dtype}, {n} x {n}", name),
            lambda node, _, name=name, n=n: getattr(fn, name)(node, mask_size=n),
            *(f"OpenCV {name}", lambda x, out, name=name, n=n: peers.morphed(x, out, name, n)),
            to(dtype),
        )
        for name, dtype, n in (
            *(("dilate", "uint8", 3), ("erode", "uint8", 3), ("dilate", "uint8", 15)),
            ("dilate", "float32", 3),
        )
    ),
    *(
        Row(
            *(f"{name} {dtype}, {words}", name),
            lambda node, _, name=name, kind=kind: getattr(fn, name)(node, interp_type=kind),
            *("OpenCV remap", lambda x, out, m=maps, f=f: peers.remapped(x, out, *m(x), f)),
            *(to(dtype), None if f == "NEAREST" else 1.0),  # OpenCV takes another neighbour
        )
        for name, maps in (("water", peers.waves), ("sphere", peers.ball))
        for dtype in ("uint8", "float32")
        for words, kind, f in (
            ("nearest", types.INTERP_NN, "NEAREST"),
            ("linear", types.INTERP_LINEAR, "LINEAR"),
        )
    ),
    *(
        Row(
            *(f"remap {dtype}, {words}", "remap"),
            lambda node, x, kind=kind: fn.remap(
                node, *peers.waves(x), interp=kind, pixel_origin="center"
            ),
            *("OpenCV remap", lambda x, out, f=f: peers.remapped(x, out, *peers.waves(x), f)),
            *(to(dtype), 1.0 if f == "LINEAR" else None),  # OpenCV's cubic and Lanczos differ
        )
        for dtype in ("uint8", "float32")
        for words, kind, f in (
            ("nearest", types.INTERP_NN, "NEAREST"),
            ("linear", types.INTERP_LINEAR, "LINEAR"),
            ("cubic", types.INTERP_CUBIC, "CUBIC"),
            ("Lanczos", types.INTERP_LANCZOS3, "LANCZOS4"),
        )
    ),
    Row(
        *("jitter", "jitter", lambda node, _: fn.jitter(node, nDegree=4)),
        *("NumPy and OpenCV remap", peers.shaken),
        apart=None,  # other draws
    ),
]
