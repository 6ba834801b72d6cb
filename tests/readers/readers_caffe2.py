# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""readers.caffe2: databases of encoded pictures with one label."""

from __future__ import annotations

import store_writers as writers

from . import databases

VARIANTS = {"encoded": lambda folder, count: databases.make(folder, count, writers.tensors)}
