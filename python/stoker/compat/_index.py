# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""What the modules ``wds2idx`` and ``rec2idx`` share, which come with the established library."""

from __future__ import annotations

import os
from typing import ClassVar

from stoker.index import write


class Creator:
    """Writes the index of one file, at once when it is asked to."""

    _kind: ClassVar[str]

    def __init__(self, uri: str | os.PathLike[str], idx_path: str | os.PathLike[str]) -> None:
        self.uri = uri
        self.idx_path = idx_path

    def create_index(self) -> None:
        """Writes the index. Raises ``SampleError`` for a damaged file, and ``OSError``."""
        write(self._kind, self.uri, self.idx_path)

    def open(self) -> None:
        """Does nothing: no file is open between two calls."""

    def reset(self) -> None:
        """Does nothing."""

    def close(self) -> None:
        """Does nothing."""

    def __enter__(self) -> Creator:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
