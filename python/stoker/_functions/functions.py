# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""All functions of the user's in a pipeline: their types and their states."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker import _core
from stoker._graph.definition import Definition
from stoker._graph.user_function import UserFunction
from stoker._settings.table import for_engine
from stoker._sources.inputs import Inputs
from stoker.errors import GraphError, SampleError, StateError

_STEPS = 100  # to wait for a sample that a function in a branch is called with
_FAILURES = 3  # of steps, until a function counts as one that always fails
_PROBE = {"prefetch_queue_depth": 1, "on_error": "skip", "set_affinity": False}


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
        """Whether the types of what functions return are declared or learned."""
        return not any(self._is_unknown(f) for f in self._all)

    def learn_types(self, settings: Mapping[str, Any], inputs: Inputs) -> None:
        """Learns the types that are not declared, by calling the functions with a first batch.

        Requires: the types of all inputs are known. Raises what the functions raise, as
        ``SampleError``.
        """
        for function in self._all:
            if self._is_unknown(function):
                self._learn(function, settings, inputs)

    def _is_unknown(self, function: UserFunction) -> bool:
        def given(argument: str) -> Any:
            return self._definition.graph.argument(function.node, argument)

        try:
            has_ndim = given("ndim") or len(given("output_layouts")) == given("num_outputs")
        except IndexError:  # it declares them in its own way
            return False
        return not given("dtype") or not has_ndim

    def _learn(self, function: UserFunction, settings: Mapping[str, Any], inputs: Inputs) -> None:
        for called in self._called_for(function):
            if called.is_stateful and not called.has_state:
                whose = "its types" if called is function else f"the types of {function.place}"
                raise GraphError(
                    f"{called} is stateful and without state() and restore(), so it cannot be "
                    f"called once more for {whose}; declare dtype= and ndim="
                )
        types = self._learned(function, settings, inputs)
        graph, node = self._definition.graph, function.node
        if not graph.argument(node, "dtype"):
            graph.set_argument(node, "dtype", [dtype for dtype, _ in types])
        if not graph.argument(node, "ndim"):
            graph.set_argument(node, "ndim", [ndim for _, ndim in types])

    def _called_for(self, function: UserFunction) -> list[UserFunction]:
        """The functions that may be called to learn a function's types."""
        return [f for f in self._all if f.node <= function.node]

    def _learned(
        self, function: UserFunction, settings: Mapping[str, Any], inputs: Inputs
    ) -> list[tuple[str, int]]:
        """What the function returns for the first batch that has a sample for it."""
        core = _core.UserFunction(function, function.is_stateful, function.form.takes_tensors, True)
        function.prepare(self._caller)
        probe = self._probe(function, core)
        engine = _core.Pipeline(probe, {**for_engine(settings), **_PROBE})
        is_fed = inputs.feed_first(engine)
        states = [(f, f.state()) for f in self._called_for(function) if f.has_state]
        failures: list[SampleError] = []
        try:
            for _ in range(_STEPS):
                is_over = is_fed
                try:
                    is_over |= engine.run() is None
                except SampleError as e:
                    failures.append(e)
                if core.learned is not None:
                    return core.learned
                if is_over or len(failures) == _FAILURES:
                    break
        finally:
            engine.close()
            for called, state in states:
                called.restore(state)
        if failures:
            raise failures[0]
        raise GraphError(
            f"{function} was called with no sample in the first steps, so its types are not known; "
            "declare dtype= and ndim="
        )

    def _probe(self, function: UserFunction, core: _core.UserFunction) -> _core.Graph:
        """A graph that calls the function in the place of its node, and gives numbers."""
        graph, node = self._definition.graph.up_to(function.node, core), function.node
        simple = {"num_outputs": 1, "output_layouts": [], "dtype": ["int32"], "ndim": [0]}
        for argument, value in simple.items():
            graph.set_argument(node, argument, value)
        made = (node, 0)
        number = {"idata": [0], "dtype": "int32", "shape": []}
        for condition, output, when in reversed(graph.guards(node)):
            other = (graph.add("constant", [], number, {}, "", "cpu", ""), 0)
            sides = [made, other] if when else [other, made]
            made = (graph.add("merge", [*sides, (condition, output)], {}, {}, "", "cpu", ""), 0)
        graph.set_outputs([(*made, False)])
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
            if function.has_state:
                function.restore(state[str(function.place.name)])
