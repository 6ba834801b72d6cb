# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The processes in which sources run, and the tasks that they are given."""

from __future__ import annotations

import contextlib
import errno
import itertools
import multiprocessing
import os
import signal
import weakref
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from multiprocessing import connection
from types import ModuleType
from typing import Any, NamedTuple, NoReturn

from stoker._graph.source_group import SourceGroup
from stoker._messages import raised, told
from stoker._settings.table import depth
from stoker._sources import by_value
from stoker._sources.caller import Spec
from stoker._sources.shared import Slot
from stoker._sources.worker import Payload, Reply, Task
from stoker._sources.worker import main as worker_main
from stoker.errors import GraphError, SourceError

_WAIT_SECONDS = 0.1  # how often a wait checks whether to stop
_END_SECONDS = 2.0  # how long a worker may take to finish its call before it is killed


class _Worker(NamedTuple):
    process: Any
    tasks: connection.Connection


class WorkerPool:
    """The worker processes of a pipeline; each can call every source.

    The feeder's thread uses the pool. Other threads call only ``start`` and ``stop``, while the
    feeder's thread does not use it.
    """

    def __init__(self, groups: Sequence[SourceGroup], settings: Mapping[str, Any]) -> None:
        batch_size: int = settings["batch_size"]
        ahead = depth(settings)
        self.size: int = settings["py_num_workers"]
        if self.size == 0:
            raise GraphError(
                f"Pipeline: argument 'py_num_workers' is 0, but {groups[0].place()} is to be "
                "called in a process of its own"
            )
        self._settings = settings
        self._groups = groups
        self._specs = [Spec.of(g, batch_size) for g in groups]
        # Each group needs slots for the batch that is waited for, for those that workers prepare
        # ahead, and for those that wait to be received.
        chunks = min(self.size, batch_size)
        self._slot_count = sum((g.depth + ahead + 1) * chunks for g in groups)
        self._numbers = itertools.count()
        self._workers: list[_Worker] = []
        self._slots: list[Slot] = []
        self.free: deque[int] = deque()  # slots
        self._doing: dict[int, tuple[int, int]] = {}  # the worker and the slot of each task
        self._tasks: dict[int, Task] = {}  # those that are in _doing
        self._handed_out: list[int] = []  # how many tasks each worker was given
        self._is_proven = False  # a worker that was started as these are has replied
        self.replies: dict[int, tuple[Reply, Slot, int]] = {}
        self._unwanted: set[int] = set()  # tasks whose replies nobody waits for
        self.generation = 0  # counts the starts of the processes
        _pools.add(self)

    def source_number(self, group: SourceGroup) -> int:
        return next(i for i, g in enumerate(self._groups) if g is group)

    def workers(self) -> list[Any]:
        return [w.process for w in self._workers]

    @property
    def is_running(self) -> bool:
        return bool(self._workers)

    def start(self) -> None:
        """Starts the processes if they do not run."""
        if self._workers:
            return
        self.generation += 1
        self.free = deque(range(self._slot_count))
        self._doing.clear()
        self._tasks.clear()
        self.replies.clear()
        self._unwanted.clear()
        payload = self._payload()
        context = multiprocessing.get_context(self._settings["py_start_method"])
        try:
            for _ in range(self._slot_count):
                self._slots.append(Slot())
            for k in range(self.size):
                self._workers.append(self._start_one(context, k, payload))
        except BaseException as e:
            self.stop()
            if isinstance(e, OSError):
                self._refuse(e)
            raise
        self._handed_out = [0] * len(self._workers)

    def _refuse(self, e: OSError) -> NoReturn:
        """Says what the pool needs that the system does not give."""
        files = self._slot_count + 3 * self.size  # a process has two pipes, one with two ends here
        way = "give fewer py_num_workers"
        if e.errno in (errno.EMFILE, errno.ENFILE):
            way += ", a lower prefetch_queue_depth, or raise the limit with ulimit -n"
        raise SourceError(
            f"{self.size} worker processes (py_num_workers) with {files} open files cannot be "
            f"started: {told(e)}; {way}"
        ) from e

    def _start_one(self, context: Any, k: int, payload: Payload) -> _Worker:
        ours, theirs = context.Pipe()
        process = context.Process(
            target=worker_main,
            args=(theirs, payload, self._slots),
            name=f"stoker-worker-{k}",
            daemon=True,
        )
        process.start()
        theirs.close()
        # Collecting a forgotten pipeline could close the pipe before `stop()` does, and its
        # descriptor twice. multiprocessing keeps the process, and so the pipe, until it is joined.
        process.tasks = ours
        return _Worker(process, ours)

    def _payload(self) -> Payload:
        sources = [g.source for g in self._groups]
        if self._settings["py_start_method"] == "fork":
            return Payload(sources, self._specs)
        dumps, loads, keywords = _pickler(self._settings["py_callback_pickler"])
        try:
            return Payload(dumps(sources), self._specs, loads, keywords)
        except Exception as e:
            raise GraphError(
                f"{self._groups[0].place()} cannot be sent to a worker process: {raised(e)}. Give "
                "a function of a module, py_callback_pickler=, or py_start_method='fork'"
            ) from e

    def shared_memory(self) -> list[int]:
        """The size of each slot, in bytes."""
        return [slot.size for slot in self._slots]

    def stop(self) -> None:
        """Ends the processes. Batches that were handed over stay valid."""
        workers, self._workers = self._workers, []
        self.replies.clear()
        self._slots = []
        for worker in workers:
            with contextlib.suppress(OSError):
                worker.tasks.send(None)
            worker.tasks.close()
        for worker in workers:
            worker.process.join(_END_SECONDS)
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()
            with contextlib.suppress(ValueError):  # other code has waited for the process
                worker.process.close()

    # Tasks.

    def submit(self, task: Task, worker: int | None = None) -> int:
        """Gives a task to this worker, or to the one with the fewest tasks. Returns its number.

        Raises SourceError when a worker died.
        """
        self._require_workers()
        if worker is None:
            load = [0] * len(self._workers)
            for at, _ in self._doing.values():
                load[at] += 1
            worker = min(range(len(load)), key=lambda k: (load[k], self._handed_out[k], k))
        number, slot = next(self._numbers), self.free.popleft()
        self._doing[number] = worker, slot
        self._tasks[number] = task
        self._handed_out[worker] += 1
        try:
            self._workers[worker].tasks.send(task._replace(number=number, slot=slot))
        except OSError:
            self._mourn()
        return number

    def receive(self) -> None:
        """Waits a short time for replies. Raises SourceError when a worker died."""
        self._require_workers()
        by_pipe = {w.tasks: w for w in self._workers}
        sentinels = [w.process.sentinel for w in self._workers]
        ready = connection.wait([*by_pipe, *sentinels], _WAIT_SECONDS)
        heard = [pipe for pipe in by_pipe if pipe in ready]
        for pipe in heard:
            try:
                self._take(pipe.recv())
            except (EOFError, OSError):
                self._mourn()
        if ready and not heard:
            self._mourn()

    def _take(self, reply: Reply) -> None:
        self._is_proven = True
        _, slot = self._doing.pop(reply.number)
        del self._tasks[reply.number]
        if reply.number in self._unwanted:
            self._unwanted.discard(reply.number)
            self.free.append(slot)
        else:
            self.replies[reply.number] = reply, self._slots[slot], slot

    def forget(self, number: int) -> None:
        """Drops the reply of this task, which may be still to come."""
        if number in self.replies:
            self.free.append(self.replies.pop(number)[2])
        else:
            self._unwanted.add(number)

    def _require_workers(self) -> None:
        """Raises SourceError if the workers are gone: another source may have met a death."""
        if not self._workers:
            raise SourceError("the worker processes were stopped, as one of them ended")

    def _mourn(self) -> None:
        """Ends all workers after one of them died, and raises SourceError."""
        for worker in self._workers:
            worker.process.join(_WAIT_SECONDS)
        dead = [w.process for w in self._workers if w.process.exitcode is not None]
        death = "a worker process of the pipeline's sources ended"
        if dead:
            at = self._at_work_on(dead[0])
            death = f"worker process {dead[0].pid} {_ending(dead[0].exitcode)}{at}"
            if dead[0].exitcode == -signal.SIGKILL:
                death += ", as the system does where memory runs out"
            elif not self._is_proven and self._settings["py_start_method"] != "fork":
                death += (
                    ", before any worker had replied. Such a process begins by importing the "
                    "script: what makes and runs the pipeline stands there under "
                    "if __name__ == '__main__':"
                )
        death += "; the others were stopped, the next run() starts new ones"
        for worker in self._workers:
            worker.process.kill()
        self.stop()
        raise SourceError(death)

    def _at_work_on(self, process: Any) -> str:
        """What a worker that died was making: the oldest task that it has not replied to."""
        k = next(i for i, worker in enumerate(self._workers) if worker.process is process)
        with contextlib.suppress(EOFError, OSError):
            while self._workers[k].tasks.poll():
                self._take(self._workers[k].tasks.recv())
        number = min((n for n, (worker, _) in self._doing.items() if worker == k), default=None)
        if number is None:
            return ""
        task = self._tasks[number]
        spec = self._specs[task.source]
        if spec.batch:
            return f" in iteration {task.iteration} of epoch {task.epoch}"
        first = task.iteration * spec.batch_size + task.first
        last = first + task.samples - 1
        which = f"samples {first} to {last}" if last > first else f"sample {first}"
        return f" in {which} of epoch {task.epoch} (SampleInfo.idx_in_epoch)"


def _leave_to_parent() -> None:
    """Runs in a forked child, so that multiprocessing does not end the workers at its exit."""
    for pool in list(_pools):
        for worker in pool.workers():
            multiprocessing.process._children.discard(worker)  # type: ignore[attr-defined]


_pools: weakref.WeakSet[WorkerPool] = weakref.WeakSet()
os.register_at_fork(after_in_child=_leave_to_parent)


def _ending(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code}"
    return f"was killed by signal {-code} ({signal.Signals(-code).name})"


def _pickler(pickler: Any) -> tuple[Callable[[Any], bytes], Any, dict[str, Any]]:
    """The function that pickles, and what the worker needs to unpickle: a function, its keywords.

    A module cannot be sent, so its name stands for its function.
    """
    if pickler is None:
        return by_value.dumps, None, {}
    parts = pickler if isinstance(pickler, (list, tuple)) else (pickler,)
    if callable(parts[0]) and not hasattr(parts[0], "dumps"):
        return parts[0], parts[1], {}
    module, for_dumps, for_loads = [*parts, None, None][:3]
    loads = module.__name__ if isinstance(module, ModuleType) else module.loads
    return partial(module.dumps, **(for_dumps or {})), loads, for_loads or {}
