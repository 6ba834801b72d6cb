# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""What is collected here."""

from __future__ import annotations

# The stage on the device is not part of the executor yet.
collect_ignore = ["test_gpu.py"]
