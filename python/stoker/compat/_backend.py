# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The functions of ``nvidia.dali.backend`` and of the modules for plugins."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NoReturn

from stoker import _core
from stoker._describe.registry import operators
from stoker.compat._report import report
from stoker.compat._samples import kind_of_capsule
from stoker.ops._classes import class_name


def without_effect(name: str, result: Any = None) -> Any:
    """A function that is accepted without effect: memory and threads belong to pipelines here."""

    def function(*_: Any, **__: Any) -> Any:
        report.ignore(f"backend.{name}()")
        return result

    function.__name__ = function.__qualname__ = name
    return function


def GetCUDADeviceCount() -> int:  # noqa: N802 - the established name
    """How many GPUs there are."""
    return len([d for d in _core.devices() if d["kind"] == "cuda"])


def cuda_version() -> int:
    """The digits of the newest CUDA that the driver supports: 130 for 13.0. 0 without a GPU."""
    versions = [d["driver_cuda"] for d in _core.devices() if d["driver_cuda"]]
    return int("".join(filter(str.isdigit, versions[0]))) if versions else 0


def cuda_version_number() -> int:
    """The same as the number that CUDA gives it: 13000 for 13.0. -1 without a GPU."""
    versions = [d["driver_cuda"] for d in _core.devices() if d["driver_cuda"]]
    return _number(versions[0]) if versions else -1


def GetNvjpegVersion() -> int:  # noqa: N802 - the established name
    """The version of nvJPEG that decodes: 12040 for 12.4. -1 where the CPU decodes."""
    found = [d["decoder_words"] for d in _core.devices() if d["decoder"] == "nvJPEG"]
    return _number(found[0]) if found else -1


def _number(words: str) -> int:
    """The first version in a text, as a number."""
    version = re.search(r"(\d+)\.(\d+)", words)
    return int(version[1]) * 1000 + int(version[2]) * 10 if version else -1


def not_used(library: str) -> Any:
    """A function that tells the version of a library which is not used here: -1."""

    def function() -> int:
        """-1: this library is not used."""
        return -1

    function.__name__ = function.__qualname__ = f"Get{library}Version"
    return function


def GetCUDACurrentDevice() -> int:  # noqa: N802 - the established name
    """0: pipelines without ``device_id`` use the first GPU. -1 without a GPU."""
    return 0 if GetCUDADeviceCount() else -1


def IsDriverInitialized() -> bool:  # noqa: N802 - the established name
    """Whether there is a GPU with its driver."""
    return GetCUDADeviceCount() > 0


def CheckDLPackCapsule(value: object) -> tuple[bool, bool]:  # noqa: N802 - the established name
    """Whether it is a DLPack capsule of memory that can be used, and whether that is a GPU's."""
    kind = kind_of_capsule(value)
    return kind in ("cpu", "gpu"), kind == "gpu"


def registered(device: str) -> Any:
    """A function that lists the operators of a device, by the names of their classes."""

    def function() -> list[str]:
        having = [n for n, op in operators().items() if device in op["devices"]]
        return [class_name(n).replace(".", "__") for n in having]

    return function


def load_library(library_path: str, global_symbols: bool = False) -> NoReturn:
    """Raises ``RuntimeError``: operators of NVIDIA DALI's interface cannot run here."""
    raise RuntimeError(
        f"{library_path}: a library of operators for NVIDIA DALI cannot be loaded; Stoker's "
        "operators are built with it, or are functions of Python"
    )


def load_directory(plugin_dir_path: str, global_symbols: bool = False) -> None:
    """As ``load_library`` for each library in a folder; does nothing if there is none."""
    for library in sorted(Path(plugin_dir_path).rglob("libdali_*.so")):
        load_library(str(library))


def no_headers() -> NoReturn:
    """Raises ``RuntimeError``: there is nothing to compile an operator of NVIDIA DALI against."""
    raise RuntimeError(
        "Stoker has no headers of NVIDIA DALI; its own operators are built with it, and "
        "fn.python_function and fn.numba_function call yours"
    )
