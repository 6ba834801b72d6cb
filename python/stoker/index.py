# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the established indexes of TFRecord, RecordIO and WebDataset files.

Readers need none: they look for records once and keep what they found. These are for other
programs. Each index stands beside its file: a.tfrecord.idx, a.idx of a.rec and a.idx of a.tar.
"""

from __future__ import annotations

import argparse
import os
import sys
import tarfile
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from stoker import _core
from stoker.errors import SampleError


def _webdataset_index(path: str) -> str:
    """Samples are neighbours whose names are alike up to the first dot of their last part."""
    samples: list[tuple[str, list[str]]] = []
    with tarfile.open(path, "r:") as archive:
        for member in archive:
            folder, slash, name = member.name.rpartition("/")
            stem, _, extension = name.partition(".")
            if not member.isreg() or not stem or not extension:
                continue
            key = folder + slash + stem
            if not samples or samples[-1][0] != key:
                samples.append((key, []))
            entry = f"{extension} {member.offset_data} {member.size} {member.name}"
            samples[-1][1].append(entry)
    lines = [f"v1.2 {len(samples)}", *(" ".join(entries) for _, entries in samples)]
    return "\n".join(lines) + "\n"


# For each kind: what makes the text of an index, and whether the file's suffix stays in its name.
_KINDS: dict[str, tuple[Callable[[str], str], bool]] = {
    "tfrecord": (_core.tfrecord_index, True),
    "recordio": (_core.recordio_index, False),
    "webdataset": (_webdataset_index, False),
}


def _replace(file: Path, text: str) -> None:
    """Writes under a name of its own first, so that nobody sees half of it."""
    handle, part = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
    try:
        with open(handle, "w", encoding="utf-8", errors="surrogateescape") as out:
            out.write(text)
            os.fchmod(out.fileno(), 0o644)
        os.replace(part, file)
    except BaseException:
        os.unlink(part)
        raise


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the indexes; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m stoker.index", description=__doc__)
    parser.add_argument("kind", choices=_KINDS)
    parser.add_argument("files", metavar="FILE", nargs="+")
    parser.add_argument("--output-dir", metavar="FOLDER", help="where the indexes go")
    given = parser.parse_args(arguments)
    make, keeps_suffix = _KINDS[given.kind]
    status = 0
    for file in map(Path, given.files):
        name = file.name + ".idx" if keeps_suffix else file.stem + ".idx"
        index = Path(given.output_dir or file.parent, name)
        try:
            text = make(str(file))
        except (SampleError, tarfile.TarError, OSError) as e:
            print(f"stoker.index: {file}: {e}", file=sys.stderr)
            status = 1
            continue
        _replace(index, text)
    return status


if __name__ == "__main__":
    sys.exit(main())
