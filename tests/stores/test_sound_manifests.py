# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Manifests of sounds: parts, filters, rates, and damaged lines."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from containers import Json, pipe_of, read

from helpers import samples_of
from stoker import fn, types
from stoker.errors import GraphError, SampleError

RATE = 8000


@pytest.fixture
def sound(tmp_path: Path) -> Path:
    frames = np.stack([np.arange(80), np.arange(80) * 3], axis=1).astype(np.int16)
    path = tmp_path / "a.wav"
    soundfile.write(path, frames, RATE, subtype="PCM_16")
    return path


def manifest(folder: Path, rows: Sequence[Json | str], name: str = "m.json") -> str:
    path = folder / name
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def asr(path: str | list[str], **arguments: Any) -> Any:
    found = fn.readers.nemo_asr(manifest_filepaths=path, dtype=types.INT16, **arguments)
    return found if isinstance(found, tuple) else (found,)


# As the established library has it: products in double precision, without their fraction.
PARTS = [
    ({}, 0, 80),
    ({"duration": 0.005}, 0, 40),
    ({"offset": 0.001, "duration": 0.005}, 8, 48),
    ({"offset": 0.001}, 8, 80),
    ({"duration": 0.109}, 0, 80),
    ({"duration": -1}, 0, 80),
    ({"offset": None, "duration": None}, 0, 80),
    ({"offset": -0.003, "duration": 0.002}, 0, 16),
    ({"offset": 0.00019, "duration": 0.00049}, 1, 4),
    ({"offset": 0.00006, "duration": 0.00007}, 0, 0),
    ({"offset": 0.0099, "duration": 0.01}, 79, 80),
    ({"offset": 0.01, "duration": 0.01}, 80, 80),
    ({"duration": 0.0}, 0, 0),
]


@pytest.mark.parametrize(("part", "begin", "end"), PARTS)
def test_parts(sound: Path, tmp_path: Path, part: Json, begin: int, end: int) -> None:
    path = manifest(tmp_path, [{"audio_filepath": str(sound), "text": "", **part}])
    ((both,),) = read(lambda: asr(path, downmix=False, read_text=False, read_sample_rate=False), 1)
    wanted = np.stack([np.arange(begin, end), np.arange(begin, end) * 3], axis=1)
    np.testing.assert_array_equal(both, wanted)
    ((mixed, rate, text),) = read(lambda: asr(path), 1)
    np.testing.assert_array_equal(mixed, np.arange(begin, end) * 2)
    assert rate.shape == () and rate.dtype == np.float32 and rate == RATE
    assert text.size == 0


@pytest.mark.parametrize("seconds", [0.1, 0.7, 1.1])
def test_a_duration_at_the_limit_is_within_it(sound: Path, tmp_path: Path, seconds: float) -> None:
    path = manifest(tmp_path, [{"audio_filepath": str(sound), "duration": seconds}])
    pipe = pipe_of(lambda: asr(path, min_duration=seconds, max_duration=seconds), 1)
    assert list(pipe.epoch_size().values()) == [1]


@pytest.mark.parametrize(
    "part", [{"duration": 0.12}, {"offset": 0.005, "duration": 0.11}, {"duration": 1e9}]
)
def test_a_sound_that_ends_long_before_its_line_says_is_refused(
    sound: Path, tmp_path: Path, part: Json
) -> None:
    path = manifest(tmp_path, [{"audio_filepath": str(sound), "text": "", **part}])
    with pytest.raises(SampleError, match=r"a\.wav.*the part should last .* s are there"):
        read(lambda: asr(path), 1)


@pytest.mark.parametrize("text", [{}, {"text": None}, {"Text": "another key"}])
def test_a_text_that_is_not_there_is_not_empty(sound: Path, tmp_path: Path, text: Json) -> None:
    path = manifest(tmp_path, [{"audio_filepath": str(sound), **text}])
    with pytest.raises(SampleError, match=r"m\.json at byte 0: the line has no 'text'"):
        read(lambda: asr(path), 1)
    assert len(read(lambda: asr(path, read_text=False), 1)) == 1


def test_a_part_at_another_rate_is_resampled_alone(sound: Path, tmp_path: Path) -> None:
    soundfile.write(tmp_path / "part.wav", np.arange(24, 40, dtype=np.int16), RATE)
    soundfile.write(tmp_path / "whole.wav", np.arange(80, dtype=np.int16), RATE)
    rows = [
        {"audio_filepath": str(tmp_path / "whole.wav"), "offset": 0.003, "duration": 0.002},
        {"audio_filepath": str(tmp_path / "part.wav")},
    ]
    path = manifest(tmp_path, rows)
    (a, rate), (b, _) = read(lambda: asr(path, sample_rate=4000.0, read_text=False), 2)
    assert a.shape == (8,) and rate == RATE  # the rate is that of the file
    np.testing.assert_array_equal(a, b)


