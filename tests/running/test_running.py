# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Running pipelines from Python: epochs, settings, states, saved pipelines, statistics."""

from __future__ import annotations

import gc
import json
import weakref
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers import make
from stoker import DataNode, Pipeline, errors, fn, pipeline_def, types
from trainings import SIZE, epoch_of, sources, training


def test_a_loop_is_an_epoch(pictures: Path) -> None:
    pipe = training(pictures)
    first, _ = epoch_of(pipe)
    second, _ = epoch_of(pipe)
    assert len(set(first)) == len(first) == SIZE
    assert sorted(first) == sorted(second)
    assert first != second


def test_a_broken_loop_ends_its_epoch(pictures: Path) -> None:
    pipe, whole = training(pictures), training(pictures)
    expected = [epoch_of(whole)[0] for _ in range(2)]
    for number, _ in enumerate(pipe):
        if number == 1:
            break
    assert pipe.steps_left() == 4
    assert epoch_of(pipe)[0] == expected[1]


def test_epochs_that_do_not_divide(pictures: Path) -> None:
    pipe = training(pictures, batch_size=7)
    counts = Counter(name for _ in range(7) for name in epoch_of(pipe)[0])
    assert sum(counts.values()) == 7 * SIZE
    assert set(counts.values()) == {7}


def test_a_pipeline_without_a_reader_has_no_end() -> None:
    pipe = Pipeline(batch_size=2, seed=1)
    with pipe:
        pipe.set_outputs(fn.random.uniform())
    draws = [np.asarray(batch).tolist() for (batch,), _ in zip(pipe, range(50), strict=False)]
    assert len({x for pair in draws for x in pair}) == 100


def test_the_scheduled_style(pictures: Path) -> None:
    pipe, plain = training(pictures), training(pictures)
    for _ in range(3):
        pipe.schedule_run()
        images, _ = pipe.share_outputs()
        pipe.release_outputs()
        np.testing.assert_array_equal(images.as_array(), plain.run()[0].as_array())
    pipe.reset()
    pipe.schedule_run()
    np.testing.assert_array_equal(pipe.outputs()[0].as_array(), plain.run()[0].as_array())


def test_reader_facts(pictures: Path) -> None:
    pipe = training(pictures, shard_id=1, num_shards=5)
    meta = pipe.reader_meta("Reader")
    assert (meta["epoch_size"], meta["number_of_shards"], meta["shard_id"]) == (SIZE, 5, 1)
    assert pipe.epoch_size("Reader") == meta["epoch_size_padded"] == SIZE
    padded = training(pictures, shard_id=1, num_shards=5, pad_last_batch=True)
    assert padded.epoch_size("Reader") == padded.reader_meta("Reader")["epoch_size_padded"] == 25
    assert padded.epoch_size() == {"Reader": 25}
    assert pipe.reader_meta() == {"Reader": meta}
    with pytest.raises(errors.GraphError, match="Did you mean 'Reader'"):
        pipe.reader_meta("Raeder")


@pytest.mark.parametrize(
    "settings",
    [
        {"num_threads": 1},
        {"num_threads": 5, "prefetch_queue_depth": 4},
        {"batch_size": 8},
        {"batch_size": 3, "prefetch_queue_depth": 1},
        {"executor": "simple"},
        {"fuse": False},
        {"demand": False},
        {"memory_limit": 256 << 20, "read_ahead_limit": 1, "io_threads": 1},
    ],
    ids=str,
)
def test_settings_that_change_no_byte(pictures: Path, settings: dict[str, Any]) -> None:
    names, pixels = epoch_of(training(pictures))
    other_names, other_pixels = epoch_of(training(pictures, **settings))
    assert other_names == names
    np.testing.assert_array_equal(other_pixels, pixels)


def test_shards_deal_the_same_samples(pictures: Path) -> None:
    names, pixels = epoch_of(training(pictures))
    whole = dict(zip(names, pixels, strict=True))
    seen: list[str] = []
    for shard in range(3):
        part, part_pixels = epoch_of(training(pictures, shard_id=shard, num_shards=3))
        seen += part
        for name, picture in zip(part, part_pixels, strict=True):
            np.testing.assert_array_equal(picture, whole[name])
    assert sorted(seen) == sorted(names)


def test_another_seed_is_other_chance_in_the_same_order(pictures: Path) -> None:
    names, pixels = epoch_of(training(pictures, seed=1))
    other_names, other_pixels = epoch_of(training(pictures, seed=2))
    assert names == other_names
    assert not np.array_equal(pixels, other_pixels)
    assert names != epoch_of(training(pictures, shuffle_after_epoch_seed=5))[0]


def test_without_a_seed_one_is_drawn(pictures: Path) -> None:
    a, b = training(pictures, seed=None), training(pictures, seed=-1)
    assert a.seed is None
    a.build()
    b.build()
    assert isinstance(a.seed, int)
    assert a.seed != b.seed
    assert a.state()["seed"] == a.seed


@pytest.mark.parametrize("steps", [0, 1, 5, 6, 9])
def test_a_state_goes_on_where_it_was_taken(pictures: Path, steps: int) -> None:
    pipe = training(pictures, seed=None)
    for _ in range(steps):
        pipe.run()
    state = json.loads(json.dumps(pipe.state()))
    expected = [pipe.run()[0].as_array() for _ in range(8)]
    again = training(pictures, seed=None, num_threads=1, prefetch_queue_depth=3)
    again.run()
    again.restore(state)
    for e in expected:
        np.testing.assert_array_equal(again.run()[0].as_array(), e)


