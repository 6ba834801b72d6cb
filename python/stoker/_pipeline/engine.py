# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a pipeline's graph: drives the C++ engine and the sources that feed it."""

from __future__ import annotations

import contextlib
import json
import os
import threading
import warnings
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from stoker import _core, _state_entries
from stoker._functions.functions import First, Functions
from stoker._graph.definition import Definition
from stoker._messages import user_level
from stoker._pipeline import in_step, readers
from stoker._pipeline.declared_outputs import check_count_of_declarations, check_declared_outputs
from stoker._settings.table import for_engine
from stoker._sources.inputs import EpochEndError, Inputs
from stoker.errors import EpochWarning, SampleError, SampleWarning, StateError

Batches = tuple[_core.Batch, ...]


class Step(NamedTuple):
    """The result of one step. ``failure`` is why it has no batches, else None.

    Without batches and failure, ``on_error='drop'`` dropped the step.
    """

    batches: Batches = ()
    ends_epoch: bool = False
    failure: BaseException | None = None


class Start(NamedTuple):
    """A state to begin from."""

    state: str | Mapping[str, Any]
    force: bool = False
    whose: str = ""  # before what is wrong with it

    def text(self) -> bytes:
        return _state_entries.text(self.state)

    def parts(self) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """The states of sources and functions; None of what the engine will not take."""
        if (loaded := _state_entries.of_pipeline(self.text())) is None:
            return None
        loaded = {"sources": {}, "functions": {}, **loaded}
        sources = _state_entries.entry(loaded, "sources", dict, "a pipeline's")
        functions = _state_entries.entry(loaded, "functions", dict, "a pipeline's")
        return sources, functions


