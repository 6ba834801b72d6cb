# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Compiled calls: what they take and give, in threads, behind a fork, pickled, and what fails."""

from __future__ import annotations

import os
import pickle
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import jpegs
from stoker import fn, types
from stoker._calls.compiled import CompiledCall, Input, compiled, read
from stoker._calls.kept import Kept, kept
from stoker._calls.process import process
from stoker.errors import GraphError, SampleError

PICTURE = Input("uint8", 3, "HWC")
BYTES = Input("uint8", 1)


def _flipped() -> CompiledCall:
    return compiled(fn.flip, [PICTURE])


def _noisy() -> CompiledCall:
    return compiled(
        lambda x: fn.cast(x, dtype=types.INT32) + fn.random.uniform(range=[0, 100]), [PICTURE]
    )


def _picture(seed: int = 0, shape: tuple[int, ...] = (6, 5, 3)) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).integers(0, 256, shape, np.uint8)


def test_takes_arrays_of_all_kinds() -> None:
    torch = pytest.importorskip("torch")
    flip, picture = _flipped(), _picture()
    again = flip(picture)[0]
    for given in (
        picture,
        picture.copy(order="F"),
        memoryview(picture),
        torch.from_numpy(picture),
        torch.from_numpy(picture).permute(2, 0, 1).contiguous().permute(1, 2, 0),
        flip(again)[0],
    ):
        (made,) = flip(given)
        assert np.array_equal(np.asarray(made), picture[:, ::-1])
        assert made.layout == "HWC"


def test_a_result_is_its_holders() -> None:
    flip, picture = _flipped(), _picture()
    first = np.asarray(flip(picture)[0])
    first[:] = 0
    assert np.array_equal(np.asarray(flip(picture)[0]), picture[:, ::-1])
    assert not first.any()


def test_numbers_are_inputs() -> None:
    window = compiled(
        lambda x, start, shape: fn.slice(x, start=start, shape=shape, axes=[0, 1]),
        [PICTURE, Input("int32", 1), Input("int32", 1)],
    )
    picture = _picture()
    assert np.array_equal(np.asarray(window(picture, (1, 2), (3, 2))[0]), picture[1:4, 2:4])
    scaled = compiled(lambda x, by: x * by, [Input("float32", 1), Input("float32", 0)])
    assert np.asarray(scaled(np.float32([1, 2]), 1.5)[0]).tolist() == [1.5, 3]


def test_several_outputs_and_constants() -> None:
    made = compiled(lambda x: (x, fn.shapes(x), fn.constant(idata=[1, 2])), [PICTURE])(_picture())
    assert [np.asarray(m).shape for m in made] == [(6, 5, 3), (3,), (2,)]
    (draw,) = compiled(lambda: fn.random.uniform())(key=3)
    assert -1 <= float(np.asarray(draw)) < 1


def test_batches_of_ragged_samples() -> None:
    flip = _flipped()
    pictures = [_picture(i, (4 + i, 5, 3)) for i in range(9)]
    for threads in (1, 2, 5):
        (batch,) = flip.batch(pictures, threads=threads)
        for made, picture in zip(batch, pictures, strict=True):
            assert np.array_equal(np.asarray(made), picture[:, ::-1])


def test_the_key_decides() -> None:
    noisy, picture = _noisy(), _picture()
    once, again, other = (np.asarray(noisy(picture, key=k)[0]) for k in (5, 5, 6))
    assert np.array_equal(once, again)
    assert not np.array_equal(once, other)
    (batch,) = noisy.batch([picture] * 4, key=5)
    alone = [np.asarray(noisy(picture, key=5, position=i)[0]) for i in range(4)]
    assert np.array_equal(batch.as_array(), np.stack(alone))


