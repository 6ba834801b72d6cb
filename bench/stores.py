#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Reading the stores that people have, beside the libraries that are known for them.

    .venv/bin/python bench/stores.py [--data FOLDER] [--rounds N]

The same pictures lie in each store, and all that reads them has one core, with the files in the
page cache. A sample is an encoded picture and its label. Libraries take turns and are stopped while
others work; ratios are medians of the rounds' ratios. DALI maps some files and hands on bytes that
it never read, so it and Stoker are compared once more with all bytes read by their consumer. Before
that, each library has to deliver the bytes of an epoch. Then the times to index large files are
compared with that of `cat`, and a set of 10^8 records is opened and shuffled.

The pictures are those of FOLDER, by default those of STOKER_TEST_DATA, or bytes made on the spot.
The environments of the other libraries are made by bench/compare/environment.sh in build/compare,
and that of MXNet by tools/install.sh mxnet; what is not there is left out.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

import stoker.index

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "examples"))
import store_writers as writers  # noqa: E402

EPOCH = 384  # samples: six batches of 64
INTERPRETERS = {
    "stoker": Path(sys.executable),
    "loop": Path(sys.executable),
    "tfdata": Path(sys.executable),
    "mxnet": ROOT / ".venv-mxnet/bin/python",
    "webdataset": ROOT / "build/compare/webdataset/bin/python",
    "dali": ROOT / "build/compare/dali/bin/python",
}
# By store: its own library, how many times as fast one has to be, and the name of the other.
STORES = {
    "caffe": ("loop", 1.0, "a loop over lmdb"),
    "tfrecord": ("tfdata", 1.5, "tf.data"),
    "recordio": ("mxnet", 1.5, "MXIndexedRecordIO"),
    "webdataset": ("webdataset", 5.0, "webdataset"),
    "file": (None, 0, ""),
}


def pictures(data: Path | None) -> list[bytes]:
    found = sorted(p for p in data.rglob("*") if p.is_file())[:EPOCH] if data else []
    if len(found) == EPOCH:
        return [p.read_bytes() for p in found]
    print("made of random bytes: pictures of 2 to 224 kB")
    rng = np.random.default_rng(1)
    return [rng.bytes(int(rng.integers(2_000, 224_000))) for _ in range(EPOCH)]


def write_tar(path: Path, files: Sequence[bytes]) -> None:
    with tarfile.open(path, "w") as archive:
        for i, data in enumerate(files):
            for name, content in (("jpg", data), ("cls", str(i).encode())):
                member = tarfile.TarInfo(f"{i:08}.{name}")
                member.size = len(content)
                archive.addfile(member, BytesIO(content))


def write_stores(folder: Path, files: Sequence[bytes]) -> None:
    import lmdb
    import tensorflow as tf

    for i, data in enumerate(files):
        (folder / "files" / f"{i:03}").mkdir(parents=True)
        (folder / "files" / f"{i:03}" / "picture.jpg").write_bytes(data)
    with (
        lmdb.open(str(folder / "lmdb"), map_size=1 << 34) as database,
        database.begin(write=True) as t,
    ):
        for i, data in enumerate(files):
            t.put(f"{i:08}".encode(), writers.datum(data, i))
    with tf.io.TFRecordWriter(str(folder / "train.tfrecord")) as out:
        for i, data in enumerate(files):
            out.write(writers.example({"image": [data], "label": [i]}))
    records, places = writers.recordio(
        [writers.picture_record(i, [i], data) for i, data in enumerate(files)]
    )
    (folder / "train.rec").write_bytes(records)
    lines = (f"{i}\t{offset}\n" for i, (offset, _) in enumerate(places))
    (folder / "train.idx").write_text("".join(lines))
    write_tar(folder / "train.tar", files)
    stoker.index.main(["tfrecord", str(folder / "train.tfrecord")])


class Peer:
    """A library's process, which is stopped between its rounds."""

    def __init__(self, library: str, store: str, folder: Path, core: int) -> None:
        script = ROOT / "bench/stores_peer.py"
        self._process = subprocess.Popen(
            [
                *("taskset", "-c", str(core), str(INTERPRETERS[library]), str(script)),
                *(library, store, str(folder), str(EPOCH)),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "2"},
        )
        self.library = library

    def begin(self) -> int:
        """Waits for its first epoch, and returns the bytes of the pictures in it."""
        given = int(self._answer()["bytes"])
        self._signal(signal.SIGSTOP)
        return given

    def _signal(self, number: int) -> None:
        os.killpg(self._process.pid, number)

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout and self._process.stderr
        line = self._process.stdout.readline()
        if not line:
            self._process.wait()
            sys.exit(f"stores: {self.library} ended\n{self._process.stderr.read()[-2000:]}")
        facts: dict[str, Any] = json.loads(line)
        return facts

    def round(self, work: str) -> float:
        """Microseconds for each sample. ``work`` is a line for stores_peer.py."""
        assert self._process.stdin
        self._signal(signal.SIGCONT)
        print(work, file=self._process.stdin, flush=True)
        took = float(self._answer()["us"])
        self._signal(signal.SIGSTOP)
        return took

    def stop(self) -> None:
        self._signal(signal.SIGKILL)
        self._process.wait()


