#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The training input of a speech recogniser: logarithmic mel spectrograms with parts masked.

The data are sound files in a folder of class folders, or else made on the spot.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from training_inputs import command_line

import stoker
from stoker import DataNode, errors, fn, pipeline_def
from stoker.images import contact_sheet

RATE = 16000
BANDS = 64


def make_sounds(folder: Path, count: int = 8) -> Path:
    """Writes sounds of a few syllables, each of harmonics that glide. Returns the folder."""
    (folder / "voices").mkdir(parents=True, exist_ok=True)
    for i in range(count):
        rng = np.random.default_rng(i)
        parts = []
        for _ in range(rng.integers(2, 5)):
            t = np.arange(int(rng.uniform(0.15, 0.4) * RATE)) / RATE
            pitch = rng.uniform(90, 220) * (1 + rng.uniform(-0.3, 0.3) * t / t[-1])
            phase = 2 * np.pi * np.cumsum(pitch) / RATE
            voice = sum(np.sin(k * phase) / k * rng.uniform(0.2, 1) for k in range(1, 20))
            parts += [voice * np.hanning(len(t)), np.zeros(int(rng.uniform(0.03, 0.12) * RATE))]
        sound = np.concatenate(parts)
        sound = (0.4 * sound / np.abs(sound).max()).astype(np.float32)
        stoker.sounds.save(folder / "voices" / f"{i}.wav", sound, RATE)
    return folder


@pipeline_def
def speech_training(data: Path) -> tuple[DataNode, DataNode, DataNode]:
    """Features (BANDS, frames), padded with 0; the number of frames of each; the labels."""
    encoded, label = fn.readers.file(name="Reader", file_root=data, random_shuffle=True)
    sound, _ = fn.decoders.audio(encoded, sample_rate=RATE, downmix=True)
    # A little faster or slower, and with a little noise.
    sound = fn.audio_resample(sound, scale=fn.random.uniform(range=[0.9, 1.1]))
    sound = sound + fn.random.normal(sound, stddev=1e-4)
    sound = fn.preemphasis_filter(sound)
    spectrum = fn.spectrogram(sound, nfft=512, window_length=400, window_step=160)
    bands = fn.mel_filter_bank(spectrum, nfilter=BANDS, sample_rate=RATE)
    features = fn.normalize(fn.to_decibels(bands, cutoff_db=-60.0))
    frames = fn.shapes(features)[1]
    # Two stripes of bands and one of frames are masked.
    features = fn.erase(
        features,
        anchor=fn.random.uniform(range=[0.0, 1.0], shape=[2]),
        shape=fn.random.uniform(range=[0.0, 0.15], shape=[2]),
        axis_names="f",
        normalized=True,
    )
    features = fn.erase(
        features,
        anchor=fn.random.uniform(range=[0.0, 1.0], shape=[1]),
        shape=fn.random.uniform(range=[0.0, 0.2], shape=[1]),
        axis_names="t",
        normalized=True,
    )
    return fn.pad(features, axis_names="t"), frames, label


def drawn(features: Any) -> Any:
    """A picture of features, low bands at the bottom."""
    share = np.clip((features[::-1] + 2) / 4, 0, 1)[..., None]
    colours = share * np.array([255, 220, 120]) + (1 - share) * np.array([25, 20, 60])
    return np.rint(colours).astype(np.uint8)


def main() -> None:
    data, out = command_line(__doc__, "has folders of sounds", "sounds", make_sounds)
    pipe = speech_training(data, batch_size=4, seed=3)
    print(f"{pipe.epoch_size('Reader')} sounds in {data}")
    features, frames, _ = (np.asarray(batch) for batch in pipe.run())
    print(f"features {features.shape}, of {frames.tolist()} frames")
    sheet = out / "speech.png"
    contact_sheet([drawn(f) for f in features], sheet, columns=1)
    print(f"What the network gets to hear: {sheet}")


if __name__ == "__main__":
    try:
        main()
    except errors.Error as e:
        raise SystemExit(str(e)) from e
