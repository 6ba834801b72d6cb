# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def indexes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Indexes that readers make go here, and not beside the test data."""
    monkeypatch.setenv("STOKER_INDEX_DIR", str(tmp_path / "indexes"))
    return tmp_path / "indexes"
