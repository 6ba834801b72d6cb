# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures, classes and texts of archives: webdataset_shards.py FOLDER."""

import glob
import io
import json
import os
import sys
import tarfile
import tempfile

import numpy as np
import nvidia.dali as dali
from nvidia.dali import fn, pipeline_def, types


def add(archive, name, content):
    info = tarfile.TarInfo(name)
    info.size = len(content)
    archive.addfile(info, io.BytesIO(content))


def pack(data_dir, folder):
    """Two archives; each third sample has no text."""
    files = sorted(glob.glob(os.path.join(data_dir, "*", "*.jpg")))
    paths = [os.path.join(folder, f"shard{k}.tar") for k in range(2)]
    for k, path in enumerate(paths):
        with tarfile.open(path, "w") as archive:
            for i, file in enumerate(files[k::2]):
                with open(file, "rb") as source:
                    add(archive, f"part/{i:03d}.jpg", source.read())
                add(archive, f"part/{i:03d}.cls", f"{10 * k + i}".encode())
                if i % 3:
                    add(archive, f"part/{i:03d}.seg.txt", b"t" * (i + 1))
    return paths


@pipeline_def(num_threads=2, device_id=None)
def dataset(paths, behaviour, shard_id=0, num_shards=1):
    pictures, classes, texts = fn.readers.webdataset(
        paths=paths,
        ext=["jpg", "cls", "seg.txt;txt"],
        missing_component_behavior=behaviour,
        dtypes=[types.UINT8, types.UINT8, types.INT8],
        shard_id=shard_id,
        num_shards=num_shards,
        pad_last_batch=True,
        name="Reader",
    )
    pictures = fn.decoders.image(pictures, output_type=types.GRAY)
    pictures = fn.resize(pictures, size=[12, 12])
    return pictures, fn.pad(classes, fill_value=32), fn.shapes(texts), texts


def main(data_dir):
    print(json.dumps(dali.__version__.count(".")))
    with tempfile.TemporaryDirectory() as folder:
        paths = pack(data_dir, folder)
        for behaviour in ("empty", "skip"):
            for shard in range(2):
                pipe = dataset(paths, behaviour, shard, 2, batch_size=3)
                pipe.build()
                meta = pipe.reader_meta()["Reader"]
                print(json.dumps({key: meta[key] for key in sorted(meta)}))
                for _ in range(meta["epoch_size_padded"] // 2 // 3 + 1):
                    pictures, classes, shapes, texts = pipe.run()
                    print(json.dumps(np.array(pictures.as_tensor()).mean(axis=(1, 2, 3)).tolist()))
                    print(json.dumps([bytes(row).decode() for row in classes.as_array()]))
                    print(json.dumps([shapes.as_array().tolist(), texts.dtype.name]))


if __name__ == "__main__":
    main(sys.argv[1])
