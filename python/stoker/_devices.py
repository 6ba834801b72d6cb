# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Which GPUs there are, and what is missing when there are none."""

from __future__ import annotations

from typing import NamedTuple

from stoker import _core


class Device(NamedTuple):
    """A device, as it was when ``devices()`` was called.

    - ``name``: ``"cuda:0"``, or ``"simulated:0"`` for a device made of host threads, for tests.
    - ``kind``: ``"cuda"`` or ``"simulated"``.
    - ``decoder``: what decodes pictures for this device with ``device="mixed"``. ``"nvJPEG"``
      decodes on the GPU. ``"stand-in"`` (on a simulated device) and ``"cpu"`` (when there is no
      other) decode on the CPU and copy the pixels.
    - ``decoder_words``: the decoder's version, or what is missing and where Stoker looked for it.
    - ``memory``: the device's memory in bytes. ``in_use``, ``high_water``: bytes of it that the
      pipelines of this process hold, and the most that they have held.
    - ``pinned``, ``pinned_high_water``: bytes of host memory that are locked for copies to the
      device, and the most that have been locked.

    The other values come from the GPU's driver through NVML. The GPU is found by its PCI bus id and
    never by its number. A value that the driver does not tell is None.

    - ``pci_bus_id``: e.g. ``"0000:65:00.0"``; it comes from CUDA. ``uuid``: ``"GPU-..."``.
    - ``driver``: the driver's version, e.g. ``"580.65.06"``. ``driver_cuda``: the newest CUDA that
      the driver supports, e.g. ``"13.0"``.
    - ``memory_total``: the GPU's memory in bytes, including what the driver keeps for itself.
      ``memory_used``: bytes of it that all processes and the driver hold.
    - ``utilization``: percent of the driver's last sampling period in which kernels ran;
      ``jpeg_utilization``: percent of it in which the JPEG engine was busy.
    - ``near_cpus``: the CPUs nearest to the GPU; ``Pipeline(set_affinity=True)`` runs its workers
      on them.
    - ``untold``: which of these values are None and why, in words; ``""`` if none is. A GPU in MIG
      mode tells none of them, because a device is only a part of the GPU then.
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
    """The devices that pipelines of this process can use; ``device_id`` is an index of this list.

    With the environment variable ``STOKER_SIMULATED_DEVICES=<count>`` the list holds that many
    simulated devices and nothing else. If the list is empty, ``missing_gpu()`` says why. Raises
    ``DeviceError`` when the variable is not a count.

    This call starts the decoder of every GPU, because only a started decoder can tell what it is.
    The process then has a context on each GPU, which takes some hundred MB. A pipeline uses only
    its own GPU.
    """
    return [Device(**device) for device in _core.devices()]


def missing_gpu() -> str:
    """Why ``devices()`` holds no GPU: what is missing, and the versions found and needed.

    Returns "" if it holds one.
    """
    return _core.missing_gpu()
