# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""readers.caffe2: databases of encoded pictures with one label."""

from __future__ import annotations

from . import databases, writers

VARIANTS = {"encoded": lambda folder, count: databases.make(folder, count, writers.tensors)}
