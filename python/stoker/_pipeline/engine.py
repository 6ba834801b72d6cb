# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a pipeline's graph: drives the C++ engine and the sources that feed it."""

from __future__ import annotations

import json
import threading
import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

from stoker import _core, _state_entries
from stoker._functions.functions import Functions
from stoker._graph.definition import Definition
from stoker._messages import user_level
from stoker._pipeline import readers
from stoker._pipeline.declared_outputs import check_declared_outputs
from stoker._settings.table import for_engine
from stoker._sources.inputs import EpochEndError, Inputs
from stoker.errors import SampleWarning, StateError

Batches = tuple[_core.Batch, ...]


class Step(NamedTuple):
    """The result of one step. ``failure`` is why a source could not give its batch, else None.

    Without batches and failure, ``on_error="drop"`` dropped the step.
    """

    batches: Batches = ()
    ends_epoch: bool = False
    failure: BaseException | None = None


class Engine:
    """Runs a graph once it is defined. Calls from two threads at once raise ``StateError``.

    The C++ engine is made as soon as the graph can be checked. If the type of an input or of what
    a function returns is not declared, this is when the first batch comes.
    """

    def __init__(
        self, definition: Definition, settings: Mapping[str, Any], calls_sources_itself: bool
    ) -> None:
        self._definition = definition
        self._settings = settings
        self._core: _core.Pipeline | None = None
        self._next_core: _core.Pipeline | None = None  # not attached to the inputs yet
        self.making = threading.RLock()  # held to make this; who feeds does it, too
        self._one_caller = _core.OneCaller()
        self.inputs = Inputs(definition, self._one_caller, calls_sources_itself)
        self._functions = Functions(definition, self._one_caller)
        self.class_names: dict[str, list[str]] = {}  # of readers, as they were when this was made

    @property
    def is_made(self) -> bool:
        """Whether the C++ engine is made; the graph cannot be changed any more then."""
        return self._core is not None

    @property
    def seed(self) -> int | None:
        """The seed in use; None if no seed was given and the C++ engine is not made yet."""
        return self._settings["seed"] if self._core is None else self._core.seed

    def open(self) -> None:
        """Opens the sources, and makes the C++ engine if the types of all inputs are known.

        Requires: the graph has outputs, and a batch size was given.
        """
        with self.making:
            self.inputs.open(self._settings)
            if self.inputs.knows_types() and self._functions.know_types():
                self._make()

    def made(self) -> _core.Pipeline:
        """The C++ engine. Waits for the first batch of inputs whose type is not declared.

        Raises ``EpochEndError`` if a source ends before its first batch. Requires: ``open()`` was
        called.
        """
        if self._core is None:
            with self._one_caller:
                return self._made()
        return self._core

    def _made(self) -> _core.Pipeline:
        if self._core is None:
            self.inputs.learn_types()
            self._functions.learn_types(self._settings, self.inputs)
            self._make()
        assert self._core is not None
        return self._core

    def _make(self) -> None:
        with self.making:
            if self._core is None:
                # Ctrl-C may come in the midst of this; the next call then goes on with the same.
                self._next_core = self._next_core or self._new_core()
                self._functions.attach(self._next_core)
                self.inputs.attach(self._next_core)
                self._core = self._next_core

    def _new_core(self) -> _core.Pipeline:
        """A C++ engine that goes on from the checkpoint, if there is one."""
        self._definition.check_layouts()
        check_declared_outputs(self._definition, self._settings)
        core = _core.Pipeline(self._definition.graph, for_engine(self._settings))
        _warn(core.warnings())
        self.class_names = readers.class_names(self._definition.graph, core)
        self._definition.is_closed = True
        if (checkpoint := self._settings["checkpoint"]) is not None:
            try:
                self._restore(core, _state_entries.text(checkpoint))
            except StateError as e:
                raise StateError(f"Pipeline: argument 'checkpoint': {e}") from e
        return core

    @property
    def begins_epoch(self) -> bool:
        """Whether the next step is the first of an epoch of the lead reader, or of all sources."""
        if self._core is None:
            return self._settings["checkpoint"] is None
        return self._core.begins_epoch() or self.inputs.begins_epoch

    def step(self) -> Step | None:
        """The next step; None if a source ended its epoch. Raises what the C++ engine raises."""
        with self._one_caller:
            return self._step()

    def _step(self) -> Step | None:
        if self.inputs.is_ended:
            return None
        try:
            core = self._made()
        except EpochEndError:
            return None
        self.inputs.start()
        try:
            step = core.run()
        except BaseException:
            if failure := self.inputs.received():
                return Step(failure=failure)
            raise
        if failure := self.inputs.received():
            return Step(failure=failure)
        if step is None:
            self.inputs.meet_end()
            return None
        batches, ends_epoch = step
        if notice := core.take_notice():
            _warn([notice], SampleWarning)
        return Step(batches[: len(self._definition.outputs)], ends_epoch)

    def schedule(self) -> None:
        """Starts to prepare steps and waits for none."""
        with self._one_caller:
            if self.inputs.is_ended:
                return
            try:
                core = self._made()
            except EpochEndError:  # step() reports this end
                return
            self.inputs.start()
            core.schedule()

    def close(self) -> None:
        """Stops all threads and frees the steps made ahead; the next step starts the threads."""
        with self._one_caller:
            self.inputs.stop()
            if self._core is not None:
                self._core.close()
            self._functions.let_go()

    def state(self) -> dict[str, Any]:
        """The state of the engine and the sources after the steps that were received."""
        with self._one_caller:
            state: dict[str, Any] = json.loads(self._made().state())
            parts = {"sources": self.inputs.state(), "functions": self._functions.state()}
            return {**state, **{name: part for name, part in parts.items() if part}}

    def restore(self, state: str | Mapping[str, Any], force: bool = False) -> None:
        """Continues where ``state()`` was taken. A state that does not fit changes nothing."""
        text = _state_entries.text(state)
        with self._one_caller:
            _state_entries.check_pipelines(state)
            self._restore(self._made(), text, force)

    def _restore(self, core: _core.Pipeline, text: bytes, force: bool = False) -> None:
        sources: dict[str, Any] = {}
        functions: dict[str, Any] = {}
        if (loaded := _state_entries.of_pipeline(text)) is not None:
            loaded = {"sources": {}, "functions": {}, **loaded}
            sources = _state_entries.entry(loaded, "sources", dict, "a pipeline's")
            functions = _state_entries.entry(loaded, "functions", dict, "a pipeline's")
            self.inputs.positions_in(sources)
            self._functions.check_state(functions)
        self.inputs.stop()
        messages = core.restore(text, force)
        self.inputs.restore(sources)
        self._functions.restore(functions)
        _warn(messages)


def _warn(messages: list[str], kind: type[Warning] = UserWarning) -> None:
    for message in messages:
        message = message.encode(errors="surrogateescape").decode(errors="backslashreplace")
        warnings.warn(message, kind, stacklevel=user_level())
