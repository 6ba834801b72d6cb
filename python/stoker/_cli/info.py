# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Says what this installation is: version, CPU, formats, devices, and the libraries in use."""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import platform
import sys
from contextlib import suppress
from typing import Any

import stoker
from stoker import _core

HELP = "says what this installation has: formats, devices, libraries"

_FRAMEWORKS = ("numpy", "torch", "jax", "tensorflow", "mxnet")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print it as JSON")


def execute(given: argparse.Namespace) -> int:
    facts = collect()
    if given.json:
        print(json.dumps(facts, indent=1))
    else:
        _print(facts)
    return 0


def collect() -> dict[str, Any]:
    """All facts, as JSON can hold them."""
    all_codecs = [codec._asdict() for codec in stoker.codecs()]  # opens libheif, which is then seen
    return {
        "version": stoker.__version__,
        "package": os.path.dirname(os.path.abspath(stoker.__file__)),
        "python": f"{platform.python_version()} ({sys.executable})",
        "system": f"{platform.system()} {platform.machine()}, {' '.join(platform.libc_ver())}",
        "cpus": _core.usable_cpus(),
        "cpu_level": _core.cpu_level(),
        "codecs": all_codecs,
        "devices": [device._asdict() for device in stoker.devices()],
        "missing_gpu": stoker.missing_gpu(),
        "packages": _packages(),
        "libraries": _libraries(),
    }


def _packages() -> dict[str, str]:
    """The versions of the frameworks, whatever the package that brings each is called."""
    bring = importlib.metadata.packages_distributions()
    found: dict[str, str] = {}
    for name in _FRAMEWORKS:
        for package in (name, *bring.get(name, ())):
            with suppress(importlib.metadata.PackageNotFoundError):
                found.setdefault(name, importlib.metadata.version(package))
    return found


def _libraries() -> list[str]:
    """The shared libraries in this process by their real names, without Python's own modules."""
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        paths = {
            os.path.realpath(line.split(maxsplit=5)[5].strip()) for line in maps if "/" in line
        }
    return sorted(path for path in paths if ".so." in os.path.basename(path))


def _print(facts: dict[str, Any]) -> None:
    print(f"stoker {facts['version']} in {facts['package']}")
    print(f"Python {facts['python']} on {facts['system']}")
    print(f"{facts['cpus']} usable CPUs, {facts['cpu_level']}")
    for kind in ("picture", "sound", "compression"):
        of_kind = [codec for codec in facts["codecs"] if codec["kind"] == kind]
        print(f"{kind}: {', '.join(c['format'] for c in of_kind if c['is_there'])}")
        for codec in of_kind:
            if not codec["is_there"]:
                print(f"  no {codec['format']}: Debian's {codec['package']} brings its library")
    for device in facts["devices"]:
        print(f"{device['name']}: decodes by {device['decoder']}; {device['decoder_words']}")
    if facts["missing_gpu"]:
        print(f"no GPU: {facts['missing_gpu']}")
    packages = ", ".join(f"{name} {found}" for name, found in facts["packages"].items())
    if packages:
        print(f"packages: {packages}")
    print(f"{len(facts['libraries'])} shared libraries, which --json lists")
