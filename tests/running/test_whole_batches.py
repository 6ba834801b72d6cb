# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Operators that see whole batches: all topologies, policies and positions give the same samples.

The batch size is one number here, because results depend on the batch.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import jpegs
from helpers import SIMPLE, Sample, assert_same, make, samples_of
from stoker import DataNode, Pipeline, _core, fn, split
from stoker.errors import GraphError, SampleError

BATCH, STEPS = 6, 7
TOPOLOGIES: list[dict[str, Any]] = [
    {},
    {"num_threads": 1, "prefetch_queue_depth": 1},
    {"num_threads": 4, "prefetch_queue_depth": 4},
    {"num_threads": 2, "fuse": False},
    {"num_threads": 4, "demand": False},
    {"executor": "simple", "num_threads": 1},
]
POLICIES = ("raise", "skip", "replace")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The paths of small pictures of many sizes."""
    pictures = {
        f"{i:03}.jpg": jpegs.encode(
            jpegs.picture(20 + (i * 13) % 41, 20 + (i * 29) % 37, i), jpegs.KINDS[i % 4]
        )
        for i in range(37)
    }
    folder = jpegs.write_folder(tmp_path_factory.mktemp("pictures"), pictures)
    return [str(p) for p in sorted(folder.glob("*.jpg"))]


@pytest.fixture(scope="module")
def broken(files: list[str], tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The pictures, of which three cannot be decoded."""
    folder = tmp_path_factory.mktemp("broken")
    copies = [shutil.copy(f, folder) for f in files]
    for i in (4, 9, 23):
        Path(copies[i]).write_bytes(jpegs.truncated(Path(copies[i]).read_bytes()))
    return [str(c) for c in copies]


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("STOKER_SIMULATED_DEVICES", "1")
    yield
    _core.simulated_forget(0)


def mixed(files: list[str], on_gpu: bool = False) -> Callable[[], list[DataNode]]:
    """Each operator once: behind a chain, behind each other, before a chain and in a branch."""

    def on(node: DataNode) -> DataNode:
        return node.gpu() if on_gpu else node

    def define() -> list[DataNode]:
        encoded, label = fn.readers.file(files=files, random_shuffle=True, name="reader")
        pictures = fn.decoders.image(encoded)
        order = fn.batch_permutation(pictures, no_fixed_points=True)
        moved = fn.permute_batch(on(pictures), indices=order)
        padded = fn.pad(moved, axis_names="HW", fill_value=7.0, align=8)
        same = fn.random_resized_crop(pictures, size=[24, 20])
        blended, shares = fn.mixup(on(same), label, num_classes=40, mode="elem")
        cut, cut_shares = fn.cutmix(on(same), label, num_classes=40, partner="permute")
        scaled = fn.normalize(fn.flip(blended), batch=True, axis_names="HW")
        coin = fn.random.coin_flip()
        here, there = split(label, coin)
        chosen = fn.permute_batch(here, indices=fn.batch_permutation(here))
        branch = fn.merge(chosen, there, coin)
        row = fn.crop(padded, crop=[8, 8], crop_pos_x=fn.random.uniform(range=[0.0, 1.0]))
        made = [moved, padded, blended, cut, scaled, row]
        return [label, order, shares, cut_shares, branch, *made]

    return define


Step = list[Sample] | str


def steps(pipe: Pipeline, count: int = STEPS) -> list[Step]:
    """The samples of each step, or which operator lost it."""
    found: list[Step] = []
    for _ in range(count):
        try:
            batches = pipe.run()
        except SampleError as e:
            found.append(", ".join(sorted({s["operator"] for s in e.samples})))
            continue
        found.append(samples_of([b.as_cpu() for b in batches]))
    return found


def assert_same_steps(got: list[Step], want: list[Step], what: str) -> None:
    for i, (a, b) in enumerate(zip(got, want, strict=True)):
        if isinstance(a, str) or isinstance(b, str):
            assert a == b, f"{what}, step {i}"
        else:
            assert_same(a, b, f"{what}, step {i}")


@pytest.mark.parametrize("policy", POLICIES)
def test_topologies_agree(broken: list[str], policy: str) -> None:
    settings = {"batch_size": BATCH, "on_error": policy}
    judge = steps(make(mixed(broken), **settings, **SIMPLE))
    sizes = [len(s) for s in judge if not isinstance(s, str)]
    lost = len(judge) - len(sizes)
    assert lost == (3 if policy == "raise" else 0) and any(s for s in sizes)
    assert (min(sizes) < BATCH) == (policy == "skip")
    for topology in TOPOLOGIES:
        pipe = make(mixed(broken), **{**settings, **topology})
        assert_same_steps(steps(pipe), judge, f"{policy}, {topology}")