def race(store: str, folder: Path, expected: int, options: argparse.Namespace) -> None:
    own, wanted, name = STORES[store]
    libraries = ["stoker", *([own] if own else []), "dali"]
    with ExitStack() as stack:
        peers = []
        for library in libraries:
            if INTERPRETERS[library].exists():
                peers.append(Peer(library, store, folder, options.core))
                stack.callback(peers[-1].stop)
        for peer in peers:
            # A peer that shuffles within a buffer mixes epochs.
            if abs((given := peer.begin()) - expected) > expected // 10:
                sys.exit(f"stores: {peer.library} gave {given} of {expected} bytes")
            peer.round(str(options.epochs))
        works = {str(options.epochs): peers}
        works[f"{options.epochs} read"] = [p for p in peers if p.library in ("stoker", "dali")]
        times: dict[tuple[str, str], list[float]] = {}
        for number in range(options.rounds):
            for work, those in works.items():
                for peer in those if number % 2 == 0 else those[::-1]:
                    times.setdefault((peer.library, work), []).append(peer.round(work))
    for work, those in works.items():
        ours = times["stoker", work]
        end = " that is read, too" if work.endswith("read") else ""
        print(f"{store}: {statistics.median(ours):.1f} us a sample{end}")
        for library in [p.library for p in those[1:]]:
            ratios = sorted(t / o for o, t in zip(ours, times[library, work], strict=True))
            quartiles = statistics.quantiles(ratios, n=4)
            said = f"wanted {wanted}" if library == own else "wanted 1.0"
            print(
                f"  {name if library == own else 'DALI'}: "
                f"{statistics.median(times[library, work]):.1f} us, "
                f"{statistics.median(ratios):.2f} times ours "
                f"({quartiles[0]:.2f} to {quartiles[2]:.2f}), {said}",
                flush=True,
            )


def seconds(work: Callable[[], Any]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def index_times(folder: Path, files: Sequence[bytes], options: argparse.Namespace) -> None:
    """Indexing files of about 1 GB, beside `cat FILE >/dev/null`."""
    copies = 24
    many = list(files) * copies
    for kind, name in (("tfrecord", "train.tfrecord"), ("recordio", "train.rec")):
        large = folder / f"large.{kind}"
        with large.open("wb") as out:
            for _ in range(copies):
                out.write((folder / name).read_bytes())
    write_tar(folder / "large.webdataset", many)
    os.sched_setaffinity(0, {options.core})
    for kind in ("tfrecord", "recordio", "webdataset"):
        large = folder / f"large.{kind}"

        def read_all(path: Path = large) -> None:
            with open(os.devnull, "wb") as sink:
                subprocess.run(["cat", str(path)], stdout=sink, check=True)

        def index(path: Path = large, kind: str = kind) -> None:
            stoker.index.main([kind, str(path), "--output-dir", str(folder / "indexes")])

        (folder / "indexes").mkdir(exist_ok=True)
        read_all()
        pairs = [(seconds(read_all), seconds(index)) for _ in range(5)]
        ratio = statistics.median(cat / made for cat, made in pairs)
        print(
            f"indexing {kind}: {statistics.median(t for _, t in pairs):.2f} s for "
            f"{large.stat().st_size >> 20} MiB, {ratio:.2f} times as fast as cat, wanted 0.5",
            flush=True,
        )
        large.unlink()


def many_records(folder: Path) -> None:
    """10^8 records in one file, opened and read in two orders: times and memory."""
    large = folder / "many.tfrecord"
    record = tiny_record(folder)
    with large.open("wb") as out:
        for _ in range(100):
            out.write(record * 1_000_000)
    for shuffled in ("no index yet", "with an index"):
        said = subprocess.run(
            [sys.executable, "-c", ONE_OF_MANY, str(large)],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        ).stdout
        print(f"10^8 records, {shuffled}: {said.strip()}", flush=True)


ONE_OF_MANY = """
import sys, time
from stoker import Pipeline, fn, tfrecord

def resident(kind):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) >> 10 for line in status if line.startswith(kind))

before = resident("RssAnon")
begun = time.perf_counter()
pipe = Pipeline(batch_size=64, num_threads=1, seed=1, device_id=None)
with pipe:
    features = {"label": tfrecord.FixedLenFeature([1], tfrecord.int64, -1)}
    found = fn.readers.tfrecord(path=[sys.argv[1]], features=features, random_shuffle=True)
    pipe.set_outputs(found["label"])
pipe.build()
opened = time.perf_counter() - begun
for _ in range(1000):
    pipe.run()
print(f"opened in {opened:.1f} s; after 64000 samples of a shuffled order the process has "
      f"{resident('RssAnon') - before} MiB more of its own and {resident('RssFile')} MiB of files")
"""


def tiny_record(folder: Path) -> bytes:
    """An Example with a label alone, in its frame."""
    import tensorflow as tf

    label = tf.train.Feature(int64_list=tf.train.Int64List(value=[1]))
    example = tf.train.Example(features=tf.train.Features(feature={"label": label}))
    with tf.io.TFRecordWriter(str(folder / "tiny")) as out:
        out.write(example.SerializeToString())
    return (folder / "tiny").read_bytes()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    data = os.environ.get("STOKER_TEST_DATA")
    parser.add_argument("--data", type=Path, default=Path(data, "imagenet") if data else None)
    parser.add_argument("--stores", nargs="*", default=list(STORES), choices=list(STORES))
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--epochs", type=int, default=10, help="of each round")
    parser.add_argument("--core", type=int, default=min(os.sched_getaffinity(0)))
    parser.add_argument("--parts", default="race,index,many")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="stoker-stores-"))
    try:
        files = pictures(options.data)
        write_stores(folder, files)
        if "race" in options.parts:
            for store in options.stores:
                race(store, folder, sum(map(len, files)), options)
        if "index" in options.parts:
            index_times(folder, files, options)
        if "many" in options.parts:
            many_records(folder)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
