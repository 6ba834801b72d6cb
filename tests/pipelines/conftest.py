# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Folders of small JPEG files."""

from __future__ import annotations

from pathlib import Path

import pytest

import jpegs

COUNT = 37  # no multiple of the batch sizes and shard counts that are tried


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """COUNT small pictures of many sizes and kinds in four classes, which no test may change."""
    files = {}
    for i in range(COUNT):
        height, width = 20 + (i * 13) % 41, 20 + (i * 29) % 37
        kind = jpegs.KINDS[i % len(jpegs.KINDS)]
        data = jpegs.encode(jpegs.picture(height, width, i), kind)
        files[f"class{i % 4}/{i:03}.jpg"] = data
    return jpegs.write_folder(tmp_path_factory.mktemp("folder"), files)


@pytest.fixture(scope="session")
def files(folder: Path) -> list[str]:
    """The paths of the pictures of `folder`, sorted."""
    return [str(p) for p in sorted(folder.rglob("*.jpg"), key=lambda p: p.name)]
