# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""What needs a GPU, and says so where there is none."""

from __future__ import annotations

import os
from typing import Any

import pytest

import stoker


def missing() -> str:
    """Why these tests cannot run here; "" if they can."""
    if not any(d.kind == "cuda" for d in stoker.devices()):
        return f"Stoker has no GPU: {stoker.missing_gpu()}"
    try:
        import torch
    except ImportError:
        return "torch is not installed"
    if not torch.cuda.is_available():
        return f"torch {torch.__version__} sees no GPU"
    return ""


@pytest.fixture(scope="session")
def torch() -> Any:
    """PyTorch, with a GPU. STOKER_REQUIRE_GPU=1: without one the tests fail."""
    if why := missing():
        if os.environ.get("STOKER_REQUIRE_GPU") == "1":
            pytest.fail(f"STOKER_REQUIRE_GPU=1, but {why}")
        pytest.skip(why)
    return pytest.importorskip("torch")
