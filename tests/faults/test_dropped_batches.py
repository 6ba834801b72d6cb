# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""``on_error="drop"`` leaves out batches without a good sample, and nothing else is lost."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dropping import BATCH, EXECUTORS, Numbered, epoch, labels, runs, sliced, steps_of

import jpegs
from helpers import SIMPLE, make, samples_of
from stoker import Pipeline, fn
from stoker.errors import GraphError, SampleError, StateError
from stoker.frameworks._epochs import LastBatchPolicy
from stoker.frameworks.numpy import DataIterator


@pytest.fixture
def numbered(tmp_path: Path) -> Numbered:
    return Numbered(tmp_path)


def iterator_of(pipe: Pipeline, **arguments: Any) -> DataIterator:
    names = ["label", "bytes", "draw"]
    return DataIterator(pipe, names, ragged=["bytes"], **{"reader_name": "reader", **arguments})


BAD = {2, 3, 5, 8, 9}  # steps 1 and 4 of each epoch are dropped, and step 2 lacks a sample
EPOCH = [[0, 1], [4], [6, 7]]


@pytest.mark.parametrize("settings", EXECUTORS)
def test_runs_and_loops_leave_out_bad_batches(numbered: Numbered, settings: Any) -> None:
    pipe = numbered(10, BAD, **settings)
    assert runs(pipe, 7) == [*EPOCH, *EPOCH, EPOCH[0]]
    assert pipe.stats()["steps_dropped"] == 4
    assert pipe.stats()["failures"] == 10
    loaded = numbered(10, BAD, **settings)
    assert [epoch(loaded) for _ in range(3)] == [EPOCH] * 3
    assert loaded.stats()["steps_dropped"] == 6
    assert "6 steps dropped" in str(loaded.stats())
    bad = {int(s["index"]): s["times"] for s in loaded.quarantine()}
    assert bad == dict.fromkeys(BAD, 3)


def test_what_is_left_has_the_bytes_of_skip(numbered: Numbered) -> None:
    def all_of(policy: str, batch_size: int, **settings: Any) -> list[bytes]:
        pipe = numbered(12, {2, 3, 6, 11}, on_error=policy, batch_size=batch_size, **settings)
        found = [
            b"".join(np.array(x[i]).tobytes() for x in b) for b in pipe for i in range(len(b[0]))
        ]
        return found

    right = all_of("skip", 12)
    for batch_size in (1, 2, 3, 4):
        for settings in EXECUTORS:
            assert all_of("drop", batch_size, **settings) == right


@pytest.mark.parametrize("settings", EXECUTORS)
def test_a_run_is_taken_up_at_every_step(numbered: Numbered, settings: Any) -> None:
    whole = runs(numbered(10, BAD), 12)
    first = numbered(10, BAD, **settings)
    for k in range(8):
        resumed = numbered(10, BAD)
        resumed.restore(json.loads(json.dumps(first.state())))
        assert runs(resumed, 4) == whole[k : k + 4]
        assert labels(first.run()) == whole[k]


@pytest.mark.parametrize("settings", EXECUTORS)
def test_an_epoch_of_bad_batches_is_an_error(numbered: Numbered, settings: Any) -> None:
    pipe = numbered(4, range(4), **settings)
    for _ in range(2):
        with pytest.raises(
            SampleError, match="dropped every batch of this epoch, 2 in all"
        ) as raised:
            pipe.run()
        assert "readers.file" in str(raised.value)
        assert {s["index"] for s in raised.value.samples} == set(range(4))
        with pytest.raises(SampleError, match="dropped every batch of this epoch, 2 in all"):
            epoch(pipe)
    assert pipe.stats()["steps_dropped"] == 8


def test_the_rest_of_an_epoch_is_no_error(numbered: Numbered) -> None:
    """Also where a pipeline goes on in the midst of it; at its beginning it is one."""
    pipe = numbered(6, range(2, 6))
    assert runs(pipe, 1) == [[0, 1]]
    other = numbered(6, range(2, 6))
    other.restore(middle := pipe.state())
    for one in (other, pipe):
        assert epoch(one) == []
        one.restore(middle)
        assert epoch(one) == []
    pipe.close()  # with what it made ahead of the next epoch
    third = numbered(6, range(6))
    third.restore(pipe.state())
    for one in (pipe, third):
        with pytest.raises(SampleError, match="dropped every batch of this epoch, 3 in all"):
            epoch(one)


