# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""How a command ends: its exit status, and its failures and those of a user's script in words."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from typing import Any

from stoker._messages import at_line
from stoker.errors import Error


def status_of(
    prog: str, execute: Callable[[argparse.Namespace], Any], given: argparse.Namespace
) -> Any:
    """What ``execute`` returns, or the status of its failure, which is told on standard error.

    Where a message names a line of the user's, it names the verb.
    """
    try:
        with at_line(prog):
            return execute(given)
    except BrokenPipeError:  # as in `stoker check ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (Error, OSError) as e:
        print(f"{prog}: {e}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def tell(failure: BaseException, script: str) -> int:
    """Prints it as Python does, from the script's first frame on; returns the exit status."""
    traceback = failure.__traceback__
    while traceback is not None and traceback.tb_frame.f_code.co_filename != script:
        traceback = traceback.tb_next
    sys.excepthook(type(failure), failure.with_traceback(traceback), traceback)
    return 130 if isinstance(failure, KeyboardInterrupt) else 1
