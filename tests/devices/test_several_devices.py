# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Several devices: one for each process, as launchers do it, and many in one process."""

from __future__ import annotations

from helpers import run_script

RANK = """
import sys
from stoker import Pipeline, fn

def made(device_id, shard_id="auto", num_shards="auto"):
    with Pipeline(batch_size=2, num_threads=1, seed=1, device_id=device_id) as pipe:
        _, label = fn.readers.file(
            files=sys.argv[1:] * 8, labels=list(range(8)), shard_id=shard_id, num_shards=num_shards)
        there = fn.cast(label.gpu(), dtype="float32")
        pipe.set_outputs(there, there.cpu())
    return pipe
"""

ONE = """
pipe = made("auto")
for _ in range(2):
    there, copied = pipe.run()
    print(there.device, copied.as_array().ravel().tolist())
"""

MANY = """
pipes = [made(i, i, 3) for i in range(3)]
for _ in range(2):
    for pipe in pipes:
        there, copied = pipe.run()
        print(there.device, copied.as_array().ravel().tolist())
"""


def printed(text: str, **environment: str) -> list[str]:
    done = run_script(RANK + text, __file__, STOKER_SIMULATED_DEVICES="3", **environment)
    assert not done.returncode, done.stderr
    return done.stdout.splitlines()


def test_a_process_takes_the_device_of_its_local_rank() -> None:
    ranks = [printed(ONE, RANK=str(r), WORLD_SIZE="3", LOCAL_RANK=str(r)) for r in range(3)]
    assert [lines[0].split()[0] for lines in ranks] == ["simulated:0", "simulated:1", "simulated:2"]
    together = printed(MANY)
    assert [lines[s] for s in range(2) for lines in ranks] == together


def test_a_rank_without_a_device_says_so() -> None:
    rank = {"RANK": "1", "WORLD_SIZE": "2", "LOCAL_RANK": "1"}
    done = run_script(RANK + ONE, __file__, STOKER_SIMULATED_DEVICES="1", **rank)
    assert "DeviceError" in done.stderr and "simulated" in done.stderr, done.stderr
