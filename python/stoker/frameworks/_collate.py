# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""A ``collate_fn`` for PyTorch's ``DataLoader`` that transforms whole batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from stoker import _core
from stoker.errors import GraphError
from stoker.transforms._batches import tensor_of
from stoker.transforms._containers import is_ours


class Collate:
    """What ``collate`` gives. It may be pickled."""

    def __init__(self, transform: Callable[[Any], Any], threads: int | None) -> None:
        if not callable(transform):
            raise GraphError(f"collate expects a transform, got {transform!r}")
        if threads is not None and threads < 1:
            raise GraphError(f"threads expects at least 1, got {threads!r}")
        self.transform = transform
        self.threads = threads

    def __call__(self, samples: Sequence[Any]) -> Any:
        from torch.utils.data import default_collate

        if not samples:
            raise GraphError("a batch of no samples")
        first = samples[0]
        if not isinstance(first, (tuple, list)):
            return self._pictures(samples)
        rest = default_collate([tuple(s[1:]) for s in samples])
        return [self._pictures([s[0] for s in samples]), *rest]

    def _pictures(self, pictures: Sequence[Any]) -> Any:
        if is_ours(self.transform):
            threads = _core.usable_cpus() if self.threads is None else self.threads
            return tensor_of(self.transform, pictures, threads)  # type: ignore[arg-type]
        import torch

        return torch.stack([self.transform(p) for p in pictures])

    def __repr__(self) -> str:
        return f"collate({self.transform!r}, threads={self.threads})"


def collate(transform: Callable[[Any], Any], threads: int | None = None) -> Collate:
    """A ``collate_fn`` that applies a transform of ``stoker.transforms`` to whole batches.

    Samples are pictures, or tuples whose first value is one: best what ``stoker.transforms.lazy``
    loads, or the path or bytes of a file. The pictures become one tensor, which ``threads`` threads
    make (default: one for each CPU), and the other values what torch's ``default_collate`` makes of
    them. So ``DataLoader(data, num_workers=0, collate_fn=collate(T))`` needs no worker processes.
    The draws are those that the transform makes for one picture after the other. A transform with
    callables of others is called for each picture, in this thread.
    """
    return Collate(transform, threads)