@pytest.mark.parametrize("policy", POLICIES)
def test_a_device_makes_the_same(broken: list[str], policy: str, device: None) -> None:
    settings = {"batch_size": BATCH, "on_error": policy, "device_id": 0}
    right = steps(make(mixed(broken), **settings))
    judge = steps(make(mixed(broken, on_gpu=True), **settings, **SIMPLE))
    for there, here in zip(judge, right, strict=True):
        if isinstance(there, str) or isinstance(here, str):
            assert there == here
            continue
        for a, b in zip(there, here, strict=True):
            for x, y in zip(a, b, strict=True):
                np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-5)
    for seed, topology in enumerate(TOPOLOGIES):
        _core.simulated_delay(0, seed, 300)
        pipe = make(mixed(broken, on_gpu=True), **{**settings, **topology})
        assert_same_steps(steps(pipe), judge, f"{policy}, delays {seed}, {topology}")


@pytest.mark.parametrize("on_gpu", [False, True], ids=["cpu", "gpu"])
def test_a_run_is_taken_up_at_every_step(broken: list[str], on_gpu: bool, device: None) -> None:
    settings = {"batch_size": BATCH, "on_error": "skip", "device_id": 0}
    whole = steps(make(mixed(broken, on_gpu), **settings), STEPS + 2)
    first = make(mixed(broken, on_gpu), **settings)
    for k in range(STEPS):
        resumed = make(mixed(broken, on_gpu), **settings, num_threads=1)
        resumed.restore(json.loads(json.dumps(first.state())))
        assert_same_steps(steps(resumed, 2), whole[k : k + 2], f"resumed after {k} steps")
        steps(first, 1)


def places(batch: Any, output: int = 0) -> list[int]:
    return [int(np.array(x).reshape(-1)[0]) for x in batch[output]]


@pytest.mark.parametrize("executor", ["simple", "pipelined"])
def test_places_count_the_samples_that_are_left(broken: list[str], executor: str) -> None:
    """Which sample comes where is worked out from the labels alone."""

    def define() -> list[DataNode]:
        encoded, label = fn.readers.file(files=broken, name="reader")
        picture = fn.decoders.image(encoded)
        order = fn.batch_permutation(picture)
        both = fn.permute_batch(
            fn.cat(label, fn.cast(fn.constant(idata=[1]), dtype="int32")), indices=order
        )
        return [label, order, both, fn.peek_image_shape(encoded)]

    bad = {4, 9, 23}
    pipe = make(define, batch_size=BATCH, on_error="skip", executor=executor)
    for step in range(5):
        batches = pipe.run()
        left = [i for i in range(step * BATCH, (step + 1) * BATCH) if i not in bad]
        order = places(batches, 1)
        assert places(batches) == left
        assert sorted(order) == list(range(len(left)))
        assert places(batches, 2) == [left[k] for k in order]


@pytest.mark.parametrize("on_gpu", [False, True], ids=["cpu", "gpu"])
@pytest.mark.parametrize("executor", ["simple", "pipelined"])
@pytest.mark.parametrize("policy", POLICIES)
def test_a_failure_inside_loses_the_step(
    files: list[str], policy: str, executor: str, on_gpu: bool, device: None
) -> None:
    """Every other batch has pictures of two shapes, which cannot be mixed."""

    def define() -> list[DataNode]:
        pictures = [np.zeros((4, 4 + (i == 7), 3), np.uint8) for i in range(12)]
        _, label = fn.readers.file(files=files[:12], name="reader")
        picture = fn.external_source(
            [pictures[:6], pictures[6:]], layout="HWC", cycle="quiet", name="fed"
        )
        return list(fn.mixup(picture.gpu() if on_gpu else picture, label, num_classes=12))

    settings = {"batch_size": BATCH, "on_error": policy, "executor": executor, "device_id": 0}
    pipe = make(define, **settings)
    for step in range(4):
        if step % 2 == 0:
            assert len(pipe.run()[0]) == BATCH
            continue
        with pytest.raises(SampleError) as lost:
            pipe.run()
        message = str(lost.value)
        assert "mixup 'mixup_0'" in message and "sample 1 of the batch is uint8 HWC" in message
        assert "6 of 6 samples could not be made" in message
    assert pipe.quarantine() == []


