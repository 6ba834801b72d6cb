# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Decoding on the way to a device: a training's graph, damaged files, and the plan's words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import jpegs
from helpers import Sample, assert_same, max_difference, samples_of
from stoker import Pipeline, fn
from stoker.errors import GraphError, SampleError

pytestmark = pytest.mark.filterwarnings("error", "ignore::stoker.errors.SampleWarning")
DAMAGED = 2


@pytest.fixture(autouse=True)
def _simulated_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STOKER_SIMULATED_DEVICES", "1")


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Nine good pictures of different sizes and kinds."""
    paths = []
    for i in range(9):
        path = tmp_path / f"{i}.jpg"
        kind = jpegs.KINDS[i % len(jpegs.KINDS)]
        path.write_bytes(jpegs.encode(jpegs.picture(40 + i, 51 + 2 * i, i), kind))
        paths.append(str(path))
    return paths


def damage(files: list[str]) -> str:
    path = Path(files[DAMAGED])
    path.write_bytes(jpegs.truncated(path.read_bytes()))
    return str(path)


def training(files: list[str], device: str, **settings: Any) -> Pipeline:
    """Labels, and pictures that are cropped, flipped and normalised where they were decoded to."""
    pipe = Pipeline(batch_size=4, num_threads=3, seed=3, device_id=0, **settings)
    with pipe:
        encoded, label = fn.readers.file(files=files, random_shuffle=True, name="reader")
        image = fn.decoders.image(encoded, device=device)
        image = fn.random_resized_crop(image, size=[16, 20])
        mirror = fn.random.coin_flip()
        image = fn.crop_mirror_normalize(image, mirror=mirror, mean=[120.0], std=[60.0])
        raw = fn.decoders.image_random_crop(encoded, device=device)
        pipe.set_outputs(label, raw, fn.flip(raw), image)
    return pipe


def run(pipe: Pipeline) -> list[Sample]:
    return samples_of([b if b.device == "cpu" else b.as_cpu() for b in pipe.run()])


@pytest.mark.parametrize("executor", ["simple", "pipelined"])
def test_a_training_is_that_of_the_cpu(files: list[str], executor: str) -> None:
    mixed, cpu = training(files, "mixed", executor=executor), training(files, "cpu")
    for step in range(6):
        got, right = run(mixed), run(cpu)
        assert_same([s[:3] for s in got], [s[:3] for s in right], f"step {step}")
        for g, r in zip(got, right, strict=True):
            assert max_difference(g[3], r[3]) <= 1 / 60 + 1e-5


def test_it_is_said_who_decodes(files: list[str]) -> None:
    pipe = training(files, "mixed")
    (line,) = [s for s in pipe.plan().splitlines() if s.startswith("mixed: ")]
    assert line == "mixed: simulated:0 has a stand-in: the CPU decodes, pixels are copied"
    (node,) = [s for s in pipe.plan().splitlines() if s.startswith("mixed decoders.image '")]
    assert node.endswith(": only the window that later operators look at")
    (output,) = [s for s in pipe.plan().splitlines() if "decoders.image_random_crop '" in s]
    assert "only the window" not in output  # an output is made whole
    assert pipe.stats()["decoder"] == "stand-in"
    cpu = training(files, "cpu")
    assert "stand-in" not in cpu.plan() and cpu.stats()["decoder"] is None


def test_it_is_saved_and_resumed(files: list[str]) -> None:
    pipe = training(files, "mixed")
    loaded = Pipeline.deserialize(pipe.serialize())
    assert '"device": "mixed"' in pipe.serialize()
    first, right = run(pipe), [run(pipe) for _ in range(3)]
    assert_same(run(loaded), first, "loaded")
    fresh = training(files, "mixed")
    fresh.restore(loaded.state())
    for step in right:
        assert_same(run(fresh), step, "resumed")


def test_damage_is_raised_with_file_and_operator(files: list[str]) -> None:
    path = damage(files)
    pipe = training(files, "mixed")
    failed = 0
    for _ in range(3):
        try:
            run(pipe)
        except SampleError as e:
            failed += 1
            assert path in str(e) and "decoders.image" in str(e) and "test_mixed.py" in str(e)
    assert failed >= 1
    assert {q["source"] for q in pipe.quarantine()} == {path}


@pytest.mark.parametrize("on_error", ["skip", "replace"])
@pytest.mark.parametrize("executor", ["simple", "pipelined"])
def test_damage_meets_the_policy(files: list[str], on_error: str, executor: str) -> None:
    damage(files)
    mixed = training(files, "mixed", on_error=on_error, executor=executor)
    cpu = training(files, "cpu", on_error=on_error)
    sizes = []
    for step in range(4):
        got, right = run(mixed), run(cpu)
        sizes.append(len(got))
        assert_same([s[:3] for s in got], [s[:3] for s in right], f"step {step}")
        assert all(np.isfinite(s[3]).all() for s in got)
    assert (min(sizes) < 4) == (on_error == "skip")


def test_operators_on_the_cpu_take_copies(files: list[str]) -> None:
    def cropped(device: str, executor: str) -> Pipeline:
        with Pipeline(batch_size=4, num_threads=2, device_id=0, seed=3, executor=executor) as pipe:
            encoded, label = fn.readers.file(files=files)
            image = fn.decoders.image(encoded, device=device).cpu()
            assert image.device == "cpu"
            flipped = fn.flip(image, horizontal=fn.random.coin_flip())
            small = fn.crop(flipped.gpu() if device == "mixed" else flipped, crop=(9, 7))
            assert small.device == ("gpu" if device == "mixed" else "cpu")
            pipe.set_outputs(flipped, fn.cast(small.cpu(), dtype="int32"), image, label)
        return pipe

    def bytes_of(pipe: Pipeline) -> list[bytes]:
        return [b.at(i).tobytes() for _ in range(6) for b in pipe.run() for i in range(4)]

    right = bytes_of(cropped("cpu", "simple"))
    for executor in ("simple", "pipelined"):
        pipe = cropped("mixed", executor)
        assert bytes_of(pipe) == right
        assert "stages: chain, gpu, chain, gpu, chain, gpu;" in pipe.plan()
        loaded = Pipeline.deserialize(pipe.serialize())
        assert loaded.plan() == pipe.plan()


def test_an_operator_on_the_cpu_wants_the_copy_said(files: list[str]) -> None:
    with Pipeline(batch_size=2, num_threads=1, device_id=0):
        encoded, _ = fn.readers.file(files=files)
        image = fn.decoders.image(encoded, device="mixed")
        assert image.device == "gpu" and image.gpu() is image
        with pytest.raises(GraphError, match=r"flip .*decoders_image.* is on the GPU; \.cpu\(\)"):
            fn.flip(image, device="cpu")
