#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Decoding and resampling of sounds beside soundfile, librosa and torchaudio, one thread.

Times are medians over rounds in which all take turns; the ratios are theirs over ours, so more than
1 is faster than the peer. What is not installed is left out. Packages bring their own libsndfile;
"libsndfile" is that of the system, which Stoker uses, alone. The sound is one of 10 s at 44.1 kHz,
or a file that is named.
"""

from __future__ import annotations

import argparse
import importlib.util
import io
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import libraries
import numpy as np
import soundfile

from stoker import Pipeline, fn

BATCH = 8
TARGET = 16000.0
CODINGS = {
    "WAV": ("WAV", "PCM_16"),
    "FLAC": ("FLAC", "PCM_16"),
    "Ogg Vorbis": ("OGG", "VORBIS"),
    "Ogg Opus": ("OGG", "OPUS"),
    "MP3": ("MP3", "MPEG_LAYER_III"),
}


def made_up(rate: int = 44100) -> Any:
    t = np.arange(10 * rate) / rate
    rng = np.random.default_rng(1)
    chirp = np.sin(2 * np.pi * (80 + 300 * t) * t) * 0.5
    return np.stack([chirp + rng.normal(0, 0.02, t.size), chirp[::-1]], 1).astype(np.float32), rate


def ours(file: bytes, **arguments: Any) -> Callable[[], None]:
    encoded = np.frombuffer(file, np.uint8)
    # Nothing is made ahead while the peers run.
    pipe = Pipeline(batch_size=BATCH, num_threads=1, executor="simple", device_id=None)
    with pipe:
        source = fn.external_source(lambda info: encoded, batch=False)
        samples, _ = fn.decoders.audio(source, **arguments)
        pipe.set_outputs(samples)

    def step() -> None:
        pipe.run()

    return step


def peers_that_decode(file: bytes) -> dict[str, Callable[[], Any]]:
    found: dict[str, Callable[[], Any]] = {
        "soundfile": lambda: soundfile.read(io.BytesIO(file), dtype="float32")
    }
    if library := libraries.sound(file):
        found["libsndfile"] = library
    return found


def peers_that_resample(file: bytes) -> dict[str, Callable[[], Any]]:
    found: dict[str, Callable[[], Any]] = {}
    if importlib.util.find_spec("librosa"):
        import librosa

        found["librosa (soxr_hq)"] = lambda: librosa.load(io.BytesIO(file), sr=int(TARGET))
    if importlib.util.find_spec("torchaudio"):
        import torch
        import torchaudio

        torch.set_num_threads(1)

        def resampled() -> Any:
            samples, rate = soundfile.read(io.BytesIO(file), dtype="float32", always_2d=True)
            mono = torch.from_numpy(samples.mean(axis=1))
            return torchaudio.functional.resample(mono, rate, int(TARGET))

        found["soundfile and torchaudio"] = resampled
    return found


def measure(name: str, step: Callable[[], None], peers: dict[str, Any], rounds: int) -> None:
    times: dict[str, list[float]] = {"": [], **{peer: [] for peer in peers}}
    for r in range(rounds + 1):
        for peer, call in {"": step, **peers}.items():
            begun = time.perf_counter()
            for _ in range(1 if peer == "" else BATCH):
                call()
            if r:
                times[peer].append((time.perf_counter() - begun) / BATCH)
    own = statistics.median(times.pop(""))
    words = [f"{statistics.median(t) / own:.2f} x {peer}" for peer, t in times.items()]
    print(f"{name:34} {own * 1e3:8.2f} ms  {', '.join(words)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path, nargs="?")
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    values, rate = soundfile.read(options.file) if options.file else made_up()
    for name, (format_, subtype) in CODINGS.items():
        file = io.BytesIO()
        soundfile.write(file, values, 48000 if subtype == "OPUS" else rate, subtype, format=format_)
        encoded = file.getvalue()
        measure(f"{name}, decoded", ours(encoded), peers_that_decode(encoded), options.rounds)
        mono = ours(encoded, sample_rate=TARGET, downmix=True)
        resampling = peers_that_resample(encoded)
        measure(f"{name}, as mono of 16 kHz", mono, resampling, options.rounds)


if __name__ == "__main__":
    main()
