# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The established library's module of this name: writes indexes of WebDataset archives."""

from __future__ import annotations

import os

from stoker.compat._index import Creator

__all__ = ["IndexCreator"]


class IndexCreator(Creator):
    """Writes the index ``idx_path`` of the file ``uri``. ``verbose`` has no effect."""

    _kind = "webdataset"

    def __init__(
        self, uri: str | os.PathLike[str], idx_path: str | os.PathLike[str], verbose: bool = True
    ) -> None:
        super().__init__(uri, idx_path)
