# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""What happens when the interpreter ends."""

from __future__ import annotations

import atexit
import threading

from stoker import _core


@atexit.register
def _expect_leaks() -> None:
    """Silences nanobind's leak warnings if daemon threads are left: they never free objects."""
    if any(thread.daemon for thread in threading.enumerate()):
        _core.expect_leaks()
