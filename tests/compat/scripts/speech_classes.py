# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Input of a speech recogniser, with classes: speech_classes.py FOLDER, which is not needed.

The sounds are raw and compressed arrays of the script, given by a callable for each sample.
"""

import io
import json
import math
import wave

import numpy as np
import nvidia.dali as dali
import nvidia.dali.ops as ops
import nvidia.dali.types as types

RATE = 16000
COUNT = 9


def encoded(i):
    n = 2500 + 311 * i
    t = np.arange(n) / RATE
    sound = np.sin(2 * np.pi * (300 + 90 * i) * t) * np.exp(-3 * t)
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(RATE)
        out.writeframes((sound * 30000).astype("<i2").tobytes())
    return np.frombuffer(file.getvalue(), dtype=np.uint8)


def text(i):
    return np.frombuffer(f"utterance number {i * i}".encode(), dtype=np.uint8)


class Utterances:
    def __call__(self, info):
        if info.idx_in_epoch >= COUNT:
            raise StopIteration
        return encoded(info.idx_in_epoch), text(info.idx_in_epoch)


class SpeechPipeline(dali.pipeline.Pipeline):
    def __init__(self, *, train, device_id=None, num_threads=2, batch_size=3, window_size=0.02):
        super().__init__(batch_size, num_threads, device_id, seed=1)
        self.train = train
        self.source = ops.ExternalSource(source=Utterances(), num_outputs=2, batch=False)
        self.decode = ops.decoders.Audio(device="cpu", dtype=types.FLOAT, downmix=True)
        self.normal_distribution = ops.random.Normal(device="cpu")
        self.preemph = ops.PreemphasisFilter(device="cpu", preemph_coeff=0.97, border="zero")
        length = int(window_size * RATE)
        window = np.hanning(length).tolist()
        self.spectrogram = ops.Spectrogram(
            device="cpu",
            nfft=2 ** math.ceil(math.log2(length)),
            window_length=length,
            window_step=length // 2,
            window_fn=window,
        )
        self.power = ops.Spectrogram(
            device="cpu", nfft=512, window_length=400, window_step=160, power=1, layout="tf"
        )
        self.mel_fbank = ops.MelFilterBank(
            device="cpu",
            sample_rate=RATE,
            nfilter=24,
            normalize=False,
            mel_formula="htk",
            freq_low=60.0,
            freq_high=RATE / 2.0,
        )
        self.log_features = ops.ToDecibels(
            device="cpu", multiplier=np.log(10), reference=1.0, cutoff_db=math.log(1e-20)
        )
        self.cepstrum = ops.MFCC(device="cpu", n_mfcc=10, dct_type=3)
        self.get_shape = ops.Shapes(device="cpu")
        self.normalize = ops.Normalize(device="cpu", axes=[1], shift=0.25, scale=2.0)
        self.pad = ops.Pad(device="cpu", fill_value=0)
        self.transposed = ops.Transpose(device="cpu", perm=[1, 0])
        self.cut = ops.Slice(device="cpu", axes=[0], out_of_bounds_policy="trim_to_shape")

    def define_graph(self):
        sounds, texts = self.source()
        audio, _ = self.decode(sounds)
        audio = self.cut(audio, 100.0 / RATE, 0.5)
        if self.train:
            audio = audio + self.normal_distribution(audio) * 1e-5
        audio = self.preemph(audio)
        power = self.power(audio)
        features = self.log_features(self.mel_fbank(self.spectrogram(audio)))
        lengths = self.get_shape(features)
        cepstrum = self.cepstrum(features)
        features = self.pad(self.transposed(self.normalize(features)))
        return features, lengths, cepstrum, power, self.pad(texts)


def some(array):
    flat = np.asarray(array, dtype=float).ravel()
    return flat[:: max(1, flat.size // 10)].tolist()


def main():
    for train in (False, True):
        pipe = SpeechPipeline(train=train)
        pipe.build()
        for epoch in range(2):
            steps = 0
            while True:
                try:
                    features, lengths, cepstrum, power, texts = pipe.run()
                except StopIteration:
                    pipe.reset()
                    break
                steps += 1
                line = {
                    "features": list(features.as_array().shape),
                    "layouts": [b.layout() for b in (features, cepstrum, power)],
                    "lengths": lengths.as_array().tolist(),
                    "texts": [bytes(t).decode() for t in texts.as_array()],
                    "cepstrum": [list(s) for s in cepstrum.shape()],
                    "power": [list(s) for s in power.shape()],
                }
                print(json.dumps(line))
                if not train:
                    print(json.dumps([some(f) for f in features.as_array()]))
                    print(json.dumps([some(np.array(c)) for c in cepstrum]))
                    print(json.dumps([some(np.array(p)) for p in power]))
            print(json.dumps({"epoch": epoch, "steps": steps}))


if __name__ == "__main__":
    main()
