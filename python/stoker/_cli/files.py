# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The files that a command line names: by folders, by lists, or one by one."""

from __future__ import annotations

import errno
import functools
import inspect
import os
import re
import stat
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from typing import NamedTuple

from stoker import _core, fn

# The endings of files of each format, as codecs() names it.
ENDINGS = _core.picture_endings()
FORMAT_OF_ENDING = {e: format_ for format_, all_ in ENDINGS.items() for e in all_}

_HEAD = 512


class Content(NamedTuple):
    """What the first bytes of a file say: ``format`` is "" if no decoder knows it."""

    format: str
    words: str


def content_of(path: str) -> Content:
    """Raises ``OSError`` where the file cannot be read, or is none, as a pipe is not."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file", path)
    with open(path, "rb", buffering=0) as file:
        return Content(*_core.content_of(file.read(_HEAD)))


def ending(path: str) -> str:
    """The last part of the name with its dot, in small letters."""
    return os.path.splitext(path)[1].lower()


def printable(path: str) -> str:
    """The name for people: bytes that are not UTF-8 are escaped."""
    return os.fsencode(path).decode(errors="backslashreplace")


def is_taken(path: str) -> bool:
    """Whether ``fn.readers.file`` takes such a name where it searches a folder by itself."""
    return any(fnmatch(os.path.basename(path).lower(), pattern) for pattern in _filters())


@functools.cache
def _filters() -> list[str]:
    found: list[str] = inspect.signature(fn.readers.file).parameters["file_filters"].default
    return found


def files_of(places: Iterable[str]) -> dict[str, str]:
    """All files of the places, in order; each with the line of a list that names it, or with "".

    A folder stands for all files below it, also behind links; a text file for the names in it, one
    a line, each with a label behind it or without; any other file for itself. Raises ``OSError``
    for what is not there, for a list of which nothing is there, and if there are no files.
    """
    places = list(places)
    found: dict[str, str] = {}
    for place in places:
        for file, where in _files_of(place):
            found.setdefault(file, where)
    if not found:
        raise FileNotFoundError(errno.ENOENT, "there are no files in it", ", ".join(places))
    return found


def pictures_of(places: Iterable[str]) -> list[str]:
    """Those of ``files_of`` that end as pictures do. Raises ``OSError`` where there are none."""
    places = list(places)
    files = files_of(places)
    pictures = [file for file in files if ending(file) in FORMAT_OF_ENDING]
    if not pictures:
        raise FileNotFoundError(
            errno.ENOENT, f"no pictures among its {len(files)} files", ", ".join(places)
        )
    return pictures


def _files_of(place: str) -> Iterable[tuple[str, str]]:
    if os.path.isdir(place):
        return ((file, "") for file in below(place))
    if ending(place) not in FORMAT_OF_ENDING and _is_text(place):
        return _listed(place)
    return [(place, "")]


def below(
    folder: str, above: frozenset[str] = frozenset(), *, is_deep: bool = True
) -> Iterator[str]:
    """All files below, also hidden ones and those behind links, but no folder within itself.

    Unless ``is_deep``, only those in the folder itself.
    """
    real = os.path.realpath(folder)
    if real in above:
        return
    with os.scandir(folder) as scanned:
        entries = sorted(scanned, key=lambda entry: entry.name)
    folders = []
    for entry in entries:
        if _is_folder(entry):
            folders.append(entry.path)
        else:
            yield entry.path
    for inner in folders if is_deep else ():
        yield from below(inner, above | {real})


def _is_folder(entry: os.DirEntry[str]) -> bool:
    return os.path.isdir(entry.path) if entry.is_symlink() else entry.is_dir()


def _is_text(path: str) -> bool:
    return content_of(path).words.startswith("text ")


def _listed(path: str) -> list[tuple[str, str]]:
    with open(path, encoding="utf-8-sig", errors="surrogateescape") as file:
        names = [(number, line.strip()) for number, line in enumerate(file, 1) if line.strip()]
    folder = os.path.dirname(path)
    listed = f"listed in {printable(path)}, line"
    files = [(_named(folder, name), f"{listed} {number}") for number, name in names]
    if not any(os.path.exists(file) for file, _ in files):
        why = "it was read as a list, but no line of it names a file that is there"
        if ending(path) == ".py":
            why = "this is a script; `stoker show` runs one"
        raise FileNotFoundError(errno.ENOENT, why, path)
    return files


def _named(folder: str, name: str) -> str:
    """The file that a line names. A label may follow, unless all of the line is there."""
    joined = os.path.join(folder, name)
    without = re.sub(r"\s+-?\d+$", "", name)
    return joined if os.path.exists(joined) else os.path.join(folder, without)
