# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Running pipelines from Python: batches, epochs, state, shards, damaged samples, processes."""

from __future__ import annotations

import gc
import io
import json
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stoker import Batch, DataNode, Pipeline, errors, fn, pipeline_def, types
from stoker._contact_sheet import contact_sheet

SIZE = 24


@pipeline_def(batch_size=4, num_threads=2, seed=1)
def training(
    root: Path, size: int = 16, shard_id: int = 0, num_shards: int = 1, **reader: Any
) -> tuple[DataNode, DataNode]:
    reader = {"random_shuffle": True, "name": "Reader", **reader}
    encoded, label = fn.readers.file(
        file_root=root, shard_id=shard_id, num_shards=num_shards, **reader
    )
    image = fn.random_resized_crop(fn.decoders.image(encoded), size=[size, size])
    return fn.flip(image, horizontal=fn.random.coin_flip()), label


@pipeline_def(batch_size=4, num_threads=2)
def in_order(root: Path) -> tuple[DataNode, DataNode]:
    encoded, label = fn.readers.file(file_root=root)
    return fn.decoders.image(encoded), label


def sources(batch: Batch) -> list[str]:
    return [batch.source_info(i) for i in range(len(batch))]


def epoch_of(pipe: Pipeline) -> tuple[list[str], np.ndarray]:
    names: list[str] = []
    pixels = []
    for images, _ in pipe:
        names += sources(images)
        pixels.append(images.as_array())
    return names, np.concatenate(pixels)


# Batches


def test_bytes_come_as_the_files_hold_them(pictures: Path) -> None:
    pipe = Pipeline(batch_size=SIZE, num_threads=2)
    with pipe:
        pipe.set_outputs(*fn.readers.file(file_root=pictures))
    encoded, labels = pipe.run()
    classes = sorted(p.name for p in pictures.iterdir())
    for i in range(SIZE):
        path = Path(encoded.source_info(i))
        assert np.asarray(encoded[i]).tobytes() == path.read_bytes()
        assert classes[int(np.asarray(labels[i]).item())] == path.parent.name
        assert encoded[i].source_info == str(path)


def test_pictures_are_those_that_pillow_sees(pictures: Path) -> None:
    from PIL import Image

    images, _ = in_order(pictures, batch_size=SIZE).run()
    for i, path in enumerate(sources(images)):
        with Image.open(path) as file:
            expected = np.asarray(file.convert("RGB"), np.int16)
        difference = np.abs(np.asarray(images[i]).astype(np.int16) - expected)
        assert difference.max() <= 1


def test_batch_and_tensor_facts(pictures: Path) -> None:
    images, labels = training(pictures).run()
    assert (len(images), images.dtype, images.layout, images.device) == (4, "uint8", "HWC", "cpu")
    assert images.shape() == [(16, 16, 3)] * 4
    assert images.is_dense
    tensor = images[-1]
    assert (tensor.shape, tensor.dtype, tensor.layout) == ((16, 16, 3), "uint8", "HWC")
    whole = images.as_tensor()
    assert (whole.shape, whole.layout) == ((4, 16, 16, 3), "NHWC")
    assert labels.dtype == types.INT32
    np.testing.assert_array_equal(images.as_cpu().as_array()[3], np.asarray(images.at(3)))
    with pytest.raises(IndexError):
        images[4]


def test_arrays_share_the_batch_s_memory(pictures: Path) -> None:
    images, _ = training(pictures).run()
    a, b = images.as_array(), np.from_dlpack(images.as_tensor())
    a[2, 3, 4, 1] ^= 0xFF
    assert b[2, 3, 4, 1] == a[2, 3, 4, 1]
    assert np.asarray(images[2])[3, 4, 1] == a[2, 3, 4, 1]
    copy = np.array(images[2])
    copy[3, 4, 1] ^= 0xFF
    assert copy[3, 4, 1] != a[2, 3, 4, 1]
    assert np.asarray(images[2], dtype=np.float32).dtype == np.float32


def test_torch_takes_batches_without_a_copy(pictures: Path) -> None:
    import torch

    images, _ = training(pictures).run()
    tensor = torch.from_dlpack(images.as_tensor())
    assert tuple(tensor.shape) == (4, 16, 16, 3)
    tensor[1] = 7
    assert np.all(images.as_array()[1] == 7)


