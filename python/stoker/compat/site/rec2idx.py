# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The established library's module of this name: writes indexes of RecordIO files."""

from __future__ import annotations

import os

from stoker.compat._index import Creator

__all__ = ["IndexCreator"]


class IndexCreator(Creator):
    """Writes the index ``idx_path`` of the file ``uri``. ``key_type`` has no effect."""

    _kind = "recordio"

    def __init__(
        self, uri: str | os.PathLike[str], idx_path: str | os.PathLike[str], key_type: type = int
    ) -> None:
        super().__init__(uri, idx_path)
