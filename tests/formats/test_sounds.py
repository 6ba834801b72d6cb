# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Sounds: samples as soundfile has them, windows, damage, and words for what is wrong."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

import stoker
from helpers import make, samples_of
from pictures import formats, needs, source
from sounds import RATE, decode, error_of, file_of, sound
from stoker import fn, types
from stoker.errors import SampleError


def sound_files() -> dict[str, bytes]:
    """By the name of the format, the coding and the number of channels."""
    codings = {
        "WAV": ["PCM_U8", "PCM_16", "PCM_24", "PCM_32", "FLOAT", "DOUBLE", "ULAW", "ALAW"],
        "RF64": ["PCM_16"],
        "WAVEX": ["PCM_24"],
        "FLAC": ["PCM_S8", "PCM_16", "PCM_24"],
        "OGG": ["VORBIS", "OPUS"],
        "MP3": ["MPEG_LAYER_III"],
        "AIFF": ["PCM_S8", "PCM_16", "FLOAT"],
        "AU": ["PCM_16", "ULAW"],
    }
    return {
        f"{format_} {coding} {channels}": file_of(sound(3000, channels), format_, coding)
        for format_, all_codings in codings.items()
        for coding in all_codings
        for channels in (1, 2)
    }


@needs("WAV")
def test_sounds_are_as_soundfile_decodes_them() -> None:
    files = sound_files()
    assert len(files) >= 30
    for (name, file), (samples, rate) in zip(
        files.items(), decode(list(files.values())), strict=True
    ):
        expected, expected_rate = soundfile.read(io.BytesIO(file), dtype="float32", always_2d=True)
        assert rate == expected_rate, name
        assert samples.shape == expected.shape, name
        # Lossy codings are decoded by libraries of other versions there.
        lossy = any(coding in name for coding in ("VORBIS", "OPUS", "MPEG"))
        assert np.abs(samples - expected).max() <= (1e-4 if lossy else 0), name


@needs("WAV")
@pytest.mark.parametrize("dtype", ["int16", "int32"])
def test_integers_stay_exact(dtype: str) -> None:
    files = {n: f for n, f in sound_files().items() if "PCM" in n}
    for (name, file), (samples, _) in zip(
        files.items(), decode(list(files.values()), dtype=dtype), strict=True
    ):
        expected, _ = soundfile.read(io.BytesIO(file), dtype=dtype, always_2d=True)
        assert samples.dtype == dtype
        assert np.array_equal(samples, expected), name


@needs("WAV")
def test_windows_are_those_of_the_whole() -> None:
    files = {n: f for n, f in sound_files().items() if n.endswith("2")}
    whole = decode(list(files.values()), dtype=types.FLOAT)
    rng = np.random.default_rng(3)
    for (name, file), (samples, _) in zip(files.items(), whole, strict=True):
        begin, end = np.sort(rng.integers(0, len(samples), 2)).tolist()
        channel = int(rng.integers(2))

        def define(file: bytes = file, window: Any = (begin, end, channel)) -> Any:
            encoded = fn.external_source(source([file]), batch=False)
            made, _ = fn.decoders.audio(encoded)
            return fn.slice(
                made, axes=[0, 1], start=[window[0], window[2]], end=[window[1], window[2] + 1]
            )

        ((part,),) = samples_of(make(define).run())
        assert np.array_equal(part, samples[begin:end, channel : channel + 1]), name


@needs("WAV")
def test_resampling_is_that_of_audio_resample() -> None:
    file = file_of(sound(4000, 2), "FLAC")

    def define() -> Any:
        encoded = fn.external_source(source([file]), batch=False)
        at_once, rate = fn.decoders.audio(encoded, sample_rate=11025.0)
        decoded, _ = fn.decoders.audio(encoded)
        later = fn.audio_resample(decoded, in_rate=float(RATE), out_rate=11025.0)
        part = fn.slice(at_once, axes=[0], start=[700], shape=[900])
        return at_once, rate, later, part

    ((at_once, rate, later, part),) = samples_of(make(define).run())
    assert rate == 11025 and len(at_once) == 2757
    assert np.array_equal(at_once, later)
    assert np.array_equal(part, at_once[700:1600])


