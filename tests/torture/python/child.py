# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Trials in a process of their own, which may crash, hang or take too much memory."""

from __future__ import annotations

import faulthandler
import json
import os
import select
import signal
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from examining import Complaint, examine, prepare

MOST_BYTES = 3 << 30


class Child:
    """Runs ``work``, which gets a function to send messages with, in a fork of this process.

    Between two messages at most ``limit`` seconds may pass. Requires: this process has one thread.
    """

    def __init__(self, work: Callable[[Callable[[Any], None]], None], limit: float) -> None:
        self._limit = limit
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed by wait()
        self._folder = tempfile.TemporaryDirectory()
        self._read, write = os.pipe()
        self._process = os.fork()
        if self._process:
            os.close(write)
            return
        try:
            os.setsid()  # so that its own children end with it
            os.chdir(self._folder.name)  # where operators that write files may do so
            for stream in (1, 2):
                os.dup2(self._errors.fileno(), stream)
            faulthandler.enable()
            faulthandler.register(signal.SIGUSR1, all_threads=True)
            work(lambda message: _send(write, message))
            os._exit(0)
        except BaseException:
            import traceback

            traceback.print_exc()
            os._exit(70)

    def messages(self, receive: Callable[[Any], None]) -> Complaint | None:
        """Hands over all messages. Returns how the process ended, if it did not end well."""
        try:
            return self._ended(self._listen(receive))
        except BaseException:  # Ctrl-C, which the process does not hear
            os.killpg(self._process, signal.SIGKILL)
            raise

    def _listen(self, receive: Callable[[Any], None]) -> str:
        """Hands over messages until they end. Returns "hang" or "memory" if they did not."""
        buffer, begun = b"", time.monotonic()
        while True:
            wrong = ""
            if select.select([self._read], [], [], 0.2)[0]:
                data = os.read(self._read, 1 << 16)
                if not data:
                    return ""
                *lines, buffer = (buffer + data).split(b"\n")
                begun = time.monotonic()
                for line in lines:
                    receive(json.loads(line))
            elif time.monotonic() - begun > self._limit:
                wrong = "hang"
            elif _bytes_of(self._process) > MOST_BYTES:
                wrong = "memory"
            if wrong:
                os.kill(self._process, signal.SIGUSR1)  # prints the stacks
                time.sleep(0.5)
                return wrong

    def _ended(self, wrong: str) -> Complaint | None:
        os.close(self._read)
        if wrong:
            os.killpg(self._process, signal.SIGKILL)
        _, status = os.waitpid(self._process, 0)
        self._errors.seek(0)
        words = self._errors.read().decode(errors="replace")
        self._errors.close()
        self._folder.cleanup()
        if wrong:
            return Complaint(wrong, _stack(words))
        if status:
            how = signal.strsignal(status & 127) if status & 127 else f"exit status {status >> 8}"
            return Complaint("crash", f"{how}: {words[-3000:]}")
        return None


def _send(write: int, message: Any) -> None:
    os.write(write, json.dumps(message).encode() + b"\n")


def _bytes_of(process: int) -> int:
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    except (FileNotFoundError, ProcessLookupError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def _stack(words: str) -> str:
    return words[-6000:] or "(no stack)"


def examine_apart(text: str, begin: Callable[[], None], limit: float) -> Complaint | None:
    """Examines one trial in a child, which ``begin`` is called in first."""
    found: list[Complaint] = []

    def work(send: Callable[[Any], None]) -> None:
        begin()
        prepare(text)
        send(None)
        send(examine(text))

    ended = Child(work, limit).messages(lambda c: found.append(Complaint(*c)) if c else None)
    return ended or (found[0] if found else None)
