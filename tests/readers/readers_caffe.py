# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""readers.caffe: databases of encoded pictures."""

from __future__ import annotations

from . import databases, writers

VARIANTS = {"encoded": lambda folder, count: databases.make(folder, count, writers.datum)}
