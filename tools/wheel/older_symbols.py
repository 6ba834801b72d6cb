#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Makes a shared library ask for older versions of some symbols: older_symbols.py FILE...

A few symbols have a newer version beside the one that they have had for long, and a linker takes
the newer one. What this program knows of them is in the table: for these symbols both versions do
the same, so a library may ask for the older one and then also runs where only that is. A library
that wants other symbols of the newer version is left as it is, so that auditwheel refuses it.
"""

from __future__ import annotations

import struct
import sys
from pathlib import Path
from typing import NamedTuple

from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection, GNUVerSymSection


class Older(NamedTuple):
    versions: dict[str, str]  # by machine
    symbols: frozenset[str]


OLDER = {
    # The newer one does not set errno by way of the old error handlers of libm.
    ("libm.so.6", "GLIBC_2.35"): Older(
        {"EM_X86_64": "GLIBC_2.2.5", "EM_AARCH64": "GLIBC_2.17"}, frozenset({"hypot", "hypotf"})
    ),
    # The newer one is the same function, which now waits by another one of glibc.
    ("libstdc++.so.6", "GLIBCXX_3.4.30"): Older(
        {"EM_X86_64": "GLIBCXX_3.4.11", "EM_AARCH64": "GLIBCXX_3.4.11"},
        frozenset({"_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE"}),
    ),
}


def elf_hash(name: bytes) -> int:
    h = 0
    for c in name:
        h = (h << 4) + c
        top = h & 0xF0000000
        h = (h ^ top >> 24) & ~top
    return h & 0xFFFFFFFF


def patches_of(file: Path) -> list[tuple[int, bytes]]:
    """The bytes to write, each with its place: the name and hash of a version in .gnu.version_r."""
    with file.open("rb") as stream:
        elf = ELFFile(stream)
        needs = next((s for s in elf.iter_sections() if isinstance(s, GNUVerNeedSection)), None)
        if needs is None:
            return []
        versions = next(s for s in elf.iter_sections() if isinstance(s, GNUVerSymSection))
        symbols = elf.get_section(versions["sh_link"])
        strings = elf.get_section(needs["sh_link"]).data()
        wanted: dict[int, set[str]] = {}
        for i, symbol in enumerate(symbols.iter_symbols()):
            number = versions.get_symbol(i)["ndx"]
            if isinstance(number, int) and symbol["st_shndx"] == "SHN_UNDEF":
                wanted.setdefault(number & 0x7FFF, set()).add(symbol.name)
        patches = []
        at = needs["sh_offset"]
        for need, auxiliaries in needs.iter_versions():
            place = at + need["vn_aux"]
            for aux in auxiliaries:
                older = OLDER.get((need.name, aux.name))
                if older and wanted.get(aux["vna_other"], set()) <= older.symbols:
                    name = older.versions[elf["e_machine"]].encode()
                    offset = strings.find(b"\0" + name + b"\0") + 1
                    if offset > 0:
                        patches.append((place, struct.pack("<I", elf_hash(name))))
                        patches.append((place + 8, struct.pack("<I", offset)))
                place += aux["vna_next"]
            at += need["vn_next"]
    return patches


def make_older(file: Path) -> bool:
    """Changes the file; returns whether there was anything to change."""
    patches = patches_of(file)
    if patches:
        with file.open("r+b") as stream:
            for place, data in patches:
                stream.seek(place)
                stream.write(data)
    return bool(patches)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        make_older(Path(name))
