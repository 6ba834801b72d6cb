# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Batches on a GPU as arrays of JAX's own: it copies them there.

An array on a batch's own memory would be let go too early. Where JAX drops it, and all that share
its memory, work that reads it may still be enqueued, and the stream that JAX tells of by DLPack is
not the one of that work.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from stoker import Batch, Tensor

_ALIGNED = 16  # bytes: XLA takes no other inputs

_Pair = tuple[jax.Array, jax.Array]


class Copies:
    """Copies in a GPU's memory, and what they are made from, which is kept until they are there.

    Nothing waits for a copy of the last step. ``copy`` gives an array's copy, and a second array
    that is ready when that is made.
    """

    def __init__(self, copy: Callable[[jax.Array], _Pair] | None = None) -> None:
        self._copy = _copied if copy is None else copy
        self._steps: deque[list[_Pair]] = deque([[]])  # what is copied, and the second array
        weakref.finalize(self, _let_go, self._steps, 0)

    def begin_step(self) -> None:
        """Lets go of the steps that are copied. Waits for those before the last one."""
        _let_go(self._steps, 1)
        if all(made.is_ready() for _, made in self._steps[0]):
            self._steps.clear()
        self._steps.append([])

    def of(self, data: Batch | Tensor) -> jax.Array:
        """A copy of what is in a GPU's memory. Waits for nothing, if that is aligned to 16 bytes.

        Of another alignment it waits for a first copy, which is.
        """
        source = jax.dlpack.from_dlpack(_aligned(data))
        copy, made = self._copy(source)
        self._steps[-1].append((source, made))
        return copy


def _let_go(steps: deque[list[_Pair]], left: int) -> None:
    """Of all steps but the ``left`` last ones, once they are copied."""
    while len(steps) > left:
        step = steps.popleft()
        for _, made in step:
            made.block_until_ready()


def _copy_and_mark(array: jax.Array) -> _Pair:
    # Both are of one computation. The first may be deleted or donated by whom it is given to.
    return jnp.copy(array), jnp.zeros((), jnp.int8)


_copied = jax.jit(_copy_and_mark)


class _AlignedCopy:
    """What DLPack gives a copy of, in memory of its own."""

    def __init__(self, data: Tensor) -> None:
        self._data = data

    def __dlpack__(self, **options: Any) -> Any:
        return self._data.__dlpack__(**{**options, "copy": True})

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._data.__dlpack_device__()


def _aligned(data: Batch | Tensor) -> Tensor | _AlignedCopy:
    tensor = data.as_tensor() if isinstance(data, Batch) else data
    return _AlignedCopy(tensor) if tensor.data_ptr % _ALIGNED else tensor
