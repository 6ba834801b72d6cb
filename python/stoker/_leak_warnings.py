# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Keeps nanobind silent about objects that the end of the interpreter cannot free."""

from __future__ import annotations

import atexit
import threading

from stoker import _core


@atexit.register
def _expect_leaks() -> None:
    """Silences the warnings if daemon threads are left, which never free their objects."""
    if any(thread.daemon for thread in threading.enumerate()):
        _core.expect_leaks()
