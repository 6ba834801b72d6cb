#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Fails on an include against the arrows of src/README.md, on a folder that is missing there, and
on a type of one name and namespace that two headers define, which the linker would not notice.

cmake/folders.cmake and cmake/operators.cmake say what a folder may include and in which order its
rooms come.
"""

import re
import sys
from pathlib import Path, PurePosixPath
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
SRC = ROOT / "src"
# Operators of tests, which may include what src/ops may.
TEST_OPERATORS = (ROOT / "tests/new_operators", ROOT / "tests/run_operators")
SOURCES = (".h", ".cc", ".cu", ".cuh")

# Headers of libraries that only some folders may include, so that a library can be exchanged there.
FOREIGN = {
    r"jpeglib\.h|jerror\.h|turbojpeg\.h|nvjpeg\.h|libav.*|gdcm.*": {"codec"},
    r"isa-l/.*|webp/.*|tiff.*\.h|openjpeg\.h|avif/.*|jxl/.*|libheif/.*": {"codec"},
    r"sndfile\.h|mpg123\.h|lz4.*\.h|zstd.*\.h": {"codec"},
    r"hwy/.*": {"kernels"},
    r"protozero/.*|simdjson\.h|pugixml\.hpp": {"stores"},
    r"cuda.*\.h": {"device", "kernels", "codec"},
    r"nvml\.h": {"device"},
    r"nlohmann/.*": {"graph", "run", "bindings"},
    r"nanobind/.*|Python\.h": {"bindings"},
}

# What types_of() steps through, in a text without comments and literals.
_IN_BRACKETS = r"\((?:[^()]|\([^()]*\))*\)"
_ATTRIBUTE = rf"(?:\[\[[^\]]*\]\]|(?:alignas|[A-Z_]+)(?:{_IN_BRACKETS})?)\s+"
_BRACES = re.compile(
    r"\bnamespace\s+(?P<namespace>[\w:]*)\s*\{"
    r'|\bextern\s*""\s*\{(?P<linkage>)'
    rf"|\b(?:struct|class|union|enum(?:\s+class)?)\s+(?:{_ATTRIBUTE})*(?P<type>(?!final\b)\w+)"
    r"\s*(?:final\s*)?(?::[^:{};][^{};]*)?\{"
    r"|[{}]"
)


class Folder(NamedTuple):
    sees: set[str]  # the folders that it may include, with itself
    rooms: list[str]  # a room includes only those before it


def read_folders() -> dict[str, Folder]:
    folders: dict[str, Folder] = {}
    text = "".join((ROOT / f"cmake/{name}.cmake").read_text() for name in ("folders", "operators"))
    for call in re.findall(r"^stoker_(?:folder|library)\(([^)]*)\)", text, re.MULTILINE):
        name = call.split()[0]
        lists = dict(re.findall(r"(ROOMS|SEES) ([a-z0-9_\s]+)", call))
        folders[name] = Folder(
            {name, *lists.get("SEES", "").split()}, lists.get("ROOMS", "").split()
        )
    operators, api = folders.pop("operators"), folders.pop("api")
    everything = api.sees - {"api"}
    folders["ops"] = Folder(operators.sees - {"operators"}, [])
    folders[""] = Folder(everything, [])
    folders["bindings"] = Folder(everything | {"bindings"}, [])
    return folders


def folder_of(path: str) -> str:
    return path.partition("/")[0] if "/" in path else ""


def room_of(path: str) -> str:
    parts = PurePosixPath(path).parts
    return parts[1] if len(parts) > 2 else ""


def is_test(path: str) -> bool:
    return re.search(r"(_test\.cc|testing\.h|_objects\.h)$", path) is not None


def room_complaint(file: str, included: str, rooms: list[str]) -> str:
    """What is wrong with an include within one folder; "" if nothing is."""
    here, there = room_of(file), room_of(included)
    if there in ("", here) or not here or is_test(file):
        return ""
    if rooms.index(there) < rooms.index(here):
        return ""
    return f"room {here}/ comes before {there}/ in cmake/folders.cmake"


def complaints_about(file: Path, name: str, folder: Folder) -> list[str]:
    found = []
    seen: set[str] = set()
    inside = file.relative_to(SRC if file.is_relative_to(SRC) else ROOT).as_posix()
    for number, line in enumerate(file.read_text().splitlines(), 1):
        match = re.match(r'\s*#\s*include\s+(["<])([^">]+)[">]', line)
        if re.match(r"\s*#\s*(define|undef)\b", line):
            seen.clear()
        if not match:
            continue
        quote, path = match.groups()
        here = f"{file.relative_to(ROOT)}:{number}: includes {path}: "
        if path in seen:
            found.append(f"{here}a second time")
        seen.add(path)
        is_beside = name == "bindings" and (file.parent / path).exists()
        if quote == '"' and path != "stoker.h" and not is_beside:
            if folder_of(path) not in folder.sees:
                may = ", ".join(sorted(folder.sees))
                found.append(f"{here}{name or 'src'}/ sees only {may} (see src/README.md)")
            elif folder_of(path) == name and folder.rooms:
                complaint = room_complaint(inside, path, folder.rooms)
                found += [here + complaint] if complaint else []
        for pattern, owners in FOREIGN.items():
            if re.fullmatch(pattern, path) and name not in owners:
                found.append(f"{here}only {', '.join(sorted(owners))} may")
    return found


def folders_missing_from_map() -> list[str]:
    text = (SRC / "README.md").read_text()
    folders = [p for p in [*SRC.glob("*/"), *SRC.glob("*/*/")] if p.is_dir() and any(p.iterdir())]
    names = (f"{p.relative_to(SRC)}/" for p in sorted(folders) if p.name != "ops")
    return [f"src/README.md: no sentence on {n}" for n in names if f"| `{n}` |" not in text]


def unknown_rooms(folders: dict[str, Folder]) -> list[str]:
    """Subfolders that the build does not know. It would silently leave out their files."""
    return [
        f"src/{name}/{room.name}/: not among the ROOMS of {name} in cmake/folders.cmake"
        for name, folder in folders.items()
        if name not in ("", "ops", "bindings")
        for room in sorted((SRC / name).glob("*/"))
        if room.name not in folder.rooms
    ]


def without_literals(text: str) -> str:
    """C++ without comments, and with empty texts and characters."""
    raw = r'R"(?P<end>\w*)\(.*?\)(?P=end)"'
    pattern = rf"//[^\n]*|/\*.*?\*/|{raw}|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])'"
    return re.sub(pattern, lambda m: " " if m[0][0] == "/" else '""', text, flags=re.DOTALL)


def types_of(text: str) -> set[str]:
    """The types that a header defines in named namespaces, such as "stoker::Shape"."""
    found = set()
    scopes: list[str | None] = []  # of each open brace the namespace; None where types are local
    for match in _BRACES.finditer(without_literals(text)):
        if match[0] == "}":
            scopes.pop()
        elif match["namespace"] is not None or match["linkage"] is not None:
            scopes.append(match["namespace"] if match["namespace"] != "" else None)
        else:
            if match["type"] and None not in scopes:
                found.add("::".join([*filter(None, scopes), match["type"]]))
            scopes.append(None)
    return found


def types_defined_twice(headers: dict[str, str]) -> list[str]:
    """Complaints about texts of headers, by name."""
    definers: dict[str, list[str]] = {}
    for name, text in headers.items():
        for defined in types_of(text):
            definers.setdefault(defined, []).append(name)
    return [
        f"{defined} is defined in {' and '.join(names)}"
        for defined, names in sorted(definers.items())
        if len(names) > 1
    ]


def main() -> None:
    folders = read_folders()
    headers = {
        p.relative_to(ROOT).as_posix(): p.read_text()
        for p in sorted(SRC.rglob("*"))
        if p.suffix in (".h", ".cuh")
    }
    found = folders_missing_from_map() + unknown_rooms(folders) + types_defined_twice(headers)
    for top in (SRC, ROOT / "bindings", *TEST_OPERATORS):
        for file in sorted(top.rglob("*")):
            if file.suffix not in SOURCES:
                continue
            name = folder_of(file.relative_to(SRC if top == SRC else ROOT).as_posix())
            name = "ops" if top in TEST_OPERATORS else name
            if name not in folders:
                found.append(f"{file.relative_to(ROOT)}: cmake/folders.cmake does not know {name}/")
            else:
                found += complaints_about(file, name, folders[name])
    if found:
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main()
