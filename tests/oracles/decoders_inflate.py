# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""decoders.inflate, by the packages lz4, zstandard and zlib."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import lz4.block
import lz4.frame
import numpy as np
import zstandard

from .common import Array, numbers


def raw(data: bytes) -> bytes:
    packer = zlib.compressobj(6, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


def lz4_block(data: bytes) -> bytes:
    return bytes(lz4.block.compress(data, store_size=False))


PACK: dict[str, Callable[[bytes], bytes]] = {
    "LZ4": lz4_block,
    "zstd": zstandard.ZstdCompressor().compress,
    "zlib": zlib.compress,
    "gzip": gzip.compress,
    "deflate": raw,
}


def unpacked(algorithm: str, data: bytes, most: int) -> bytes:
    if algorithm == "LZ4":
        if data[:4] == b"\x04\x22\x4d\x18":
            return bytes(lz4.frame.decompress(data))
        return bytes(lz4.block.decompress(data, uncompressed_size=most))
    if algorithm == "zstd":
        return zstandard.ZstdDecompressor().stream_reader(io.BytesIO(data)).read()
    if algorithm == "gzip":
        return gzip.decompress(data)
    return zlib.decompress(data, 15 if algorithm == "zlib" else -15)


def expected(
    inputs: list[Array],
    _: str,
    /,
    shape: Any,
    dtype: str = "uint8",
    algorithm: str = "LZ4",
    chunk_offsets: Any = None,
    chunk_sizes: Any = None,
    layout: str = "",
    sequence_axis_name: str = "F",
) -> Array:
    del layout, sequence_axis_name
    data = inputs[0].tobytes()
    extents = tuple(np.atleast_1d(shape).tolist())
    most = int(np.prod(extents)) * np.dtype(dtype).itemsize

    def array(piece: bytes) -> Array:
        return np.frombuffer(unpacked(algorithm, piece, most), dtype).reshape(extents)

    if chunk_offsets is None and chunk_sizes is None:
        return array(data)
    if chunk_offsets is None:
        chunk_offsets = np.cumsum([0, *chunk_sizes])[:-1].tolist()
    ends = [*chunk_offsets[1:], len(data)]
    if chunk_sizes is not None:
        ends = [o + s for o, s in zip(chunk_offsets, chunk_sizes, strict=True)]
    return np.stack([array(data[b:e]) for b, e in zip(chunk_offsets, ends, strict=True)])


def generate(rng: np.random.Generator) -> Iterator[tuple[list[Array], str, dict[str, Any]]]:
    # An LZ4 block of 8 plain bytes, which are also a deflate stream of 8 times "a".
    both = np.array([128, 1, 0, 254, 255, 97, 131, 2, 0], np.uint8)
    for algorithm in ("LZ4", "deflate"):
        yield [both], "", {"shape": [8], "algorithm": algorithm}
    for algorithm, pack in PACK.items():
        for dtype, shape in (("uint8", [40, 50, 3]), ("float32", [33, 7]), ("int16", [1])):
            smooth = np.cumsum(numbers(rng, shape, "int8"), axis=0).astype(dtype)
            file = np.frombuffer(pack(smooth.tobytes()), np.uint8)
            yield [file], "", {"shape": shape, "dtype": dtype, "algorithm": algorithm}
        chunks = [pack(numbers(rng, (4, 6), "uint16").tobytes()) for _ in range(3)]
        sizes = [len(c) for c in chunks]
        offsets = [0, sizes[0], sizes[0] + sizes[1]]
        file = np.frombuffer(b"".join(chunks), np.uint8)
        call = {"shape": [4, 6], "dtype": "uint16", "algorithm": algorithm}
        yield [file], "", {**call, "chunk_offsets": offsets}
        yield [file], "", {**call, "chunk_sizes": sizes}
        yield [file], "", {**call, "chunk_offsets": offsets[::-1], "chunk_sizes": sizes[::-1]}
    yield [file], "", {**call, "chunk_sizes": sizes, "layout": "HW", "sequence_axis_name": "D"}
    frame = lz4.frame.compress(bytes(range(100)) * 900, block_size=lz4.frame.BLOCKSIZE_MAX64KB)
    yield [np.frombuffer(frame, np.uint8)], "", {"shape": [900, 100]}
    members = gzip.compress(b"ab" * 50) + gzip.compress(b"c" * 20)
    file = np.frombuffer(members, np.uint8)
    yield [file], "", {"shape": [120], "algorithm": "gzip"}


def refused() -> Iterator[tuple[list[Array], str, dict[str, Any], str]]:
    for algorithm, pack in PACK.items():
        file = np.frombuffer(pack(bytes(range(200))), np.uint8)
        call = {"algorithm": algorithm}
        few = "more than 100" if algorithm == "LZ4" else "more than 100 bytes, expected 100"
        yield [file], "", {**call, "shape": [100]}, few
        yield [file], "", {**call, "shape": [201]}, "only 200 bytes, expected 201"
        yield [file[:-1]], "", {**call, "shape": [200]}, "damaged"
    file = np.zeros(9, np.uint8)
    chunks = {"shape": [2], "chunk_sizes": [4, 6]}
    yield [file], "", chunks, "chunk 1 has 6 bytes from 4 on, but the data has 9"
    yield [file], "", {"shape": [2], "layout": "HW"}, "'layout' is 'HW', but argument 'shape' has 1"
    yield [file], "", {"shape": [2], "sequence_axis_name": "FG"}, "expected one letter"
