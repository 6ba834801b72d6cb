# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Writes stores that people have, by little code that shares nothing with Stoker.

The demo writes its pictures with it, and tests what they need much of.
"""

from __future__ import annotations

import functools
import operator
import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.uint32]
MAGIC = struct.pack("<I", 0xCED7230A)  # of RecordIO


_LANE = 256  # bytes


def crc32c(data: bytes) -> int:
    """The checksum, where lanes of bytes are gone through side by side."""
    rest = len(data) % _LANE
    crc = 0xFFFFFFFF
    for byte in data[:rest]:
        crc = int(_TABLE[(crc ^ byte) & 0xFF]) ^ (crc >> 8)
    lanes = np.frombuffer(data, np.uint8, offset=rest).reshape(-1, _LANE)
    sums = np.zeros(len(lanes), np.uint32)
    for column in np.ascontiguousarray(lanes.T):
        sums = _TABLE[(sums ^ column) & 0xFF] ^ (sums >> 8)
    for lane in sums.tolist():
        by_byte = zip(_ZEROS, crc.to_bytes(4, "little"), strict=True)
        crc = functools.reduce(operator.xor, (table[byte] for table, byte in by_byte), lane)
    return crc ^ 0xFFFFFFFF


def _table() -> Numbers:
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = (table >> 1) ^ np.where(table & 1, np.uint32(0x82F63B78), np.uint32(0))
    return table


def _zeros() -> list[list[int]]:
    """By byte of a checksum and its value: what a lane of zeros makes of it."""
    tables = []
    for byte in range(4):
        crc = np.arange(256, dtype=np.uint32) << np.uint32(8 * byte)
        for _ in range(_LANE):
            crc = _TABLE[crc & 0xFF] ^ (crc >> 8)
        tables.append(crc.tolist())
    return tables


_TABLE = _table()
_ZEROS = _zeros()


def tfrecord(payloads: Sequence[bytes]) -> tuple[bytes, list[tuple[int, int]]]:
    """A file of TFRecord, and the offset and size of each record in it."""

    def masked(data: bytes) -> bytes:
        crc = crc32c(data)
        return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)

    file, places = bytearray(), []
    for payload in payloads:
        length = struct.pack("<Q", len(payload))
        record = length + masked(length) + payload + masked(payload)
        places.append((len(file), len(record)))
        file += record
    return bytes(file), places


def recordio(payloads: Sequence[bytes]) -> tuple[bytes, list[tuple[int, int]]]:
    """A file of RecordIO, and the offset and size of each record in it."""
    file, places = bytearray(), []
    for payload in payloads:
        cuts = [i for i in range(0, len(payload) - 3, 4) if payload[i : i + 4] == MAGIC]
        parts, begin = [], 0
        for cut in cuts:
            parts.append(payload[begin:cut])
            begin = cut + 4
        parts.append(payload[begin:])
        record = b""
        for i, part in enumerate(parts):
            last = i == len(parts) - 1
            flag = 0 if len(parts) == 1 else 1 if i == 0 else 3 if last else 2
            record += MAGIC + struct.pack("<I", flag << 29 | len(part))
            record += part + bytes(-len(part) % 4)
        places.append((len(file), len(record)))
        file += record
    return bytes(file), places


def picture_record(index: int, labels: Sequence[float], picture: bytes) -> bytes:
    """A record of RecordIO as MXNet packs it."""
    if len(labels) == 1:
        return struct.pack("<IfQQ", 0, labels[0], index, 0) + picture
    head = struct.pack("<IfQQ", len(labels), 0, index, 0)
    return head + struct.pack(f"<{len(labels)}f", *labels) + picture


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def field(number: int, value: int | bytes) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def feature(value: Any) -> bytes:
    """A feature of bytes, of floats or of whole numbers, by the type of the first value."""
    if value and isinstance(value[0], bytes):
        return field(1, b"".join(field(1, v) for v in value))
    if value and isinstance(value[0], float):
        return field(2, field(1, struct.pack(f"<{len(value)}f", *value)))
    return field(3, field(1, b"".join(map(varint, value))))


def example(features: Mapping[str, Any]) -> bytes:
    """A ``tf.train.Example``."""
    entries = [field(1, name.encode()) + field(2, feature(v)) for name, v in features.items()]
    return field(1, b"".join(field(1, entry) for entry in entries))


def datum(picture: bytes, label: int) -> bytes:
    """A ``Datum`` of Caffe with an encoded picture."""
    return field(4, picture) + field(5, label) + field(7, 1)


def tensors(picture: bytes, label: int) -> bytes:
    """``TensorProtos`` of Caffe2 with an encoded picture and a label."""
    first = field(2, 4) + field(6, picture)
    second = field(1, 1) + field(2, 2) + field(4, label)
    return field(1, first) + field(1, second)


def lmdb(
    values: Mapping[bytes, bytes], page: int = 4096, most_in_leaf: int = 1024
) -> tuple[bytes, dict[bytes, int]]:
    """A database of LMDB whose keys fit into one leaf, and the offset of each value.

    Values with more than ``most_in_leaf`` bytes have pages of their own.
    """
    leaf = 2
    items = sorted(values.items())
    nodes, large, offsets = [], bytearray(), {}
    first = leaf + 1  # the page of the next large value
    for key, value in items:
        if len(value) > most_in_leaf:
            count = -(-(16 + len(value)) // page)
            data = struct.pack("<QHHI", first, 0, 4, count) + value
            large += data.ljust(count * page, b"\0")
            offsets[key] = first * page + 16
            body, flags = struct.pack("<Q", first), 1
            first += count
        else:
            body, flags = value, 0
        nodes.append((key, len(value), flags, body))
    lower, upper, places, inside = 16 + 2 * len(nodes), page, b"", bytearray(page)
    for key, size, flags, body in nodes:
        node = struct.pack("<IHH", size, flags, len(key)) + key + body
        upper -= len(node) + len(node) % 2
        assert upper >= lower, "the keys do not fit into one page"
        inside[upper : upper + len(node)] = node
        places += struct.pack("<H", upper)
        if not flags:
            offsets[key] = leaf * page + upper + 8 + len(key)
    inside[:lower] = struct.pack("<QHHHH", leaf, 0, 2, lower, upper) + places
    none = (1 << 64) - 1
    file = b""
    for number in (0, 1):
        meta = struct.pack("<QHHI", number, 0, 8, 0)
        meta += struct.pack("<IIQQ", 0xBEEFC0DE, 1, 0, first * page)
        meta += struct.pack("<IHHQQQQQ", page, 0, 0, 0, 0, 0, 0, none)
        root = leaf if items else none
        meta += struct.pack("<IHHQQQQQ", 0, 0, 1, 0, 1, first - leaf - 1, len(items), root)
        meta += struct.pack("<QQ", first - 1, number + 1)
        file += meta.ljust(page, b"\0")
    return file + bytes(inside) + large, offsets
