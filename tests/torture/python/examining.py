# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a trial's text in all its ways, and says what is wrong with Stoker."""

from __future__ import annotations

import contextlib
import gc
import os
import re
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import odd

import stoker
from stoker import Pipeline, types
from stoker._describe.registry import operators

FILE = "<trial>"
PACKAGE = os.path.dirname(stoker.__file__) + os.sep
JUDGE: dict[str, Any] = {"executor": "simple", "fuse": False, "demand": False, "num_threads": 1}
STYLES = ("run", "loop", "scheduled")
KNOWN_TYPES = {str(t) for t in types.DType} - {"none"}
END_SECONDS = 15  # until all must be gone; bounds only what fails


class Complaint(NamedTuple):
    """What is wrong, as a word, and the words for it."""

    wrong: str
    text: str


class Found(Exception):  # noqa: N818 - no error of this program
    """Ends a trial that found something."""

    def __init__(self, wrong: str, text: str) -> None:
        super().__init__(wrong, text)
        self.complaint = Complaint(wrong, text)


Event = tuple[Any, ...]  # "made" and the samples; "failed", a type and a text; "end"


def prepare(text: str) -> None:
    """Imports what the trial needs besides, which may take long."""
    if "torch" in text:
        with contextlib.suppress(ImportError):
            import torch  # noqa: F401


def examine(text: str) -> Complaint | None:
    """None if nothing is wrong. Requires: it is prepared, and no other trial is in this process."""
    if "torch" in text and "torch" not in sys.modules:
        return None
    warnings.simplefilter("ignore")
    before = _threads(), _files()
    odd.watched.clear()
    unheard: list[str] = []
    sys.unraisablehook = lambda u: unheard.append(f"{u.err_msg}: {u.exc_value!r}")
    threading.excepthook = lambda t: unheard.append(f"a thread ended by {t.exc_value!r}")
    try:
        _compare_ways(text)
        if not _nothing_is_left(*before):  # what a process starts once may stay, but not grow
            before = _threads(), _files()
            _compare_ways(text)
            if not _nothing_is_left(*before):
                more = _threads() - before[0], _files() - before[1]
                raise Found("left", f"{more[0]} threads and {more[1]} files are left behind")
    except Found as found:
        return found.complaint
    return Complaint("unheard", unheard[0]) if unheard else None


def _compare_ways(text: str) -> None:
    judge = Stage(text, JUDGE)
    judge.perform()
    for way in judge.ways:
        other = Stage(text, way)
        try:
            other.perform()
        except Found as found:
            raise Found(found.complaint.wrong, f"{way}: {found.complaint.text}") from None
        if difference := judge.difference(other):
            raise Found("other", f"{way}: {difference}")


