# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The functions of ``nvidia.dali.backend`` and of the modules for plugins."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn

from stoker import _core
from stoker._describe.registry import operators
from stoker.compat._report import report
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
