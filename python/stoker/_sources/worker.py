# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The code of a worker process: calls sources and writes their arrays into shared memory."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import pickle
import signal
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

from stoker._sources.caller import Caller, CallError, Spec, in_words
from stoker._sources.shared import Slot, Table

_PARENT_CHECK_SECONDS = 1.0


class Task(NamedTuple):
    """A call for samples ``first`` and on of one source's batch, which go into a slot."""

    number: int
    source: int
    slot: int
    epoch: int
    iteration: int
    first: int
    samples: int
    begins: bool = False  # an iterable's first task, or the first of its next epoch
    state: str | None = None  # the state from which an iterable continues


class Failure(NamedTuple):
    """What was raised: in which call, e.g. ", sample 3", the message and the traceback."""

    where: str
    what: str
    traceback: str


class Reply(NamedTuple):
    """The result of a task.

    ``table`` says what was written. ``is_end``: the source raised StopIteration. ``error`` is a
    failure; it ``is_unloaded`` where the process could not even load its sources.
    """

    number: int
    table: Table | None = None
    is_end: bool = False
    error: Failure | None = None
    is_unloaded: bool = False
    state: str | None = None  # the state of an iterable after the task


class Payload(NamedTuple):
    """The sources, pickled unless the process inherits them; ``loads`` unpickles them."""

    sources: Sequence[Any] | bytes
    specs: Sequence[Spec]
    loads: Callable[..., Any] | str | None = None  # a str names a module with a loads()
    keywords: Mapping[str, Any] = {}  # of ``loads``

    def callers(self) -> list[Caller]:
        sources = self.sources
        if isinstance(sources, bytes):
            loads = self.loads or pickle.loads
            if isinstance(loads, str):
                loads = importlib.import_module(loads).loads
            sources = loads(sources, **self.keywords)
        return [Caller(s, spec) for s, spec in zip(sources, self.specs, strict=True)]


def main(tasks: Connection, payload: Payload, slots: Sequence[Slot]) -> None:
    """Does tasks until one is None, the pipeline closes the pipe, or its process ends."""
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the pipeline's process handles Ctrl-C
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    callers: list[Caller] = []
    failure: Failure | None = None
    try:
        callers = payload.callers()
    except Exception as e:  # reported by the first task
        failure = _failure("", e)
    try:
        while True:
            task = tasks.recv()
            if task is None:
                return
            if failure is not None:
                tasks.send(Reply(task.number, error=failure, is_unloaded=True))
            else:
                tasks.send(run(task, callers[task.source], slots[task.slot]))
    except (EOFError, OSError):
        return


def _end_with_parent(above: int) -> None:
    """Ends this process with the pipeline's process, also in the midst of a source's call.

    Other children of that process may hold its end of the pipe that tells its death, so the parent
    process of this one, ``above``, is looked at as well.
    """
    parent = multiprocessing.parent_process()
    assert parent is not None
    while parent.is_alive() and os.getppid() == above:
        parent.join(_PARENT_CHECK_SECONDS)
    os._exit(1)


def run(task: Task, caller: Caller, slot: Slot) -> Reply:
    """Does one task. An exception of the source becomes part of the reply."""
    try:
        if task.begins:
            caller.restore(task.state)
        data = caller.batch(task.epoch, task.iteration, task.first, task.samples)
        state = caller.state() if caller.is_iterable else None
        return Reply(task.number, table=slot.write(data, task.first), state=state)
    except StopIteration:
        return Reply(task.number, is_end=True)
    except CallError as e:
        cause = e.__cause__
        assert cause is not None
        return Reply(task.number, error=_failure(str(e), cause))
    except BaseException as e:
        return Reply(task.number, error=_failure("", e))


def _failure(where: str, e: BaseException) -> Failure:
    return Failure(where, in_words(e), "".join(traceback.format_exception(e)))
