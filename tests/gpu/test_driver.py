# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""What a GPU's driver tells through NVML."""

from __future__ import annotations

import os
import re

from helpers import cpus_of_workers, make
from stoker import Device, fn


def test_facts_are_of_this_gpu(told: Device) -> None:
    place = r"[0-9A-F]{4,8}:[0-9A-F]{2}:[0-9A-F]{2}\.0"
    assert told.pci_bus_id and re.fullmatch(place, told.pci_bus_id, re.IGNORECASE)
    assert told.driver and re.fullmatch(r"\d+\.\d+(\.\d+)?", told.driver)
    assert told.driver_cuda and re.fullmatch(r"\d+\.\d+", told.driver_cuda)
    assert told.uuid and told.uuid.startswith("GPU-")
    assert told.memory_total is not None and told.memory_used is not None
    assert told.memory <= told.memory_total < 1.2 * told.memory
    assert 0 < told.memory_used <= told.memory_total
    assert told.utilization is not None and 0 <= told.utilization <= 100
    assert told.jpeg_utilization is None or 0 <= told.jpeg_utilization <= 100


def test_workers_run_near_it(told: Device) -> None:
    usable = os.sched_getaffinity(0)
    near = usable & set(told.near_cpus or ())
    pipe = make(
        lambda: fn.random.uniform(device="gpu"), device_id=0, num_threads=3, set_affinity=True
    )
    pipe.run()
    words = pipe.plan().splitlines()[-1]
    assert words.startswith("workers: on CPUs " if near else "workers: on any CPU: "), words
    assert cpus_of_workers(3) == 3 * [near or usable]
