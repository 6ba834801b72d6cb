# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Where the epochs of an iterator end. Pure counting: no pipeline, no framework.

What is counted depends on how the samples are dealt (``io/order.h``). Contiguous shards have one
count each, because their sizes differ; everything else has a single count, of which a step takes
the batches of all shards together. All ranks count alike, so all of them make equally many steps.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from enum import Enum
from typing import Any, Literal, NamedTuple

from stoker import _state_entries
from stoker.errors import GraphError, StateError

ITERATORS = "an iterator's"  # state, in messages
EpochEnd = Literal["continue", "pad", "drop"]


class LastBatchPolicy(Enum):
    """What becomes of the last batch of an epoch where the samples do not fill it."""

    FILL = 0
    """It is given full: with the padding, or with the first samples of the next epoch."""
    DROP = 1
    """It is left out."""
    PARTIAL = 2
    """It is given short; on a shard that has no sample left it is empty."""


class Counted(NamedTuple):
    """What is counted. Values.

    - ``sizes``: samples in an epoch, of each count.
    - ``stride``: how many of them a step takes, of each count.
    - ``batch_size``: samples in a batch.
    - ``end``: how the end of an epoch meets the batches: the next epoch's samples, repeats, or no
      such batch.
    - ``rotates``: whether contiguous shards move on to the next one's samples in every epoch.
    """

    sizes: tuple[int, ...]
    stride: int
    batch_size: int
    end: EpochEnd = "continue"
    rotates: bool = False