def test_texts_and_numbers(sound: Path, tmp_path: Path) -> None:
    texts = ["one", 'zwölf "x"\n', ""]
    rows = [
        {"audio_filepath": str(sound), "duration": 0.01 * (i + 1), "text": text, "more": {"a": [1]}}
        for i, text in enumerate(texts)
    ]
    both = [manifest(tmp_path, ["", *rows, "  "]), manifest(tmp_path, rows[:1], "n.json")]
    got = read(lambda: asr(both, read_idxs=True), 4)
    assert [bytes(text).decode() for _, _, text, _ in got] == [*texts, "one"]
    assert [idx.tolist() for *_, idx in got] == [[0], [1], [2], [0]]
    got = read(lambda: asr(both[0], min_duration=0.015, read_idxs=True, read_text=False), 2)
    assert [idx.tolist() for *_, idx in got] == [[0], [1]]
    pipe = pipe_of(lambda: asr(both, max_duration=0.021), 1)
    assert list(pipe.epoch_size().values()) == [3]


def test_an_unknown_duration_is_short(sound: Path, tmp_path: Path) -> None:
    rows = [{"audio_filepath": str(sound)}, {"audio_filepath": str(sound), "duration": 0.02}]
    path = manifest(tmp_path, rows)
    for arguments, count in (({"min_duration": 0.015}, 1), ({"max_duration": 0.015}, 1)):
        pipe = pipe_of(lambda more=arguments: asr(path, **more), 1)
        assert list(pipe.epoch_size().values()) == [count]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{bad", "no object of JSON"),
        ("[1]", "of another type"),
        ('{"text": "x"}', "'audio_filepath' is missing"),
        ('{"audio_filepath": 5}', "of another type"),
        ('{"audio_filepath": "a", "duration": "long"}', "of another type"),
        ('{"audio_filepath": "a", "duration": 1e400}', "a number is out of range"),
        ('{"audio_filepath": "a"} {}', "more in it than one object"),
    ],
)
def test_damaged_lines_are_bad_samples(sound: Path, tmp_path: Path, line: str, words: str) -> None:
    good = {"audio_filepath": str(sound), "text": "good"}
    first = json.dumps(good)
    path = manifest(tmp_path, [first, line, good])
    pipe = pipe_of(lambda: asr(path), 3)
    with pytest.raises(SampleError) as error:
        pipe.run()
    assert f"m.json' at byte {len(first) + 1}" in str(error.value)
    assert words in str(error.value)
    skipping = pipe_of(lambda: asr(path), 3, on_error="skip")
    assert [bytes(text) for _, _, text in samples_of(skipping.run())] == [b"good", b"good"]


def test_a_manifest_may_begin_with_a_byte_order_mark(sound: Path, tmp_path: Path) -> None:
    path = Path(manifest(tmp_path, [{"audio_filepath": str(sound), "text": "a"}, "{bad"]))
    text = path.read_text()
    path.write_text(text, encoding="utf-8-sig")
    pipe = pipe_of(lambda: asr(str(path)), 2)
    with pytest.raises(SampleError, match=f"(?s)1 of 2 .*at byte {text.index('{bad') + 3}"):
        pipe.run()


def test_what_is_refused(sound: Path, tmp_path: Path) -> None:
    with pytest.raises(GraphError, match=r"none\.json"):
        read(lambda: asr(str(tmp_path / "none.json")), 1)
    path = manifest(tmp_path, [{"audio_filepath": str(sound), "offset": 0.5}])
    with pytest.raises(SampleError, match=r"a\.wav.*begins at frame 4000, and there are 80"):
        read(lambda: asr(path), 1)
    with pytest.raises(GraphError, match="expected FLOAT, INT16 or INT32"):
        read(lambda: fn.readers.nemo_asr(manifest_filepaths=[path], dtype=types.UINT8)[0], 1)


def test_real_speech(test_data: Path, tmp_path: Path) -> None:
    folder = test_data / "audio"
    names = [f"237-134500-0000.{ending}" for ending in ("wav", "flac")]
    path = manifest(tmp_path, [{"audio_filepath": str(folder / n), "text": n} for n in names])
    wanted = np.load(folder / "237-134500-0000.npy").reshape(-1)
    for (samples, rate, text), name in zip(read(lambda: asr(path), 2), names, strict=True):
        assert bytes(text).decode() == name and rate == 16000
        assert len(samples) == len(wanted)

    def from_files() -> Any:
        encoded, _ = fn.readers.file(file_root=folder.parent, dir_filters=["audio"])
        return fn.decoders.audio(encoded, downmix=True, dtype=types.INT16)[:1]

    # The usual filters of readers.file take sounds: flac, ogg and wav in the order of names.
    got = read(from_files, 3)
    np.testing.assert_array_equal(got[0][0], got[2][0])
    np.testing.assert_array_equal(got[0][0], read(lambda: asr(path), 2)[1][0])
