# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the golden files: python tests/golden/update.py

It keeps the entries that are there, as later versions must give what a released one gave, and adds
those of new operators and graphs. To change an entry on purpose, delete it first; where it holds
results, raise the operator's version or rng_version.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "conformance")]

from golden_draws import PICTURE, draws, wanted  # noqa: E402

import jpegs  # noqa: E402
from stoker import Pipeline, fn, types  # noqa: E402
from stoker._describe.registry import operators  # noqa: E402


def update_draws() -> None:
    if not PICTURE.exists():
        PICTURE.write_bytes(jpegs.encode(jpegs.picture(37, 53, 1), "gray"))
    path = HERE / "draws.json"
    entries = json.loads(path.read_text()) if path.exists() else []
    known = {json.dumps({k: v for k, v in e.items() if k != "first"}) for e in entries}
    for entry in wanted():
        if json.dumps(entry) not in known:
            entries.append({**entry, "first": draws(entry)})
    lines = ",\n".join(" " + json.dumps(e) for e in entries)
    path.write_text(f"[\n{lines}\n]\n")


def update_facets() -> None:
    """Adds new operators, and new facets of known ones. A facet that was lost stays."""
    path = HERE / "facets.json"
    kept = json.loads(path.read_text()) if path.exists() else {}
    for name, op in operators().items():
        kept[name] = sorted({*kept.get(name, []), *op["facets"]})
    lines = ",\n".join(f" {json.dumps(n)}: {json.dumps(f)}" for n, f in sorted(kept.items()))
    path.write_text(f"{{\n{lines}\n}}\n")


def training() -> Any:
    encoded, label = fn.readers.file(
        file_root="pictures", random_shuffle=True, num_shards=8, shard_id=3, name="reader"
    )
    image = fn.decoders.image_random_crop(encoded, random_area=[0.1, 1.0])
    image = fn.resize(image, size=[224, 224], interp_type=types.INTERP_TRIANGULAR)
    mirror = fn.random.coin_flip(probability=0.5, seed=4)
    image = fn.crop_mirror_normalize(
        image,
        mirror=mirror,
        mean=[123.675, 116.28, 103.53],
        std=[58.395, 57.12, 57.375],
        dtype=types.FLOAT16,
        pad_output=True,
    )
    return image, label


def validation() -> Any:
    encoded, label = fn.readers.file(
        file_list="validation.txt", stick_to_shard=True, pad_last_batch=True, name="Reader"
    )
    image = fn.decoders.image(encoded, output_type=types.BGR)
    image = fn.resize(image, resize_shorter=256, interp_type=types.INTERP_LANCZOS3)
    return fn.crop_mirror_normalize(image, crop=[224, 224], output_layout="HWC"), label


def shapes() -> Any:
    volume = fn.random.uniform(range=[0.0, 255.0], shape=[2, 5, 6, 3], dtype=types.UINT8)
    frames = fn.per_frame(volume)
    cut = fn.slice(frames, axes=[1, 2], rel_start=[0.25, 0.25], rel_shape=[0.5, 0.5])
    flipped = fn.flip(fn.crop(volume, crop=[2, 2, 2]), vertical=fn.random.coin_flip(), name="turn")
    one = fn.random_resized_crop(fn.random.uniform(shape=[7, 9, 1]), size=4, num_attempts=3)
    return cut, fn.cast(flipped, dtype=types.INT32), fn.copy(one), fn.constant(fdata=[0.5, -2.0])


GRAPHS: dict[str, tuple[Callable[[], Any], dict[str, Any]]] = {
    "training": (training, {"batch_size": 256, "num_threads": 8, "seed": 12, "device_id": 0}),
    "validation": (validation, {"batch_size": 50, "num_threads": 4, "on_error": "skip"}),
    "shapes": (shapes, {"batch_size": 3, "num_threads": 1, "prefetch_queue_depth": 1, "seed": 0}),
}


def update_graphs() -> None:
    for name, (define, settings) in GRAPHS.items():
        path = HERE / f"graph_v1_{name}.json"
        if path.exists():
            continue
        pipe = Pipeline(**settings)
        with pipe:
            outputs = define()
        pipe.set_outputs(*outputs)
        path.write_text(pipe.serialize().replace(str(HERE) + "/", "") + "\n")


if __name__ == "__main__":
    update_draws()
    update_facets()
    update_graphs()
