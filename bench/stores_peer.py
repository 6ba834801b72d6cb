# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""One library that delivers the samples of one store, for stores.py, under its own interpreter.

The arguments are LIBRARY STORE FOLDER EPOCH, where EPOCH is how many samples one has. It reads an
epoch and writes how many encoded bytes it has. Then it answers lines of stdin, each a number of
epochs, with the microseconds that a sample took; "read" behind the number has all of the bytes read
once, as a decoder would, which Stoker and DALI do. All of them have batches of
64 but the bare loops, which have none, and shuffle globally but TFRecord's and WebDataset's own
libraries, which cannot.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

BATCH, THREADS = 64, 1

# Makes the next samples. Returns how many, and what reads their bytes and counts them.
Step = Callable[[], tuple[int, Callable[[], int]]]


def read(batch: Any) -> int:
    """Reads all bytes of a batch of encoded pictures, and returns how many there are."""
    import numpy as np

    count = 0
    for i in range(len(batch)):
        picture = np.asarray(batch[i])
        np.bitwise_xor.reduce(picture[: len(picture) // 8 * 8].view(np.uint64))
        count += len(picture)
    return count


def stoker(store: str, folder: Path) -> Step:
    from stoker import Pipeline, fn, tfrecord

    shuffled = {"random_shuffle": True}
    pipe = Pipeline(batch_size=BATCH, num_threads=THREADS, seed=1, device_id=None)
    with pipe:
        if store == "caffe":
            outputs = fn.readers.caffe(path=str(folder / "lmdb"), **shuffled)
        elif store == "tfrecord":
            found = fn.readers.tfrecord(
                path=[str(folder / "train.tfrecord")],
                features={
                    "image": tfrecord.FixedLenFeature([], tfrecord.string),
                    "label": tfrecord.FixedLenFeature([1], tfrecord.int64, -1),
                },
                **shuffled,
            )
            outputs = found["image"], found["label"]
        elif store == "recordio":
            outputs = fn.readers.mxnet(path=str(folder / "train.rec"), **shuffled)
        elif store == "webdataset":
            outputs = fn.readers.webdataset(
                paths=[str(folder / "train.tar")], ext=["jpg", "cls"], **shuffled
            )
        else:
            outputs = fn.readers.file(file_root=str(folder / "files"), **shuffled)
        pipe.set_outputs(*outputs)

    def step() -> tuple[int, Callable[[], int]]:
        pictures = pipe.run()[0]
        return len(pictures), lambda: read(pictures)

    return step


def dali(store: str, folder: Path) -> Step:
    import nvidia.dali.fn as fn
    from nvidia.dali import pipeline_def, tfrecord

    shuffled = {"random_shuffle": True, "name": "r"}

    @pipeline_def(batch_size=BATCH, num_threads=THREADS, device_id=None, seed=1)
    def pictures() -> Any:
        if store == "caffe":
            return tuple(fn.readers.caffe(path=str(folder / "lmdb"), **shuffled))
        if store == "tfrecord":
            found = fn.readers.tfrecord(
                path=[str(folder / "train.tfrecord")],
                index_path=[str(folder / "train.tfrecord.idx")],
                features={
                    "image": tfrecord.FixedLenFeature([], tfrecord.string, ""),
                    "label": tfrecord.FixedLenFeature([1], tfrecord.int64, -1),
                },
                **shuffled,
            )
            return found["image"], found["label"]
        if store == "recordio":
            rec, index = str(folder / "train.rec"), str(folder / "train.idx")
            return tuple(fn.readers.mxnet(path=[rec], index_path=[index], **shuffled))
        if store == "webdataset":
            archive = str(folder / "train.tar")
            return tuple(fn.readers.webdataset(paths=[archive], ext=["jpg", "cls"], **shuffled))
        return tuple(fn.readers.file(file_root=str(folder / "files"), **shuffled))

    pipe = pictures()
    pipe.build()

    def step() -> tuple[int, Callable[[], int]]:
        encoded = pipe.run()[0]
        return len(encoded), lambda: read(encoded)

    return step


def one_by_one(samples: Iterator[Any]) -> Step:
    """Of what gives single pictures with their labels."""

    def step() -> tuple[int, Callable[[], int]]:
        picture, _ = next(samples)
        return 1, lambda: len(picture)

    return step


def datum_class() -> Any:
    """Caffe's message, as its own library declares it."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    kind = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="caffe.proto", package="caffe", syntax="proto2")
    message = file.message_type.add(name="Datum")
    for number, (name, type_) in enumerate(
        [
            ("channels", kind.TYPE_INT32),
            ("height", kind.TYPE_INT32),
            ("width", kind.TYPE_INT32),
            ("data", kind.TYPE_BYTES),
            ("label", kind.TYPE_INT32),
            ("float_data", kind.TYPE_FLOAT),
            ("encoded", kind.TYPE_BOOL),
        ],
        1,
    ):
        label = kind.LABEL_REPEATED if name == "float_data" else kind.LABEL_OPTIONAL
        message.field.add(name=name, number=number, type=type_, label=label)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("caffe.Datum"))


def loop(_: str, folder: Path) -> Step:
    """The package lmdb in a shuffled order, a Datum parsed, and its picture copied to an array."""
    import lmdb
    import numpy as np

    datum = datum_class()
    database = lmdb.open(str(folder / "lmdb"), readonly=True, lock=False)

    def samples() -> Iterator[Any]:
        with database.begin(buffers=True) as transaction:
            keys = [bytes(key) for key in transaction.cursor().iternext(values=False)]
            while True:
                random.shuffle(keys)
                for key in keys:
                    found = datum.FromString(transaction.get(key))
                    yield np.frombuffer(found.data, np.uint8).copy(), found.label

    return one_by_one(samples())


def tfdata(_: str, folder: Path) -> Step:
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(THREADS)
    tf.config.threading.set_inter_op_parallelism_threads(THREADS)
    features = {
        "image": tf.io.FixedLenFeature([], tf.string),
        "label": tf.io.FixedLenFeature([1], tf.int64, -1),
    }
    records = tf.data.TFRecordDataset(str(folder / "train.tfrecord")).repeat().batch(BATCH)
    parsed = records.map(lambda batch: tf.io.parse_example(batch, features)).prefetch(2)
    batches = iter(parsed)

    def step() -> tuple[int, Callable[[], int]]:
        pictures = next(batches)["image"]
        return len(pictures), lambda: int(tf.reduce_sum(tf.strings.length(pictures)))

    return step


def mxnet(_: str, folder: Path) -> Step:
    from mxnet import recordio

    records = recordio.MXIndexedRecordIO(str(folder / "train.idx"), str(folder / "train.rec"), "r")

    def samples() -> Iterator[Any]:
        keys = list(records.keys)
        while True:
            random.shuffle(keys)
            for key in keys:
                header, picture = recordio.unpack(records.read_idx(key))
                yield picture, header.label

    return one_by_one(samples())


def webdataset(_: str, folder: Path) -> Step:
    import webdataset as wds

    archive = wds.WebDataset(str(folder / "train.tar"), shardshuffle=False, empty_check=False)

    def samples() -> Iterator[Any]:
        while True:
            yield from archive.to_tuple("jpg", "cls")

    return one_by_one(samples())


LIBRARIES = {f.__name__: f for f in (stoker, dali, loop, tfdata, mxnet, webdataset)}


def main() -> None:
    step = LIBRARIES[sys.argv[1]](sys.argv[2], Path(sys.argv[3]))
    epoch = int(sys.argv[4])
    bytes_read = samples = 0
    while samples < epoch:
        count, read_all = step()
        samples += count
        bytes_read += read_all()
    print(json.dumps({"bytes": bytes_read}), flush=True)
    for line in sys.stdin:
        epochs, *are_read = line.split()
        samples, wanted = 0, epoch * int(epochs)
        start = time.perf_counter()
        while samples < wanted:
            count, read_all = step()
            samples += count
            if are_read:
                read_all()
        print(json.dumps({"us": 1e6 * (time.perf_counter() - start) / samples}), flush=True)


main()
