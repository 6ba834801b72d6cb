# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""A network learns from Stoker's batches, and a killed training goes on to the last bit."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

EPOCHS = 3
Losses = list[tuple[int, int, str]]  # step, epoch, and the loss as float.hex


def train(expected_code: int = 0, **settings: Any) -> Losses:
    defaults = {"threads": 2, "checkpoint": "", "save_after": -1, "die_after": -1}
    script = Path(__file__).with_name("train.py")
    done = subprocess.run(
        [sys.executable, str(script), json.dumps({**defaults, **settings})],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == expected_code, done.stderr[-4000:]
    lines = [line.split() for line in done.stdout.splitlines()]
    return [(int(step), int(epoch), loss) for step, epoch, loss in lines]


def check_training(root: Path, batch_size: int, folder: Path) -> None:
    whole = train(root=str(root), batch_size=batch_size)
    means = []
    for epoch in range(EPOCHS):
        losses = [float.fromhex(loss) for _, e, loss in whole if e == epoch]
        means.append(sum(losses) / len(losses))
    assert means[-1] < means[0], f"the loss falls: {means}"

    chance = random.Random()
    save_after = chance.randrange(1, len(whole) - 2)
    die_after = chance.randrange(save_after + 1, len(whole))
    told = f"saved after step {save_after}, killed after {die_after} of {len(whole)}"
    interrupted = {"root": str(root), "batch_size": batch_size, "checkpoint": str(folder / "saved")}
    first = train(-signal.SIGKILL, **interrupted, save_after=save_after, die_after=die_after)
    assert first == whole[:die_after], told
    rest = train(**interrupted, threads=1)
    assert rest == whole[save_after:], told


def test_on_pictures_made_here(pictures: Path, tmp_path: Path) -> None:
    check_training(pictures, 6, tmp_path)


def test_on_real_pictures(test_data: Path, tmp_path: Path) -> None:
    check_training(test_data / "imagenet", 32, tmp_path)
