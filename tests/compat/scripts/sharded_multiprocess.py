# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a process for each shard: sharded_multiprocess.py FOLDER."""

import json
import multiprocessing
import sys

from nvidia.dali import fn, pipeline_def

SHARDS = 3
EPOCHS = 3


@pipeline_def(batch_size=4, num_threads=1, device_id=None)
def labels_of_shard(folder, shard_id, reader):
    _, labels = fn.readers.file(
        file_root=folder, shard_id=shard_id, num_shards=SHARDS, name="Reader", **reader
    )
    return labels


def work(job):
    folder, shard_id, reader = job
    pipe = labels_of_shard(folder, shard_id, reader)
    pipe.build()
    meta = pipe.reader_meta("Reader")
    shard = meta["epoch_size_padded"] // meta["number_of_shards"]
    steps = -(-shard // 4)
    seen = [pipe.run()[0].as_array().ravel().tolist() for _ in range(steps * EPOCHS)]
    keys = ("epoch_size", "epoch_size_padded", "number_of_shards", "shard_id")
    return {"meta": {k: meta[k] for k in keys}, "steps": steps, "labels": seen}


def main(folder):
    settings = [
        {},
        {"stick_to_shard": True},
        {"pad_last_batch": True},
        {"pad_last_batch": True, "stick_to_shard": True},
    ]
    context = multiprocessing.get_context("spawn")
    for reader in settings:
        jobs = [(folder, shard_id, reader) for shard_id in range(SHARDS)]
        with context.Pool(SHARDS) as pool:
            for shard_id, result in enumerate(pool.map(work, jobs)):
                print(json.dumps({"reader": reader, "shard": shard_id, **result}))
    shuffled = {"random_shuffle": True, "stick_to_shard": True, "pad_last_batch": True}
    with context.Pool(SHARDS) as pool:
        results = pool.map(work, [(folder, i, shuffled) for i in range(SHARDS)])
    print(json.dumps({"shuffled": [r["meta"] | {"steps": r["steps"]} for r in results]}))


if __name__ == "__main__":
    main(sys.argv[1])
