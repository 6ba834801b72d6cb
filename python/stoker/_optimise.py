# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""JPEG files that are read faster, with the same pictures in them."""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from stoker import _core
from stoker._replace import replace
from stoker.errors import Error


class Optimised(NamedTuple):
    """What became of a file.

    ``outcome`` is "rewritten", "fast already", or "kept": ``why`` then says what would be lost.
    ``before`` and ``after`` are the sizes in bytes.
    """

    outcome: str
    why: str
    before: int
    after: int


def optimise(
    path: str | os.PathLike[str],
    output: str | os.PathLike[str] | None = None,
    *,
    keep_times: bool = False,
    dry_run: bool = False,
) -> Optimised:
    """Rewrites a JPEG file without loss, so that a training reads it faster.

    The new file has one sequential scan with a restart marker behind each row of blocks, instead of
    progressive scans or arithmetic codes. Its coefficients, and so its pixels, are the same, and so
    are EXIF data, colour profiles and all other APPn and COM segments, and what follows the
    picture. It is read back and compared before it takes the place of the old file, at once, with
    its permissions. A link stays, and the file behind it is rewritten.

    With ``output``, a path, the old file stays and the new one is written there; a copy of the old
    one if that is fast already, or cannot be rewritten without loss. ``keep_times`` gives the new
    file the times of the old one. ``dry_run`` writes nothing. Raises ``SampleError`` for a file
    that is damaged or no JPEG, and ``OSError``; then nothing was written. May be called from
    several threads at once.
    """
    source = os.path.realpath(path)
    told = os.stat(source)
    if not stat.S_ISREG(told.st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file", os.fspath(path))
    try:
        made, why = _core.rewrite_jpeg(Path(source).read_bytes())
    except Error as e:
        e.args = (f"{os.fsencode(path).decode(errors='backslashreplace')}: {e}",)
        raise
    if made is None:
        if output is not None and not dry_run:
            copy_file(source, output, keep_times=keep_times)
        return Optimised("kept" if why else "fast already", why, told.st_size, told.st_size)
    target = source if output is None else os.fspath(output)
    if target == source and not os.access(source, os.W_OK):
        raise PermissionError(errno.EACCES, "it is write-protected", os.fspath(path))
    if not dry_run:
        contents = made
        _put(source, told, target, lambda part: Path(part).write_bytes(contents), keep_times)
    return Optimised("rewritten", "", told.st_size, len(made))


def copy_file(
    source: str | os.PathLike[str], target: str | os.PathLike[str], *, keep_times: bool
) -> None:
    """Copies a file as ``optimise`` writes one, but not onto itself."""
    if os.path.realpath(source) != os.path.realpath(target):
        told = os.stat(source)
        _put(source, told, target, lambda part: shutil.copyfile(source, part), keep_times)


def _put(
    source: str | os.PathLike[str],
    told: os.stat_result,
    target: str | os.PathLike[str],
    fill: Callable[[str], object],
    keep_times: bool,
) -> None:
    """Writes a file that takes permissions and attributes, in its place also the owner, of another.

    That one must still be as ``os.stat`` told of it.
    """

    def make(part: str) -> None:
        fill(part)
        if os.fspath(target) == os.fspath(source):
            with suppress(PermissionError):
                os.chown(part, told.st_uid, told.st_gid)
        shutil.copystat(source, part)
        if not keep_times:
            os.utime(part)
        now = os.stat(source)
        if (now.st_mtime_ns, now.st_size, now.st_ino) != (
            told.st_mtime_ns,
            told.st_size,
            told.st_ino,
        ):
            raise OSError(errno.EBUSY, "it changed while it was read", os.fspath(source))

    replace(target, make)