@needs("WAV")
def test_words_for_what_is_wrong() -> None:
    flac = file_of(sound(9000, 1), "FLAC")
    assert "FLAC audio" in error_of(flac[: len(flac) // 2])
    assert "not a sound that can be decoded" in error_of(b"\x89PNG\r\n\x1a\n0000")
    assert "found a PNG image" in error_of(b"\x89PNG\r\n\x1a\n0000")
    assert "cannot read the header" in error_of(b"RIFF\x04\0\0\0WAVE")
    claims = bytearray(flac)
    claims[21:26] = b"\xff\xff\xff\xff\xff"  # the number of frames
    assert "more than the limit" in error_of(bytes(claims))


@needs("WAV")
def test_damage_behind_what_is_needed_does_no_harm() -> None:
    whole = file_of(sound(20000, 1), "FLAC")
    cut = whole[: len(whole) // 2]

    def start(encoded: Any) -> Any:
        return fn.slice(fn.decoders.audio(encoded)[0], axes=[0], start=[0], shape=[3000])

    def define() -> Any:
        return start(fn.external_source(source([whole, cut]), batch=False))

    pipe = make(define)
    assert np.array_equal(samples_of(pipe.run())[0][0], samples_of(pipe.run())[0][0])
    assert "FLAC audio" in error_of(cut)


@pytest.mark.parametrize("format_", formats("WAV", "FLAC", "OGG", "MP3", "AIFF", "AU"))
def test_cut_and_flipped_files_give_samples_or_an_error(format_: str) -> None:
    """Cut at 20 places, and with each of 100 bits turned."""
    rng = np.random.default_rng(5)
    file = file_of(sound(2000, 2), format_)
    files = [file[: len(file) * i // 20] for i in range(20)]
    for _ in range(100):
        bad = bytearray(file)
        bad[rng.integers(len(bad))] ^= 1 << rng.integers(8)
        files.append(bytes(bad))
    with pytest.raises(SampleError) as caught:
        make(
            lambda: fn.decoders.audio(fn.external_source(source(files), batch=False))[0],
            batch_size=len(files),
        ).run()
    bad = {sample["index_in_batch"]: sample["message"] for sample in caught.value.samples}
    assert set(range(19)) <= set(bad), "a file that was cut off passed"
    for message in bad.values():
        assert "audio" in message or "sound" in message, message


@needs("WAV")
def test_a_real_utterance(test_data: Path) -> None:
    folder = test_data / "audio"
    stem = "237-134500-0000"
    files = [(folder / f"{stem}{ending}").read_bytes() for ending in (".wav", ".flac", ".ogg")]
    for file, (samples, rate) in zip(files, decode(files), strict=True):
        expected, expected_rate = soundfile.read(io.BytesIO(file), dtype="float32", always_2d=True)
        assert rate == expected_rate and samples.shape == expected.shape
        assert np.abs(samples - expected).max() <= (1e-4 if file.startswith(b"Ogg") else 0)


@pytest.mark.parametrize("dtype", ["int16", "int32", "float32"])
def test_a_saved_sound_is_decoded_as_it_was(tmp_path: Path, dtype: str) -> None:
    values = sound(501, 2)
    kept = values if dtype == "float32" else (values * np.iinfo(dtype).max).astype(dtype)
    for samples in (kept, kept[:, 0]):
        path = tmp_path / "sound.wav"
        stoker.sounds.save(path, samples, RATE)
        read, rate = soundfile.read(path, dtype=dtype)
        assert rate == RATE and np.array_equal(read, samples)
        ((decoded, _),) = decode([path.read_bytes()], dtype=dtype, downmix=samples.ndim == 1)
        assert np.array_equal(decoded, samples)


def test_what_a_wav_cannot_hold_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "sound.wav"
    for samples, rate, words in (
        (np.zeros(4, np.uint8), RATE, "WAV does not hold uint8"),
        (np.zeros((4, 1, 1), np.float32), RATE, "expected .frames,. or .frames, channels."),
        (np.zeros(4, np.float32), 0, "0 frames a second"),
    ):
        with pytest.raises(ValueError, match=words):
            stoker.sounds.save(path, samples, rate)
    assert not path.exists()
