# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The time that one operator takes, without what its pipeline costs.

All times are CPU time of the whole process, so other programs hardly change them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stoker import Pipeline, fn

Array = NDArray[Any]
Build = Callable[[Any], Any]  # from the node that is fed to the outputs


class Fed:
    """A pipeline of one thread that makes a batch when it is asked for one, and none ahead.

    The samples are fed once and used in place. With `anew` they are fed for every batch, and
    copied, as a user's are by default.
    """

    def __init__(
        self, samples: Sequence[Array], build: Build, layout: str = "", anew: bool = False
    ) -> None:
        self.samples, self.anew, self.is_fed = list(samples), anew, False
        self.pipe = Pipeline(batch_size=len(samples), num_threads=1, seed=1)
        with self.pipe:
            fed = fn.external_source(
                name="fed", layout=layout, no_copy=not anew, repeat_last=not anew
            )
            made = build(fed)
            self.pipe.set_outputs(*(made if isinstance(made, list) else [made]))

    def batch(self) -> Any:
        """The first output's next batch."""
        if self.anew or not self.is_fed:
            self.pipe.feed_input("fed", self.samples)
            self.is_fed = True
        return self.pipe.run()[0]


def one_element(ndim: int) -> Build:
    """Takes the place of an operator, so that only the pipeline's own cost is left."""
    return lambda x: fn.slice(x, axes=list(range(ndim)), start=[0] * ndim, shape=[1] * ndim)


def corner(sample: Array) -> Array:
    return np.ascontiguousarray(sample[(slice(0, 1),) * sample.ndim])


def cpu_seconds(work: Callable[[], Any]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def rounds_of(works: Sequence[Callable[[], Any]], most: int, limit: float) -> list[list[float]]:
    """CPU seconds of each work in `most` alternating rounds, in fewer after `limit` seconds.

    Each work runs once before, unmeasured.
    """
    for work in works:
        work()
    end, found = time.monotonic() + limit, [[cpu_seconds(w) for w in works]]
    while len(found) < most and (time.monotonic() < end or len(found) < 3):
        found.append([cpu_seconds(w) for w in works])
    return found
