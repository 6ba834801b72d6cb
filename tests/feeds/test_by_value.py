# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Functions that cannot be imported, sent to worker processes by value."""

from __future__ import annotations

import pickle
import threading
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from helpers import make
from stoker import fn
from stoker._sources import by_value

BATCH = 4


def test_functions_that_cannot_be_imported_go_by_value() -> None:
    offset = 7

    def inner(count: int) -> int:
        return count if count == 0 else inner(count - 1) + 1  # refers to itself

    def source(index: int, *, more: int = 1) -> Any:
        return np.full((BATCH, 1), index + offset + inner(3) + more)

    pipe = make(
        lambda: fn.external_source(source, parallel=True),
        batch_size=BATCH,
        py_num_workers=1,
        py_start_method="spawn",
    )
    assert [pipe.run()[0].as_array()[0, 0] for _ in range(2)] == [11, 12]
    pipe.close()
    assert by_value.pickle_by_value(source) is source
    with pytest.raises(TypeError, match="expects a function, got a int"):
        by_value.pickle_by_value(3)
    again = pickle.loads(by_value.dumps(by_value.pickle_by_value(make_by_value)))
    assert again is not make_by_value and again(2) == make_by_value(2)


def make_by_value(times: int) -> list[float]:
    return [np.sqrt(k) for k in range(times)]


lock = threading.Lock()  # which cannot be pickled


def test_attributes_are_not_taken_for_variables_of_the_module() -> None:
    def read(door: Any) -> Any:
        class Room:
            depth = len([door.lock for _ in range(BATCH)])

        return Room.depth, door.lock

    again = pickle.loads(by_value.dumps(read))
    assert again(SimpleNamespace(lock=3)) == (BATCH, 3)
