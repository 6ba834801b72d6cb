# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the established indexes of TFRecord, RecordIO and WebDataset files, and those of JPEG.

Readers need none: they look for records once and keep what they found. These are for other
programs. Each index stands beside its file: a.tfrecord.idx, a.idx of a.rec and a.idx of a.tar.
Of JPEG, one index is of all files of a folder, and stands beside it: a.sti of the folder a. A
pipeline takes it by load_jpeg_indexes, and needs none either.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from stoker import _core, jpeg
from stoker._command import status_of
from stoker._replace import replace_with
from stoker.errors import Error, SampleError

# With more bytes of indexes, pipelines would thin them: EntropyIndexes.
_MANY = 64 << 20


def _jpeg_indexes(path: str) -> bytes:
    """Of a file, or of all in a folder. What can have no index has none."""
    files = [Path(path)] if not os.path.isdir(path) else sorted(Path(path).rglob("*"))
    indexes: list[bytes] = []
    size = 0
    for file in files:
        if not file.is_file():
            if file == Path(path):
                raise FileNotFoundError(errno.ENOENT, "there is no such file or folder")
            continue
        data = file.read_bytes()
        if data[:3] != b"\xff\xd8\xff":
            continue
        with contextlib.suppress(SampleError):  # of progressive and of damaged files
            indexes.append(jpeg.build_index(data, every=8 if size < _MANY else 0))
            size += len(indexes[-1])
    return _core.join_jpeg_indexes(indexes)


# For each kind: what makes an index, whether the file's suffix stays in its name, and its own.
_KINDS: dict[str, tuple[Callable[[str], str | bytes], bool, str]] = {
    "tfrecord": (_core.tfrecord_index, True, ".idx"),
    "recordio": (_core.recordio_index, False, ".idx"),
    "webdataset": (_core.webdataset_index, False, ".idx"),
    "jpeg": (_jpeg_indexes, True, ".sti"),
}


def _write(index: str | os.PathLike[str], made: str | bytes) -> None:
    data = made if isinstance(made, bytes) else made.encode("utf-8", "surrogateescape")
    replace_with(index, data)


def write(kind: str, file: str | os.PathLike[str], index: str | os.PathLike[str]) -> None:
    """Writes the index of one file: of kind "tfrecord", "recordio", "webdataset", or "jpeg".

    "jpeg" also takes a folder, and leaves out the files that can have no index, such as progressive
    ones.

    Raises ``SampleError`` for a damaged file, and ``OSError``.
    """
    make, _, _ = _KINDS[kind]
    _write(index, make(os.fsdecode(file)))


HELP = "writes indexes of TFRecord, RecordIO, WebDataset and JPEG files"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", choices=_KINDS)
    parser.add_argument("files", metavar="FILE", nargs="+")
    parser.add_argument("--output-dir", metavar="FOLDER", help="where the indexes go")
    parser.set_defaults(prog=parser.prog)


def execute(given: argparse.Namespace) -> int:
    """Writes the indexes; returns the exit status. Raises ``OSError`` where it cannot write."""
    make, keeps_suffix, ending = _KINDS[given.kind]
    if given.output_dir and not os.path.isdir(given.output_dir):
        raise NotADirectoryError(errno.ENOTDIR, "there is no such folder", given.output_dir)
    files: dict[Path, Path] = {}  # by their indexes
    for file in dict.fromkeys(map(Path, given.files)):
        name = (file.name if keeps_suffix else file.stem) + ending
        index = Path(given.output_dir or file.parent, name)
        if index in files:
            raise Error(f"the index of {files[index]} and that of {file} would both be {index}")
        files[index] = file
    status = 0
    for index, file in files.items():
        try:
            made = make(str(file))
        except (SampleError, OSError) as e:
            print(f"{given.prog}: {file}: {e}", file=sys.stderr)
            status = 1
            continue
        _write(index, made)
    return status


def main(arguments: Sequence[str] | None = None, prog: str = "python -m stoker.index") -> int:
    """Writes the indexes; returns the exit status."""
    parser = argparse.ArgumentParser(prog=prog, description=__doc__)
    add_arguments(parser)
    status: int = status_of(prog, execute, parser.parse_args(arguments))
    return status


if __name__ == "__main__":
    sys.exit(main())
