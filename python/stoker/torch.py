# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""PyTorch: ``DataIterator`` and those that DALI names give tensors without a copy;
``torch_python_function`` calls a function with tensors, and ``collate`` makes batches for a
``DataLoader``.
"""

from __future__ import annotations

from stoker.fn import torch_python_function
from stoker.frameworks._collate import collate
from stoker.frameworks.torch import (
    DALIClassificationIterator,
    DALIGenericIterator,
    DALIRaggedIterator,
    DataIterator,
    LastBatchPolicy,
    feed_ndarray,
    to_torch_type,
)
from stoker.ops import TorchPythonFunction

__all__ = [
    "DALIClassificationIterator",
    "DALIGenericIterator",
    "DALIRaggedIterator",
    "DataIterator",
    "LastBatchPolicy",
    "TorchPythonFunction",
    "collate",
    "feed_ndarray",
    "to_torch_type",
    "torch_python_function",
]
