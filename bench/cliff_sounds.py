# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The rows of bench/cliff_rows.py whose operators are for sounds, and what their peers do."""

from __future__ import annotations

import numpy as np
from cliff_clock import Array
from cliff_row import Row, to

from stoker import fn


def loud_part(x: Array, out: Array) -> None:
    sums = np.cumsum(np.square(x, dtype=np.float64))
    power = sums[2047:].copy()
    power[1:] -= sums[:-2048]
    loud = np.flatnonzero(power >= power.max() * 1e-6)
    out[...] = loud[-1] - loud[0] + 2048


def spectrum(x: Array, out: Array) -> None:
    frames = np.lib.stride_tricks.sliding_window_view(x, 512)[::256]
    bins = np.fft.rfft(frames * np.hanning(512).astype(np.float32))
    np.copyto(out, (bins.real**2 + bins.imag**2).T)


def polyphase(x: Array, out: Array) -> None:
    from scipy.signal import resample_poly

    np.copyto(out, resample_poly(x, 160, 441))


def triangles(count: int, bins: int, nyquist: float = 22050.0) -> Array:
    edges = 700 * np.expm1(np.linspace(0, np.log1p(nyquist / 700), count + 2))[:, None]
    f, widths = np.linspace(0, nyquist, bins), np.diff(edges, axis=0)
    rising, falling = (f - edges[:-2]) / widths[:-1], (edges[2:] - f) / widths[1:]
    return np.maximum(0, np.minimum(rising, falling)).astype(np.float32)


BINS = 257


TRIANGLES = triangles(80, BINS)


def decibels(x: Array, out: Array) -> None:
    np.log10(np.maximum(x / x.max(), 1e-20), out=out)
    np.multiply(out, 10, out=out)


def cepstrum(x: Array, out: Array) -> None:
    from scipy.fft import dct

    np.copyto(out, dct(x, axis=0)[:20] / 2)


def emphasised(x: Array, out: Array) -> None:
    np.subtract(x[1:], np.float32(0.97) * x[:-1], out=out[1:])
    out[0] = np.float32(0.03) * x[0]


def powers(x: Array, out: Array) -> None:
    bins = np.fft.rfft(x, 512)
    np.copyto(out, bins.real**2 + bins.imag**2)


SOUNDS = [
    Row(
        *("to_decibels", "to_decibels", lambda node, _: fn.to_decibels(node)),
        *("NumPy log10", decibels, to("float32"), 0.01),
    ),
    Row(
        *("mfcc", "mfcc", lambda node, _: fn.mfcc(node)),
        *("SciPy dct", cepstrum, lambda x: x[:80, :, 0].astype(np.float32), 1.0),
    ),
    Row(
        *("preemphasis_filter", "preemphasis_filter", lambda node, _: fn.preemphasis_filter(node)),
        *("NumPy", emphasised, lambda x: x.reshape(-1).astype(np.float32), 0.01),
    ),
    Row(
        *("power_spectrum", "power_spectrum", lambda node, _: fn.power_spectrum(node, nfft=512)),
        *("NumPy rfft", powers, lambda x: x[:, :, 0].astype(np.float32), None),
    ),
    Row(
        *("nonsilent_region", "nonsilent_region"),
        lambda node, _: fn.nonsilent_region(node)[1],
        *("NumPy cumsum", loud_part, lambda x: x.reshape(-1).astype(np.float32), 1e9),
    ),
    Row(
        *("spectrogram", "spectrogram"),
        lambda node, _: fn.spectrogram(
            node, nfft=512, window_length=512, window_step=256, center_windows=False
        ),
        *("NumPy rfft", spectrum),
        lambda x: x.ravel().astype(np.float32),
        apart=None,  # the window functions differ in one place
    ),
    Row(
        *("mel_filter_bank", "mel_filter_bank"),
        lambda node, _: fn.mel_filter_bank(node, nfilter=80, mel_formula="htk", normalize=False),
        *("NumPy matmul", lambda x, out: np.matmul(TRIANGLES, x, out=out)),
        lambda x: x.ravel()[: x.size // BINS * BINS].reshape(BINS, -1).astype(np.float32),
        apart=0.01,
    ),
    Row(
        *("audio_resample", "audio_resample"),
        lambda node, _: fn.audio_resample(node, in_rate=44100.0, out_rate=16000.0),
        *("SciPy resample_poly", polyphase),
        lambda x: x.ravel().astype(np.float32),
        apart=None,  # a filter of another shape, of 55 values where ours has 32
    ),
]
