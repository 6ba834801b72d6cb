# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Spectrograms of tones from an external source, step by step: audio_spectrogram.py FOLDER."""

import json

import numpy as np
import nvidia.dali.fn as fn
import nvidia.dali.types as types
from nvidia.dali import Pipeline

RATE = 8000.0


def tones():
    for number in range(4):
        time = np.arange(1600 + 160 * number, dtype=np.float32) / np.float32(RATE)
        signal = np.sin(2 * np.pi * (400 + 300 * number) * time)
        yield [np.float32(0.5) * signal.astype(np.float32)]


def spectrum(signal, **kwargs):
    return fn.spectrogram(signal, nfft=256, window_length=200, window_step=80, **kwargs)


def main():
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        signal = fn.external_source(tones, dtype=types.FLOAT, ndim=1)
        powers = spectrum(signal)
        magnitudes = spectrum(signal, power=1, layout="tf", center_windows=False)
        mel = fn.mel_filter_bank(powers, sample_rate=RATE, nfilter=20, freq_high=3600.0)
        decibels = fn.to_decibels(mel, multiplier=10, reference=1.0, cutoff_db=-60)
        features = fn.mfcc(decibels, axis=0, dct_type=2, n_mfcc=13, normalize=True, lifter=22)
        scaled = fn.normalize(decibels, axes=[1])
        begin, length = fn.nonsilent_region(signal, cutoff_db=-30, window_length=64)
        emphasis = fn.preemphasis_filter(signal, preemph_coeff=0.95, border="zero")
        window = fn.slice(decibels, 2, 5, axes=[1], out_of_bounds_policy="trim_to_shape")
        pipe.set_outputs(
            powers, magnitudes, decibels, features, scaled, begin, length, emphasis, window
        )
    pipe.build()
    for _ in range(4):
        for output in pipe.run():
            tensor = output[0]
            rows = np.atleast_1d(np.abs(np.array(tensor, dtype=np.float64))).mean(axis=-1)
            shape = list(tensor.shape())
            print(json.dumps([shape, output.layout(), np.atleast_1d(rows)[:20].tolist()]))
    try:
        pipe.run()
    except StopIteration:
        print(json.dumps("the end"))


if __name__ == "__main__":
    main()
