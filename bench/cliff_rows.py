# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""What bench/cliffs.py races: a call of Stoker, and a peer that does the same work.

A row whose operator does not exist yet waits for it.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from cliff_clock import Array
from PIL import Image

from stoker import fn, types

try:
    import cv2

    cv2.setNumThreads(1)
except ImportError:
    cv2 = None


@dataclass(frozen=True)
class Row:
    """`ours` gets the node and one sample as it is fed, `peer` that sample and the output.

    `view` makes the sample of a picture. `apart` is how far the mean answers of both may differ;
    None where they cannot be compared.
    """

    name: str
    operator: str  # in the registry
    ours: Callable[[Any, Array], Any]
    by: str
    peer: Callable[[Array, Array], Any]
    view: Callable[[Array], Array] = lambda picture: picture
    apart: float | None = 0.0
    has_input: bool = True

    @property
    def is_feeding(self) -> bool:
        return self.operator == "external_source"


def to(dtype: str) -> Callable[[Array], Array]:
    return lambda picture: picture.astype(dtype)


def moved(x: Array, out: Array) -> None:
    np.copyto(out, x, casting="unsafe")


def fed(node: Any, _: Array) -> Any:
    return node


# The sizes of resizing: twice as large, and the other of the two sizes of samples.


def twice(x: Array) -> list[int]:
    return [2 * x.shape[0], 2 * x.shape[1]]


def other(x: Array) -> list[int]:
    return [375, 500] if x.shape[0] == 224 else [224, 224]


def nearest(node: Any, size: list[int]) -> Any:
    return fn.resize(node, size=size, interp_type=types.INTERP_NN)


def linear(node: Any, x: Array) -> Any:
    return fn.resize(node, size=other(x), antialias=False)


def resized(x: Array, out: Array, filter: str = "LINEAR") -> None:
    method = getattr(cv2, f"INTER_{filter}")
    cv2.resize(x, (out.shape[1], out.shape[0]), dst=out, interpolation=method)


def resized_integers(x: Array, out: Array) -> None:
    size = out.shape[1], out.shape[0]
    np.copyto(out, np.rint(cv2.resize(x.astype(np.float64), size)), casting="unsafe")


CHANNELS = np.array([0.5, 2.0, 0.25], np.float32)
MEAN, STD = [123.675, 116.28, 103.53], [58.395, 57.12, 57.375]


def cropped_normalised(x: Array, out: Array) -> None:
    top, left = (x.shape[0] - 224 + 1) // 2, (x.shape[1] - 224 + 1) // 2
    mirrored = cv2.flip(x[top : top + 224, left : left + 224], 1)
    for plane, to, mean, std in zip(cv2.split(mirrored), out, MEAN, STD, strict=True):
        np.copyto(to, plane)
        np.multiply(to, np.float32(1 / std), out=to)
        np.subtract(to, np.float32(mean / std), out=to)


PAD = 50


def padded(node: Any, x: Array) -> Any:
    shape = [x.shape[0] + 2 * PAD, x.shape[1] + 2 * PAD]
    return fn.slice(node, axes=[0, 1], start=[-PAD, -PAD], shape=shape, out_of_bounds_policy="pad")


def bordered(x: Array, out: Array) -> None:
    cv2.copyMakeBorder(x, PAD, PAD, PAD, PAD, cv2.BORDER_CONSTANT, dst=out)


CHANCE = np.random.Generator(np.random.Philox(1))
SHUFFLED = np.random.default_rng(1).permutation(256).astype(np.uint8)
ANGLE = 30.0


def turned(x: Array, out: Array, border: str, filter: str = "LINEAR") -> None:
    height, width = x.shape[:2]
    matrix = cv2.getRotationMatrix2D(((width - 1) / 2, (height - 1) / 2), ANGLE, 1.0)
    flags, mode = getattr(cv2, f"INTER_{filter}"), getattr(cv2, f"BORDER_{border}")
    cv2.warpAffine(x, matrix, (width, height), dst=out, flags=flags, borderMode=mode)


SHEAR = [0.9, 0.3, -20.0, -0.2, 1.1, 15.0]


