# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Features of speech, with functions: speech_features.py FOLDER, which is not needed."""

import json
import os
import tempfile
import wave

import numpy as np
import nvidia.dali.fn as fn
import nvidia.dali.math as math
import nvidia.dali.types as types
from nvidia.dali import pipeline_def

RATE = 8000


def write_sounds(folder, count):
    """Chirps in silence, of different lengths, with one or two channels."""
    for i in range(count):
        n = 3000 + 700 * i
        t = np.arange(n) / RATE
        sound = 0.6 * np.sin(2 * np.pi * (200 + 150 * i + 400 * t) * t) * (t > 0.05 + 0.01 * i)
        channels = 1 + i % 2
        data = np.stack([sound / (1 + c) for c in range(channels)], axis=1)
        with wave.open(os.path.join(folder, f"{i}.wav"), "wb") as out:
            out.setnchannels(channels)
            out.setsampwidth(2)
            out.setframerate(RATE)
            out.writeframes((data * 32767).astype("<i2").tobytes())


def file_list(folder, count):
    path = os.path.join(folder, "list.txt")
    with open(path, "w") as out:
        out.writelines(f"{i}.wav {100 + i}\n" for i in range(count))
    return path


@pipeline_def(batch_size=3, num_threads=2, device_id=None)
def features(folder, files, rate):
    encoded, labels = fn.readers.file(file_root=folder, file_list=files, name="Reader")
    audio, sample_rate = fn.decoders.audio(encoded, dtype=types.FLOAT, downmix=True)
    lengths = fn.shapes(audio)
    if rate != RATE:
        audio = fn.audio_resample(audio, in_rate=RATE, out_rate=rate)
    emphasized = fn.preemphasis_filter(audio, preemph_coeff=0.97)
    spectrogram = fn.spectrogram(
        emphasized, nfft=256, window_length=200, window_step=100, center_windows=True
    )
    mel = fn.mel_filter_bank(
        spectrogram, sample_rate=rate, nfilter=20, freq_high=rate / 2.0, normalize=True
    )
    logged = fn.to_decibels(mel + 1e-6, multiplier=np.log(10), reference=1.0, cutoff_db=-80)
    normal = fn.normalize(logged, axes=[1], epsilon=1e-5, ddof=1)
    mfcc = fn.mfcc(logged, axis=0, dct_type=2, n_mfcc=13, normalize=True, lifter=22)
    padded = fn.pad(normal, fill_value=-5.0, axes=[1], align=[8])
    return audio, sample_rate, labels, lengths, spectrogram, logged, mfcc, padded


@pipeline_def(batch_size=4, num_threads=2, device_id=None, seed=8)
def augmented(folder, files):
    encoded, labels = fn.readers.file(
        file_root=folder, file_list=files, name="Reader", random_shuffle=True
    )
    audio, _ = fn.decoders.audio(encoded, sample_rate=4000.0, downmix=True)
    speed = fn.random.uniform(range=[0.85, 1.15])
    audio = fn.audio_resample(audio, scale=speed)
    loud = fn.reductions.max(math.abs(audio))
    audio = audio + fn.random.normal(audio, stddev=1e-5) * loud
    spectrogram = fn.spectrogram(audio, nfft=128, window_length=80, window_step=40)
    mel = fn.mel_filter_bank(spectrogram, sample_rate=4000.0, nfilter=16)
    mel = fn.to_decibels(mel, cutoff_db=-60.0)
    frames = fn.slice(fn.shapes(mel), start=1, end=2, axes=[0])
    width = fn.random.uniform(range=[0.0, 4.0], shape=[2])
    start = fn.random.uniform(range=[0.0, 1.0], shape=[2])
    masked = fn.erase(
        mel, anchor=start, shape=width / 16.0, axes=[0], normalized=True, fill_value=-100.0
    )
    return fn.pad(masked, axes=[1], fill_value=0.0), frames, labels, speed


def values(batch):
    return [np.array(batch[i]) for i in range(len(batch))]


def some(array):
    """A few values of an array, and its mean."""
    flat = np.asarray(array, dtype=float).ravel()
    return [float(flat.mean()), *flat[:: max(1, flat.size // 12)].tolist()]


def main():
    with tempfile.TemporaryDirectory() as folder:
        write_sounds(folder, 7)
        files = file_list(folder, 7)
        for rate in (RATE, 5000):
            pipe = features(folder, files, rate)
            pipe.build()
            print(json.dumps({"rate": rate, "size": pipe.epoch_size("Reader")}))
            for _ in range(3):
                audio, rates, labels, lengths, spectrogram, logged, mfcc, padded = pipe.run()
                line = {
                    "rates": [v.tolist() for v in values(rates)],
                    "labels": labels.as_array().ravel().tolist(),
                    "lengths": [v.tolist() for v in values(lengths)],
                    "layouts": [b.layout() for b in (audio, spectrogram, logged, mfcc, padded)],
                    "shapes": [[list(s) for s in b.shape()] for b in (audio, logged, mfcc, padded)],
                }
                print(json.dumps(line))
                for name, batch in (("audio", audio), ("log", logged), ("mfcc", mfcc)):
                    print(json.dumps({name: [some(v) for v in values(batch)]}))
                print(json.dumps({"padded": [some(v) for v in values(padded)]}))
        pipe = augmented(folder, files)
        pipe.build()
        for _ in range(3):
            masked, frames, labels, speed = pipe.run()
            dense = masked.as_array()
            line = {"layout": masked.layout(), "bands": dense.shape[1], "labels": len(labels)}
            line["widest"] = dense.shape[2] == max(int(v[0]) for v in values(frames))
            line["limits"] = [bool(dense.max() <= 0.0), bool(dense.min() >= -100.0)]
            line["speed"] = [bool(0.85 <= v <= 1.15) for v in values(speed)]
            print(json.dumps(line))


if __name__ == "__main__":
    main()
