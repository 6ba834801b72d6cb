# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""How long a sound is, where its file does not say so, says it wrongly, or was cut off."""

from __future__ import annotations

import io
import struct

import numpy as np
import pytest
import soundfile

from helpers import Array
from pictures import needs
from sounds import RATE, decode, error_of, file_of, sound

FRAMES = 5000


def decoded(file: bytes) -> Array:
    ((samples, _),) = decode([file])
    return samples


def frames_of_mp3(file: bytes) -> list[bytes]:
    """The frames of an MP3 of 16 kHz (MPEG-2, layer III), the one with the count first."""
    bit_rates = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]
    frames = []
    at = 0
    while at < len(file):
        assert file[at] == 0xFF and file[at + 1] & 0xFE == 0xF2, at
        size = 72000 * bit_rates[file[at + 2] >> 4] // RATE + (file[at + 2] >> 1 & 1)
        frames.append(file[at : at + size])
        at += size
    return frames


def mp3(channels: int = 1) -> list[bytes]:
    return frames_of_mp3(file_of(sound(FRAMES, channels), "MP3"))


ID3V2 = b"ID3\x04\0\0" + bytes([0, 0, 1, 0]) + b"Info" * 32
TAGS = {
    "none": (b"", b""),
    "ID3v2 with the word Info": (ID3V2, b""),
    "ID3v1": (b"", b"TAG" + bytes(125)),
    "APE": (b"", b"APETAGEX" + struct.pack("<IIII", 2000, 32, 0, 0) + bytes(8)),
    "both ends": (ID3V2, b"TAG" + b"x" * 125),
}


@needs("MP3")
@pytest.mark.parametrize("tags", TAGS)
@pytest.mark.parametrize("channels", [1, 2])
def test_every_frame_of_an_mp3_without_a_count(channels: int, tags: str) -> None:
    _, *frames = mp3(channels)
    before, behind = TAGS[tags]
    samples = decoded(before + b"".join(frames) + behind)
    assert samples.shape == (576 * len(frames), channels)
    # The sound is there, behind the delay of the encoder.
    delay = int(np.abs(samples[:, 0]).argmax()) - int(
        np.abs(sound(FRAMES, channels)[:, 0]).argmax()
    )
    assert 500 < delay < 2500
    assert np.abs(samples[delay : delay + FRAMES] - sound(FRAMES, channels)).max() < 0.1


@needs("MP3")
def test_every_frame_of_an_mp3_of_varying_rate() -> None:
    """Frames of noise are large and those of silence small, so that the first tells nothing."""
    rng = np.random.default_rng(2)
    parts = [np.zeros((20000, 1)), rng.uniform(-0.9, 0.9, (20000, 1))]
    for values in (np.concatenate(parts), np.concatenate(parts[::-1])):
        file = io.BytesIO()
        soundfile.write(
            file, values, RATE, format="MP3", bitrate_mode="VARIABLE", compression_level=0.3
        )
        _, *frames = frames_of_mp3(file.getvalue())
        assert len({len(f) for f in frames}) > 2
        assert len(decoded(b"".join(frames))) == 576 * len(frames)


@needs("MP3")
def test_two_mp3_files_as_one_are_decoded_whole() -> None:
    one = file_of(sound(FRAMES, 1), "MP3")
    assert len(decoded(one)) == FRAMES
    assert len(decoded(one + one)) >= 2 * FRAMES


@needs("MP3")
def test_an_mp3_that_was_cut_off_is_refused() -> None:
    count, *frames = mp3()
    with_count, without = b"".join([count, *frames[:-2]]), b"".join(frames)[:-20]
    for file in (with_count, without):
        assert "MP3 audio ends at frame" in error_of(file)
    (_, *mono), (_, *stereo) = mp3(1), mp3(2)
    assert "becomes one of 2 and 16000" in error_of(b"".join(mono + stereo))