def sheared(x: Array, out: Array) -> None:
    """OpenCV's places are those of centres."""
    matrix = np.reshape(SHEAR, (2, 3))
    offset = matrix[:, :2].sum(1) / 2 + matrix[:, 2] - 0.5
    matrix = np.column_stack([matrix[:, :2], offset])
    flags = cv2.WARP_INVERSE_MAP | cv2.INTER_LINEAR
    cv2.warpAffine(x, matrix, (x.shape[1], x.shape[0]), dst=out, flags=flags)


TILT = [1.1, 0.2, -40.0, -0.1, 0.9, 30.0, 0.0004, 0.0003, 0.9]


def tilted(x: Array, out: Array, border: str, filter: str = "LINEAR") -> None:
    half = np.array([[1, 0, 0.5], [0, 1, 0.5], [0, 0, 1]])
    matrix = np.linalg.inv(half) @ np.reshape(TILT, (3, 3)) @ half
    flags = cv2.WARP_INVERSE_MAP | getattr(cv2, f"INTER_{filter}")
    mode = getattr(cv2, f"BORDER_{border}")
    cv2.warpPerspective(x, matrix, (x.shape[1], x.shape[0]), dst=out, flags=flags, borderMode=mode)


def weights(size: int) -> Array:
    bell = np.hanning(size + 2)[1:-1]
    return (np.outer(bell, bell) / bell.sum() ** 2).astype(np.float32)


def morphed(x: Array, out: Array, name: str, size: int) -> None:
    getattr(cv2, name)(x, np.ones((size, size), np.uint8), dst=out)


def equalised(x: Array, out: Array) -> None:
    cv2.merge([cv2.equalizeHist(plane) for plane in cv2.split(x)], dst=out)


def compressed(x: Array, out: Array) -> None:
    file = io.BytesIO()
    Image.fromarray(x).save(file, "JPEG", quality=50, subsampling=2)
    out[...] = np.asarray(Image.open(file))


def erased(x: Array, out: Array) -> None:
    np.copyto(out, x)
    out[40:140, 60:160] = 0


def aligned(x: Array, out: Array) -> None:
    bottom, right = out.shape[0] - x.shape[0], out.shape[1] - x.shape[1]
    cv2.copyMakeBorder(x, 0, bottom, 0, right, cv2.BORDER_CONSTANT, dst=out)


def blended(x: Array, out: Array) -> None:
    cv2.addWeighted(x, 0.3, x, 0.7, 0, dst=out)


def patched(x: Array, out: Array) -> None:
    np.copyto(out, x)
    height, width = x.shape[0] // 2, x.shape[1] // 2
    out[:height, :width] = x[height : 2 * height, width : 2 * width]


def normalised(x: Array, out: Array) -> None:
    mean, deviation = cv2.meanStdDev(x)
    cv2.subtract(x, (*mean.ravel(), 0), dst=out, dtype=cv2.CV_32F)
    cv2.multiply(out, (*(1 / deviation).ravel(), 0), dst=out)


def spectrum(x: Array, out: Array) -> None:
    frames = np.lib.stride_tricks.sliding_window_view(x, 512)[::256]
    bins = np.fft.rfft(frames * np.hanning(512).astype(np.float32))
    np.copyto(out, (bins.real**2 + bins.imag**2).T)


def polyphase(x: Array, out: Array) -> None:
    from scipy.signal import resample_poly

    np.copyto(out, resample_poly(x, 160, 441))


def triangles(count: int, bins: int, nyquist: float = 22050.0) -> Array:
    edges = 700 * np.expm1(np.linspace(0, np.log1p(nyquist / 700), count + 2))[:, None]
    f, widths = np.linspace(0, nyquist, bins), np.diff(edges, axis=0)
    rising, falling = (f - edges[:-2]) / widths[:-1], (edges[2:] - f) / widths[1:]
    return np.maximum(0, np.minimum(rising, falling)).astype(np.float32)


BINS = 257
TRIANGLES = triangles(80, BINS)

MAP, SHIFT = np.float32([[0.5, 1.0], [-1.0, 2.0]]), np.float32([3.0, 4.0])


def shot_noise(x: Array, out: Array) -> None:
    np.copyto(out, np.minimum(20 * CHANCE.poisson(x / 20), 255), "unsafe")


