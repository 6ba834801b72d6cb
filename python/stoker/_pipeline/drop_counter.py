# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Finds epochs of which ``on_error='drop'`` leaves nothing."""

from __future__ import annotations

from typing import Any

from stoker.errors import SampleError


class EmptyEpochError(SampleError):
    """An epoch ended of which all steps were dropped."""

    @classmethod
    def of(cls, steps: int, bad: list[dict[str, Any]]) -> EmptyEpochError:
        """The error for an epoch of so many steps, with what ``quarantine()`` lists."""
        last = max(bad, key=lambda sample: (sample["epoch"], sample["position"]))
        source = f"{last['source']}: " if last["source"] else ""
        error = cls(
            f"on_error='drop' dropped every batch of this epoch, {steps} in all, because none "
            f"has a good sample. quarantine() tells what is wrong; the last: {source}"
            f"{last['operator']} '{last['instance']}': {last['message']}"
        )
        error.samples = bad
        return error


class DropCounter:
    """Counts the steps that were dropped of an epoch that has given no batch. Not thread-safe.

    An epoch that a pipeline began in the midst of, after ``restore()``, is not judged.
    """

    def __init__(self) -> None:
        self._dropped: int | None = None  # None: this epoch gave a batch, or is not judged

    def begin_epoch(self) -> None:
        """Notes that the next step is the first of an epoch."""
        self._dropped = 0

    def count(self, is_dropped: bool) -> None:
        """Counts one step."""
        if not is_dropped:
            self._dropped = None
        elif self._dropped is not None:
            self._dropped += 1

    def end_epoch(self) -> int:
        """How many steps the epoch that ends here had, if all were dropped; else 0."""
        dropped, self._dropped = self._dropped, 0
        return dropped or 0