def shard_sizes(size: int, shards: int) -> tuple[int, ...]:
    """How many of the samples each shard has."""
    bounds = [s * size // shards for s in range(shards + 1)]
    return tuple(b - a for a, b in itertools.pairwise(bounds))


def counted_of_reader(order: Mapping[str, Any], shards: int, batch_size: int) -> Counted:
    """What is counted of a reader whose order is described as in a pipeline's state."""
    size, end = int(order["size"]), order["epoch_end"]
    if "num_shards" not in order:  # dealt in turn
        return Counted((size,), batch_size * shards, batch_size, end)
    return Counted(
        shard_sizes(size, shards), batch_size, batch_size, end, not order["stick_to_shard"]
    )


class Epochs:
    """Counts steps and says how much of each batch belongs to the epoch.

    ``number`` is the epoch, ``taken`` what its steps have used of each count, ``carry`` what of it
    was used by the epoch before, to fill its last batch.
    """

    def __init__(self, counted: Counted, policy: LastBatchPolicy) -> None:
        self._counted = counted
        self._policy = policy
        self._number = 0
        self._carry = [0] * len(counted.sizes)
        self._taken = list(self._carry)
        if self.steps == 0:
            raise GraphError(
                f"an epoch would have no batch: last_batch_policy={policy.name} leaves out what "
                f"does not fill batches of {counted.batch_size}, "
                f"and an epoch has {min(counted.sizes)} samples for {counted.stride} in a step"
            )

    @property
    def steps(self) -> int:
        """Steps of this epoch, those behind included."""
        return self._steps_after(self._carry)

    @property
    def steps_left(self) -> int:
        """Steps of this epoch that are to come."""
        return self._steps_after(self._taken)

    @property
    def number(self) -> int:
        """The epoch that the next step belongs to."""
        return self._number + (self.steps_left == 0)

    @property
    def is_begun(self) -> bool:
        """Whether a step of this epoch was made."""
        return self._taken != self._carry

    def keep(self, shard: int) -> int:
        """How many samples of a shard's coming batch are to be given."""
        batch_size = self._counted.batch_size
        if self._policy is not LastBatchPolicy.PARTIAL or self._counted.end == "drop":
            return batch_size
        if len(self._taken) == 1:
            left = self._counted.sizes[0] - self._taken[0] - shard * batch_size
        else:
            left = self._sizes()[shard] - self._taken[shard]
        return max(0, min(left, batch_size))

    def step(self) -> None:
        """Counts one step."""
        self._taken = [t + self._counted.stride for t in self._taken]

    def steps_to_drop(self) -> int:
        """How many steps the pipeline makes before the next epoch that are not to be given."""
        if self._counted.end == "drop":
            return 0
        sizes = self._sizes()  # padded shards are all as long as the longest
        end = max(sizes) if self._counted.end == "pad" else min(sizes)
        return max(0, -(-(end - max(self._taken)) // self._counted.stride))

    def begin_next(self) -> None:
        """Begins the next epoch, after the steps to drop were made."""
        self._begin_next()
        while self.steps == 0:  # the last batch was filled with more than the next epoch has
            self._begin_next()

    def end_early(self) -> None:
        """Begins the next epoch where the pipeline itself ended this one."""
        self._number += 1
        self._carry = [0] * len(self._taken)
        self._taken = list(self._carry)

    def go_to(self, cursor: int) -> None:
        """Goes to where a reader's order stands; ``cursor`` as in a pipeline's state.

        Exact if all that came before was made with the same policy and batch size.
        """
        sizes, stride = self._counted.sizes, self._counted.stride
        if self._counted.end != "continue":
            length = max(sizes) if self._counted.end == "pad" else min(sizes)
            self._number, offset = divmod(cursor, length)
            if self._counted.end == "drop" and length - offset < stride:
                self._number, offset = self._number + 1, 0
        elif self._policy is not LastBatchPolicy.FILL:
            length = min(sizes) if self._policy is LastBatchPolicy.DROP else max(sizes)
            self._number, offset = divmod(cursor, -(-length // stride) * stride)
        elif len(sizes) == 1:
            self._number, offset = divmod(cursor, sizes[0])
        else:
            self._fill_up_to(cursor)
            return
        self._carry = [0] * len(sizes)
        self._taken = [offset] * len(sizes)
        if self._counted.end == "continue" and self._policy is LastBatchPolicy.FILL:
            self._carry = [offset % stride]

    def state(self) -> dict[str, Any]:
        """A small dict that JSON can hold."""
        return {"epoch": self._number, "carry": list(self._carry), "taken": list(self._taken)}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Goes to where ``state()`` was taken. Raises ``StateError`` if it does not fit."""
        number = _state_entries.count(state, "epoch", ITERATORS)
        carry, taken = (_state_entries.numbers(state, key, ITERATORS) for key in ("carry", "taken"))
        if len(taken) != len(self._taken) or len(carry) != len(self._carry):
            raise StateError(
                f"the state counts the samples of {len(taken)} contiguous shards, "
                f"this iterator those of {len(self._taken)}"
            )
        self._number, self._carry, self._taken = number, carry, taken

    def _sizes(self) -> list[int]:
        """The samples of each shard in this epoch."""
        sizes = self._counted.sizes
        turn = self._number if self._counted.rotates else 0
        return [sizes[(s + turn) % len(sizes)] for s in range(len(sizes))]

    def _steps_after(self, taken: list[int]) -> int:
        stride, sizes = self._counted.stride, self._sizes()
        if self._policy is LastBatchPolicy.DROP or self._counted.end == "drop":
            return max(0, min(s - t for s, t in zip(sizes, taken, strict=True)) // stride)
        return max(0, -(-(max(sizes) - max(taken)) // stride))

    def _begin_next(self) -> None:
        if self._policy is LastBatchPolicy.FILL and self._counted.end == "continue":
            sizes = self._sizes()
            if not self._counted.rotates:  # what a shard has less than another it repeats
                sizes = [max(sizes)] * len(sizes)
            self._taken = [t - s for t, s in zip(self._taken, sizes, strict=True)]
        else:
            self._taken = [0] * len(self._taken)
        self._carry = list(self._taken)
        self._number += 1

    def _fill_up_to(self, cursor: int) -> None:
        self._number, behind = 0, 0
        self._carry = [0] * len(self._carry)
        self._taken = list(self._carry)
        while behind + (length := self.steps * self._counted.stride) <= cursor:
            behind += length
            self._taken = [t + length for t in self._taken]
            self.begin_next()
        self._taken = [t + cursor - behind for t in self._taken]
