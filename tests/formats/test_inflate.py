# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""`decoders.inflate`: which damage fails a sample."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from helpers import make
from stoker import fn
from stoker.errors import SampleError

EXECUTORS = ("simple", "pipelined")
CHUNK = bytes([32, 1, 2])  # a block of LZ4 with two literals


def of_chunks(*chunks: bytes, then: Any) -> Any:
    data = np.frombuffer(b"".join(chunks), np.uint8)

    def define() -> Any:
        encoded = fn.external_source(source=lambda: [data], ndim=1, dtype="uint8")
        sizes = [len(c) for c in chunks]
        return then(fn.decoders.inflate(encoded, chunk_sizes=sizes, shape=2, dtype="uint8"))

    return define


@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_damaged_chunk_that_nobody_needs_fails_nothing(executor: str) -> None:
    damaged = bytes([255, 255, 255])
    first = make(of_chunks(CHUNK, damaged, then=lambda x: x[0:1]), executor=executor)
    np.testing.assert_array_equal(first.run()[0].at(0), [[1, 2]])
    zeros = make(of_chunks(CHUNK, damaged, then=fn.zeros_like), executor=executor)
    np.testing.assert_array_equal(zeros.run()[0].at(0), np.zeros((2, 2)))
    whole = make(of_chunks(CHUNK, damaged, then=lambda x: x), executor=executor)
    with pytest.raises(SampleError, match="LZ4 data is damaged"):
        whole.run()
