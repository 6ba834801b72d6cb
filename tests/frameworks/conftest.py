# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The fixture of numbered.py."""

from __future__ import annotations

import pytest
from numbered import Numbers


@pytest.fixture(scope="session")
def numbers(tmp_path_factory: pytest.TempPathFactory) -> Numbers:
    return Numbers(tmp_path_factory.mktemp("numbers"))
