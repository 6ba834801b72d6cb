# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Decodes by the system's own libraries, with nothing around them but ctypes.

Packages on PyPI bring other releases of these libraries than the system, so their times say little
about what Stoker adds to the library that it was built with. Here is the least that anyone could
do with that library: what it decodes is not even made into rows of pixels.
"""

from __future__ import annotations

import ctypes
import tempfile
from collections.abc import Callable
from ctypes import byref, c_char_p, c_int, c_int64, c_size_t, c_uint32, c_void_p
from typing import Any

import numpy as np


def library(name: str, functions: dict[str, tuple[Any, list[Any]]]) -> Any | None:
    """Opens it and declares the functions' results and arguments. None where it is not there."""
    try:
        opened = ctypes.CDLL(name)
    except OSError:
        return None
    for function, (result, arguments) in functions.items():
        getattr(opened, function).restype = result
        getattr(opened, function).argtypes = arguments
    return opened


def check(condition: object) -> None:
    if not condition:
        raise RuntimeError("the library cannot decode it")


def in_memory(file: bytes) -> Any:
    kept = tempfile.NamedTemporaryFile(dir="/dev/shm")  # noqa: SIM115, it is returned
    kept.write(file)
    kept.flush()
    return kept


def jpeg_2000(file: bytes) -> Callable[[], bool] | None:
    p = c_void_p
    opj = library(
        "libopenjp2.so.7",
        {
            "opj_create_decompress": (p, [c_int]),
            "opj_destroy_codec": (None, [p]),
            "opj_set_default_decoder_parameters": (None, [p]),
            "opj_setup_decoder": (c_int, [p, p]),
            "opj_stream_create_default_file_stream": (p, [c_char_p, c_int]),
            "opj_stream_destroy": (None, [p]),
            "opj_read_header": (c_int, [p, p, p]),
            "opj_decode": (c_int, [p, p, p]),
            "opj_end_decompress": (c_int, [p, p]),
            "opj_image_destroy": (None, [p]),
        },
    )
    if opj is None:
        return None
    is_code_stream = file.startswith(b"\xff\x4f\xff\x51")
    kept = in_memory(file)
    parameters = ctypes.create_string_buffer(16384)  # larger than the structure

    def decode() -> bool:
        stream = opj.opj_stream_create_default_file_stream(kept.name.encode(), 1)
        codec = opj.opj_create_decompress(0 if is_code_stream else 2)
        opj.opj_set_default_decoder_parameters(parameters)
        check(opj.opj_setup_decoder(codec, parameters))
        image = p()
        check(opj.opj_read_header(stream, codec, byref(image)))
        check(opj.opj_decode(codec, stream, image))
        check(opj.opj_end_decompress(codec, stream))
        opj.opj_image_destroy(image)
        opj.opj_destroy_codec(codec)
        opj.opj_stream_destroy(stream)
        return True

    return decode


class JxlPixelFormat(ctypes.Structure):
    _fields_ = (
        ("channels", c_uint32),
        ("type", c_int),
        ("endianness", c_int),
        ("align", c_size_t),
    )


def jpeg_xl(file: bytes) -> Callable[[], bool] | None:
    p = c_void_p
    jxl = library(
        "libjxl.so.0.7",
        {
            "JxlDecoderCreate": (p, [p]),
            "JxlDecoderDestroy": (None, [p]),
            "JxlDecoderSubscribeEvents": (c_int, [p, c_int]),
            "JxlDecoderSetInput": (c_int, [p, c_char_p, c_size_t]),
            "JxlDecoderProcessInput": (c_int, [p]),
            "JxlDecoderImageOutBufferSize": (c_int, [p, p, p]),
            "JxlDecoderSetImageOutBuffer": (c_int, [p, p, p, c_size_t]),
        },
    )
    if jxl is None:
        return None
    full_image, need_buffer, uint8 = 0x1000, 5, 2
    rgb = JxlPixelFormat(3, uint8, 0, 0)

    def decode() -> bool:
        decoder = jxl.JxlDecoderCreate(None)
        jxl.JxlDecoderSubscribeEvents(decoder, full_image)
        jxl.JxlDecoderSetInput(decoder, file, len(file))
        check(jxl.JxlDecoderProcessInput(decoder) == need_buffer)
        size = c_size_t()
        jxl.JxlDecoderImageOutBufferSize(decoder, byref(rgb), byref(size))
        pixels = np.empty(size.value, np.uint8)
        jxl.JxlDecoderSetImageOutBuffer(decoder, byref(rgb), pixels.ctypes.data, size)
        check(jxl.JxlDecoderProcessInput(decoder) == full_image)
        jxl.JxlDecoderDestroy(decoder)
        return True

    return decode


class SfInfo(ctypes.Structure):
    _fields_ = (
        ("frames", c_int64),
        ("rate", c_int),
        ("channels", c_int),
        ("format", c_int),
        ("sections", c_int),
        ("seekable", c_int),
    )


def sound(file: bytes) -> Callable[[], bool] | None:
    p = c_void_p
    sndfile = library(
        "libsndfile.so.1",
        {
            "sf_open": (p, [c_char_p, c_int, p]),
            "sf_readf_float": (c_int64, [p, p, c_int64]),
            "sf_close": (c_int, [p]),
        },
    )
    if sndfile is None:
        return None
    kept = in_memory(file)

    def decode() -> bool:
        info = SfInfo()
        opened = sndfile.sf_open(kept.name.encode(), 0x10, byref(info))
        check(opened)
        samples = np.empty((info.frames, info.channels), np.float32)
        check(sndfile.sf_readf_float(opened, samples.ctypes.data, info.frames) == info.frames)
        sndfile.sf_close(opened)
        return True

    return decode


PICTURES = {"JPEG 2000": jpeg_2000, "JPEG XL": jpeg_xl}