class Stage:
    """Performs a trial in one way, and notes what happens."""

    def __init__(self, text: str, way: Mapping[str, Any]) -> None:
        self.ways: list[dict[str, Any]] = []
        self.events: list[Event] = []
        self._is_cut = False  # events are missing at the end
        self._text = text
        self._lines = text.splitlines()
        self._way = dict(way)
        self._style = self._way.pop("style", "run")
        self._is_plain = self._way.pop("plain", False)
        self._rewind, self._close = self._way.pop("rewind", None), self._way.pop("close", None)
        if "parallel=" in text:
            self._close = None  # iterators end with the worker process that they are in

    def perform(self) -> None:
        words = dict(vars(odd))
        words |= {"make": self._make, "run": self._run, "same": self._same}
        if "torch" in sys.modules:
            words["torch"] = sys.modules["torch"]
        try:
            exec(compile(self._text, FILE, "exec"), words)
        except Found:
            raise
        except BaseException as e:
            self._note_failure(e)
        self.ways = words.get("ways", [])

    # The words of a trial that depend on the way.

    def _make(self, **settings: Any) -> Pipeline:
        # A drawn shape may ask for as much as the machine has.
        limited = {"seed": 7, "memory_limit": 1 << 30}
        pipe = Pipeline(**{**limited, **self._way, **settings})
        return odd.watch(pipe)  # type: ignore[no-any-return]

    def _same(self, unusual: Any, plain: Any) -> Any:
        """An unusual way to give a plain value, which must have the same effect."""
        return plain if self._is_plain else unusual

    def _run(
        self,
        pipe: Pipeline,
        steps: int,
        given: Mapping[int, odd.Data] | None = None,
        feeds: Mapping[Any, odd.Data] | None = None,
    ) -> None:
        """Runs so many steps. ``given`` is what these outputs must show, ``feeds`` what to feed."""
        fed: dict[odd.Data, list[int]] = {}  # which batches were taken
        for name, data in (feeds or {}).items():
            fed[data] = []
            for i, batch in enumerate(data()):
                if isinstance(batch, odd.Fail):
                    continue
                try:
                    pipe.feed_input(name, batch)
                except BaseException as e:
                    self._note_failure(e)
                else:
                    fed[data].append(i)
        iteration = 0
        take = self._taker(pipe)
        for step in range(steps):
            if step == self._rewind and not feeds:
                self._go_back(pipe)
                if self._is_cut:
                    return
                take = self._taker(pipe)
            if step == self._close:
                pipe.close()
            event = self._step(pipe, take)
            if event[0] != "made":
                take = self._taker(pipe)
            self.events.append(event)
            for output, data in (given or {}).items():
                batches = [data()[i] for i in fed[data]] if data in fed else data()
                if event[0] == "made" and iteration < len(batches):
                    _check_given(event[1][output], batches[iteration], f"step {step}")
            iteration = 0 if event[0] == "end" else iteration + 1

    def _taker(self, pipe: Pipeline) -> Callable[[], Any]:
        """What gives one step after the other, until it raises."""
        if self._style == "loop":
            return iter(pipe).__next__

        def scheduled() -> Any:
            pipe.schedule_run()
            return pipe.outputs()

        return pipe.run if self._style == "run" else scheduled

    def _step(self, pipe: Pipeline, take: Callable[[], Any]) -> Event:
        try:
            return ("made", [[_sample(b, i) for i in range(len(b))] for b in take()])
        except StopIteration:
            pipe.reset()
            return ("end",)
        except BaseException as e:
            return self._failure(e)

    def _go_back(self, pipe: Pipeline) -> None:
        """Takes a step and takes it back."""
        try:
            state = pipe.state()
        except stoker.errors.StateError:
            return
        except BaseException as e:
            self._failure(e)
            self._is_cut = True  # the step to come is lost
            return
        self._step(pipe, self._taker(pipe))
        try:
            pipe.restore(state)
        except BaseException as e:
            self._failure(e)
            self._is_cut = True  # where its sources stand, nobody knows

    # What went wrong.

    def _note_failure(self, e: BaseException) -> None:
        self.events.append(self._failure(e))

    def _failure(self, e: BaseException) -> Event:
        """The event of an error; ``Found`` if it should have been another one."""
        frames = traceback.extract_tb(e.__traceback__)
        if not any(f.filename.startswith(PACKAGE) for f in frames):
            return ("invalid", type(e).__name__)
        line = next((f.lineno or 0 for f in frames if f.filename == FILE), 0)
        at = f"line {line}, {_place(frames)}"
        text = _text(e)
        if not isinstance(e, Exception):
            return ("failed", type(e).__name__, "")  # the user's own, such as Ctrl-C
        if not isinstance(e, stoker.errors.Error):
            raise Found("foreign", f"{type(e).__name__}: {text[:300]} ({at})")
        if problem := self._nameless(e, text, self._lines[line - 1] if line else "", line):
            raise Found("nameless", f"{type(e).__name__}: {text[:300]} ({problem}; {at})")
        return ("failed", type(e).__name__, re.sub(r"0x[0-9a-f]{6,}", "0x", text))

    def _nameless(self, e: BaseException, text: str, code: str, line: int) -> str:
        """What an error does not name, or ""."""
        if "make(" in code:
            return "" if re.search(r"argument '\w+'|\w+=", text) else "names no setting"
        if isinstance(e, (stoker.errors.BudgetError, stoker.errors.StateError)):
            return ""
        if not any(re.search(rf"\b{re.escape(op)}\b", text) for op in (*operators(), "feed_input")):
            return "" if re.search(r"output \d", text) else "names no operator"
        called = re.search(r"\b(fn|ops|types)\.(\w+\.)*\w+\(", code)
        if called and f"{FILE}:{line})" not in text:
            return "names another line" if FILE in text else "names no line"
        # "takes 1 input"; a constant's values may be given without a name
        parts = ("input", "output", "takes", "pipeline", "value", "source", "idata", "fdata")
        named = {*re.findall(r"(\w+)=", code), *parts}
        if called and not any(re.search(rf"\b{word}", text) for word in named):
            return "names no argument"
        return ""

    def difference(self, other: Stage) -> str:
        """What differs from this judge, or ""."""
        for i, (j, o) in enumerate(zip(self.events, other.events, strict=False)):
            if j != o:
                return f"event {i} is {_short(o)} instead of {_short(j)}"
        if len(self.events) != len(other.events) and not other._is_cut:
            return f"{len(other.events)} events instead of {len(self.events)}"
        return ""