@pytest.mark.parametrize("end", ["continue", "pad", "drop"])
@pytest.mark.parametrize("policy", list(LastBatchPolicy))
def test_iterators_count_what_was_dropped(
    numbered: Numbered, policy: LastBatchPolicy, end: str
) -> None:
    """Their epochs have the samples of an iterator over single samples that are skipped."""
    n, bad = 11, {2, 3, 6, 8, 9}
    reader = {"epoch_end": end, "random_shuffle": True}

    def epochs(on_error: str, gone: Iterable[int]) -> list[list[int]]:
        pipe = numbered(n, gone, reader, on_error=on_error)
        iterator = iterator_of(pipe, last_batch_policy=policy)
        return [[x for step in steps_of(iterator) for x in step] for _ in range(5)]

    whole = epochs("raise", ())
    assert epochs("drop", bad) == [[x for x in one if x not in bad] for one in whole]


def draw(iterator: Any, count: int) -> list[list[int] | None]:
    """What so many calls of ``next`` give; None for the end of an epoch."""
    given = [next(iterator, None) for _ in range(count)]
    return [None if step is None else step["label"].reshape(-1).tolist() for step in given]


def test_an_iterator_goes_on_where_its_state_was_taken(numbered: Numbered) -> None:
    whole = iterator_of(numbered(10, BAD))
    want = draw(whole, 16)
    assert want == [*EPOCH, None] * 4 and len(whole) == 5
    first = iterator_of(numbered(10, BAD))
    for k in range(10):
        resumed = iterator_of(numbered(10, BAD))
        resumed.load_state_dict(json.loads(json.dumps(first.state_dict())))
        assert resumed.epoch == first.epoch
        assert draw(resumed, 6) == want[k : k + 6]
        draw(first, 1)


def test_an_iterator_of_bad_batches_ends(numbered: Numbered) -> None:
    for policy in LastBatchPolicy:
        for n in (4, 5):
            iterator = iterator_of(numbered(n, range(n)), last_batch_policy=policy)
            errors = 0
            for _ in range(6):
                try:
                    assert steps_of(iterator) == []
                except SampleError as e:
                    assert "dropped every batch of this epoch" in str(e)
                    errors += 1
            assert errors >= 3


def test_an_iterator_with_a_size(numbered: Numbered) -> None:
    iterator = iterator_of(numbered(10, BAD), reader_name=None, size=4)
    got = [steps_of(iterator) for _ in range(5)]
    assert got == [[[0, 1]], [[4], [6, 7]], [[0, 1]], [[4]], [[6, 7]]]


def test_several_pipelines_are_refused(numbered: Numbered) -> None:
    pipes = [numbered(4, ()) for _ in range(2)]
    with pytest.raises(GraphError, match="none can be left out: pipeline 0 has on_error='drop'"):
        DataIterator(pipes, ["a", "b", "c"], reader_name="reader")


def left(pipe: Pipeline, steps: int) -> tuple[list[list[bytes]], int]:
    """What ``on_error="skip"`` gives of so many steps, and how many have no good sample."""
    given, lost = [], 0
    for _ in range(steps):
        try:
            given.append(bytes_of(pipe.run()))
        except SampleError:
            lost += 1
    return given, lost


def bytes_of(batches: Any) -> list[bytes]:
    return [b"".join(np.array(x).tobytes() for x in s) for s in samples_of(on_host(batches))]


def on_host(batches: Any) -> list[Any]:
    return [b if b.device == "cpu" else b.as_cpu() for b in batches]


def assert_drops_what_skip_raises(pipe_of: Callable[..., Pipeline], steps: int) -> None:
    given, lost = left(pipe_of(on_error="skip", **SIMPLE), steps)
    assert given and lost
    for settings in EXECUTORS:
        pipe = pipe_of(on_error="drop", **settings)
        assert [bytes_of(pipe.run()) for _ in given] == given
        # The last of these steps may be one that is dropped, which comes with the next run.
        assert pipe.stats()["steps_dropped"] <= lost


@pytest.fixture
def pictures(tmp_path: Path) -> list[Path]:
    """Nine pictures, of which number 2 and 4 to 7 are cut short."""
    paths = []
    for i in range(9):
        data = jpegs.encode(jpegs.picture(40 + i, 50, i), "420")
        paths.append(tmp_path / f"{i}.jpg")
        paths[-1].write_bytes(jpegs.truncated(data) if i in (2, 4, 5, 6, 7) else data)
    return paths