def test_ragged_batches_say_why_they_are_no_array(pictures: Path) -> None:
    images, _ = in_order(pictures, batch_size=SIZE).run()
    assert not images.is_dense
    with pytest.raises(errors.Error, match=r"differ in shape.*\(\d+, \d+, 3\)"):
        images.as_tensor()
    assert len({np.asarray(images[i]).shape for i in range(SIZE)}) > 1


def test_outputs_belong_to_whoever_holds_them(pictures: Path) -> None:
    pipe = training(pictures, prefetch_queue_depth=1)
    held = [pipe.run()[0].as_array() for _ in range(8)]
    copies = [a.copy() for a in held]
    for a in held:
        a[0] ^= 0xFF
    for _ in range(8):
        pipe.run()
    pipe.close()
    del pipe
    gc.collect()
    for a, c in zip(held, copies, strict=True):
        np.testing.assert_array_equal(a[0], c[0] ^ 0xFF)
        np.testing.assert_array_equal(a[1:], c[1:])


# Epochs


def test_a_loop_is_an_epoch(pictures: Path) -> None:
    pipe = training(pictures)
    first, _ = epoch_of(pipe)
    second, _ = epoch_of(pipe)
    assert len(set(first)) == len(first) == SIZE
    assert sorted(first) == sorted(second)
    assert first != second


def test_a_broken_loop_goes_on(pictures: Path) -> None:
    pipe = training(pictures)
    seen: list[str] = []
    for images, _ in pipe:
        seen += sources(images)
        if len(seen) == 8:
            break
    assert pipe.steps_left() == 4
    for images, _ in pipe:
        seen += sources(images)
    assert len(set(seen)) == len(seen) == SIZE


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
    assert pipe.epoch_size("Reader") == meta["epoch_size_padded"] == 25
    assert pipe.epoch_size() == {"Reader": 25}
    assert pipe.reader_meta() == {"Reader": meta}
    with pytest.raises(errors.GraphError, match="Did you mean 'Reader'"):
        pipe.reader_meta("Raeder")


# What changes no byte, and what does


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


# State


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


# Saved pipelines


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


# Damaged samples


def test_raise_lists_the_samples_and_goes_on(damaged: Path) -> None:
    pipe = in_order(damaged)
    with pytest.raises(errors.SampleError) as caught:
        pipe.run()
    (bad,) = caught.value.samples
    assert Path(bad["source"]).name == "0004.jpg"
    assert (bad["index_in_batch"], bad["operator"]) == (1, "decoders.image")
    assert "test_api.py:" in bad["where"]
    for fact in (bad["source"], bad["where"], bad["message"]):
        assert fact in str(caught.value)
    assert len(pipe.run()[0]) == 4


