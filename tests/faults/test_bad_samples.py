# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Every kind of bad sample, under each policy. The pipeline works on after it."""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import jpegs
from helpers import SIMPLE, make, samples_of
from stoker import fn
from stoker.errors import Error, SampleError

GOOD = 7
BAD_AT = 3  # among the GOOD + 1 files
BATCH = 4


def file_of(kind: str) -> bytes | None:
    """The bytes of a bad file. None for one that is removed after the pipeline was built."""
    good = jpegs.encode(jpegs.picture(48, 64, 9), "420")
    return {
        "truncated": jpegs.truncated(good),
        "truncated header": good[:60],
        "random entropy data": jpegs.scrambled(good),
        "random data, restarts": jpegs.scrambled(jpegs.encode(jpegs.picture(48, 64, 9), "restart")),
        "random progressive data": jpegs.scrambled(
            jpegs.encode(jpegs.picture(48, 64, 9), "progressive"), share=0.05
        ),
        "text": b"this is no picture, it is a line of text\n" * 20,
        "a number of zeros": bytes(500),
        "empty": b"",
        "one byte": b"\xff",
        "60000x60000": jpegs.claims(60000, 60000),
        "no pixels": jpegs.claims(0, 0),
        "vanished": None,
        "dangling symlink": None,
        "folder": None,
        "named pipe": None,
    }[kind]


KINDS = (
    "truncated",
    "truncated header",
    "random entropy data",
    "random data, restarts",
    "random progressive data",
    "text",
    "a number of zeros",
    "empty",
    "one byte",
    "60000x60000",
    "no pixels",
    "vanished",
    "dangling symlink",
    "folder",
    "named pipe",
)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    root = tmp_path_factory.mktemp("good")
    paths = []
    for i in range(GOOD):
        path = root / f"{i}.jpg"
        path.write_bytes(jpegs.encode(jpegs.picture(40 + i, 50 + 2 * i, i), jpegs.KINDS[i]))
        paths.append(path)
    return paths


def with_bad(good: list[Path], bad: Path) -> list[str]:
    paths = [str(p) for p in good]
    return [*paths[:BAD_AT], str(bad), *paths[BAD_AT:]]


@pytest.fixture(params=KINDS)
def bad(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, Path]]:
    kind = request.param
    path = tmp_path / "bad.jpg"
    data = file_of(kind)
    if data is not None:
        path.write_bytes(data)
    elif kind == "folder":
        path.mkdir()
    elif kind == "named pipe":  # it has no writer, so opening it might never end
        os.mkfifo(path)
    elif kind == "dangling symlink":
        path.symlink_to(tmp_path / "nowhere.jpg")
    else:
        path.write_bytes(jpegs.encode(jpegs.picture(20, 20)))
    yield kind, path


def graph(files: list[str]) -> Callable[[], Any]:
    def define() -> list[Any]:
        encoded, label = fn.readers.file(files=files, name="reader")
        image = fn.decoders.image(encoded, name="decoder")
        return [label, image, fn.random_resized_crop(image, size=[8, 8]), fn.random.uniform()]

    return define


DECODER_LINE = inspect.getsourcelines(graph)[1] + 3


def built(files: list[str], kind: str, path: Path, **settings: Any) -> Any:
    pipe = make(graph(files), batch_size=BATCH, **settings)
    pipe.build()
    if kind == "vanished":
        path.unlink(missing_ok=True)
    return pipe


def key(sample: tuple[Any, ...]) -> tuple[bytes, ...]:
    return tuple(a.tobytes() for a in sample)