def test_a_branch_decides_which_samples_are_bad(pictures: list[Path]) -> None:
    def define() -> Any:
        encoded, label = fn.readers.file(files=pictures)
        coin = fn.random.coin_flip(dtype="bool")
        if coin:
            picture = fn.resize(fn.decoders.image(encoded), size=[8, 8])
        else:
            picture = fn.constant(idata=[0], shape=[8, 8, 3], dtype="uint8", layout="HWC")
        return label, picture, coin

    def pipe_of(**settings: Any) -> Pipeline:
        return make(define, enable_conditionals=True, batch_size=2, **settings)

    assert_drops_what_skip_raises(pipe_of, 36)


@pytest.mark.parametrize("batch_size", [1, 2, 4])
def test_devices(pictures: list[Path], batch_size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STOKER_SIMULATED_DEVICES", "1")

    def define() -> Any:
        encoded, label = fn.readers.file(files=pictures)
        picture = fn.decoders.image(encoded, device="mixed")
        small = fn.resize(picture, size=[8, 8])
        shape = fn.peek_image_shape(encoded)
        return label, small, fn.flip(small.cpu()), shape

    def pipe_of(**settings: Any) -> Pipeline:
        return make(define, batch_size=batch_size, device_id=0, **settings)

    assert_drops_what_skip_raises(pipe_of, 36 // batch_size)


def test_functions_and_operators_that_see_batches() -> None:
    def function(row: Any) -> Any:
        if row.sum() == 7:
            raise ValueError("no sevens")
        return 2 * row

    def pipe_of(**settings: Any) -> Pipeline:
        def define() -> Any:
            rows = [[[1], [-2]], [[-3], [-4]], [[7], [8]], [[3], [4]]]
            row = fn.external_source([np.array(r, np.int32) for r in rows], cycle="quiet")
            part = sliced(row)
            order = fn.batch_permutation(part)
            twice = fn.python_function(row, function=function)
            return row, twice, fn.permute_batch(part, indices=order)

        return make(define, batch_size=2, **settings)

    assert_drops_what_skip_raises(pipe_of, 12)
    pipe = pipe_of(on_error="drop")
    runs(pipe, 4)
    (function_,) = [s for s in pipe.quarantine() if s["index_in_batch"] == -1]
    assert function_["operator"] == "python_function" and "no sevens" in function_["message"]


def test_compat_and_the_scheduled_way(numbered: Numbered) -> None:
    from stoker.compat._pipeline import Pipeline as OldPipeline

    files = [str(numbered.folder / f"{i}") for i in range(10)]
    numbered(10, BAD)
    pipe = OldPipeline(batch_size=BATCH, num_threads=1, device_id=None, on_error="drop")
    with pipe:
        pipe.set_outputs(fn.readers.file(files=files, labels=list(range(10)))[1])
    for _ in range(2):
        for step in EPOCH:
            pipe.schedule_run()
            (batch,) = pipe.outputs()
            assert batch.as_array().ravel().tolist() == step


def test_ctrl_c_ends_a_run_that_only_drops() -> None:
    program = """
import numpy, os, signal, threading
from stoker import Pipeline, fn
pipe = Pipeline(batch_size=2, num_threads=1, on_error="drop")
with pipe:
    row = fn.external_source(lambda: numpy.full((2, 1), -1, numpy.int32))
    pipe.set_outputs(fn.slice(fn.constant(idata=[1, 2, 3]), row, [1], axes=[0]))
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    pipe.run()
except KeyboardInterrupt:
    pipe.close()
    assert pipe.stats()["steps_dropped"] > 10
    print("ended")
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "ended\n", done.stderr


def test_another_thread_may_close_while_batches_are_dropped() -> None:
    """Between two steps it closes, and the run goes on; in a step it is refused as ever."""
    rows = [np.full((BATCH, 1), -1, np.int32)]
    pipe = make(
        lambda: sliced(fn.external_source(rows, cycle="quiet")), batch_size=BATCH, on_error="drop"
    )
    ended = threading.Event()
    errors: list[BaseException] = []

    def drop() -> None:
        try:
            pipe.run()
        except BaseException as e:
            errors.append(e)
        ended.set()

    thread = threading.Thread(target=drop, daemon=True)
    thread.start()
    for _ in range(20):
        try:
            pipe.close()
        except StateError as e:
            assert "two threads" in str(e)
        time.sleep(0.01)
    assert not errors
    rows[0] = np.full((BATCH, 1), 5, np.int32)  # ends the run
    assert ended.wait(30) and not errors
    pipe.close()