@pytest.mark.parametrize("executor", ["simple", "pipelined"])
@pytest.mark.parametrize("policy", POLICIES)
def test_a_failure_behind_drops_the_sample_or_loses_the_step(
    files: list[str], policy: str, executor: str
) -> None:
    """The slice takes 30 rows of the picture that has come to a place; some have fewer."""

    def define() -> list[DataNode]:
        encoded, label = fn.readers.file(files=files, name="reader")
        order = fn.batch_permutation(label)
        moved = fn.permute_batch(fn.decoders.image(encoded), indices=order)
        rows = fn.slice(moved, axes=[0], start=[0], shape=[30])
        return [label, order, rows, fn.permute_batch(label, indices=order)]

    def heights() -> DataNode:
        encoded, _ = fn.readers.file(files=files, name="reader")
        return fn.peek_image_shape(encoded)

    height = [int(s[0][0]) for s in samples_of(make(heights, batch_size=36).run())]
    pipe = make(define, batch_size=BATCH, on_error=policy, executor=executor)
    dropped = lost = 0
    for step in range(6):
        first = step * BATCH
        try:
            batches = pipe.run()
        except SampleError:
            assert policy != "skip"
            lost += 1
            continue
        label, order, came = places(batches), places(batches, 1), places(batches, 3)
        assert came == [first + k for k in order]
        assert all(height[i] >= 30 for i in came)
        dropped += BATCH - len(label)
        assert policy == "skip" or label == list(range(first, first + BATCH))
    short = sum(h < 30 for h in height)
    if policy == "skip":
        assert dropped == short > 0
    else:
        assert lost == len({i // BATCH for i, h in enumerate(height) if h < 30})


def test_a_branch_has_batches_of_its_own(files: list[str]) -> None:
    def define() -> list[DataNode]:
        _, label = fn.readers.file(files=files, name="reader")
        coin = fn.random.coin_flip()
        here, there = split(label, coin)
        order = fn.batch_permutation(here, no_fixed_points=True)
        moved = fn.permute_batch(here, indices=order)
        return [label, coin, fn.merge(moved, there, coin)]

    pipe = make(define, batch_size=BATCH)
    changed = 0
    for _ in range(6):
        batches = pipe.run()
        label, coin, result = places(batches), places(batches, 1), places(batches, 2)
        heads = [x for x, c in zip(label, coin, strict=True) if c]
        got = [x for x, c in zip(result, coin, strict=True) if c]
        assert sorted(got) == heads
        assert [x for x, c in zip(result, coin, strict=True) if not c] == [
            x for x, c in zip(label, coin, strict=True) if not c
        ]
        assert len(heads) < 2 or all(a != b for a, b in zip(got, heads, strict=True))
        changed += len(heads) > 1
    assert changed > 2


def test_a_paste_that_sees_no_others_fails_alone() -> None:
    def define(**arguments: Any) -> DataNode:
        pictures = [np.full((9 - 5 * (i == 1), 9, 3), i, np.uint8) for i in range(3)]
        picture = fn.external_source(lambda: pictures, layout="HWC")
        return fn.multi_paste(picture, shapes=[8, 8], **arguments)

    settings = {"batch_size": 3, "on_error": "skip"}
    (alone,) = make(define, **settings).run()
    assert [np.array(s)[0, 0, 0] for s in alone] == [0, 2]
    with pytest.raises(SampleError, match="3 of 3 samples could not be made"):
        make(lambda: define(in_ids=[1]), **settings).run()
    with pytest.raises(GraphError, match="'shapes' has 2 values, expected 4"):
        make(lambda: define(in_ids=[0, 1]), **settings).run()


@pytest.mark.parametrize("executor", ["simple", "pipelined"])
def test_one_buffer_is_copied_where_it_is_named_again(files: list[str], executor: str) -> None:
    def define() -> list[DataNode]:
        _, label = fn.readers.file(files=files, name="reader")
        picture = fn.random.uniform(shape=[4, 3])
        _, shares = fn.mixup(picture, label, num_classes=37)
        return [shares, shares]

    first, again = make(define, batch_size=BATCH, executor=executor).run()
    np.testing.assert_array_equal(first.as_array(), again.as_array())
    assert first.as_array().sum() == pytest.approx(BATCH)
    assert not np.shares_memory(first.as_array(), again.as_array())


def test_what_agrees_in_shape_is_one_buffer(files: list[str]) -> None:
    def define() -> list[DataNode]:
        encoded, _ = fn.readers.file(files=files, name="reader")
        picture = fn.decoders.image(encoded)
        return [fn.pad(picture), fn.pad(picture, axis_names="C")]

    padded, ragged = make(define, batch_size=BATCH).run()
    assert padded.is_dense and not ragged.is_dense
    assert np.asarray(padded).shape == padded.as_array().shape


@pytest.mark.parametrize("target", ["cpu", "gpu"])
def test_one_hot_makes_lists_where_each_sample_has_one_number(target: str, device: None) -> None:
    def marked(labels: list[list[int]], **arguments: Any) -> list[Any]:
        def define() -> DataNode:
            given = fn.external_source(lambda: [np.int32(x) for x in labels], batch=True)
            given = given.gpu() if target == "gpu" else given
            return fn.one_hot(given, num_classes=3, device=target, **arguments)

        settings = {"device_id": 0} if target == "gpu" else {}
        (batch,) = make(define, batch_size=len(labels), **settings).run()
        return [np.array(x).tolist() for x in batch.as_cpu()]

    assert marked([[1], [2]]) == [[0, 1, 0], [0, 0, 1]]
    assert marked([[1], [2, 0]]) == [[[0, 1, 0]], [[0, 0, 1], [1, 0, 0]]]
    assert marked([[1], [2]], axis=-1) == [[[0, 1, 0]], [[0, 0, 1]]]
    assert marked([[1], [2]], axis=0) == [[[0], [1], [0]], [[0], [0], [1]]]
    assert marked([[[1]], [[2]]]) == [[0, 1, 0], [0, 0, 1]]
