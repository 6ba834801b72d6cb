#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Shows several folders as one: stage.py INTO FROM... links the files under each FROM into INTO.

Links to files that are gone are removed, and other files (the built module) stay. Of two files with
one name, that of the first FROM is linked.
"""

import os
import sys
from pathlib import Path


def wanted_links(sources: list[Path]) -> dict[Path, Path]:
    links: dict[Path, Path] = {}
    for source in sources:
        for file in sorted(source.rglob("*")):
            if file.is_file() and "__pycache__" not in file.parts:
                links.setdefault(file.relative_to(source), file.resolve())
    return links


def stage(into: Path, sources: list[Path]) -> None:
    links = wanted_links(sources)
    for old in into.rglob("*"):
        if old.is_symlink() and old.relative_to(into) not in links:
            old.unlink()
    for name, target in links.items():
        link = into / name
        if link.is_symlink() and os.readlink(link) == str(target):
            continue
        link.parent.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(target)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    stage(Path(sys.argv[1]), [Path(p) for p in sys.argv[2:]])
