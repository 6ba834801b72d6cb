# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Pipelines as ``tf.data.Dataset``: ``Dataset``, and ``DALIDataset``, DALI's name for it."""

from __future__ import annotations

from stoker.frameworks.tensorflow.datasets import DALIDataset, Dataset, LastBatchPolicy

__all__ = ["DALIDataset", "Dataset", "LastBatchPolicy"]
