# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""All functions of the user's in a pipeline: their types and their states.

Decoders without a dtype learn theirs in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from stoker import _core
from stoker._functions.decoders import declare, reading_function, undeclared
from stoker._graph.definition import Definition
from stoker._graph.user_function import UserFunction
from stoker._settings.table import for_engine
from stoker._sources.inputs import Inputs
from stoker.errors import GraphError, SampleError, StateError

_STEPS = 100  # to wait for a sample that a function in a branch is called with
_LOST = 3  # steps without a good sample, until they count as what always happens
_PROBE = {"prefetch_queue_depth": 0, "set_affinity": False}


class First(NamedTuple):
    """What the first step of a pipeline is made of."""

    settings: Mapping[str, Any]
    drawn_seed: int  # where the settings have none
    inputs: Inputs
    state: bytes | None  # that the pipeline begins from

    def engine(self, graph: _core.Graph) -> _core.Pipeline:
        """An engine that makes nothing ahead, and begins with this step.

        It tells of a batch without a good sample, and does not drop it.
        """
        settings = {**for_engine(self.settings), **_PROBE}
        policy = _core.ErrorPolicy(settings["on_error"]).without_dropping()
        settings["on_error"] = policy.on_error
        engine = _core.Pipeline(graph, settings, self.drawn_seed)
        if self.state is not None:
            engine.restore(self.state, True)
        return engine

    def loses_all(self, error: SampleError) -> bool:
        """Whether no sample of the batch was made, or a function failed."""
        failed = [sample["index_in_batch"] for sample in error.samples]
        batch_size: int = self.settings["batch_size"]
        return min(failed) < 0 or len(failed) >= batch_size


class Functions:
    """The functions of one pipeline. The thread that runs it calls the methods."""

    def __init__(self, definition: Definition, caller: _core.OneCaller) -> None:
        self._definition = definition
        self._caller = caller

    @property
    def _all(self) -> list[UserFunction]:
        return self._definition.functions

    # Their types.

    def know_types(self) -> bool:
        """Whether the types of what functions return are declared or learned, and of decoders."""
        return not self._unknown()

    def _unknown(self) -> list[UserFunction]:
        """What is to be called so that it tells a type, in the order of the nodes."""
        graph = self._definition.graph
        readers = [reading_function(graph, number) for number in undeclared(graph)]
        unknown = [f for f in self._all if self._is_unknown(f)]
        return sorted([*unknown, *readers], key=lambda f: f.node)

    def learn_types(self, first: First) -> None:
        """Learns the types that are not declared, by calling the functions with the first batch.

        What these calls return is kept, so that the engine's first steps take it instead of calling
        again. Requires: the types of all inputs are known. Raises what the functions raise, as
        ``SampleError``; the next call then calls them again.
        """
        try:
            for function in self._all:
                function.keep_calls(True)
            for function in self._unknown():
                self._learn(function, first)
        except SampleError:
            self.forget_calls()
            raise
        finally:
            for function in self._all:
                function.keep_calls(False)

    def forget_calls(self) -> None:
        """Drops what was kept. Requires: the engine is stopped."""
        for function in self._all:
            function.forget_calls()

    def _is_unknown(self, function: UserFunction) -> bool:
        def given(argument: str) -> Any:
            return self._definition.graph.argument(function.node, argument)

        try:
            has_ndim = given("ndim") or len(given("output_layouts")) == given("num_outputs")
        except IndexError:  # it declares them in its own way
            return False
        return not given("dtype") or not has_ndim

    def _learn(self, function: UserFunction, first: First) -> None:
        types = self._learned(function, first)
        graph, node = self._definition.graph, function.node
        if function not in self._all:
            return declare(graph, node, types[0][0])
        if not graph.argument(node, "dtype"):
            graph.set_argument(node, "dtype", [dtype for dtype, _ in types])
        if not graph.argument(node, "ndim"):
            graph.set_argument(node, "ndim", [ndim for _, ndim in types])

    def _learned(self, function: UserFunction, first: First) -> list[tuple[str, int]]:
        """What the function returns for the first batch that has a sample for it."""
        for called in {*self._all, function}:
            called.prepare(self._caller)
        graph = self._probe(function)
        engine = first.engine(graph)
        is_fed = first.inputs.feed_first(engine, graph)
        failures: list[SampleError] = []
        lost = 0
        try:
            for _ in range(_STEPS):
                is_over = is_fed
                try:
                    is_over |= engine.run() is None
                except SampleError as e:
                    failures.append(e)
                    lost += first.loses_all(e)
                if (types := function.core.learned) is not None:
                    return types
                if is_over or lost == _LOST:
                    break
        finally:
            engine.close()
        if failures:
            raise failures[0]
        raise GraphError(
            f"{function} was called with no sample in the first steps, so its types are not known; "
            "declare dtype= and ndim="
        )

    def _probe(self, function: UserFunction) -> _core.Graph:
        """A graph that calls the function in the place of its node, and gives numbers."""
        node = function.node
        graph = self._definition.graph.probe(node, function.core)
        readers = [(*reader, False) for reader in graph.outputs()]
        simple = {"num_outputs": 1, "output_layouts": [], "dtype": ["int32"], "ndim": [0]}
        for argument, value in simple.items():
            graph.set_argument(node, argument, value)
        made = (node, 0)
        number = {"idata": [0], "dtype": "int32", "shape": []}
        for condition, output, when in reversed(graph.guards(node)):
            other = _core.Node("constant")
            other.set_arguments(number)
            sides = [made, (graph.add(other), 0)]
            merge = _core.Node("merge")
            merge.set_inputs([*(sides if when else reversed(sides)), (condition, output)])
            made = (graph.add(merge), 0)
        graph.set_outputs([(*made, False), *readers])
        return graph

    # Running.

    def attach(self, engine: _core.Pipeline) -> None:
        """The engine calls the functions from now on."""
        for function in self._all:
            function.prepare(self._caller)
            function.attach(lambda: engine.received)

    def let_go(self) -> None:
        """Frees what functions returned and nobody needs. Requires: the engine is stopped."""
        for function in self._all:
            function.core.let_go()

    def take_back(self) -> None:
        """Takes back calls for steps that were not received. Requires: the engine is stopped."""
        for function in self._all:
            if function.has_state:
                function.restore(function.state())

    # State.

    def state(self) -> dict[str, Any]:
        """The states of stateful functions, by the names of their nodes."""
        for function in self._all:
            function.require_resumable()
        return {str(f.place.name): f.state() for f in self._all if f.has_state}

    def check_state(self, state: Mapping[str, Any]) -> None:
        """Raises ``StateError`` if ``restore`` cannot take the state."""
        for function in self._all:
            function.require_resumable()
        names = {str(f.place.name) for f in self._all if f.has_state}
        if names != set(state):
            raise StateError(
                f"the state knows the stateful functions {sorted(state)}, this pipeline has "
                f"{sorted(names)}"
            )

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restores ``state()``. Requires: the engine is stopped."""
        for function in self._all:
            function.restore(state[str(function.place.name)] if function.has_state else None)
