# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Starts a peer's process on given cores, has it make batches, and stops it while others work."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
EPOCH = 6  # batches of 64, which are one pass over the list


def interpreter(peer: str) -> Path:
    return ROOT / (".venv" if peer == "stoker" else f"build/compare/{peer}") / "bin/python"


def command_of(name: str, files: Path, threads: int) -> list[str]:
    peer, _, variant = name.partition(":")
    if peer == "limit":
        return [str(ROOT / "build/release/bench_limit"), str(files)]
    script = HERE / "peers" / f"with_{peer}.py"
    return [str(interpreter(peer)), str(script), str(files), str(threads), variant]


class Player:
    """A peer that plays. One thread at a time. `name` is a peer, or peer:variant."""

    def __init__(self, name: str, files: Path, cores: list[int]) -> None:
        self.name = name
        self.steps = 0  # made so far
        self.rounds: list[dict[str, Any]] = []
        self._log = ROOT / f"build/compare/{name.replace(':', '-')}.log"
        begun = time.perf_counter()
        # All threads stay on the cores, also those that an import starts.
        self._process = subprocess.Popen(
            ["taskset", "-c", ",".join(map(str, cores)), *command_of(name, files, len(cores))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log.open("w"),
            text=True,
            start_new_session=True,
            env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "2"},
        )
        first = self._answer()
        self.seconds_to_first_batch = time.perf_counter() - begun
        self.steps = 1
        self.about = str(first["about"])
        self.ahead = int(first["ahead"])
        self._signal(signal.SIGSTOP)

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            status, said = self._process.wait(), self._log.read_text()[-2000:]
            sys.exit(f"compare: {self.name} ended, exit status {status}\n{said}")
        facts: dict[str, Any] = json.loads(line)
        return facts

    def _signal(self, number: int) -> None:
        os.killpg(self._process.pid, number)

    def _ask(self, command: str) -> None:
        assert self._process.stdin
        self._process.stdin.write(command + "\n")
        self._process.stdin.flush()

    def begin(self, steps: int = EPOCH, first: int | None = None) -> None:
        """Begins a round. `first` is the step to begin with; only the limit can choose it."""
        start = self.steps + self.ahead
        self._ask(f"round {self.ahead} {steps} {start if first is None else first}")
        self._signal(signal.SIGCONT)

    def end(self, steps: int = EPOCH) -> dict[str, Any]:
        facts = self._answer()
        self._signal(signal.SIGSTOP)
        self.steps += self.ahead + steps
        return facts

    def round(self, steps: int = EPOCH, first: int | None = None) -> dict[str, Any]:
        """The {'images', 'seconds', ...} of `steps` batches, behind those that were prepared."""
        self.begin(steps, first)
        return self.end(steps)

    def dump(self, path: Path) -> int:
        """Writes the next batch's bytes. Returns the number of its step."""
        self._ask(f"dump {path}")
        self._signal(signal.SIGCONT)
        self._answer()
        self._signal(signal.SIGSTOP)
        self.steps += 1
        return self.steps - 1

    def check(self, path: Path, step: int) -> dict[str, Any]:
        """For the limit: how far the file's batch is from its own, in levels."""
        self._ask(f"check {path} {step}")
        self._signal(signal.SIGCONT)
        facts = self._answer()
        self._signal(signal.SIGSTOP)
        return facts

    def memory_mib(self) -> float:
        """Its share of memory (PSS), with that of its children."""
        return sum(map(pss_kib, family(self._process.pid))) / 1024

    def peak_mib(self, epochs: int) -> float:
        """The highest `memory_mib` while it makes some epochs."""
        samples: list[float] = []
        done = threading.Event()

        def watch() -> None:
            while not done.wait(0.02):
                samples.append(self.memory_mib())

        watcher = threading.Thread(target=watch)
        watcher.start()
        self.round(EPOCH * epochs)
        done.set()
        watcher.join()
        return max(samples)

    def stop(self) -> None:
        self._signal(signal.SIGKILL)
        self._process.wait()


def family(leader: int) -> Iterator[int]:
    """The processes of its group, with the children that it started."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if os.getpgid(int(folder.name)) == leader:
                yield int(folder.name)
        except ProcessLookupError:
            pass  # it has ended


def pss_kib(pid: int) -> int:
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return 0  # the process has ended
    return next(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:"))
