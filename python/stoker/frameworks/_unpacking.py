# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Sees whether a loop takes the steps of an iterator apart, as ``for x, y in iterator`` does.

A step that is a dict would then give its names in the place of its tensors, without an error.
"""

from __future__ import annotations

import opcode
from collections.abc import Iterator
from types import FrameType


def names_in_loop(frame: FrameType) -> int:
    """How many names the ``for`` that begins here unpacks each element into; 0 if it does not.

    Only the bytecode tells this. It is 0 as well for whatever this does not know.
    """
    operations = _operations_from(frame.f_code.co_code, frame.f_lasti)
    begins = [next(operations, ("", 0)) for _ in range(3)]
    names = [name for name, _ in begins]
    return begins[2][1] if names == ["GET_ITER", "FOR_ITER", "UNPACK_SEQUENCE"] else 0


def _operations_from(code: bytes, at: int) -> Iterator[tuple[str, int]]:
    """The operations of bytecode with their arguments, without those that only belong to others."""
    high = 0
    for place in range(at, len(code), 2):
        name, argument = opcode.opname[code[place]], code[place + 1] | high
        if name == "EXTENDED_ARG":
            high = argument << 8
        elif name != "CACHE":
            yield name, argument
            high = 0