def _place(frames: traceback.StackSummary) -> str:
    last = [f for f in frames if f.filename.startswith(PACKAGE)][-1]
    return f"{last.filename.removeprefix(PACKAGE)}:{last.lineno}"


def _text(e: BaseException) -> str:
    """What the error says. Each error of Stoker must be able to say something."""
    try:
        return str(e)
    except Exception as problem:
        text = f"no text, because its __str__ raised {type(problem).__name__}"
    if isinstance(e, stoker.errors.Error):
        raise Found("wordless", f"{type(e).__name__}: {text}")
    return text


def _sample(batch: Any, i: int) -> Any:
    a = np.array(batch[i])
    bits = np.where(np.isnan(a), np.nan, a).astype(a.dtype) if a.dtype.kind == "f" else a
    return (a.dtype.str, a.shape, batch.layout, bits.tobytes())


def _short(event: Event) -> str:
    if event[0] != "made":
        return repr(event)
    outputs = [[sample[:3] for sample in samples] for samples in event[1]]
    return f"made {outputs} {hash(str(event)) & 0xFFFF:x}"


# What NumPy says.


def _check_given(samples: list[Any], batch: Any, where: str) -> None:
    if isinstance(batch, odd.Fail):
        return  # the source raised in another iteration, or is of another kind
    try:
        whole = batch if isinstance(batch, (list, tuple)) else _as_numpy(batch)
        expected = [_as_numpy(x) for x in whole]
    except Exception as e:
        raise Found("accepted", f"{where}: {type(e).__name__} in NumPy, but made here") from None
    wrong = [a.dtype for a in expected if str(a.dtype) not in KNOWN_TYPES]
    if wrong:
        raise Found("accepted", f"{where}: {wrong[0]} was fed and taken")
    got = [sample[:2] + sample[3:] for sample in samples]
    if got != [(a.dtype.str, a.shape, a.tobytes()) for a in expected]:
        came = [(a.dtype.str, a.shape) for a in expected]
        raise Found("wrong", f"{where}: {[s[:2] for s in samples]} are not what was fed, {came}")


def _as_numpy(value: Any) -> Any:
    if isinstance(value, (bytes, bytearray)):
        return np.frombuffer(value, np.uint8)
    if isinstance(value, odd.OnlyDLPack):
        return np.from_dlpack(value)
    a = np.asarray(value)
    return a.astype(a.dtype.newbyteorder("="))


# What is left behind.


def _threads() -> int:
    return len(os.listdir("/proc/self/task"))


def _files() -> int:
    return len(os.listdir("/proc/self/fd"))


def _nothing_is_left(threads: int, files: int) -> bool:
    """Waits for threads, which may be in the midst of a last turn. Raises ``Found`` for objects."""
    end = time.monotonic() + END_SECONDS
    while True:
        gc.collect()
        kept = sorted({type(r()).__name__ for r in odd.watched if r() is not None})
        if not kept and _threads() <= threads and _files() <= files:
            return True
        if time.monotonic() > end:
            break
        time.sleep(0.01)
    if kept:
        raise Found("kept", f"{kept} are not freed with the pipeline")
    return False
