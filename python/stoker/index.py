# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the established indexes of TFRecord, RecordIO and WebDataset files.

Readers need none: they look for records once and keep what they found. These are for other
programs. Each index stands beside its file: a.tfrecord.idx, a.idx of a.rec and a.idx of a.tar.
"""

from __future__ import annotations

import argparse
import errno
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from stoker import _core
from stoker._command import status_of
from stoker._replace import replace
from stoker.errors import Error, SampleError

# For each kind: what makes the text of an index, and whether the file's suffix stays in its name.
_KINDS: dict[str, tuple[Callable[[str], str], bool]] = {
    "tfrecord": (_core.tfrecord_index, True),
    "recordio": (_core.recordio_index, False),
    "webdataset": (_core.webdataset_index, False),
}


def _write(index: str | os.PathLike[str], text: str) -> None:
    def make(part: str) -> None:
        with open(part, "w", encoding="utf-8", errors="surrogateescape") as out:
            out.write(text)
        os.chmod(part, 0o644)

    replace(index, make)


def write(kind: str, file: str | os.PathLike[str], index: str | os.PathLike[str]) -> None:
    """Writes the index of one file: of kind "tfrecord", "recordio" or "webdataset".

    Raises ``SampleError`` for a damaged file, and ``OSError``.
    """
    make, _ = _KINDS[kind]
    _write(index, make(os.fsdecode(file)))


HELP = "writes indexes of TFRecord, RecordIO and WebDataset files"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", choices=_KINDS)
    parser.add_argument("files", metavar="FILE", nargs="+")
    parser.add_argument("--output-dir", metavar="FOLDER", help="where the indexes go")
    parser.set_defaults(prog=parser.prog)


def execute(given: argparse.Namespace) -> int:
    """Writes the indexes; returns the exit status. Raises ``OSError`` where it cannot write."""
    make, keeps_suffix = _KINDS[given.kind]
    if given.output_dir and not os.path.isdir(given.output_dir):
        raise NotADirectoryError(errno.ENOTDIR, "there is no such folder", given.output_dir)
    files: dict[Path, Path] = {}  # by their indexes
    for file in dict.fromkeys(map(Path, given.files)):
        name = file.name + ".idx" if keeps_suffix else file.stem + ".idx"
        index = Path(given.output_dir or file.parent, name)
        if index in files:
            raise Error(f"the index of {files[index]} and that of {file} would both be {index}")
        files[index] = file
    status = 0
    for index, file in files.items():
        try:
            text = make(str(file))
        except (SampleError, OSError) as e:
            print(f"{given.prog}: {file}: {e}", file=sys.stderr)
            status = 1
            continue
        _write(index, text)
    return status


def main(arguments: Sequence[str] | None = None, prog: str = "python -m stoker.index") -> int:
    """Writes the indexes; returns the exit status."""
    parser = argparse.ArgumentParser(prog=prog, description=__doc__)
    add_arguments(parser)
    status: int = status_of(prog, execute, parser.parse_args(arguments))
    return status


if __name__ == "__main__":
    sys.exit(main())
