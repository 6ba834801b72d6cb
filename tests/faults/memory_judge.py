# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Holds pipelines to their memory_limit, with the process's own memory as the judge.

    python tests/faults/memory_judge.py --count 500

draws combinations of settings and files from seeds. Each runs in a fresh process, which compares
its memory with what it had while a pipeline of the same settings gave one tiny picture. The most
that may be between is the limit and allowed(). Peaks are those that the kernel noted (VmHWM
of /proc/self/status); what stays after the end is read from /proc/self/smaps_rollup.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import subprocess
import sys
import tempfile
from collections import deque
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

MB = 1 << 20

SIZES = {
    "tiny": (48, 64),
    "small": (375, 500),
    "medium": (1200, 1600),
    "large": (2500, 3300),
    "huge": (4800, 6400),
}
GRAPHS = ("whole", "resized", "corner", "training", "bytes")


def allowed(threads: int) -> int:
    """Bytes above the limit: for the process, and for each of its threads."""
    return 8 * MB + threads * MB


@dataclass(frozen=True)
class Combination:
    """A pipeline, its files, and how its user treats the batches."""

    seed: int
    memory_limit: int
    num_threads: int
    io_threads: int
    prefetch_queue_depth: int
    batch_size: int
    on_error: str
    executor: str
    read_ahead_limit: int | None
    graph: str
    files: list[str]
    steps: int
    held: int  # batches that the user keeps


def draw(seed: int) -> Combination:
    rng = random.Random(seed)
    kinds = [f"{size}{kind}" for size in SIZES for kind in ("", "_progressive")]
    kinds += ["claims", "sparse_20", "sparse_90", "sparse_3000"]
    few = rng.sample(kinds, rng.randint(1, 5))
    return Combination(
        seed=seed,
        memory_limit=rng.choice((24, 48, 64, 100, 150, 256, 400)) * MB,
        num_threads=rng.choice((1, 2, 3, 4, 8, 16, 32)),
        io_threads=rng.randint(1, 4),
        prefetch_queue_depth=rng.randint(1, 4),
        batch_size=rng.choice((1, 2, 3, 5, 8, 16)),
        on_error=rng.choice(("skip", "skip", "replace", "raise")),
        executor=rng.choice(("pipelined",) * 7 + ("simple",)),
        read_ahead_limit=rng.choice((None, None, 0, 1 << 40)),
        graph=rng.choice(GRAPHS),
        files=[f"{rng.choice(few)}.jpg" for _ in range(24)],
        steps=rng.randint(4, 10),
        held=rng.choice((0, 0, 1, 2, 5)),
    )


def make_files(root: Path) -> None:
    """A file of every kind. Large ones are flat, so that they take little time and space."""
    from PIL import Image

    for size, (height, width) in SIZES.items():
        picture = Image.linear_gradient("L").convert("RGB").resize((width, height))
        picture.save(root / f"{size}.jpg")
        picture.save(root / f"{size}_progressive.jpg", progressive=True, subsampling=0)
    data = bytearray((root / "tiny.jpg").read_bytes())
    at = data.index(b"\xff\xc0")
    data[at + 5 : at + 9] = (9000).to_bytes(2, "big") * 2
    (root / "claims.jpg").write_bytes(data)
    for megabytes in (20, 90, 3000):
        with (root / f"sparse_{megabytes}.jpg").open("wb") as file:
            file.write((root / "small.jpg").read_bytes())
            file.truncate(megabytes * MB)


def pipeline(c: Combination, files: list[Path]) -> Any:
    from stoker import Pipeline, fn

    names = ("memory_limit", "num_threads", "io_threads", "prefetch_queue_depth", "batch_size")
    names += ("on_error", "executor", "read_ahead_limit")
    pipe = Pipeline(**{name: getattr(c, name) for name in names}, seed=1)
    with pipe:
        encoded, label = fn.readers.file(files=[str(f) for f in files], random_shuffle=True)
        if c.graph == "bytes":
            pipe.set_outputs(encoded, label)
            return pipe
        image = fn.decoders.image(encoded)
        if c.graph == "resized":
            image = fn.resize(image, size=[224, 224])
        elif c.graph == "corner":
            image = fn.crop(image, crop=[32, 32])
        elif c.graph == "training":
            image = fn.random_resized_crop(image, size=[128, 128])
            image = fn.crop_mirror_normalize(image, mirror=fn.random.coin_flip())
        pipe.set_outputs(image, label)
    return pipe


def entries(name: str) -> dict[str, int]:
    """The lines "Key: 12 kB" of a file of /proc/self, in bytes."""
    lines = (line.split() for line in Path("/proc/self", name).read_text().splitlines())
    return {words[0]: int(words[1]) << 10 for words in lines if words[-1] == "kB"}


def own_memory() -> int:
    """Anonymous and shared pages."""
    rollup = entries("smaps_rollup")
    return rollup["Anonymous:"] + rollup["Pss_Shmem:"]


def run(c: Combination, root: Path) -> dict[str, Any]:
    """What the combination takes above the limit, in this process."""
    from stoker import errors

    empty = pipeline(c, [root / "tiny.jpg"])
    for _ in range(3):
        empty.run()
    gc.collect()
    before, rss = own_memory(), entries("status")["VmRSS:"]
    empty.close()
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    pipe = pipeline(c, [root / name for name in c.files])
    held: deque[Any] = deque(maxlen=c.held)
    counts = dict.fromkeys(("made", "bad", "short"), 0)
    now = 0
    for _ in range(c.steps):
        try:
            held.append(pipe.run())
            counts["made"] += 1
        except errors.SampleError:
            counts["bad"] += 1
        except errors.BudgetError:
            counts["short"] += 1
            held.clear()
        now = max(now, own_memory())
    peak = entries("status")["VmHWM:"]
    counts["quarantined"] = len(pipe.quarantine())
    pipe.close()
    held.clear()
    return {
        **counts,
        "excess": max(peak - rss, now - before) - c.memory_limit,
        "left": own_memory() - before,
        "allowed": allowed(c.num_threads + c.io_threads),
    }


def judge(c: Combination, root: Path) -> dict[str, Any]:
    """The same in a fresh process. Raises what goes wrong there."""
    command = [sys.executable, __file__, "--one", json.dumps(asdict(c)), "--files", str(root)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if done.returncode:
        raise AssertionError(f"{c}\n{done.stderr}")
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0, help="of the first combination")
    parser.add_argument("--files", type=Path, help="a folder of make_files()")
    parser.add_argument("--one", help="a combination as JSON, to run in this process")
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(run(Combination(**json.loads(arguments.one)), arguments.files)))
        return
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        make_files(root)
        worst: dict[str, Any] = {"excess": -(1 << 60)}
        over = 0
        for seed in range(arguments.seed, arguments.seed + arguments.count):
            c = draw(seed)
            result = judge(c, root)
            if result["excess"] > result["allowed"]:
                over += 1
                print("OVER", result, c, flush=True)
            if result["excess"] > worst["excess"]:
                worst = {**result, "seed": seed}
                print("worst so far:", worst, flush=True)
    print(f"{arguments.count} combinations, {over} over what is allowed; worst: {worst}")
    sys.exit(bool(over))


if __name__ == "__main__":
    main()