@pytest.fixture(scope="module")
def expected(good: list[Path], tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """Two epochs with a sound file in the place of the bad one."""
    sound = tmp_path_factory.mktemp("sound") / "sound.jpg"
    sound.write_bytes(jpegs.encode(jpegs.picture(48, 64, 9), "420"))
    pipe = make(graph(with_bad(good, sound)), batch_size=BATCH)
    return [samples_of(pipe.run()) for _ in range(4)]


EXECUTORS: dict[str, dict[str, Any]] = {"pipelined": {}, "simple": SIMPLE}


@pytest.mark.parametrize("executor", EXECUTORS)
def test_raise(good: list[Path], bad: tuple[str, Path], expected: list[Any], executor: str) -> None:
    kind, path = bad
    pipe = built(with_bad(good, path), kind, path, **EXECUTORS[executor])
    for step in range(4):
        if step % 2:
            got = samples_of(pipe.run())
            assert [key(s) for s in got] == [key(s) for s in expected[step]]
            continue
        with pytest.raises(SampleError) as raised:
            pipe.run()
        assert_names_all(str(raised.value), kind, path)
        (sample,) = raised.value.samples
        assert sample["source"] == str(path)
        assert sample["index_in_batch"] == BAD_AT
        assert (sample["epoch"], sample["position"]) == (step // 2, BAD_AT)
        assert sample["operator"] in ("readers.file", "decoders.image")
        assert sample["instance"] in ("reader", "decoder")
        assert "test_bad_samples.py:" in sample["where"]
        assert sample["offset"] is None or 0 <= sample["offset"] <= path.stat().st_size
    assert pipe.stats()["failures"] == 2


def assert_names_all(message: str, kind: str, path: Path) -> None:
    assert str(path) in message, message
    assert "test_bad_samples.py:" in message, message
    at_reading = kind in ("vanished", "dangling symlink", "folder", "named pipe")
    assert ("readers.file" if at_reading else "decoders.image") in message, message
    if not at_reading:
        assert f"test_bad_samples.py:{DECODER_LINE}" in message, message
    words = {
        "truncated": "byte",
        "random entropy data": "byte",
        "text": "JPEG",
        "a number of zeros": "JPEG",
        "60000x60000": "60000",
        "vanished": "No such file",
        "dangling symlink": "No such file",
        "folder": "folder",
        "named pipe": "regular file",
    }
    assert words.get(kind, "") in message, message


@pytest.mark.parametrize("executor", EXECUTORS)
def test_skip(good: list[Path], bad: tuple[str, Path], expected: list[Any], executor: str) -> None:
    kind, path = bad
    pipe = built(with_bad(good, path), kind, path, on_error="skip", **EXECUTORS[executor])
    for step in range(4):
        got = [key(s) for s in samples_of(pipe.run())]
        right = [key(s) for s in expected[step]]
        if step % 2 == 0:
            del right[BAD_AT]
        assert got == right
    assert_quarantined(pipe, path, [(0, BAD_AT), (1, BAD_AT)])


def test_replace(good: list[Path], bad: tuple[str, Path], expected: list[Any]) -> None:
    """The replacement has the failed sample's draws, and is the same under any topology."""
    kind, path = bad
    files = with_bad(good, path)
    replaced = []
    variants: list[dict[str, Any]] = [
        {},
        SIMPLE,
        {"num_threads": 7, "prefetch_queue_depth": 5},
        {"fuse": False},
    ]
    for settings in variants:
        if kind == "vanished":
            path.write_bytes(jpegs.encode(jpegs.picture(20, 20)))
        pipe = built(files, kind, path, on_error="replace", **settings)
        steps = [samples_of(pipe.run()) for _ in range(4)]
        for step, got in enumerate(steps):
            assert len(got) == BATCH
            for i, (g, e) in enumerate(zip(got, expected[step], strict=True)):
                if (step, i) in ((0, BAD_AT), (2, BAD_AT)):
                    assert int(g[0][0]) != BAD_AT
                    assert g[3].tobytes() == e[3].tobytes(), "the draws of the position"
                    replaced.append(key(g))
                else:
                    assert key(g) == key(e)
        assert {e["position"] for e in pipe.quarantine()} == {BAD_AT}
        assert all(e["source"] == str(path) for e in pipe.quarantine())
    assert len(set(replaced[0::2])) == 1 and len(set(replaced[1::2])) == 1


def assert_quarantined(pipe: Any, path: Path, places: list[tuple[int, int]]) -> None:
    (entry,) = pipe.quarantine()
    assert (entry["epoch"], entry["position"]) == places[-1]
    assert entry["source"] == str(path)
    assert entry["times"] == len(places)
    assert pipe.stats()["failures"] == len(places)


def test_quarantine_is_written_as_lines(good: list[Path], tmp_path: Path) -> None:
    path = tmp_path / "bad.jpg"
    path.write_bytes(b"text")
    pipe = built(with_bad(good, path), "text", path, on_error="skip")
    pipe.run()
    pipe.write_quarantine(tmp_path / "quarantine.jsonl")
    (line,) = (tmp_path / "quarantine.jsonl").read_text().splitlines()
    assert json.loads(line)["source"] == str(path)


@pytest.mark.parametrize("policy", ["skip", "replace"])
def test_a_batch_that_loses_all_raises(tmp_path: Path, policy: str) -> None:
    paths = []
    for i in range(4):
        path = tmp_path / f"{i}.jpg"
        path.write_bytes(b"no picture")
        paths.append(str(path))
    pipe = make(graph(paths), batch_size=4, on_error=policy)
    for _ in range(2):
        with pytest.raises(SampleError) as raised:
            pipe.run()
        assert {s["source"] for s in raised.value.samples} == set(paths)
    if policy == "replace":
        per_sample = len(raised.value.samples) / 4
        assert per_sample == 17, "16 attempts after the first"


def test_several_bad_samples_are_listed_in_one_error(good: list[Path], tmp_path: Path) -> None:
    bad = []
    for i, data in enumerate((b"text", b"", jpegs.claims(60000, 60000))):
        path = tmp_path / f"bad{i}.jpg"
        path.write_bytes(data)
        bad.append(str(path))
    files = [bad[0], str(good[0]), bad[1], bad[2], str(good[1])]
    with pytest.raises(SampleError) as raised:
        make(graph(files), batch_size=5).run()
    assert [s["source"] for s in raised.value.samples] == bad
    assert [s["index_in_batch"] for s in raised.value.samples] == [0, 2, 3]
    assert "3 of 5" in str(raised.value)
    assert isinstance(raised.value, Error) and isinstance(raised.value, RuntimeError)


def test_skipped_batches_stay_dense(good: list[Path], tmp_path: Path) -> None:
    path = tmp_path / "bad.jpg"
    path.write_bytes(b"text")
    files = [str(path), str(good[0]), str(path), str(good[1]), str(good[2])]

    def define() -> Any:
        encoded, label = fn.readers.file(files=files)
        return fn.resize(fn.decoders.image(encoded), size=[8, 8]), label

    images, labels = make(define, batch_size=5, on_error="skip").run()
    assert len(images) == len(labels) == 3
    assert images.is_dense and labels.is_dense
    assert images.as_array().shape == (3, 8, 8, 3)
    assert labels.as_array().ravel().tolist() == [1, 3, 4]
    assert [images.source_info(i) for i in range(3)] == [files[1], files[3], files[4]]


def test_policies_do_not_depend_on_shards_or_batches(good: list[Path], tmp_path: Path) -> None:
    path = tmp_path / "bad.jpg"
    path.write_bytes(b"text")
    files = with_bad(good, path)

    def define(shards: int, s: int) -> Callable[[], Any]:
        def inner() -> list[Any]:
            encoded, label = fn.readers.file(
                files=files, random_shuffle=True, num_shards=shards, shard_id=s
            )
            return [label, fn.decoders.image(encoded), fn.random.uniform()]

        return inner

    judge: list[Any] = []
    pipe = make(define(1, 0), batch_size=8, on_error="replace")
    for _ in range(2):
        judge += [key(s) for s in samples_of(pipe.run())]
    pipes = [make(define(2, s), batch_size=2, on_error="replace") for s in range(2)]
    got = [key(s) for _ in range(4) for p in pipes for s in samples_of(p.run())]
    assert got == judge


def test_tolerate_corrupt_delivers_what_is_there(tmp_path: Path) -> None:
    whole = jpegs.encode(jpegs.picture(64, 64, 5), "444")
    path = tmp_path / "half.jpg"
    path.write_bytes(jpegs.truncated(whole))

    def define() -> Any:
        encoded, _ = fn.readers.file(files=[str(path)])
        return fn.decoders.image(encoded, tolerate_corrupt=True)

    ((got,),) = samples_of(make(define).run())
    right = jpegs.pillow(whole)
    assert got.shape == right.shape
    assert np.array_equal(got[:16], right[:16]), "the part before the damage"
    assert not np.array_equal(got, right)


def test_only_demanded_data_is_judged(tmp_path: Path) -> None:
    whole = jpegs.encode(jpegs.picture(160, 64, 5), "444")
    path = tmp_path / "half.jpg"
    path.write_bytes(jpegs.truncated(whole))

    def define(verify: bool) -> Callable[[], Any]:
        def inner() -> Any:
            encoded, _ = fn.readers.file(files=[str(path)])
            return fn.decoders.image_crop(encoded, crop=[16, 64], crop_pos_y=0.0, verify=verify)

        return inner

    ((got,),) = samples_of(make(define(False)).run())
    assert np.array_equal(got, jpegs.pillow(whole)[:16])
    with pytest.raises(SampleError, match=r"half\.jpg"):
        make(define(True)).run()


SETTINGS = {
    "simple": SIMPLE,
    "demand": {},
    "no demand": {"demand": False},
    "no rewrites": {"fuse": False, "demand": False},
    "simple with rewrites": {"executor": "simple"},
}


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize("kind", ["420", "progressive", "restart"])
def test_damage_is_judged_by_what_operators_need(
    tmp_path: Path, kind: str, settings: dict[str, Any]
) -> None:
    whole = jpegs.encode(jpegs.picture(160, 64, 5), kind)
    path = tmp_path / "cut.jpg"
    path.write_bytes(jpegs.truncated(whole, 0.97))

    def define(crop_pos_y: float) -> Callable[[], Any]:
        def inner() -> Any:
            encoded, _ = fn.readers.file(files=[str(path)])
            whole = fn.decoders.image(encoded)
            return fn.flip(fn.crop(whole, crop=[16, 64], crop_pos_y=crop_pos_y), horizontal=1)

        return inner

    ((got,),) = samples_of(make(define(0.0), **settings).run())
    assert np.array_equal(got, jpegs.pillow(whole)[:16, ::-1])
    with pytest.raises(SampleError, match=r"ends prematurely"):
        make(define(1.0), **settings).run()


@pytest.mark.parametrize("kind", ["420", "444", "progressive"])
def test_verify_judges_random_entropy_data(tmp_path: Path, kind: str) -> None:
    """Most random bits are valid codes, but then the data does not end where it should."""
    whole = jpegs.encode(jpegs.picture(48, 64, 9), kind)
    for seed in range(10):
        path = tmp_path / f"{seed}.jpg"
        path.write_bytes(jpegs.scrambled(whole, seed))
        message = outcome(path, verify=True)
        assert isinstance(message, str) and "byte" in message, message


@pytest.mark.parametrize("policy", ["raise", "skip"])
def test_a_window_outside_the_picture(good: list[Path], policy: str) -> None:
    """Pictures 0 to 6 are 40 to 46 pixels high, so a window of 43 fits only the last four."""

    def define() -> list[Any]:
        encoded, label = fn.readers.file(files=[str(p) for p in good])
        return [label, fn.crop(fn.decoders.image(encoded), crop=[43, 20], name="window")]

    pipe = make(define, batch_size=7, on_error=policy)
    if policy == "skip":
        assert [int(s[0][0]) for s in samples_of(pipe.run())] == [3, 4, 5, 6]
        return
    with pytest.raises(SampleError) as raised:
        pipe.run()
    assert [s["index_in_batch"] for s in raised.value.samples] == [0, 1, 2]
    first = raised.value.samples[0]
    assert first["operator"] == "crop" and first["instance"] == "window"
    assert first["source"] == str(good[0])
    assert "[-2, 41)" in first["message"] and "40" in first["message"]


@pytest.mark.parametrize("name", ["slice", "crop", "crop_mirror_normalize"])
@pytest.mark.parametrize("policy", ["pad", "trim_to_shape"])
def test_windows_outside_under_other_rules(good: list[Path], name: str, policy: str) -> None:
    def define() -> Any:
        encoded, _ = fn.readers.file(files=[str(p) for p in good])
        image = fn.decoders.image(encoded)
        if name == "slice":
            return fn.slice(image, start=[0, 0], end=[20, 43], out_of_bounds_policy=policy)
        return getattr(fn, name)(image, crop=[43, 20], out_of_bounds_policy=policy)

    for i, (got,) in enumerate(samples_of(make(define, batch_size=7).run())):
        height = got.shape[1] if name == "crop_mirror_normalize" else got.shape[0]
        assert height == (43 if policy == "pad" else min(43, 40 + i))


def outcome(path: Path, **arguments: Any) -> str | tuple[int, ...]:
    def define() -> Any:
        encoded, _ = fn.readers.file(files=[str(path)])
        return fn.decoders.image(encoded, **arguments)

    try:
        ((got,),) = samples_of(make(define).run())
    except SampleError as e:
        message = str(e)
        assert str(path) in message and "decoders.image" in message
        assert "test_bad_samples.py:" in message
        assert len(e.samples[0]["message"]) > 15
        return message
    return tuple(got.shape)


def test_fuzzed_files_give_clear_errors(test_data: Path) -> None:
    paths = sorted((test_data / "images" / "fuzzing").iterdir())
    assert len(paths) >= 8
    for path in paths:
        result = outcome(path, verify=True)
        if isinstance(result, tuple):  # then another decoder must accept it as well
            assert result == jpegs.pillow(path).shape
        else:
            assert path.suffix != ".bmp" or "BMP" in result, result


def test_misnamed_files_are_told_by_content(test_data: Path) -> None:
    folder = test_data / "images" / "misnamed"
    assert isinstance(outcome(folder / "jpeg.bmp"), tuple)
    for name, format_ in (
        ("pnm.png", "PNM"),
        ("pnm.tiff", "PNM"),
        ("ppm.jpeg", "PNM"),
        ("tiff.bmp", "TIFF"),
        ("tiff.pgm", "TIFF"),
    ):
        message = outcome(folder / name)
        if isinstance(message, str):  # the error names the format, which the content tells
            assert format_ in message, message


def test_lossless_jpeg_is_decoded_or_named(test_data: Path) -> None:
    for path in sorted((test_data / "images" / "jpeg_lossless").iterdir()):
        result = outcome(path)
        assert isinstance(result, tuple) or "lossless" in result.lower(), result


@pytest.mark.parametrize("name", ["png", "bmp", "pnm", "tiff", "webp", "jpeg2k"])
def test_other_formats_are_decoded_or_named(test_data: Path, name: str) -> None:
    words = {"jpeg2k": "JPEG 2000", "webp": "WebP"}
    for path in sorted((test_data / "images" / name).iterdir()):
        result = outcome(path)
        assert isinstance(result, tuple) or words.get(name, name.upper()) in result, result