def test_files_are_read_and_named(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.jpg", tmp_path / "bad.jpg"
    good.write_bytes(jpegs.encode(_picture(1, (16, 24, 3))))
    bad.write_bytes(good.read_bytes()[:60])
    decode = compiled(fn.decoders.image, [BYTES])
    for threads in (1, 3):
        files = read([str(good), str(bad), str(good)], threads)
        assert [f.path for f in files] == [str(good), str(bad), str(good)]
        assert np.asarray(decode(files[0])[0]).shape == (16, 24, 3)
        with pytest.raises(
            SampleError, match=r"1 of 3 samples .*\n  sample 1 from '.*bad.jpg'"
        ) as e:
            decode.batch(files, threads=threads)
        (failure,) = e.value.samples
        assert failure["source"] == str(bad)
        assert failure["operator"] == "decoders.image"
    with pytest.raises(SampleError, match=r"nowhere\.jpg"):
        read([str(tmp_path / "nowhere.jpg")])


def test_errors_name_the_users_line() -> None:
    decode = compiled(lambda x: fn.decoders.image(x, name="picture"), [BYTES])
    with pytest.raises(
        SampleError, match=r"^the sample at byte 0: decoders.image 'picture' \(.*test_comp"
    ):
        decode(b"no picture")
    with pytest.raises(GraphError, match="expected uint8 HWC"):
        _flipped()(np.zeros((4, 4, 3), np.float32))
    with pytest.raises(GraphError, match="is of type object"):
        _flipped()(object())
    with pytest.raises(GraphError, match="has 1 inputs, got 2"):
        _flipped()(_picture(), _picture())
    with pytest.raises(GraphError, match="expected 2 samples, got 1"):
        _flipped().batch([_picture()], size=2)


def test_refuses_what_only_a_pipeline_can(tmp_path: Path) -> None:
    (tmp_path / "x.bin").write_bytes(b"x")
    with pytest.raises(GraphError, match="it reads samples by itself"):
        compiled(lambda: fn.readers.file(files=[str(tmp_path / "x.bin")]))
    with pytest.raises(GraphError, match="calls a function of the user's"):
        compiled(
            lambda x: fn.python_function(x, function=lambda a: a, dtype="uint8", ndim=3), [PICTURE]
        )


def test_threads_share_one_call() -> None:
    noisy, picture = _noisy(), _picture(2, (40, 40, 3))
    expected = {key: np.asarray(noisy(picture, key=key)[0]) for key in range(8)}
    wrong: list[int] = []

    def work(start: int) -> None:
        for i in range(200):
            key = (start + i) % 8
            if not np.array_equal(np.asarray(noisy(picture, key=key)[0]), expected[key]):
                wrong.append(key)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_works_behind_a_fork() -> None:
    """Also while threads of the parent are in the midst of calls and hold what they lock."""
    flip, pictures = _flipped(), [_picture(i) for i in range(8)]
    flip.batch(pictures, threads=3)
    stop = threading.Event()

    def work() -> None:
        while not stop.is_set():
            flip.batch(pictures, threads=3)

    busy = [threading.Thread(target=work) for _ in range(2)]
    for t in busy:
        t.start()
    codes = []
    for _ in range(5):
        child = os.fork()
        if child == 0:
            made = np.stack([np.asarray(x) for x in flip.batch(pictures, threads=2)[0]])
            one = np.asarray(flip(pictures[0])[0])
            os._exit(int(not np.array_equal(one, made[0])))
        codes.append(os.waitpid(child, 0)[1])
    stop.set()
    for t in busy:
        t.join()
    assert codes == [0] * 5


def test_what_is_kept_is_not_locked_behind_a_fork() -> None:
    picture = Input("uint8", 3, "HWC")
    with kept._lock:  # as another thread may hold it
        child = os.fork()
        if child == 0:
            os._exit(len(kept.get("flip", lambda: compiled(fn.flip, [picture])).input_types()))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1


def test_pickled() -> None:
    noisy, picture = _noisy(), _picture()
    again = pickle.loads(pickle.dumps(noisy))
    assert again.input_types() == [PICTURE]
    assert np.array_equal(
        np.asarray(again(picture, key=4)[0]), np.asarray(noisy(picture, key=4)[0])
    )


def test_keeps_a_bounded_number() -> None:
    few, made = Kept(3), []

    def make(i: int) -> CompiledCall:
        made.append(i)
        return _flipped()

    for i in (0, 1, 2, 0, 3, 0, 1):
        few.get(i, lambda i=i: make(i))
    assert made == [0, 1, 2, 3, 1]  # 0 was used again before room was needed
    assert len(few) == 3


def test_memory_stays_flat() -> None:
    """Changing shapes leave no more behind than the largest of them needs."""
    flip = _flipped()
    sizes = [(8 + 37 * i % 300, 8 + 53 * i % 300, 3) for i in range(60)]

    def round_of_calls() -> int:
        for size in sizes:
            flip(_picture(0, size))
        return process().memory().kept

    first = round_of_calls()
    assert [round_of_calls() for _ in range(3)] == [first] * 3
    before = process().memory().in_use
    held = flip(_picture())
    assert process().memory().in_use > before
    del held
    assert process().memory().in_use == before


def test_windows_are_found_again_in_a_file(tmp_path: Path) -> None:
    """A second window of the same bytes begins where it lies, as in later epochs of a pipeline."""
    cut = compiled(
        lambda x, y: fn.slice(fn.decoders.image(x), start=y, shape=[16, 16], axes=[0, 1]),
        [BYTES, Input("int32", 1)],
    )
    encoded = jpegs.encode(_picture(3, (320, 64, 3)))
    cut(encoded, (300, 8))
    before = process().memory().jpeg_index_hits
    cut(encoded, (296, 8))
    assert process().memory().jpeg_index_hits > before