@needs("MP3")
def test_windows_of_an_mp3_without_a_count() -> None:
    from stoker import fn

    file = b"".join(mp3()[1:])
    whole = decoded(file)
    for begin, end in ((0, 10), (700, 1900), (len(whole) - 3, len(whole))):
        ((part, _),) = decode(
            [file],
            then=lambda samples, b=begin, e=end: fn.slice(samples, axes=[0], start=[b], end=[e]),
        )
        assert np.array_equal(part, whole[begin:end])


SIZES = {
    "WAV": (b"data", "<I"),
    "RF64": (b"data", "<I"),
    "AIFF": (b"SSND", ">I"),
    "AU": (b".snd\0\0\0\x18", ">I"),
}


def with_sizes(format_: str, samples: int, container: int | None = None) -> bytes:
    """A file whose header says that its samples take so many bytes."""
    mark, code = SIZES[format_]
    file = bytearray(file_of(sound(FRAMES, 1), format_, "PCM_16"))
    at = file.index(mark) + len(mark)
    file[at : at + 4] = struct.pack(code, samples)
    if container is not None and format_ != "AU":
        file[4:8] = struct.pack(code, container)
    return bytes(file)


@needs("WAV")
@pytest.mark.parametrize("container", [None, 0, 0xFFFFFFFF])
@pytest.mark.parametrize("size", [0, 0xFFFFFFFF, 0x7FFFFFFF, 0x7FFFF000, 0x80000000])
@pytest.mark.parametrize("format_", SIZES)
def test_a_size_that_is_not_known_is_read_to_the_end(
    format_: str, size: int, container: int | None
) -> None:
    whole = decoded(file_of(sound(FRAMES, 1), format_, "PCM_16"))
    assert np.array_equal(decoded(with_sizes(format_, size, container)), whole)


@needs("WAV")
@pytest.mark.parametrize("format_", ["WAV", "AIFF", "AU"])
def test_a_size_that_contradicts_the_file_is_refused(format_: str) -> None:
    assert "expected" in error_of(with_sizes(format_, 2 * FRAMES + 1000))
    assert "and what follows them is no chunk" in error_of(with_sizes(format_, 1000))


@needs("WAV")
def test_what_may_follow_the_samples() -> None:
    file = file_of(sound(FRAMES, 1), "WAV", "PCM_16")
    whole = decoded(file)
    for behind in (b"LIST\x04\0\0\0INFO", b"TAG" + bytes(125), bytes(512), b"junk and more junk"):
        assert np.array_equal(decoded(file + behind), whole), behind
    empty = file_of(sound(0, 1), "WAV", "PCM_16")
    assert len(decoded(empty)) == len(decoded(empty + b"LIST\x04\0\0\0INFO")) == 0


@needs("WAV")
def test_a_flac_of_a_stream_has_all_its_frames() -> None:
    file = bytearray(file_of(sound(FRAMES, 2), "FLAC"))
    whole = decoded(bytes(file))
    file[21] &= 0xF0  # the count: 36 bits
    file[22:26] = bytes(4)
    assert np.array_equal(decoded(bytes(file)), whole)


@needs("OGG")
@pytest.mark.parametrize("coding", ["VORBIS", "OPUS"])
def test_pages_of_ogg(coding: str) -> None:
    noise = np.random.default_rng(1).uniform(-0.5, 0.5, (60000, 1)).astype(np.float32)
    file = file_of(noise, "OGG", coding)
    pages = [i for i in range(len(file)) if file.startswith(b"OggS", i)]
    assert len(pages) > 4
    for cut in (pages[-1] + 10, pages[-2] + 100, len(file) - 1):
        assert "ends within the page at byte" in error_of(file[:cut])
    assert "sounds one behind the other" in error_of(file + file)
    # A recorder that was stopped leaves no page that says it is the last.
    assert 0 < len(decoded(file[: pages[-1]])) < len(noise)