def test_a_state_may_change_its_topology(pictures: Path) -> None:
    pipe = training(pictures)
    for _ in range(3):
        pipe.run()
    rest = [name for images, _ in pipe for name in sources(images)]
    state = training(pictures).state()
    twelve = training(pictures, batch_size=6)
    twelve.run()
    twelve.run()
    state = twelve.state()
    seen: list[str] = []
    for shard in range(2):
        part = training(pictures, batch_size=2, shard_id=shard, num_shards=2)
        part.restore(state)
        seen += epoch_of(part)[0]
    assert sorted(seen) == sorted(rest)


def test_checkpoints_are_text(pictures: Path, tmp_path: Path) -> None:
    pipe = training(pictures)
    pipe.run()
    text = pipe.checkpoint(tmp_path / "state.json")
    assert (tmp_path / "state.json").read_text() == text
    again = training(pictures, checkpoint=text)
    np.testing.assert_array_equal(again.run()[0].as_array(), pipe.run()[0].as_array())


def test_another_order_is_refused(pictures: Path) -> None:
    state = training(pictures).state()
    other = training(pictures, shuffle_after_epoch_seed=5)
    with pytest.raises(errors.StateError, match="force=True"):
        other.restore(state)
    with pytest.warns(UserWarning, match="key was"):
        other.restore(state, force=True)
    with pytest.raises(errors.StateError, match="not a pipeline's state"):
        other.restore({"format": "else"})


def test_an_edited_graph_warns(pictures: Path) -> None:
    @pipeline_def(batch_size=4, num_threads=1, seed=1)
    def edited(root: Path) -> DataNode:
        encoded, _ = fn.readers.file(file_root=root, random_shuffle=True, name="Reader")
        image = fn.random_resized_crop(fn.decoders.image(encoded), size=[8, 8])
        image = fn.flip(image, horizontal=fn.random.coin_flip())
        return fn.cast(image, dtype=types.FLOAT)

    state = training(pictures).state()
    with pytest.warns(UserWarning, match="the graph was edited"):
        edited(pictures).restore(state)


def test_a_saved_pipeline_does_the_same(pictures: Path, tmp_path: Path) -> None:
    pipe = training(pictures, seed=3, on_error="skip")
    text = pipe.serialize(tmp_path / "pipe.json")
    expected = pipe.run()[0].as_array()
    for loaded in (
        Pipeline.deserialize(text),
        Pipeline.deserialize(text.encode(), num_threads=1),
        Pipeline.deserialize(filename=tmp_path / "pipe.json"),
    ):
        assert (loaded.batch_size, loaded.seed, loaded.on_error) == (4, 3, "skip")
        assert loaded.serialize() == text or loaded.num_threads == 1
        np.testing.assert_array_equal(loaded.run()[0].as_array(), expected)
    assert Pipeline.deserialize(text, batch_size=2).run()[0].as_array().shape[0] == 2


def test_saved_pipelines_are_checked(pictures: Path) -> None:
    text = training(pictures).serialize()
    with pytest.raises(errors.GraphError, match="either the text or filename"):
        Pipeline.deserialize()
    with pytest.raises(errors.GraphError, match="damaged"):
        Pipeline.deserialize(text[: len(text) // 2])
    with pytest.raises(errors.GraphError, match="'horse_power'"):
        Pipeline.deserialize(text.replace('"batch_size"', '"horse_power"'))


def test_plan_and_stats(pictures: Path) -> None:
    pipe = training(pictures)
    assert "in one pass with flip_0" in pipe.plan()
    assert "trainings.py:" in pipe.plan()
    for _ in pipe:
        pass
    stats = pipe.stats()
    seconds = {o["name"]: o["seconds"] for o in stats["operators"]}
    assert seconds["decoders_image_0"] > 0
    assert stats["steps"] == 6
    assert stats["samples"] >= SIZE
    assert stats["bytes_read"] >= sum(p.stat().st_size for p in pictures.glob("*/*"))
    assert stats["memory"]["batches"]["high_water"] >= 4 * 16 * 16 * 3
    pipe.trim()
    assert "built" in repr(pipe)


def test_a_closed_pipeline_goes_on(pictures: Path) -> None:
    pipe, other = training(pictures), training(pictures)
    for _ in range(3):
        np.testing.assert_array_equal(pipe.run()[0].as_array(), other.run()[0].as_array())
        pipe.close()


def test_real_pictures(test_data: Path) -> None:
    """Real photographs run through the usual training input."""
    pipe = training(test_data / "imagenet", size=64, batch_size=50)
    count = 0
    for images, labels in pipe:
        assert images.as_array().std() > 10
        assert len(labels) == len(images)
        count += len(images)
    assert count >= pipe.reader_meta("Reader")["epoch_size"]


def damaged() -> DataNode:
    data = [np.frombuffer(b"no picture", np.uint8)] * 2
    return fn.decoders.image(fn.external_source(source=lambda: data))


def too_small() -> DataNode:
    data = [np.zeros((2, 2, 1))] * 2
    return fn.crop(fn.external_source(source=lambda: data, layout="HWC"), crop=[3, 3])


def scheduled(pipe: Pipeline) -> Any:
    pipe.schedule_run()
    return pipe.outputs()


@pytest.mark.parametrize("take", [Pipeline.run, lambda pipe: next(iter(pipe)), scheduled])
@pytest.mark.parametrize("define", [damaged, too_small])
def test_a_failed_step_keeps_no_pipeline(
    take: Callable[[Pipeline], Any], define: Callable[[], Any]
) -> None:
    """An error whose traceback leads to itself would live until the garbage collector runs."""
    pipe = make(define, batch_size=2, num_threads=1)
    dead = weakref.ref(pipe)
    gc.disable()
    try:
        with pytest.raises(errors.SampleError):
            take(pipe)
        del pipe
        assert dead() is None
    finally:
        gc.enable()
