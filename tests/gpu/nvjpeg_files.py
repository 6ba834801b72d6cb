# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The files that nvJPEG is tested with: nvjpeg_files.py FOLDER.

OpenCV is needed to write one of their kinds. So a gpu-check folder has them beside this file.
"""

from __future__ import annotations

import sys
from pathlib import Path

KINDS = ("444", "422", "440", "420", "gray", "progressive", "optimised", "coarse")
READY = Path(__file__).with_suffix("")


def pictures(root: Path) -> Path:
    """The folder with the files: the ready one, or else ``root``, to which they are written."""
    return READY if READY.is_dir() else write_pictures(root)


def write_pictures(root: Path) -> Path:
    """Writes two sizes of every kind. The larger ones are odd."""
    from jpegs import encode, picture, write_folder

    return write_folder(
        root,
        {
            f"all/{i}{j}.jpg": encode(picture(height, width, i), kind)
            for i, kind in enumerate(KINDS)
            for j, (height, width) in enumerate(((64, 80), (301 + i, 403 - 2 * i)))
        },
    )


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    write_pictures(Path(sys.argv[1]))