def pasted(x: Array, out: Array) -> None:
    top, left = ((o - e) // 2 for o, e in zip(out.shape[:2], x.shape[:2], strict=True))
    below, right = out.shape[0] - x.shape[0] - top, out.shape[1] - x.shape[1] - left
    cv2.copyMakeBorder(x, top, below, left, right, cv2.BORDER_CONSTANT, dst=out)


def masked_by_grid(x: Array, out: Array) -> None:
    down, across = np.ogrid[: x.shape[0], : x.shape[1]]
    u = (across * np.cos(0.5) - down * np.sin(0.5)) / 20 % 1
    v = (across * np.sin(0.5) + down * np.cos(0.5)) / 20 % 1
    np.multiply(x, ((u >= 0.5) | (v >= 0.5))[..., None], out=out)


def resized_cropped_mirrored(x: Array, out: Array) -> None:
    height, width = other(x)
    top, left = (height - 199) // 2, (width - 199) // 2
    resized = cv2.resize(x, (width, height), interpolation=cv2.INTER_LINEAR)
    cv2.flip(resized[top : top + 200, left : left + 200], 1, dst=out)


def gaussian_noise(x: Array, out: Array) -> None:
    noise = CHANCE.standard_normal(x.shape, np.float32)
    cv2.add(x, noise * 5, dst=out, dtype=cv2.CV_8U)


def salted(x: Array, out: Array) -> None:
    draws = CHANCE.random(x.shape[:2], np.float32)
    np.copyto(out, x)
    out[draws < 0.05], out[draws > 0.95] = 0, 255


def decibels(x: Array, out: Array) -> None:
    np.log10(np.maximum(x / x.max(), 1e-20), out=out)
    np.multiply(out, 10, out=out)


def cepstrum(x: Array, out: Array) -> None:
    from scipy.fft import dct

    np.copyto(out, dct(x, axis=0)[:20] / 2)


def emphasised(x: Array, out: Array) -> None:
    np.subtract(x[1:], np.float32(0.97) * x[:-1], out=out[1:])
    out[0] = np.float32(0.03) * x[0]


def powers(x: Array, out: Array) -> None:
    bins = np.fft.rfft(x, 512)
    np.copyto(out, bins.real**2 + bins.imag**2)


COLOUR = np.array([[1.2, -0.1, 0.1, 3], [0.1, 1.1, -0.1, 3], [-0.1, 0.1, 1.0, 3]])

ROWS = [
    Row(
        *("constant of a picture", "constant"),
        lambda _, x: fn.constant(idata=x.ravel().tolist(), shape=list(x.shape), dtype="uint8"),
        *("NumPy copyto", moved),
        has_input=False,
    ),
    Row("feed, dense", "external_source", fed, "NumPy copyto", moved),
    Row("feed [::-1]", "external_source", fed, "NumPy copyto", moved, lambda x: x[::-1]),
    Row(
        *("feed a crop view", "external_source", fed, "NumPy copyto", moved),
        lambda x: np.pad(x, ((10, 10), (10, 10), (0, 0)))[10:-10, 10:-10],
    ),
    Row(
        *("feed a transposed view", "external_source", fed, "OpenCV transpose"),
        lambda x, out: cv2.transpose(x.transpose(1, 0, 2), dst=out),
        lambda x: x.transpose(1, 0, 2),
    ),
    Row(
        *("feed BGR as RGB", "external_source", fed, "OpenCV cvtColor"),
        lambda x, out: cv2.cvtColor(x[..., ::-1], cv2.COLOR_BGR2RGB, dst=out),
        lambda x: x[..., ::-1],
    ),
    Row("copy", "copy", lambda node, _: fn.copy(node), "NumPy copyto", moved),
    Row("merge", "merge", lambda node, _: fn.merge(node, node, 1), "NumPy copyto", moved),
    Row("resize uint8", "resize", linear, "OpenCV resize", resized, apart=1.0),
    Row("resize float32", "resize", linear, "OpenCV resize", resized, to("float32"), 1.0),
    Row("resize float64", "resize", linear, "OpenCV resize", resized, to("float64"), 1.0),
    Row(
        *("resize int32", "resize", linear, "OpenCV resize by float64", resized_integers),
        *(to("int32"), 1.0),
    ),
    *(
        Row(
            *(f"nearest neighbour, {name}", "resize"),
            lambda node, x, size=size: nearest(node, size(x)),
            *("OpenCV resize", lambda x, out: resized(x, out, "NEAREST")),
            apart=None,  # OpenCV takes another neighbour
        )
        for name, size in (("twice as large", twice), ("other size", other))
    ),
    *(
        Row(
            *(f"cast {a} to {b}", "cast", lambda node, _, b=b: fn.cast(node, dtype=b)),
            *("NumPy copyto", moved, to(a)),
        )
        for a, b in (("int64", "uint8"), ("float32", "float64"), ("uint8", "float32"))
    ),
    Row(
        *("cast uint8 to bool", "cast", lambda node, _: fn.cast(node, dtype="bool")),
        *("NumPy not_equal", lambda x, out: np.not_equal(x, 0, out=out)),
    ),
    Row(
        *("arithmetic x + x, floats", "arithmetic", lambda node, _: node + node),
        *("NumPy add", lambda x, out: np.add(x, x, out=out)),
        to("float32"),
    ),
    Row(
        *("arithmetic x + x, bytes", "arithmetic", lambda node, _: node + node),
        *("NumPy add", lambda x, out: np.add(x, x, out=out)),
    ),
    Row(
        *("arithmetic (x - 3.5) * x + 1", "arithmetic", lambda node, _: (node - 3.5) * node + 1.0),
        *("NumPy", lambda x, out: np.copyto(out, (x - np.float32(3.5)) * x + np.float32(1))),
        to("float32"),
    ),
    Row(
        *("arithmetic x / 255", "arithmetic", lambda node, _: node / 255),
        *("NumPy divide", lambda x, out: np.divide(x, np.float32(255), out=out)),
    ),
    Row(
        *("arithmetic x * y by channel", "arithmetic", lambda node, _: node * [0.5, 2.0, 0.25]),
        *("NumPy multiply", lambda x, out: np.multiply(x, CHANNELS, out=out)),
        to("float32"),
    ),
    Row(
        *("arithmetic x > 100", "arithmetic", lambda node, _: node > np.uint8(100)),
        *("NumPy greater", lambda x, out: np.greater(x, np.uint8(100), out=out)),
    ),
    Row("slice, padded", "slice", padded, "OpenCV copyMakeBorder", bordered),
    Row(
        *("flip horizontal", "flip", lambda node, _: fn.flip(node)),
        *("OpenCV flip", lambda x, out: cv2.flip(x, 1, dst=out)),
    ),
    Row(
        *("flip vertical", "flip", lambda node, _: fn.flip(node, horizontal=0, vertical=1)),
        *("OpenCV flip", lambda x, out: cv2.flip(x, 0, dst=out)),
    ),
    Row(
        *("transpose to CHW", "transpose", lambda node, _: fn.transpose(node, perm=[2, 0, 1])),
        *("OpenCV split", lambda x, out: cv2.split(x, list(out))),
    ),
    Row(
        *("transpose H and W", "transpose", lambda node, _: fn.transpose(node, perm=[1, 0, 2])),
        *("OpenCV transpose", lambda x, out: cv2.transpose(x, dst=out)),
    ),
    Row(
        *("reshape", "reshape", lambda node, _: fn.reshape(node, shape=[-1])),
        *("NumPy copyto", lambda x, out: np.copyto(out, x.reshape(-1))),
    ),
    Row(
        *("reinterpret", "reinterpret", lambda node, _: fn.reinterpret(node, dtype="int8")),
        *("NumPy copyto", lambda x, out: np.copyto(out, x.view(np.int8))),
    ),
    Row(
        *("squeeze", "squeeze", lambda node, _: fn.squeeze(node, axes=[0])),
        *("NumPy copyto", lambda x, out: np.copyto(out, x[0]), lambda x: x[None]),
    ),
    Row(
        *("expand_dims", "expand_dims", lambda node, _: fn.expand_dims(node, axes=[0])),
        *("NumPy copyto", lambda x, out: np.copyto(out, x[None])),
    ),
    Row(
        *("sequence_rearrange", "sequence_rearrange"),
        lambda node, _: fn.sequence_rearrange(node, new_order=[1, 0]),
        *("NumPy copyto", lambda x, out: np.copyto(out, x[::-1]), lambda x: np.stack([x, x])),
    ),
    Row(
        *("element_extract", "element_extract"),
        lambda node, _: fn.element_extract(node, element_map=[1]),
        *("NumPy copyto", lambda x, out: np.copyto(out, x[1]), lambda x: np.stack([x, x])),
    ),
    Row(
        *("one_hot", "one_hot", lambda node, _: fn.one_hot(node, num_classes=10)),
        *(
            "NumPy equal",
            lambda x, out: np.equal(x[:, None], np.arange(10), out=out, casting="unsafe"),
        ),
        lambda x: x[:, :, 0].reshape(-1) % 10,
    ),
    *(
        Row(
            *(f"reductions.{name}, {words}", f"reductions.{name}"),
            lambda node, _, name=name, axes=axes: getattr(fn.reductions, name)(node, axes=axes),
            *(
                f"NumPy {name}",
                lambda x, out, name=name, axes=axes: getattr(np, name)(x, tuple(axes), out=out),
            ),
            view=lambda x: x // 2 + 1,  # so that no least value is 0
            apart=0.01,
        )
        for name in ("mean", "min", "max")
        for words, axes in (("all", [0, 1, 2]), ("of rows", [1]), ("of pixels", [0, 1]))
    ),
    Row(
        *("reductions.rms", "reductions.rms", lambda node, _: fn.reductions.rms(node)),
        *("NumPy", lambda x, out: np.copyto(out, np.sqrt(np.mean(np.square(x, dtype=np.float32))))),
        apart=0.1,
    ),
    Row(
        *("reductions.std_dev", "reductions.std_dev"),
        lambda node, _: fn.reductions.std_dev(node, fn.reductions.mean(node)),
        *("NumPy std", lambda x, out: np.copyto(out, np.std(x))),
        apart=0.01,
    ),
    Row(
        *("color_space_conversion to YCbCr", "color_space_conversion"),
        lambda node, _: fn.color_space_conversion(
            node, image_type=types.RGB, output_type=types.YCbCr
        ),
        *("OpenCV transform", lambda x, out: cv2.transform(x, COLOUR, dst=out)),
        apart=None,  # any matrix takes the same time
    ),
    Row(
        *("color_space_conversion to GRAY", "color_space_conversion"),
        lambda node, _: fn.color_space_conversion(
            node, image_type=types.RGB, output_type=types.GRAY
        ),
        *("OpenCV cvtColor", lambda x, out: cv2.cvtColor(x, cv2.COLOR_RGB2GRAY, dst=out)),
        apart=1.0,
    ),
    Row(
        *("paste", "paste", lambda node, _: fn.paste(node, ratio=1.5, fill_value=0)),
        *("OpenCV copyMakeBorder", pasted),
    ),
    Row(
        *("grid_mask", "grid_mask", lambda node, _: fn.grid_mask(node, tile=20, angle=0.5)),
        *("NumPy", masked_by_grid),
        apart=None,
    ),
    Row(
        *("resize_crop_mirror", "resize_crop_mirror"),
        lambda node, x: fn.resize_crop_mirror(
            node, size=other(x), crop=[200, 200], mirror=1, antialias=False
        ),
        *("OpenCV resize and flip", resized_cropped_mirrored),
        apart=1.0,
    ),
    Row(
        *("coord_transform", "coord_transform"),
        lambda node, _: fn.coord_transform(node, M=[0.5, 1.0, -1.0, 2.0], T=[3.0, 4.0]),
        *("NumPy matmul", lambda x, out: np.add(x @ MAP.T, SHIFT, out=out)),
        *(lambda x: x[:, :, :2].reshape(-1, 2).astype(np.float32), 0.01),
    ),
    Row(
        *("noise.gaussian", "noise.gaussian", lambda node, _: fn.noise.gaussian(node, stddev=5.0)),
        *("NumPy", gaussian_noise),
        apart=1.0,
    ),
    Row(
        *("noise.shot", "noise.shot", lambda node, _: fn.noise.shot(node)),
        *("NumPy poisson", shot_noise),
        apart=5.0,
    ),
    Row(
        *("noise.salt_and_pepper", "noise.salt_and_pepper"),
        lambda node, _: fn.noise.salt_and_pepper(node, prob=0.1),
        *("NumPy", salted),
        apart=5.0,
    ),
    Row(
        *("to_decibels", "to_decibels", lambda node, _: fn.to_decibels(node)),
        *("NumPy log10", decibels, to("float32"), 0.01),
    ),
    Row(
        *("mfcc", "mfcc", lambda node, _: fn.mfcc(node)),
        *("SciPy dct", cepstrum, lambda x: x[:80, :, 0].astype(np.float32), 1.0),
    ),
    Row(
        *("preemphasis_filter", "preemphasis_filter", lambda node, _: fn.preemphasis_filter(node)),
        *("NumPy", emphasised, lambda x: x.reshape(-1).astype(np.float32), 0.01),
    ),
    Row(
        *("power_spectrum", "power_spectrum", lambda node, _: fn.power_spectrum(node, nfft=512)),
        *("NumPy rfft", powers, lambda x: x[:, :, 0].astype(np.float32), None),
    ),
    *(
        Row(
            *(f"cat along {axis}", "cat", lambda node, _, a=a: fn.cat(node, node, axis=a)),
            *("NumPy concatenate", lambda x, out, a=a: np.concatenate([x, x], a, out=out)),
        )
        for a, axis in enumerate("HWC")
    ),
    *(
        Row(
            *(f"stack along {axis}", "stack", lambda node, _, a=a: fn.stack(node, node, axis=a)),
            *("NumPy stack", lambda x, out, a=a: np.stack([x, x], a, out=out)),
        )
        for a, axis in ((0, "the first axis"), (3, "the last axis"))
    ),
    Row(
        *("crop_mirror_normalize", "crop_mirror_normalize"),
        lambda node, _: fn.crop_mirror_normalize(
            node, crop=[224, 224], mirror=1, mean=MEAN, std=STD
        ),
        *("OpenCV flip and split, NumPy", cropped_normalised),
        apart=0.01,
    ),
    Row(
        *("random.uniform", "random.uniform"),
        lambda _, x: fn.random.uniform(range=[0.0, 1.0], shape=list(x.shape)),
        *("NumPy Philox", lambda _, out: CHANCE.random(out=out, dtype=np.float32)),
        apart=0.01,
        has_input=False,
    ),
    Row(
        *("random.coin_flip", "random.coin_flip"),
        lambda _, x: fn.random.coin_flip(shape=list(x.shape)),
        *("NumPy Philox", lambda _, out: CHANCE.integers(0, 2, out.shape, out.dtype)),
        apart=None,
        has_input=False,
    ),
    Row(
        *("color_twist", "color_twist"),
        lambda node, _: fn.color_twist(
            node, hue=20.0, saturation=1.2, contrast=0.9, brightness=1.1
        ),
        *("OpenCV transform", lambda x, out: cv2.transform(x, COLOUR, dst=out)),
        apart=None,  # any matrix takes the same time
    ),
    Row(
        *("lookup_table", "lookup_table"),
        lambda node, _: fn.lookup_table(
            node, keys=list(range(256)), values=SHUFFLED.tolist(), dtype="uint8"
        ),
        *("OpenCV LUT", lambda x, out: cv2.LUT(x, SHUFFLED, dst=out)),
    ),
    Row(
        *("random.normal", "random.normal"),
        lambda _, x: fn.random.normal(shape=list(x.shape)),
        *("NumPy Philox", lambda _, out: CHANCE.standard_normal(out=out, dtype=np.float32)),
        apart=0.01,
        has_input=False,
    ),
    *(
        Row(
            *(f"rotate {name}", "rotate"),
            lambda node, _, fill=fill: fn.rotate(
                node, angle=ANGLE, keep_size=True, fill_value=fill
            ),
            *("OpenCV warpAffine", lambda x, out, border=border: turned(x, out, border)),
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
            node, angle=ANGLE, keep_size=True, fill_value=0.0, interp_type=types.INTERP_NN
        ),
        *("OpenCV warpAffine", lambda x, out: turned(x, out, "CONSTANT", "NEAREST")),
        apart=None,  # OpenCV takes another neighbour
    ),
    Row(
        *("warp_affine", "warp_affine"),
        lambda node, _: fn.warp_affine(node, matrix=SHEAR, fill_value=0.0),
        *("OpenCV warpAffine", sheared),
        apart=1.0,
    ),
    *(
        Row(
            *(f"warp_perspective {name}", "warp_perspective"),
            lambda node, _, border=border, kind=kind: fn.warp_perspective(
                node, matrix=TILT, border_mode=border, interp_type=kind
            ),
            *("OpenCV warpPerspective", lambda x, out, b=theirs, f=f: tilted(x, out, b, f)),
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
            lambda node, _, n=n: fn.filter(node, weights(n)),
            *("OpenCV filter2D", lambda x, out, n=n: cv2.filter2D(x, -1, weights(n), dst=out)),
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
            *(f"OpenCV {name}", lambda x, out, name=name, n=n: morphed(x, out, name, n)),
            to(dtype),
        )
        for name, dtype, n in (
            *(("dilate", "uint8", 3), ("erode", "uint8", 3), ("dilate", "uint8", 15)),
            ("dilate", "float32", 3),
        )
    ),
    Row(
        *("equalize", "equalize", lambda node, _: fn.equalize(node)),
        *("OpenCV equalizeHist, split, merge", equalised),
        apart=1.0,
    ),
    Row(
        *("jpeg_compression_distortion", "jpeg_compression_distortion"),
        lambda node, _: fn.jpeg_compression_distortion(node),
        *("Pillow save and open", compressed),
    ),
    Row(
        *("erase", "erase"),
        lambda node, _: fn.erase(
            node, anchor=[40.0, 60.0], shape=[100.0, 100.0], axis_names="HW", fill_value=[0.0]
        ),
        *("NumPy slices", erased),
    ),
    # Operators that see whole batches. What they make depends on chance and on other samples.
    Row(
        *("permute_batch", "permute_batch"),
        lambda node, _: fn.permute_batch(node, indices=fn.batch_permutation()),
        *("NumPy copyto", moved),
        apart=None,
    ),
    *(
        Row(
            *(f"{name} {dtype}", name),
            lambda node, _, call=call: call(node, fn.constant(idata=[1]), num_classes=10)[0],
            *(by, peer, to(dtype), None),
        )
        for name, call, by, peer in (
            ("mixup", fn.mixup, "OpenCV addWeighted", blended),
            ("cutmix", fn.cutmix, "NumPy copyto", patched),
        )
        for dtype in ("uint8", "float32")
    ),
    *(
        Row(
            *(f"pad, {name}", "pad"),
            lambda node, _, given=given: fn.pad(node, axes=[0, 1], align=[64], **given),
            *("OpenCV copyMakeBorder", aligned),
        )
        for name, given in (("to the largest", {}), ("to a shape", {"shape": [1]}))
    ),
    Row(
        *("normalize, whole batch", "normalize"),
        lambda node, _: fn.normalize(node, axes=[0, 1], batch=True),
        *("OpenCV meanStdDev", normalised),
        apart=None,
    ),
    Row(
        *("normalize", "normalize", lambda node, _: fn.normalize(node, axes=[0, 1])),
        *("OpenCV meanStdDev, subtract, multiply", normalised),
        apart=0.01,
    ),
    Row(
        *("reductions.sum", "reductions.sum", lambda node, _: fn.reductions.sum(node)),
        *("NumPy sum", lambda x, out: out.fill(np.sum(x))),
    ),
    Row(
        *("spectrogram", "spectrogram"),
        lambda node, _: fn.spectrogram(
            node, nfft=512, window_length=512, window_step=256, center_windows=False
        ),
        *("NumPy rfft", spectrum),
        lambda x: x.ravel().astype(np.float32),
        apart=None,  # the window functions differ in one place
    ),
    Row(
        *("mel_filter_bank", "mel_filter_bank"),
        lambda node, _: fn.mel_filter_bank(node, nfilter=80, mel_formula="htk", normalize=False),
        *("NumPy matmul", lambda x, out: np.matmul(TRIANGLES, x, out=out)),
        lambda x: x.ravel()[: x.size // BINS * BINS].reshape(BINS, -1).astype(np.float32),
        apart=0.01,
    ),
    Row(
        *("audio_resample", "audio_resample"),
        lambda node, _: fn.audio_resample(node, in_rate=44100.0, out_rate=16000.0),
        *("SciPy resample_poly", polyphase),
        lambda x: x.ravel().astype(np.float32),
        apart=None,  # a filter of another shape, of 55 values where ours has 32
    ),
]
