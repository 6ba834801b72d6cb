# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""How far long work is, in one line of standard error, if that is a terminal."""

from __future__ import annotations

import sys
import time
from types import TracebackType

_WIDTH = 30
_SECONDS_BETWEEN = 0.1


class Progress:
    """A context in which ``step`` counts things that are done; the line is gone behind it."""

    def __init__(self, what: str, total: int) -> None:
        self._what, self._total = what, max(1, total)
        self._done = 0
        self._is_shown = sys.stderr.isatty()
        self._began = time.monotonic()
        self._last = 0.0

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._is_shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def step(self, count: int = 1) -> None:
        """Notes that so many more are done."""
        self._done += count
        now = time.monotonic()
        if not self._is_shown or now - self._last < _SECONDS_BETWEEN:
            return
        self._last = now
        share = min(1.0, self._done / self._total)
        bar = ("#" * round(share * _WIDTH)).ljust(_WIDTH, ".")
        rate = self._done / max(1e-9, now - self._began)
        text = f"\r{self._what} [{bar}] {self._done}/{self._total}  {rate:.0f}/s\x1b[K"
        print(text, end="", file=sys.stderr, flush=True)
