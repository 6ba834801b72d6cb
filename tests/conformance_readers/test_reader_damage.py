# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Samples that cannot be read, of every reader, at every place and under each policy."""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from reader_stores import COUNT, SHUFFLES, Known, each_store, pipe_of, steps_of, store_of

from helpers import SIMPLE, samples_of, take
from stoker import Pipeline, _core
from stoker.errors import SampleError

BATCH = 4
STEPS = COUNT // BATCH  # within an epoch


@pytest.fixture(params=list(SHUFFLES))
def shuffle(request: pytest.FixtureRequest) -> dict[str, Any]:
    return SHUFFLES[request.param]


def _steps(pipe: Pipeline, known: Known) -> list[list[int] | str]:
    """The indices of each step of an epoch, or the message of its error."""
    steps: list[list[int] | str] = []
    for _ in range(STEPS):
        try:
            steps.append(known.indices(samples_of(pipe.run())))
        except SampleError as e:
            steps.append(str(e))
    return steps


@pytest.mark.one_of_many
@each_store
def test_a_bad_sample_at_every_place(
    reader: str, variant: str, tmp_path: Path, shuffle: dict[str, Any]
) -> None:
    judge: list[list[int]] = []
    for bad in range(0, COUNT, 1 if not shuffle else 3):
        folder = tmp_path / str(bad)
        folder.mkdir()
        store = store_of(reader, variant, folder)
        if store.damage is None:
            pytest.skip("no sample of this store can be damaged alone")
        known = Known(store.samples)
        if not judge:
            whole = pipe_of(reader, store, {"batch_size": BATCH}, **shuffle)
            judge = [known.indices(s) for s in steps_of(whole, STEPS)]
        pipes = {
            policy: pipe_of(reader, store, {"batch_size": BATCH, "on_error": policy}, **shuffle)
            for policy in ("raise", "skip", "replace")
        }
        simple = pipe_of(
            reader, store, {"batch_size": BATCH, "on_error": "replace", **SIMPLE}, **shuffle
        )
        for pipe in (*pipes.values(), simple):
            pipe.build()
        store.damage(bad)
        where = store.files[bad].name
        for step, expected in zip(_steps(pipes["raise"], known), judge, strict=True):
            if bad in expected:
                assert isinstance(step, str), f"sample {bad} is no error"
                assert where in step and store.named.get(bad, "") in step, step
            else:
                assert step == expected
        skipped = _steps(pipes["skip"], known)
        assert skipped == [[i for i in s if i != bad] for s in judge]
        replaced = _steps(pipes["replace"], known)
        for step, expected in zip(replaced, judge, strict=True):
            assert len(step) == BATCH
            assert all(a == b or b == bad for a, b in zip(step, expected, strict=True))
            assert bad not in step
        assert _steps(simple, known) == replaced


@pytest.mark.one_of_many
@each_store
def test_files_that_vanish_or_shrink(reader: str, variant: str, tmp_path: Path) -> None:
    for change in ("vanish", "shrink", "empty"):
        folder = tmp_path / change
        folder.mkdir()
        store = store_of(reader, variant, folder)
        if change != "vanish" and store.takes_any_file:
            continue
        known = Known(store.samples)
        settings = {"batch_size": 1, "on_error": "skip", "read_ahead_limit": 1}
        pipe = pipe_of(reader, store, settings)
        first = known.indices(samples_of(pipe.run()))
        assert first == [0]
        victim = store.files[COUNT - 1]
        if change == "vanish":
            victim.unlink()
        else:
            with victim.open("r+b") as file:
                file.truncate(0 if change == "empty" else victim.stat().st_size * 2 // 3)
        got: list[int] = []
        for _ in range(COUNT - 1):
            try:
                got += known.indices(samples_of(pipe.run()))
            except SampleError as e:
                assert victim.name in str(e)
        assert got == sorted(got)
        untouched = [i for i in range(1, COUNT) if store.files[i] != victim]
        assert [i for i in got if i in untouched] == untouched
        if store.files[0] != victim:
            assert known.indices(samples_of(pipe.run())) == [0]  # the pipeline works on


@pytest.mark.one_of_many
@each_store
def test_reads_that_fail_half_way(reader: str, variant: str, tmp_path: Path) -> None:
    store = store_of(reader, variant, tmp_path)
    known = Known(store.samples)
    victim = store.files[COUNT - 1]
    pipe = pipe_of(reader, store, {"batch_size": 1, "read_ahead_limit": 1})
    pipe.build()
    faults = _core.ReadFaults(str(victim), errno.EIO, victim.stat().st_size // 2)
    failed = []
    for i in range(COUNT):
        try:
            assert known.indices(samples_of(pipe.run())) == [i]
        except SampleError as e:
            assert victim.name in str(e) and os.strerror(errno.EIO) in str(e)
            assert store.files[i] == victim or "sequence" in reader
            failed.append(i)
    assert COUNT - 1 in failed
    assert faults.reads > 0
    del faults
    assert known.indices(take(pipe, COUNT)) == list(range(COUNT)), "what failed comes again"


@each_store
def test_reads_that_stall(reader: str, variant: str, tmp_path: Path) -> None:
    """One slow file holds up nothing but its samples, and all is right in the end."""
    store = store_of(reader, variant, tmp_path)
    known = Known(store.samples)
    victim = store.files[COUNT // 2]
    pipe = pipe_of(reader, store, {"batch_size": 1, "io_threads": 2})
    pipe.build()
    faults = _core.ReadFaults(str(victim), stalls=True)
    first = store.files.index(victim)
    if len(set(store.files)) == COUNT and store.damage is None:
        first -= 2  # samples share files: two before it need it as well
    assert known.indices(take(pipe, first)) == list(range(first))
    thread = threading.Timer(0.05, faults.go_on)
    thread.start()
    assert known.indices(take(pipe, COUNT - first)) == list(range(first, COUNT))
    thread.join()
    assert faults.reads > 0
    # A pipeline that is closed while a read stalls ends when the read does.
    closed = pipe_of(reader, store, {"batch_size": 1})
    closed.build()
    del faults
    stalled = _core.ReadFaults(str(victim), stalls=True)
    closed.schedule_run()
    thread = threading.Timer(0.05, stalled.go_on)
    thread.start()
    closed.close()
    thread.join()  # else it would end the stall of the next test
    del closed
