# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Batches on a GPU as JAX's arrays, with stand-ins: the batches really are on the CPU."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
import pytest
from numbered import Numbers

from helpers import make, needs
from stoker import Pipeline, fn
from stoker.frameworks._epochs import LastBatchPolicy

pytestmark = [pytest.mark.xdist_group("jax"), needs("jax")]


@pytest.fixture(scope="module")
def iterators() -> Any:
    import stoker.jax

    return stoker.jax


def values(array: Any) -> list[int]:
    return [int(x) for x in np.asarray(array).ravel()]


class Made:
    """Stands in for the array that is ready once a copy is made."""

    def __init__(self) -> None:
        self.is_made, self.waits = False, 0

    def is_ready(self) -> bool:
        return self.is_made

    def block_until_ready(self) -> None:
        self.waits += not self.is_made
        self.is_made = True


class Watched:
    """Copies of constants: what is copied, how long it is kept, and when the copy is made."""

    def __init__(self) -> None:
        from stoker.frameworks.jax.gpu_copies import Copies

        self.made: list[Made] = []
        self.sources: list[Any] = []  # weakly held
        self.copies: Any = Copies(self._copy)
        self.pipe = make(lambda: fn.constant(idata=[1] * 16, shape=[16], dtype="int32"))

    def _copy(self, source: Any) -> Any:
        self.made.append(Made())
        self.sources.append(weakref.ref(source))
        return source + 0, self.made[-1]

    def step(self, outputs: int = 1) -> None:
        self.copies.begin_step()
        for _ in range(outputs):
            assert values(self.copies.of(self.pipe.run()[0]))[0] == 1

    def kept(self) -> list[bool]:
        return [source() is not None for source in self.sources]

    def waits(self) -> list[int]:
        return [made.waits for made in self.made]


def test_what_is_copied_is_kept_until_it_is() -> None:
    watched = Watched()
    watched.step(outputs=2)
    watched.made[0].is_made = True
    watched.step()
    assert watched.kept() == [True] * 3, "one output of the first step is not copied yet"
    watched.made[1].is_made = watched.made[2].is_made = True
    watched.step()
    assert watched.kept() == [False] * 3 + [True]
    assert watched.waits() == [0] * 4


def test_copies_of_two_steps_are_under_way_at_most() -> None:
    watched = Watched()
    for step in range(5):
        watched.step()
        assert watched.kept() == [i >= step - 1 for i in range(step + 1)]
        assert watched.waits() == [int(i < step - 1) for i in range(step + 1)]
    del watched.copies
    assert watched.kept() == [False] * 5
    assert watched.waits() == [1] * 5


def test_a_copy_that_fails_is_told_once() -> None:
    watched = Watched()
    watched.step()
    watched.step()

    def fail() -> None:
        raise RuntimeError("no GPU")

    watched.made[0].block_until_ready = fail  # type: ignore[method-assign]
    with pytest.raises(RuntimeError, match="no GPU"):
        watched.step()
    watched.step()
    assert watched.kept() == [False, True, True]


def as_on_gpu(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Makes JAX's iterators take batches for a GPU's. Returns a list that collects them."""
    given: list[Any] = []
    run = Pipeline.run
    monkeypatch.setattr(Pipeline, "run", lambda self: given.append(run(self)) or given[-1])
    monkeypatch.setattr("stoker.frameworks.jax.iterators.on_gpu", lambda batch: True)
    return given


def test_arrays_of_a_gpu_are_jax_s_own(
    iterators: Any, numbers: Numbers, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = as_on_gpu(monkeypatch)
    policy = LastBatchPolicy.PARTIAL
    steps = list(iterators.DataIterator(numbers(11, 4), ["label"], last_batch_policy=policy))
    assert [values(s["label"]) for s in steps] == [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11]]
    memory = {batch.as_tensor().data_ptr for (batch,) in given}
    assert len(memory) == 3
    assert not memory & {step["label"].unsafe_buffer_pointer() for step in steps}


def test_samples_on_a_gpu_of_any_alignment(iterators: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import jax

    given = as_on_gpu(monkeypatch)
    taken: list[Any] = []
    from_dlpack = jax.dlpack.from_dlpack

    def watched(data: Any) -> Any:
        taken.append(np.from_dlpack(data))
        return from_dlpack(data)

    monkeypatch.setattr(jax.dlpack, "from_dlpack", watched)
    pipe = make(lambda: fn.constant(idata=range(24), shape=[24], dtype="uint8"), batch_size=4)
    step = next(iterators.DataIterator(pipe, ["x"], ragged=["x"]))
    assert [values(sample) for sample in step["x"]] == [list(range(24))] * 4
    places = [sample.data_ptr for sample in given[-1][0]]
    assert [place % 16 for place in places] == [0, 8, 0, 8]
    seen = [array.ctypes.data for array in taken]
    assert [place == at for place, at in zip(places, seen, strict=True)] == [True, False] * 2
    assert all(at % 16 == 0 for at in seen)