def test_skip_makes_the_batch_shorter(damaged: Path, tmp_path: Path) -> None:
    pipe = in_order(damaged, on_error="skip")
    assert [len(images) for images, _ in pipe] == [3, 4, 4, 4, 4, 4]
    assert [Path(bad["source"]).name for bad in pipe.quarantine()] == ["0004.jpg"]
    pipe.write_quarantine(tmp_path / "bad.jsonl")
    lines = (tmp_path / "bad.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == pipe.quarantine()
    assert pipe.stats()["failures"] == 1


def test_replace_keeps_the_batch_full(damaged: Path) -> None:
    pipes = [in_order(damaged, on_error="replace", num_threads=n) for n in (1, 3)]
    found = [epoch_names(pipe) for pipe in pipes]
    assert found[0] == found[1]
    assert len(found[0]) == SIZE
    assert "0004.jpg" not in {Path(name).name for name in found[0]}


def epoch_names(pipe: Pipeline) -> list[str]:
    return [name for images, _ in pipe for name in sources(images)]


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(errors.Error, match="nowhere"):
        in_order(tmp_path / "nowhere").run()


def test_a_missing_gpu_is_said(pictures: Path) -> None:
    """In a process of its own, without the simulated device of other tests."""
    script = f"""
from stoker import Pipeline, errors, fn
pipe = Pipeline(batch_size=2, num_threads=1)
with pipe:
    encoded, _ = fn.readers.file(file_root={str(pictures)!r})
    pipe.set_outputs(fn.resize(fn.decoders.image(encoded).gpu(), size=[8, 8]))
try:
    pipe.run()
except errors.DeviceError as e:
    print(e)
"""
    environment = {k: v for k, v in os.environ.items() if k != "STOKER_SIMULATED_DEVICES"}
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert "GPU" in done.stdout and "STOKER_SIMULATED_DEVICES" in done.stdout
    assert "copy 'copy_0'" in done.stdout


# Processes, threads, signals


def test_a_forked_child_builds_its_own(pictures: Path) -> None:
    pipe = training(pictures)
    pipe.run()
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        report = "nothing"
        try:
            try:
                pipe.run()
            except errors.StateError as e:
                report = str(e)
            del pipe
            gc.collect()
            report += f" / own {len(training(pictures).run()[0])}"
        finally:
            os.write(write_end, report.encode())
            os._exit(0)
    os.close(write_end)
    with os.fdopen(read_end) as file:
        report = file.read()
    os.waitpid(child, 0)
    assert "fork" in report
    assert report.endswith("/ own 4")
    assert len(pipe.run()[0]) == 4


def test_several_pipelines_in_several_threads(pictures: Path) -> None:
    expected = epoch_of(training(pictures))[1]
    results: dict[int, np.ndarray] = {}

    def work(k: int) -> None:
        results[k] = epoch_of(training(pictures, num_threads=2))[1]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(results) == 4
    for pixels in results.values():
        np.testing.assert_array_equal(pixels, expected)


def test_a_signal_ends_the_wait_and_loses_nothing(tmp_path: Path) -> None:
    class StopError(Exception):
        pass

    def stop(*_: object) -> None:
        raise StopError

    picture = io.BytesIO()
    from PIL import Image

    Image.effect_noise((3000, 3000), 90).save(picture, "JPEG", quality=98)
    for i in range(2):
        (tmp_path / f"{i}.jpg").write_bytes(picture.getvalue())
    pipe = Pipeline(batch_size=64, num_threads=1)
    with pipe:
        encoded, _ = fn.readers.file(files=[str(tmp_path / f"{i % 2}.jpg") for i in range(64)])
        pipe.set_outputs(fn.resize(fn.decoders.image(encoded), size=[2, 2]))
    old = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(StopError):
            pipe.run()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    assert pipe.state()["orders"]["readers_file_0"]["cursor"] == 0
    pipe.close()


# What a pipeline says of itself


def test_plan_and_stats(pictures: Path) -> None:
    pipe = training(pictures)
    assert "in one pass with flip_0" in pipe.plan()
    assert "test_api.py:" in pipe.plan()
    for _ in pipe:
        pass
    stats = pipe.stats()
    seconds = {o["name"]: o["seconds"] for o in stats["operators"]}
    assert seconds["decoders_image_0"] > 0
    assert stats["steps"] == 6
    assert stats["samples"] >= SIZE
    assert stats["bytes_read"] >= sum(p.stat().st_size for p in pictures.glob("*/*"))
    assert stats["memory"]["high_water"] >= 4 * 16 * 16 * 3
    pipe.trim()
    assert "built" in repr(pipe)


def test_a_closed_pipeline_goes_on(pictures: Path) -> None:
    pipe, other = training(pictures), training(pictures)
    for _ in range(3):
        np.testing.assert_array_equal(pipe.run()[0].as_array(), other.run()[0].as_array())
        pipe.close()


def test_contact_sheet(tmp_path: Path) -> None:
    from PIL import Image

    rng = np.random.default_rng(1)
    tiles = list(rng.integers(0, 256, (5, 6, 9, 3), np.uint8))
    contact_sheet(tiles, tmp_path / "sheet.png", columns=3, gap=2)
    with Image.open(tmp_path / "sheet.png") as file:
        sheet = np.asarray(file)
    assert sheet.shape == (2 + 2 * 8, 2 + 3 * 11, 3)
    np.testing.assert_array_equal(sheet[10:16, 13:22], tiles[4])
    assert np.all(sheet[10:16, 24:] == 255)


def test_real_pictures(test_data: Path) -> None:
    """A folder of real photographs runs through the usual training input."""
    pipe = training(test_data / "imagenet", size=64, batch_size=50)
    count = 0
    for images, labels in pipe:
        assert images.as_array().std() > 10
        assert len(labels) == len(images)
        count += len(images)
    assert count >= pipe.reader_meta("Reader")["epoch_size"]
