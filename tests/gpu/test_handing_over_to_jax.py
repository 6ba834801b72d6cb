# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""JAX takes batches on a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
from counting import counting, expected


def test_jax_takes_batches(jax: Any) -> None:
    from stoker.jax import DataIterator

    for number, step in zip(range(5), DataIterator(counting(), ["x"]), strict=False):
        assert {d.platform for d in step["x"].devices()} == {"gpu"}
        np.testing.assert_array_equal(np.asarray(step["x"]), expected(number))
