# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Copies batches on a GPU into arrays in JAX's own memory on that GPU.

An array on the batch's own memory could be freed too early. When JAX drops the last array on some
memory, work that reads the memory may still be enqueued, and that work runs on another stream than
the one that JAX tells through DLPack.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from stoker import Batch, Tensor

_ALIGNED = 16  # the alignment in bytes that XLA requires of its inputs

_Pair = tuple[jax.Array, jax.Array]


class Copies:
    """Makes copies in a GPU's memory, and keeps each original until its copy is complete.

    Nothing waits for a copy of the last step. ``copy`` returns the copy of an array and a second
    array that is ready once the copy is complete.
    """

    def __init__(self, copy: Callable[[jax.Array], _Pair] | None = None) -> None:
        self._copy = _copied if copy is None else copy
        # For each step the originals, each with the array that is ready once it is copied.
        self._steps: deque[list[_Pair]] = deque([[]])
        weakref.finalize(self, _let_go, self._steps, 0)

    def begin_step(self) -> None:
        """Drops the originals of steps that are copied. Waits for all steps but the last."""
        _let_go(self._steps, 1)
        if all(made.is_ready() for _, made in self._steps[0]):
            self._steps.clear()
        self._steps.append([])

    def of(self, data: Batch | Tensor) -> jax.Array:
        """A copy of data in a GPU's memory.

        Data that is not aligned to 16 bytes is copied twice; the call waits for the first copy,
        which is aligned. For aligned data it waits for nothing.
        """
        source = jax.dlpack.from_dlpack(_aligned(data))
        copy, made = self._copy(source)
        self._steps[-1].append((source, made))
        return copy


def _let_go(steps: deque[list[_Pair]], left: int) -> None:
    """Drops all steps but the ``left`` last ones, once they are copied."""
    while len(steps) > left:
        step = steps.popleft()
        for _, made in step:
            made.block_until_ready()


def _copy_and_mark(array: jax.Array) -> _Pair:
    # One computation makes both arrays, so both are ready together. The user may delete or donate
    # the first.
    return jnp.copy(array), jnp.zeros((), jnp.int8)


_copied = jax.jit(_copy_and_mark)


class _AlignedCopy:
    """A tensor that DLPack hands out as a copy in memory of its own."""

    def __init__(self, data: Tensor) -> None:
        self._data = data

    def __dlpack__(self, **options: Any) -> Any:
        return self._data.__dlpack__(**{**options, "copy": True})

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._data.__dlpack_device__()


def _aligned(data: Batch | Tensor) -> Tensor | _AlignedCopy:
    tensor = data.as_tensor() if isinstance(data, Batch) else data
    return _AlignedCopy(tensor) if tensor.data_ptr % _ALIGNED else tensor
