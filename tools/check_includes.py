#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Fails on an include against the arrows of src/README.md, and on a folder that is missing there.

What a folder may see stands once, in cmake/folders.cmake and cmake/operators.cmake.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = (".h", ".cc", ".cu", ".cuh")

# Libraries that only some folders may name, so that they can be exchanged there.
FOREIGN = {
    r"jpeglib\.h|jerror\.h|turbojpeg\.h|nvjpeg\.h|libav.*|gdcm.*": {"codec"},
    r"hwy/.*": {"kernels"},
    r"cuda.*\.h": {"memory", "kernels", "codec"},
    r"nvml\.h": {"memory"},
    r"nlohmann/.*": {"graph", "run", "bindings"},
    r"nanobind/.*|Python\.h": {"bindings"},
}


def allowed_folders() -> dict[str, set[str]]:
    """Folder -> folders that it may include, itself with them."""
    seen: dict[str, set[str]] = {}
    text = "".join((ROOT / f"cmake/{name}.cmake").read_text() for name in ("folders", "operators"))
    for call in re.findall(r"^stoker_(?:folder|library)\(([^)]*)\)", text, re.MULTILINE):
        name, _, rest = call.partition(" ")
        sees = re.search(r"SEES ([a-z ]+)", rest)
        seen[name] = {name, *(sees[1].split() if sees else ())}
    seen["ops"] = seen.pop("operators") - {"operators"}
    everything = seen.pop("api") - {"api"}
    return seen | {"": everything, "bindings": everything | {"bindings"}}


def folder_of(path: str) -> str:
    return path.partition("/")[0] if "/" in path else ""


def complaints_about(file: Path, folder: str, allowed: set[str]) -> list[str]:
    found = []
    for number, line in enumerate(file.read_text().splitlines(), 1):
        match = re.match(r'\s*#\s*include\s+(["<])([^">]+)[">]', line)
        if not match:
            continue
        quote, path = match.groups()
        here = f"{file.relative_to(ROOT)}:{number}: includes {path}: "
        is_beside = folder == "bindings" and (file.parent / path).exists()
        if quote == '"' and path != "stoker.h" and not is_beside and folder_of(path) not in allowed:
            may = ", ".join(sorted(allowed))
            found.append(f"{here}{folder or 'src'}/ sees only {may} (see src/README.md)")
        for pattern, owners in FOREIGN.items():
            if re.fullmatch(pattern, path) and folder not in owners:
                found.append(f"{here}only {', '.join(sorted(owners))} may")
    return found


def folders_missing_from_map() -> list[str]:
    text = (ROOT / "src/README.md").read_text()
    src = ROOT / "src"
    candidates = [*src.glob("*/"), *src.glob("ops/*/")]
    folders = [p for p in candidates if p.is_dir() and p.name != "ops" and any(p.iterdir())]
    names = (f"{p.relative_to(src)}/" for p in sorted(folders))
    return [f"src/README.md: no sentence on {n}" for n in names if f"| `{n}` |" not in text]


def main() -> None:
    allowed = allowed_folders()
    found = folders_missing_from_map()
    for top in ("src", "bindings"):
        for file in sorted((ROOT / top).rglob("*")):
            if file.suffix not in SOURCES:
                continue
            inside = file.relative_to(ROOT / "src" if top == "src" else ROOT)
            folder = folder_of(str(inside))
            if folder not in allowed:
                found.append(f"{inside}: cmake/folders.cmake does not know {folder}/")
            else:
                found += complaints_about(file, folder, allowed[folder])
    if found:
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main()
