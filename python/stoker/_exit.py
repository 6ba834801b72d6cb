# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""What is done when the interpreter ends."""

from __future__ import annotations

import atexit
import threading

from stoker import _core


@atexit.register
def _expect_leaks() -> None:
    """A daemon thread never lets go of what it holds, which is no leak to complain of."""
    if any(thread.daemon for thread in threading.enumerate()):
        _core.expect_leaks()
