# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Computes where the epochs of an iterator end, without a pipeline or a framework.

The counting depends on how the samples are dealt (``io/order/order.h``). Contiguous shards differ
in size, so each has its own count. Samples dealt in any other way have a single count, from which a
step takes the batches of all shards together. All ranks count alike, so all make the same number of
steps.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from enum import Enum, auto
from typing import Any, NamedTuple

from stoker import _state_entries
from stoker.errors import GraphError, StateError

ITERATORS = "an iterator's"  # the owner of the state in messages


class EpochEnd(Enum):
    """What completes the last batch of a reader's epoch, by the words of its ``epoch_end``."""

    @staticmethod
    def _generate_next_value_(name: str, *_: object) -> str:
        return name.lower()

    CONTINUE = auto()
    """Samples of the next epoch."""
    PAD = auto()
    """Repeats."""
    DROP = auto()
    """Nothing: the batch is dropped."""


class LastBatchPolicy(Enum):
    """What happens to the last batch of an epoch when the samples do not fill it."""

    FILL = 0
    """The batch is filled with padding or with the first samples of the next epoch."""
    DROP = 1
    """The batch is left out."""
    PARTIAL = 2
    """The batch is short; on a shard that has no sample left it is empty."""


class Counted(NamedTuple):
    """The numbers to count with.

    - ``sizes``: how many samples an epoch has, for each count.
    - ``stride``: how many samples a step takes from each count.
    - ``batch_size``: how many samples a batch has.
    - ``end``: what completes the last batch of an epoch.
    - ``rotates``: whether each shard has in every epoch as many samples as the next shard had.
    - ``is_dealt``: whether what is left in the last step is cut evenly, as a reader deals it; else
      the first shards have whole batches.
    """

    sizes: tuple[int, ...]
    stride: int
    batch_size: int
    end: EpochEnd = EpochEnd.CONTINUE
    rotates: bool = False
    is_dealt: bool = False


def shard_sizes(size: int, shards: int) -> tuple[int, ...]:
    """How many of ``size`` samples each of the contiguous shards has."""
    bounds = [s * size // shards for s in range(shards + 1)]
    return tuple(b - a for a, b in itertools.pairwise(bounds))


def counted_of_reader(
    order: Mapping[str, Any], shards: int, batch_size: int, sticks: bool
) -> Counted:
    """The numbers to count with for a reader; ``order`` is its entry in a pipeline's state.

    ``sticks``: what ``reader_meta`` says of it as ``stick_to_shard``.
    """
    size, end = int(order["size"]), EpochEnd(order["epoch_end"])
    if "num_shards" not in order:  # dealt in turn
        has_shares = size >= shards or end is not EpochEnd.CONTINUE
        return Counted((size,), batch_size * shards, batch_size, end, not sticks, has_shares)
    return Counted(shard_sizes(size, shards), batch_size, batch_size, end, not sticks)


class Epochs:
    """Counts steps and tells how much of each batch belongs to the epoch.

    ``_number`` is the epoch. ``_taken`` is how many samples of the epoch are used, for each count.
    ``_carry`` is how many of these the epoch before used to fill its last batch.
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
        """How many steps this epoch has, including those already made."""
        return self._steps_after(self._carry)

    @property
    def steps_left(self) -> int:
        """How many steps of this epoch are still to come."""
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
        """How many samples of a shard's next batch belong to the epoch."""
        batch_size = self._counted.batch_size
        if self._policy is not LastBatchPolicy.PARTIAL or self._counted.end is EpochEnd.DROP:
            return batch_size
        if len(self._taken) == 1:
            left = max(0, self._counted.sizes[0] - self._taken[0])
            if not self._counted.is_dealt:
                left -= shard * batch_size
            elif left < self._counted.stride:
                shares = shard_sizes(left, self._counted.stride // batch_size)
                left = shares[(shard + self._turn) % len(shares)]
        else:
            left = self._sizes()[shard] - self._taken[shard]
        return max(0, min(left, batch_size))

    def step(self) -> None:
        """Counts one step."""
        self._taken = [t + self._counted.stride for t in self._taken]

    def skip(self) -> int:
        """Counts the rest of this epoch, as far as the next one. Returns how many steps that is."""
        steps = self.steps_left
        self._taken = [t + steps * self._counted.stride for t in self._taken]
        dropped = self.steps_to_drop()
        self._taken = [t + dropped * self._counted.stride for t in self._taken]
        return steps + dropped

    def steps_to_drop(self) -> int:
        """How many steps to drop before the next epoch begins."""
        if self._counted.end is EpochEnd.DROP:
            return 0
        sizes = self._sizes()  # padded shards are all as long as the longest
        end = max(sizes) if self._counted.end is EpochEnd.PAD else min(sizes)
        return max(0, -(-(end - max(self._taken)) // self._counted.stride))

    def begin_next(self) -> None:
        """Begins the next epoch. Requires: the steps to drop were made."""
        self._begin_next()
        while self.steps == 0:  # the last batch was filled with more than the next epoch has
            self._begin_next()

    def end_early(self) -> None:
        """Begins the next epoch after the pipeline itself ended this one."""
        self._number += 1
        self._carry = [0] * len(self._taken)
        self._taken = list(self._carry)

    def go_to(self, cursor: int) -> None:
        """Goes to the step at a reader's ``cursor``, which is that of a pipeline's state.

        The result is exact if all steps before were made with the same policy and batch size.
        """
        sizes, stride = self._counted.sizes, self._counted.stride
        if self._counted.end is not EpochEnd.CONTINUE:
            length = max(sizes) if self._counted.end is EpochEnd.PAD else min(sizes)
            self._number, offset = divmod(cursor, length)
            if self._counted.end is EpochEnd.DROP and length - offset < stride:
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
        if self._counted.end is EpochEnd.CONTINUE and self._policy is LastBatchPolicy.FILL:
            self._carry = [offset % stride]

    def state(self) -> dict[str, Any]:
        """The state, as a small dict that JSON can hold."""
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

    @property
    def _turn(self) -> int:
        """By how many shards the numbers of samples have moved on."""
        return self._number if self._counted.rotates else 0

    def _sizes(self) -> list[int]:
        """The samples of each shard in this epoch."""
        sizes = self._counted.sizes
        return [sizes[(s + self._turn) % len(sizes)] for s in range(len(sizes))]

    def _steps_after(self, taken: list[int]) -> int:
        stride, sizes = self._counted.stride, self._sizes()
        if self._policy is LastBatchPolicy.DROP or self._counted.end is EpochEnd.DROP:
            return max(0, min(s - t for s, t in zip(sizes, taken, strict=True)) // stride)
        return max(0, -(-(max(sizes) - max(taken)) // stride))

    def _begin_next(self) -> None:
        if self._policy is LastBatchPolicy.FILL and self._counted.end is EpochEnd.CONTINUE:
            sizes = self._sizes()
            if not self._counted.rotates:  # a shorter shard repeats samples
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
