# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""readers.nemo_asr: two manifests of sounds, whole ones and parts."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import soundfile

from .common import Store, array_of, cut

RATE = 8000
TEXTS = ["one", "zwölf", "", 'with "quotes"\nand lines']


def make(folder: Path, count: int, *, parts: bool = False) -> Store:
    files, samples = [], []
    manifests = [folder / "a.json", folder / "b.json"]
    lines: list[list[str]] = [[], []]
    for i in range(count):
        number = 2 * i // count
        frames = np.random.default_rng(i).integers(-9000, 9000, 60 + 9 * i).astype(np.int16)
        sound = io.BytesIO()
        soundfile.write(sound, frames, RATE, format="FLAC" if i % 3 == 1 else "WAV")
        path = folder / f"{i:03}.{'flac' if i % 3 == 1 else 'wav'}"
        path.write_bytes(sound.getvalue())
        entry = {"audio_filepath": str(path), "text": TEXTS[i % len(TEXTS)]}
        if parts and i % 2:
            entry |= {"offset": 7 / RATE, "duration": (11 + i) / RATE}
            frames = frames[7 : 18 + i]
        rate = np.array(RATE, np.float32)
        index = np.array([len(lines[number])], np.int64)
        samples.append((frames, rate, array_of(entry["text"].encode()), index))
        lines[number].append(json.dumps(entry))
        files.append(path)
    for manifest, rows in zip(manifests, lines, strict=True):
        manifest.write_text("\n".join(rows) + "\n", encoding="utf-8")

    def damage(i: int) -> None:
        cut(files[i], 30)

    arguments = {
        "manifest_filepaths": [str(m) for m in manifests],
        "dtype": "int16",
        "read_idxs": True,
    }
    return Store(arguments, samples, files, damage)


VARIANTS = {
    "whole": make,
    "parts": lambda folder, count: make(folder, count, parts=True),
}