class Engine:
    """Runs a graph once it is defined. Calls from two threads at once raise ``StateError``.

    The C++ engine is made as soon as the graph can be checked. If the type of an input or of what
    a function returns is not declared, this is when the first batch comes. Sources and functions
    then already stand where it is to begin.
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
        self._drawn_seed = int.from_bytes(os.urandom(8), "big") >> 1  # where none was given
        self._restored: Start | None = None  # before there was a C++ engine
        self._is_placed = False  # sources and functions already stand at the start
        self.class_names: dict[str, list[str]] = {}  # of readers, as they were when this was made
        self.lead_reader: str | None = None  # known once the C++ engine is made
        self.notes_of_end: list[str] = []  # what was said of the epoch that ended last
        self._said_midst = False  # that a source ends its epochs in the midst of a reader's

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
            check_count_of_declarations(self._definition, self._settings)
            self.inputs.open(self._settings)
            if self._knows_types():
                self._make()

    def _knows_types(self) -> bool:
        return self.inputs.knows_types() and self._functions.know_types()

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
            if not self._knows_types():
                self._learn_types()
            self._make()
        assert self._core is not None
        return self._core

    def _start(self) -> Start | None:
        """Where the C++ engine begins; None is at the beginning."""
        checkpoint = self._settings["checkpoint"]
        if self._restored is not None or checkpoint is None:
            return self._restored
        return Start(checkpoint, whose="Pipeline: argument 'checkpoint': ")

    def _learn_types(self) -> None:
        """Learns the types of inputs and functions from the step that comes first."""
        start = self._start()
        with _naming(start):
            parts = None if start is None or self._is_placed else start.parts()
            if parts is None:
                return self._learn_from(start)
            self._check_parts(*parts)
            before = self.inputs.state(), self._functions.state()
            self._place(*parts)
            self._is_placed = True
            if not self.inputs.is_ended:
                with contextlib.suppress(EpochEndError):
                    return self._learn_from(start)
            # The sources have no step there, but at the beginning.
            self._place(*before)
            self._is_placed = False
            return self._learn_from(None)

    def _learn_from(self, start: Start | None) -> None:
        self.inputs.learn_types()
        state = None if start is None else start.text()
        self._functions.learn_types(First(self._settings, self._drawn_seed, self.inputs, state))

    def _make(self) -> None:
        with self.making:
            if self._core is None:
                # Ctrl-C may come in the midst of this; the next call then goes on with the same.
                self._next_core = self._next_core or self._new_core()
                self._functions.attach(self._next_core)
                self.inputs.attach(self._next_core)
                self._core = self._next_core

    def _new_core(self) -> _core.Pipeline:
        """A C++ engine that stands at the start."""
        self._definition.check_layouts()
        check_declared_outputs(self._definition, self._settings)
        core = _core.Pipeline(self._definition.graph, for_engine(self._settings), self._drawn_seed)
        _warn(core.warnings())
        self.class_names = readers.class_names(self._definition.graph, core)
        self.lead_reader = readers.lead_reader(self._definition.graph, readers.orders(core))
        _warn(in_step.notes(self._definition.graph, core, self.lead_reader), EpochWarning)
        self._definition.is_closed = True
        if (start := self._start()) is not None:
            with _naming(start):
                self._restore(core, start, self._is_placed)
        return core

    @property
    def begins_epoch(self) -> bool:
        """Whether the next step is the first of an epoch of the lead reader, or of all sources."""
        if self._core is None:
            return self._start() is None
        return self._core.begins_epoch() or self.inputs.begins_epoch

    def take(self) -> Step | None:
        """The next step; None if a source ended its epoch.

        Raises what the C++ engine raises where it has made no step.
        """
        with self._one_caller:
            try:
                core = self._begun()
                step = None if core is None else self._received(core)
            except SampleError as failure:
                return Step(failure=failure)
            if step is None:
                self._tell_of_end()
            return step

    def _begun(self) -> _core.Pipeline | None:
        """The C++ engine, with sources that feed it; None if a source ended its epoch."""
        if self.inputs.is_ended:
            return None
        try:
            core = self._made()
        except EpochEndError:
            return None
        self.inputs.start()
        return core

    def _received(self, core: _core.Pipeline) -> Step | None:
        try:
            received = core.run()
        except BaseException:
            if failure := self.inputs.received():
                return Step(failure=failure)
            raise
        if failure := self.inputs.received():
            return Step(failure=failure)
        if received is None:
            self.inputs.meet_end()
            return None
        batches, ends_epoch = received
        if notice := core.take_notice():
            _warn([notice], SampleWarning)
        _warn(core.take_remarks(), SampleWarning)
        return Step(batches[: len(self._definition.outputs)], ends_epoch)

    def _tell_of_end(self) -> None:
        """Says of the epoch that has ended what was not as a person expects it."""
        if notes := self.inputs.take_notes() + self._notes_of_midst():
            self.notes_of_end = notes
            _warn(notes, EpochWarning)

    def _notes_of_midst(self) -> list[str]:
        core = self._core
        if core is None or self.lead_reader is None or self._said_midst or core.begins_epoch():
            return []
        self._said_midst = True
        return [
            "a source of this pipeline ended its epoch in the midst of an epoch of the reader "
            f"'{self.lead_reader}', of which {core.steps_left()} steps are left. The reader goes "
            "on there in the next epoch, so from now on the two are not in step: let the source "
            "give as many batches as an epoch of the reader has. This is said once"
        ]

    def begin_next_epoch(self, steps: int) -> None:
        """Goes on behind so many steps, which are not made. Sources begin their next epoch.

        Requires: ``inputs.who_goes_on()`` is empty, and a step was made.
        """
        with self._one_caller:
            self.inputs.stop()
            self._made().skip(steps)
            self.inputs.begin_next_epoch()
            self._functions.take_back()

    def schedule(self) -> None:
        """Starts to prepare steps and waits for none."""
        with self._one_caller:
            if core := self._begun():  # else take() reports the end
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
        start = Start(state, force)
        with self._one_caller:
            start.text()
            _state_entries.check_pipelines(state)
            if self._core is None and not self._knows_types():
                self._begin_at(start)
            else:
                self._restore(self._made(), start)

    def _begin_at(self, start: Start) -> None:
        """Makes the C++ engine, and what it learns the types from, at this start."""
        before = self._restored, self._is_placed
        sources, functions = self.inputs.state(), self._functions.state()
        self._restored, self._is_placed = start, False
        try:
            self._made()
        except StateError:
            self._restored, self._is_placed = before
            self._place(sources, functions)
            raise

    def _restore(self, core: _core.Pipeline, start: Start, is_placed: bool = False) -> None:
        parts = start.parts()
        if parts is not None and not is_placed:
            self._check_parts(*parts)
            self.inputs.stop()  # as the engine drops what was fed
        messages = core.restore(start.text(), start.force)
        if parts is not None and not is_placed:
            self._place(*parts)
        _warn(messages)

    def _check_parts(self, sources: dict[str, Any], functions: dict[str, Any]) -> None:
        """Raises ``StateError`` if sources or functions cannot take these states."""
        self.inputs.positions_in(sources)
        self._functions.check_state(functions)

    def _place(self, sources: dict[str, Any], functions: dict[str, Any]) -> None:
        """Lets sources and functions go on at these states."""
        self.inputs.stop()
        self.inputs.restore(sources)
        self._functions.restore(functions)


@contextlib.contextmanager
def _naming(start: Start | None) -> Iterator[None]:
    """Says whose state it is that does not fit."""
    try:
        yield
    except StateError as e:
        if start is None or not start.whose:
            raise
        raise StateError(f"{start.whose}{e}") from e


def _warn(messages: list[str], kind: type[Warning] = UserWarning) -> None:
    for message in messages:
        message = message.encode(errors="surrogateescape").decode(errors="backslashreplace")
        warnings.warn(message, kind, stacklevel=user_level())
