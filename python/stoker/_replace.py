# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Writing a file so that nobody sees half of it, whatever happens meanwhile."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path


def replace(path: str | os.PathLike[str], make: Callable[[str], object]) -> None:
    """Calls ``make`` with the path of an empty file beside it, which then takes its place.

    If ``make`` or something else fails, ``path`` is what it was before, and nothing is left behind.
    """
    folder = os.path.dirname(os.path.abspath(path))
    handle, part = tempfile.mkstemp(prefix=".stoker-", dir=folder)
    try:
        make(part)
        os.fsync(handle)
        os.replace(part, path)
    except BaseException:
        os.unlink(part)
        raise
    finally:
        os.close(handle)
    _sync(folder)


def replace_with(path: str | os.PathLike[str], data: bytes) -> None:
    """Writes a file that all may read. Raises OSError."""

    def make(part: str) -> None:
        Path(part).write_bytes(data)
        os.chmod(part, 0o644)

    replace(path, make)


def _sync(folder: str) -> None:
    """Makes the names in the folder outlive a loss of power."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
