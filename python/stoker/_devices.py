# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Which GPUs there are, and what is missing where there are none."""

from __future__ import annotations

from typing import NamedTuple

from stoker import _core


class Device(NamedTuple):
    """A device. Values.

    - ``name``: ``"cuda:0"``, or ``"simulated:0"`` for one made of host threads, for tests.
    - ``kind``: ``"cuda"`` or ``"simulated"``.
    - ``decoder``: who decodes pictures for it with ``device="mixed"``. ``"nvJPEG"`` decodes on the
      GPU. ``"stand-in"`` (where it is simulated) and ``"cpu"`` (for want of another) are the CPU,
      whose pixels are copied.
    - ``decoder_words``: the same in words: its version, or what is missing and where it was looked
      for.
    - ``memory``: bytes that it has. ``in_use``, ``high_water``: bytes that pipelines of this
      process hold there, and the most they held.
    - ``pinned``, ``pinned_high_water``: bytes of host memory that are locked for copies to it, and
      the most there were.

    What a GPU's driver tells through NVML at the moment of the call, found by the GPU's place and
    never by its number; None where it does not tell:

    - ``pci_bus_id``: its place, ``"0000:65:00.0"`` (this much CUDA tells). ``uuid``: ``"GPU-..."``.
    - ``driver``: the driver's version, ``"580.65.06"``. ``driver_cuda``: the newest CUDA that it is
      for, ``"13.0"``.
    - ``memory_total``: bytes that it has, with what the driver keeps back for itself.
      ``memory_used``: bytes of these that all processes and the driver hold.
    - ``utilization``: percent of the driver's last sample in which kernels ran;
      ``jpeg_utilization``: percent that the JPEG engine was busy.
    - ``near_cpus``: the CPUs nearest to it, where workers run with ``Pipeline(set_affinity=True)``.
    - ``untold``: which of these are None and why, in words; ``""`` if none is. A GPU in MIG mode
      tells none: a device is a part of it then.
    """

    name: str
    kind: str
    decoder: str
    decoder_words: str
    memory: int
    in_use: int
    high_water: int
    pinned: int
    pinned_high_water: int
    pci_bus_id: str | None
    driver: str | None
    driver_cuda: str | None
    uuid: str | None
    memory_total: int | None
    memory_used: int | None
    utilization: int | None
    jpeg_utilization: int | None
    near_cpus: list[int] | None
    untold: str


def devices() -> list[Device]:
    """The devices that pipelines of this process can use; ``device_id`` counts them.

    Simulated ones are there only where ``STOKER_SIMULATED_DEVICES=<count>`` asks for them, and then
    no others. Where the list is empty, ``missing_gpu()`` says why. Raises ``DeviceError`` when that
    variable is not a count.

    Who decodes on a GPU is known once its decoder has started, so this starts those of all GPUs: in
    each the process has a context then, some hundred MB. Pipelines use their own GPU alone.
    """
    return [Device(**device) for device in _core.devices()]


def missing_gpu() -> str:
    """Why ``devices()`` holds no GPU: what is missing, with versions found and needed; "" if it
    holds one.
    """
    return _core.missing_gpu()
