# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""JPEG files without a pipeline: what a file is, its pixels or a window of them, and its index.

``decode`` gives the pixels that ``fn.decoders.image`` gives, on the CPU and without a pipeline. An
index, which ``build_index`` makes once for a file, lets it begin at a window instead of at the
file's first row. The bytes of a file are any object with a contiguous buffer: ``bytes``,
``memoryview``, ``mmap``, or an array of uint8. All functions may be called from any threads at
once, and release the interpreter's lock while they decode.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from stoker import _core
from stoker.types import ImageType

if TYPE_CHECKING:
    import numpy.typing
    from typing_extensions import Buffer

    Pixels = numpy.typing.NDArray[Any]

__all__ = ["Info", "build_index", "decode", "peek"]


class Info(NamedTuple):
    """What a JPEG file says of itself.

    ``height`` and ``width`` are in pixels, of the picture as ``decode`` delivers it. ``channels``
    are those of the file: 1, 3 or 4. ``orientation`` is that of EXIF, 1 to 8. ``dtype`` is "uint8",
    or "uint16" for lossless files of more bits. ``is_plain``: whether it is a baseline file for
    Stoker's own decoder, which may have an index.
    """

    height: int
    width: int
    channels: int
    orientation: int
    dtype: str
    is_progressive: bool
    is_plain: bool


def peek(data: Buffer, *, adjust_orientation: bool = True) -> Info:
    """Reads the header of a JPEG file; ``data`` may end behind it.

    With ``adjust_orientation``, the extents are those of the picture as EXIF turns it. Raises
    ``SampleError`` where the bytes are no JPEG file, or the header is damaged.
    """
    return Info(**_core.jpeg_info(data, _request(ImageType.ANY_DATA, adjust_orientation)))


def decode(
    data: Buffer,
    window: Sequence[int] | None = None,
    size: Sequence[int] | None = None,
    *,
    mode: Literal["strict"] = "strict",
    output_type: ImageType | str = ImageType.RGB,
    adjust_orientation: bool = True,
    index: Buffer | None = None,
) -> Pixels:
    """Decodes a JPEG file, or a window of it, to an array of shape (height, width, channels).

    The array is uint8 from 0 to 255 (uint16 for lossless files of more bits), and is the caller's.

    ``window`` is (y0, x0, y1, x1) in pixels of the picture as it is delivered, without the row y1
    and the column x1: 0 <= y0 < y1 <= height, 0 <= x0 < x1 <= width. The pixels are those that the
    whole picture has there; only what they need is decoded. ``size`` is the (height, width), each 1
    to 65500, to which the window is then resized, as ``fn.resize`` does it: linear, with
    antialiasing.

    ``mode`` is "strict": the bytes of libjpeg-turbo's accurate decoding. ``output_type`` is
    types.RGB, BGR, GRAY, YCbCr, or ANY_DATA for the file's own channels. With
    ``adjust_orientation`` the picture is turned as EXIF says.

    ``index`` is what ``build_index`` gave for these bytes. No pixel depends on it.

    Raises ``SampleError`` for damage down to the window's last row, for bytes that are no JPEG
    file, and for an index that is damaged or of another file; ``ValueError`` for arguments that
    cannot be.
    """
    import numpy

    if mode != "strict":
        raise ValueError(f"mode is {mode!r}, expected 'strict'")
    request = _request(ImageType(output_type), adjust_orientation, window, size)
    if request["output_type"] == "CLASSES":
        raise ValueError("output_type is CLASSES, which JPEG cannot hold")
    shape, dtype = _core.jpeg_output(data, request)
    pixels = numpy.empty(shape, dtype)
    _core.jpeg_decode(data, request, index, pixels)
    return pixels


def build_index(data: Buffer, *, every: int = 16) -> bytes:
    """Makes the index of a JPEG file, with which ``decode`` can begin at a window.

    It has a place for the first MCU (8x8 to 32x32 pixels) of each row of MCUs, and for every
    ``every`` MCUs behind it, from 1 to 8188; 0: for no other. More places are more bytes, 10 for
    each in a file of colours, and less to read beside a window. It costs about as much as decoding
    the file. It is tied to the bytes of the file by their number and a hash.

    Raises ``SampleError`` where the file cannot have one: it is progressive or damaged.
    ``ValueError`` for an ``every`` that cannot be.
    """
    if not 0 <= every <= 8188:
        raise ValueError(f"every is {every}, expected 0 to 8188")
    return _core.jpeg_index(data, every)


def _request(
    output_type: ImageType,
    adjust_orientation: bool,
    window: Sequence[int] | None = None,
    size: Sequence[int] | None = None,
) -> dict[str, Any]:
    return {
        "output_type": output_type.value,
        "adjust_orientation": adjust_orientation,
        "window": _numbers("window", window, "y0, x0, y1, x1"),
        "size": _numbers("size", size, "height, width"),
    }


def _numbers(name: str, given: Sequence[int] | None, expected: str) -> tuple[int, ...] | None:
    if given is None:
        return None
    numbers = tuple(int(n) for n in given)
    if len(numbers) != expected.count(",") + 1:
        raise ValueError(f"{name} is {given!r}, expected ({expected})")
    return numbers
