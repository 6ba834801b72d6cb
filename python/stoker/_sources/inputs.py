# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The nodes of a pipeline that a source or ``feed_input`` feeds."""

from __future__ import annotations

import json
import sys
import threading
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from stoker import _core, _state_entries
from stoker._describe.registry import operators
from stoker._graph.definition import Definition
from stoker._graph.source_group import SourceGroup
from stoker._messages import near_or_all, told, user_level
from stoker._settings.table import depth
from stoker._sources.arrays import to_fed
from stoker.errors import GraphError, SourceError, SourceIndexError, StateError

if TYPE_CHECKING:
    from stoker._sources.feeder import Feeder
    from stoker._sources.runner import Position, Runner
    from stoker._sources.worker_pool import WorkerPool

_WAIT_MS = 50


class EpochEndError(SourceError):
    """A source ended before its first batch, so the pipeline cannot be built."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"external_source '{name}': its source ended before its first batch, which would tell "
            "its types"
        )


class UnknownInputError(GraphError, KeyError):
    """No input has the name that was asked for."""

    __str__ = GraphError.__str__  # a KeyError's is the text in quotes


class Inputs:
    """Feeds the input nodes, and keeps what is fed until there is an engine.

    ``feed`` may be called from another thread than the other methods.
    """

    _feeder: Feeder | None = None  # also of one whose making failed, which is deleted all the same

    def __init__(
        self, definition: Definition, caller: _core.OneCaller, calls_sources_itself: bool
    ) -> None:
        """``calls_sources_itself``: sources are called in the thread that runs the pipeline.

        They also are where nothing is made ahead.
        """
        self._definition = definition
        self._calls_sources_itself = calls_sources_itself
        self._caller = caller
        self._batch_size = 0  # known once open() is called
        self._pool: WorkerPool | None = None
        self._engine: _core.Pipeline | None = None
        self._mutex = threading.RLock()
        self._fed = threading.Condition(self._mutex)
        self._unread: frozenset[str] = frozenset()  # inputs; known once open() is called
        # Batches fed before there is an engine, and whether to copy them.
        self._pending: dict[str, list[tuple[_core.Fed, bool]]] = {}

    def __del__(self) -> None:
        if self._feeder is not None and not sys.is_finalizing():  # then no thread runs any more
            self._feeder.end()

    def open(self, settings: Mapping[str, Any]) -> None:
        """Makes the sources ready to run. Requires: the settings have a batch size."""
        self._batch_size = settings["batch_size"]
        if self._feeder is not None:
            return
        self._unread = _unread_inputs(self._definition)
        sources = self._definition.sources
        groups = [self._with_unread(g) for g in sources if not self._unread >= set(g.names)]
        if not groups:
            return
        # Imported late: these modules are slow to import, and most pipelines have no sources.
        from stoker._sources.calling_feeder import CallingFeeder
        from stoker._sources.feeder import Feeder
        from stoker._sources.runner import Runner

        batch_size, ahead = self._batch_size, depth(settings)
        runners: list[Runner] = []
        parallel = [g for g in groups if g.parallel]
        if parallel:
            from stoker._sources.parallel_runner import ParallelRunner
            from stoker._sources.worker_pool import WorkerPool

            self._pool = WorkerPool(parallel, settings)
        for group in groups:
            if self._pool is not None and group.parallel:
                runners.append(ParallelRunner(group, batch_size, self._pool))
            else:
                runners.append(Runner(group, batch_size))
        kind = CallingFeeder if self._calls_sources_itself or not ahead else Feeder
        self._feeder = kind(runners, max(1, ahead), self._caller)

    def _with_unread(self, group: SourceGroup) -> SourceGroup:
        """The group with a note of its outputs that nothing reads. Warns of them."""
        unread = [str(k) for k, name in enumerate(group.names) if name in self._unread]
        if unread:
            warnings.warn(
                f"{group.place()} makes {len(group.names)} outputs, but nothing reads those at "
                f"{', '.join(unread)}; it saves time not to make them",
                stacklevel=user_level(),
            )
        return group._replace(unread=self._unread)

    # The types of the inputs.

    def knows_types(self) -> bool:
        """Whether the types of all inputs are known, so that the graph can be checked."""
        return not self._unknown()

    def learn_types(self) -> None:
        """Waits for the first batch of each input whose type is not declared.

        Raises what a source raised; EpochEndError if a source ends before its first batch; and
        SourceError if an input has no source, nothing was fed, and it is not ``blocking``.
        """
        graph = self._definition.graph
        while unknown := self._unknown():
            name, node = unknown[0]
            if self._feeder is not None and self._source_of(name) is not None:
                self._learn_from_sources(name)
                continue
            with self._mutex:
                if self._unknown() == unknown and not graph.argument(node, "blocking"):
                    raise SourceIndexError(
                        f"external_source '{name}': nothing was fed and its dtype and ndim are "
                        f"not declared; call feed_input('{name}', ...) before run(), or give it "
                        "a source="
                    )
                while self._unknown() == unknown:
                    self._fed.wait(_WAIT_MS / 1000)  # a short wait, so that Ctrl-C works

    def _source_of(self, name: str) -> SourceGroup | None:
        return next((g for g in self._definition.sources if name in g.names), None)

    def _unknown(self) -> list[tuple[str, int]]:
        graph, found = self._definition.graph, []
        for i, name in _input_nodes(graph).items():
            has_ndim = graph.argument(i, "ndim") is not None or graph.argument(i, "layout")
            if graph.argument(i, "dtype") is None or not has_ndim:
                found.append((name, i))
        return found

    def feed_first(self, engine: _core.Pipeline, graph: _core.Graph) -> bool:
        """Feeds copies of the first batches to an engine that learns other types by this graph.

        Returns whether it needs any. Requires: the types of all inputs are known. Raises what
        ``learn_types`` raises.
        """
        names = [name for name in _input_nodes(graph).values() if engine.is_used(name)]
        fed: dict[str, _core.Fed] = {}
        if any(self._source_of(name) for name in names):
            fed = self._first_of_sources(names[0])
        for name in names:
            engine.feed(name, fed[name] if name in fed else self._first_fed(name), True, 0)
        return bool(names)

    def _first_of_sources(self, name: str) -> dict[str, _core.Fed]:
        """The first batch of each source. ``name`` is a node that needs it."""
        assert self._feeder is not None
        outcome = self._feeder.wait_for_first()
        if outcome.fed:
            return {name: fed for name, fed, _ in outcome.fed}
        self._feeder.drop_first()
        if outcome.failure is not None:
            raise outcome.failure
        raise EpochEndError(name)

    def _first_fed(self, name: str) -> _core.Fed:
        """The first batch that was fed to a node. Waits for it if the node is ``blocking``."""
        graph = self._definition.graph
        node = next(i for i, n in _input_nodes(graph).items() if n == name)
        with self._mutex:
            while not self._pending.get(name):
                if not graph.argument(node, "blocking"):
                    raise SourceIndexError(
                        f"external_source '{name}': nothing was fed, and a function needs a first "
                        f"batch to tell its types; call feed_input('{name}', ...) before run()"
                    )
                self._fed.wait(_WAIT_MS / 1000)  # a short wait, so that Ctrl-C works
            return self._pending[name][0][0]

    def _learn_from_sources(self, name: str) -> None:
        """Asks all sources for their first batch. ``name`` is a node that needs it."""
        graph = self._definition.graph
        nodes = {name: i for i, name in _input_nodes(graph).items()}
        for of, fed in self._first_of_sources(name).items():
            _declare(graph, nodes[of], fed)

    # Running.

    def attach(self, engine: _core.Pipeline) -> None:
        """Gives the engine the batches that wait, and feeds it from now on."""
        with self._mutex:
            for name, batches in self._pending.items():
                while batches:
                    engine.feed(name, *batches[0], 0)
                    del batches[0]
            self._engine = engine
        if self._feeder is not None:
            self._feeder.attach(engine)

    def feed(self, name: str, data: Any, layout: str | None) -> None:
        """Gives a node without a source its next batch."""
        graph = self._definition.graph
        nodes = {n: i for i, n in _input_nodes(graph).items()}
        if name not in nodes:
            hint = near_or_all(name, nodes, "This pipeline has") if nodes else ""
            raise UnknownInputError(f"feed_input: no external_source is named '{name}'.{hint}")
        if group := self._source_of(name):
            raise GraphError(f"feed_input: {group.place()} feeds '{name}' already")
        try:
            fed = to_fed(data, self._batch_size, layout)
        except Exception as e:
            raise GraphError(f"feed_input: external_source '{name}': {told(e)}") from e
        if name in self._unread:
            return
        node = nodes[name]
        copy = not graph.argument(node, "no_copy")
        with self._mutex:
            engine = self._engine
            if engine is None:
                _declare(graph, node, fed)
                waiting = fed.copy() if copy else fed
                self._pending.setdefault(name, []).append((waiting, False))
                self._fed.notify_all()
                return
        wait_ms = _WAIT_MS if graph.argument(node, "blocking") else 0
        while not engine.feed(name, fed, copy, wait_ms):
            if self._feeder is not None and self._feeder.waits_for_this_thread():
                raise StateError(
                    f"feed_input: external_source '{name}' has no room, and the pipeline is being "
                    "closed"
                )

    def has(self, name: str) -> bool:
        """Whether there is an input of this name, be it with a source."""
        return name in _input_nodes(self._definition.graph).values()

    @property
    def pool(self) -> WorkerPool | None:
        """The worker processes; None where no source wants any, and until ``open()``."""
        return self._pool

    def names_fed_by_hand(self) -> list[str]:
        """The inputs without a source, in the order of their definition."""
        names = _input_nodes(self._definition.graph).values()
        return [name for name in names if not self._source_of(name)]

    def shared_memory(self) -> list[int]:
        """The sizes in bytes of the memory that worker processes share."""
        return [] if self._pool is None else self._pool.shared_memory()

    def start(self) -> None:
        """Lets the sources run."""
        if self._feeder is not None:
            self._feeder.start()

    def start_workers(self) -> None:
        """Starts the worker processes."""
        if self._feeder is not None:
            self._feeder.start_workers()

    def stop(self) -> None:
        """Joins the sources' thread and ends worker processes; ``start`` continues."""
        if self._feeder is not None:
            self._feeder.stop()

    def received(self) -> BaseException | None:
        """Notes that a step may have been handed out. Returns why it failed; None if it did not."""
        if self._feeder is None or self._engine is None:
            return None
        return self._feeder.received(self._engine.received)

    def meet_end(self) -> None:
        """Notes that the engine met the end of an epoch."""
        if self._feeder is not None:
            self._feeder.meet_end()

    def take_notes(self) -> list[str]:
        """What is to be said of the epochs that ended since the last call."""
        if self._feeder is None:
            return []
        notes, self._feeder.notes = self._feeder.notes, []
        return notes

    @property
    def is_ended(self) -> bool:
        return self._feeder is not None and self._feeder.is_ended

    @property
    def begins_epoch(self) -> bool:
        """Whether the next step is the first of an epoch of all sources."""
        return self._feeder is not None and self._feeder.begins_epoch

    def reset(self) -> None:
        """Begins the sources' next epoch if one has ended."""
        if self._feeder is not None:
            self._feeder.reset()

    @property
    def end_epochs(self) -> bool:
        """Whether there is a source that ends epochs, rather than going round."""
        return any(runner.group.cycle != "quiet" for runner in self._runners())

    def who_goes_on(self) -> str:
        """Who cannot begin its next epoch before this one has ended, in words; "" for no one."""
        for name in _input_nodes(self._definition.graph).values():
            if name not in self._unread and self._source_of(name) is None:
                return f"external_source '{name}', which is fed by hand,"
        stuck = (r.group.place() for r in self._runners() if not r.begins_anew)
        return next(stuck, "")

    def begin_next_epoch(self) -> None:
        """Begins the next epoch of all sources. Requires: stopped, and the engine holds no fed
        batch.
        """
        if self._feeder is not None:
            self._feeder.begin_next_epoch()

    def _runners(self) -> list[Runner]:
        return [] if self._feeder is None else self._feeder.runners

    # State.

    def state(self) -> dict[str, Any]:
        """The states of all sources, by name, after the steps received."""
        if self._feeder is None:
            return {}
        positions = self._feeder.positions()
        return {
            runner.group.names[0]: {
                "epoch": p.epoch,
                "iteration": p.iteration,
                **({"ended": True} if self._feeder.is_ended else {}),
                **({} if p.state is None else {"state": json.loads(p.state)}),
            }
            for runner, p in zip(self._feeder.runners, positions, strict=True)
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restores ``state()``. Requires: stopped, and the engine holds no fed batch."""
        positions, is_ended = self.positions_in(state)
        if self._feeder is not None:
            self._feeder.restore(positions, is_ended)

    def problems_of_state(self) -> list[str]:
        """What is said of each source that cannot say where it stands. Requires: they are open."""
        problems = []
        for runner in self._runners():
            try:
                runner.require_resumable()
            except StateError as e:
                problems.append(str(e))
        return problems

    def positions_in(self, state: Mapping[str, Any]) -> tuple[list[Position], bool]:
        """The position of each source in a state, and whether their epoch ended.

        Raises StateError if the state does not fit.
        """
        from stoker._sources.runner import Position

        runners = self._runners()
        names = [r.group.names[0] for r in runners]
        if set(names) != set(state):
            raise StateError(
                f"the state knows the sources {sorted(state)}, this pipeline has {sorted(names)}"
            )
        positions, is_ended = [], False
        for runner, name in zip(runners, names, strict=True):
            runner.require_resumable()
            whose, entry = f"the source '{name}'s", state[name]
            epoch, iteration = (
                _state_entries.count(entry, k, whose) for k in ("epoch", "iteration")
            )
            own = json.dumps(entry["state"]) if "state" in entry else None
            positions.append(Position(epoch, iteration, own))
            is_ended |= _state_entries.flag(entry, "ended", whose)
        return positions, is_ended


def _input_nodes(graph: _core.Graph) -> dict[int, str]:
    table = operators()
    return {i: n["name"] for i, n in enumerate(graph.nodes()) if table[n["op"]]["kind"] == "input"}


def _unread_inputs(definition: Definition) -> frozenset[str]:
    """The names of the inputs that are no outputs and that no node reads, but for copying them.

    Their types do not matter, so those that are not declared are made up.
    """
    graph = definition.graph
    inputs = _input_nodes(graph)
    if not inputs:
        return frozenset()
    read = {node for node, _ in definition.outputs}
    for number, node in reversed(list(enumerate(json.loads(graph.save("{}"))["nodes"]))):
        if node["op"] != "copy" or number in read:
            edges = [*filter(None, node["inputs"]), *node["computed"].values()]
            read |= {edge[0] for edge in [*edges, *node.get("guards", [])]}
    unread = {number: name for number, name in inputs.items() if number not in read}
    for number in unread:
        if graph.argument(number, "dtype") is None:
            graph.set_argument(number, "dtype", "uint8")
        if graph.argument(number, "ndim") is None and not graph.argument(number, "layout"):
            graph.set_argument(number, "ndim", 0)
    return frozenset(unread.values())


def _declare(graph: _core.Graph, node: int, fed: _core.Fed) -> None:
    """Takes the dtype, ndim and layout that are not declared from the first batch."""
    if graph.argument(node, "dtype") is None:
        graph.set_argument(node, "dtype", fed.dtype)
    layout = graph.argument(node, "layout")
    if graph.argument(node, "ndim") is None and not layout:
        graph.set_argument(node, "ndim", fed.ndim)
        graph.set_argument(node, "layout", fed.layout)
