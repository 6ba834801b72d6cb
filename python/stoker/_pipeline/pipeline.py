# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The pipeline: a graph with settings, which is built and then gives batches.

It says what users can do; its parts do it: a ``Definition`` is the graph, an ``Engine`` runs it
with the sources that feed it, ``StepCounter`` counts what was begun and handed out, and
``DropCounter`` what ``on_error='drop'`` left out.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, TypeVar, cast

from stoker._graph import current
from stoker._graph.calls import as_node
from stoker._graph.definition import Definition, Manner
from stoker._graph.iteration import explain
from stoker._graph.node import DataNode
from stoker._graph.outside import bound, in_its_pipeline
from stoker._messages import shown
from stoker._pipeline import saved
from stoker._pipeline.drop_counter import DropCounter, EmptyEpochError
from stoker._pipeline.engine import Batches, Engine, Step
from stoker._pipeline.loops import Loops
from stoker._pipeline.step_counter import BASIC, SCHEDULED, StepCounter
from stoker._settings import signature
from stoker._settings.table import checked, depth, of_file
from stoker.errors import GraphError, GraphTypeError

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from stoker._settings.configured import Settings

_ENDED = "the epoch has ended: reset() begins the next one, or use a loop over the pipeline"
_SEVERAL = "set_outputs(*nodes) makes each of them an output"
AnyPipeline = TypeVar("AnyPipeline", bound="Pipeline")


class Pipeline(Loops):
    """A graph of operators with the settings to run it.

    Usually made by a function decorated with ``pipeline_def``; or by hand, ``with pipe:`` around
    the operator calls and then ``pipe.set_outputs(...)``; or by a subclass with ``define_graph()``.

    A pipeline is used by one thread at a time, and not in a forked child of the process that built
    it.
    """

    def _begin(self) -> None:
        self._definition = Definition(self._manner)
        self._engine = Engine(self._definition, self._settings, self._calls_sources_itself)
        self._counter = StepCounter(max(1, depth(self._settings)))
        self._judge_from_here()

    _manner: ClassVar[Manner] = Manner()
    _calls_sources_itself: ClassVar[bool] = False  # else a thread of their own calls them

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(
            "a pipeline cannot be copied or pickled; serialize() and deserialize() give another "
            "one of the same graph and settings"
        )

    # Defining.

    def __enter__(self) -> Pipeline:
        current.push(self, self._definition)
        return self

    def __exit__(self, _: object, error: BaseException | None, *__: object) -> None:
        current.pop()
        explain(error)

    @staticmethod
    def current() -> Pipeline | None:
        """The pipeline that operator calls in this thread belong to."""
        entry = current.current()
        return None if entry is None else cast(Pipeline, entry.pipeline)

    @staticmethod
    def push_current(pipeline: Pipeline) -> None:
        """Makes a pipeline the current one; ``pop_current`` ends that."""
        current.push(pipeline, pipeline._definition)

    @staticmethod
    def pop_current() -> None:
        """Goes back to the pipeline that was current before."""
        current.pop()

    def define_graph(self) -> Any:
        """For subclasses: calls operators and returns the outputs. Called once, by the build."""
        raise GraphError(
            "the pipeline has no outputs: call set_outputs(), or write define_graph() in a subclass"
        )

    def set_outputs(self, *outputs: Any) -> None:
        """Says what ``run()`` gives: nodes of this pipeline, or constants."""
        if not outputs:
            raise GraphError("set_outputs expects at least one output")
        self._definition.graph_to_change()
        with self:
            nodes = [as_node(o, f"output {i}", _refuse, _SEVERAL) for i, o in enumerate(outputs)]
        for node in nodes:
            self._check_own(node)
        self._definition.set_outputs(
            [(n._node, n._output) for n in nodes], [n._is_copy for n in nodes]
        )

    def _set_outputs_of(self, function: str, outputs: Any) -> None:
        """Takes what a function that defines the graph returned."""
        if outputs is None:
            _refuse(f"{function} returns no outputs")
        if isinstance(outputs, Mapping):
            _refuse(
                f"{function} returns a dict; return a tuple of nodes, and let an iterator name "
                'them, as in DataIterator(pipe, ["image", "label"])',
                GraphTypeError,
            )
        self.set_outputs(*outputs if isinstance(outputs, (list, tuple)) else [outputs])

    def add_sink(self, node: DataNode) -> None:
        """Says that a node is wanted although it is no output.

        Functions of the user's are then called. Other operators do nothing but make their outputs,
        so nothing follows from it.
        """
        if not isinstance(node, DataNode):
            raise GraphError(f"add_sink expects a node, got {shown(node)}")
        self._definition.graph_to_change()
        node = bound(node, self._definition)
        self._check_own(node)
        if any(function.node == node._node for function in self._definition.functions):
            self._definition.keep(node._node)

    def _check_own(self, node: DataNode) -> None:
        if node._definition is not self._definition:
            raise GraphError(f"{node!r} belongs to another pipeline")

    def build(self) -> None:
        """Checks the graph and opens what is read; the first use does it otherwise.

        No sample is made yet: ``run()``, a loop or ``schedule_run()`` begins with that. Where the
        type of an ``fn.external_source`` is not declared, checks come with its first batch.
        """
        if self._engine.is_made:
            return
        if self._settings["batch_size"] is None:
            raise GraphError(
                "batch_size is required: give it to @pipeline_def, to the call of the function "
                "that it decorates, or to Pipeline"
            )
        with self._engine.making:
            if not self._definition.outputs:
                with self:
                    outputs = self.define_graph()
                self.set_outputs(*outputs if isinstance(outputs, (list, tuple)) else [outputs])
            self._engine.open()

    # Running.

    def __len__(self) -> int:
        """Raises ``TypeError``: epochs may differ in their number of steps."""
        raise TypeError(
            "a Pipeline has no length: pipe.epoch_size(reader_name) is the number of samples of an "
            "epoch, and len() of an iterator such as stoker.numpy.DataIterator(pipe, names) the "
            "number of its steps"
        )

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, key: object) -> NoReturn:
        raise TypeError(
            "a Pipeline has no items: a loop over it gives the steps in order, pipe.run() the "
            "next one, and pipe.run()[0] its first output"
        )

    def __next__(self) -> NoReturn:
        raise TypeError(
            "a Pipeline is no iterator: pipe.run() gives the next step, and iter(pipe) an iterator "
            "over the steps of the epoch"
        )

    def run(self) -> Batches:
        """The next batch of every output.

        Raises ``StopIteration`` where the source of an ``fn.external_source``, or ``iter_setup()``,
        ended its epoch, until ``reset()`` begins the next one; ``SampleError`` for damaged samples
        and ``SourceError`` where a source failed, which take their step; ``SourceError`` where
        nothing was fed; ``BudgetError`` and ``DeviceError``. With ``on_error='drop'`` it goes on
        until a batch has a sample, and raises ``SampleError`` at the end of an epoch without one.
        """
        while not (step := self._next_step()).batches:
            pass
        return self._handed_out(step.batches)

    def reset(self) -> None:
        """Begins the next epoch of sources, or of ``iter_setup()``, that ended theirs; a loop does
        it by itself. A reader's end needs no reset. In the middle of an epoch it does nothing.
        """
        self._counter.reset()
        self._engine.inputs.reset()

    def feed_input(
        self,
        data_node: str | DataNode,
        data: Any,
        layout: str | None = None,
        cuda_stream: Any = None,
        use_copy_kernel: bool = False,
    ) -> None:
        """Feeds the next batch of an ``fn.external_source`` without a source.

        ``data_node`` is the node or its name; ``data`` a list of arrays, or one array with the
        batch first: of NumPy, PyTorch (on the CPU), or anything with the buffer protocol or
        DLPack. It is copied, unless the node has ``no_copy=True``. Batches may be fed ahead; each
        step takes one. ``cuda_stream`` and ``use_copy_kernel`` have no effect.

        Raises ``GraphError`` that names the sample when its type is not that of the node, and
        ``BudgetError`` where copies that wait have filled their share of ``memory_limit``.
        """
        self.build()
        if isinstance(data_node, DataNode):
            node = in_its_pipeline(data_node, self._definition)
            name: Any = self._definition.fed_as.get(node._node, node.name)
        else:
            name = data_node
        if not isinstance(name, str):
            raise GraphError(f"feed_input: data_node expects a node or a name, got {shown(name)}")
        self._engine.inputs.feed(name, data, layout)

    def start_py_workers(self) -> None:
        """Starts the processes for ``fn.external_source(parallel=True)``; ``run()`` would do it.

        To be called before what must not be forked, such as a CUDA context, is there.
        """
        self.build()
        self._engine.inputs.start_workers()

    def trim(self) -> None:
        """Gives unused memory back to the system."""
        self._built().trim()

    def close(self) -> None:
        """Stops the workers and frees what was prepared ahead; ``run()`` starts them again.

        Batches that were fed, or that sources gave, are kept until they are received.
        """
        self._engine.close()

    # Running, the scheduled way.

    def schedule_run(self) -> None:
        """Begins preparing batches without waiting for one."""
        self._use(SCHEDULED)
        self.build()
        self._counter.begin_scheduled(self.iter_setup)
        self._engine.schedule()

    def outputs(self) -> Batches:
        """The batches of the oldest step that ``schedule_run`` began. Raises as ``run()``.

        In the place of a step that ``on_error='drop'`` leaves out it begins another one.
        """
        self._use(SCHEDULED)
        while not (step := self._taken()).batches:
            self.schedule_run()
        return self._handed_out(step.batches)

    def share_outputs(self) -> Batches:
        """The same as ``outputs()``: batches always belong to whoever holds them."""
        return self.outputs()

    def release_outputs(self) -> None:
        """Nothing: batches free themselves when no one holds them."""
        self._use(SCHEDULED)

    def empty(self) -> bool:
        """Whether everything that was begun has been handed out."""
        return self._counter.all_are_taken

    def enable_api_check(self, enable: bool) -> None:
        """Whether mixing ``run()`` with the scheduled way is an error, which it is at first."""
        self._counter.checks_style = bool(enable)

    # Running, inside.

    def _use(self, style: str) -> None:
        if self._counter.use(style):
            self.reset()

    def _begin_ahead(self) -> None:
        self.build()
        self._counter.begin_ahead(self.iter_setup)

    def _prepare(self) -> None:
        """Begins preparing batches for whoever takes them with ``run()``, as iterators do.

        It does nothing where nothing is to be made ahead.
        """
        self._use(BASIC)
        if not depth(self._settings):
            return
        self._begin_ahead()
        self._engine.schedule()

    def _next_step(self) -> Step:
        """The next step, for whoever counts them too: one that was dropped has no batches.

        Raises as ``run()``.
        """
        self._use(BASIC)
        self._begin_ahead()
        return self._taken()

    def _taken(self) -> Step:
        """Takes a step of the engine, counts it, and judges the epoch if it was dropped."""
        self.build()
        if self._drops and self._engine.begins_epoch:
            self._drops.begin_epoch()
        step = None if self._counter.is_at_end else self._engine.take()
        if step is not None:
            self._counter.count()
            if failure := step.failure:
                try:
                    raise failure from failure.__cause__  # alone: the engine knows no reason
                finally:
                    # The traceback keeps this frame: with these, both would keep each other.
                    del failure, step
        if self._drops:
            self._judge(step, self._drops)
        if step is None:
            raise StopIteration(_ENDED)
        return step

    def _judge(self, step: Step | None, drops: DropCounter) -> None:
        """Raises ``EmptyEpochError`` where an epoch ends of which all steps were dropped."""
        if step is not None:
            drops.count(not step.batches)
        if (step is None or step.ends_epoch) and (dropped := drops.end_epoch()):
            raise EmptyEpochError.of(dropped, self.quarantine())

    def _handed_out(self, batches: Batches) -> Batches:
        """What the caller gets for batches: themselves."""
        return batches

    # State.

    def state(self) -> dict[str, Any]:
        """Where the pipeline stands after what was received: a small dict that JSON can hold.

        Raises ``StateError`` that names the source of an ``fn.external_source`` that cannot say
        where it stands: a generator, an iterable or a callable of nothing, without ``state()`` and
        ``restore()``, or ``state_dict()`` and ``load_state_dict()``.
        """
        self.build()
        return self._engine.state()

    def restore(self, state: str | Mapping[str, Any], force: bool = False) -> None:
        """Goes on where ``state`` was taken, also with other batch sizes, threads or shards.

        Raises ``StateError`` when the order is another one (other files, another key), or when
        there are other random operators or keys of them; ``force=True`` overrides. Warns of
        another explicit seed and of other edits of the graph.
        """
        self.build()
        self._engine.restore(state, force)
        self._judge_from_here()
        self._is_left = False

    def checkpoint(self, filename: str | os.PathLike[str] | None = None) -> str:
        """``state()`` as text for ``Pipeline(checkpoint=)``, also written to a file."""
        text = json.dumps(self.state())
        if filename is not None:
            Path(filename).write_text(text, encoding="utf-8")
        return text

    @property
    def is_restored_from_checkpoint(self) -> bool:
        """Whether it began, or will begin, from ``checkpoint=``."""
        return self._settings["checkpoint"] is not None

    # The saved form.

    def serialize(self, filename: str | os.PathLike[str] | None = None) -> str:
        """The graph and the settings as JSON that a person can read; also written to a file.

        Raises ``GraphError`` that names a function of yours in the graph, which cannot be saved.
        """
        text = self._saved()
        if self._definition.functions:
            raise GraphError(f"serialize: {self._definition.functions[0]} cannot be saved")
        if filename is not None:
            Path(filename).write_text(text, encoding="utf-8")
        return text

    def _saved(self) -> str:
        if not self._definition.outputs:
            self.build()
        return saved.save(self._definition.graph, self._settings)

    @classmethod
    def deserialize(
        cls: type[AnyPipeline],
        serialized_pipeline: str | bytes | None = None,
        filename: str | os.PathLike[str] | None = None,
        **overrides: Unpack[Settings],
    ) -> AnyPipeline:
        """The pipeline that ``serialize`` saved, from text or a file; settings given here win.

        Raises ``GraphError`` for what is no saved pipeline, or has operators or settings that are
        not known. Sources of ``fn.external_source`` are not saved: their nodes are to be fed.
        """
        graph, settings = saved.load(serialized_pipeline, filename)
        pipe = cls(**{**of_file(settings), **overrides})
        pipe._definition.take_graph(graph)
        return pipe

    def deserialize_and_build(self, serialized_pipeline: str | bytes) -> None:
        """Takes the graph of a saved pipeline for its own, and the settings that are None here."""
        graph, settings = saved.load(serialized_pipeline)
        missing = {k: v for k, v in of_file(settings).items() if self._settings[k] is None}
        taken = checked(missing)
        self._definition.take_graph(graph)
        self._settings.update({name: taken[name] for name in missing})
        self.build()

    def save_graph_to_dot_file(
        self,
        filename: str | os.PathLike[str],
        *,
        show_tensors: bool = False,
        show_ids: bool = False,
        use_colors: bool = False,
    ) -> None:
        """Writes the graph for Graphviz."""
        from stoker._pipeline.dot import dot

        text = dot(
            self._saved(), show_tensors=show_tensors, show_ids=show_ids, use_colors=use_colors
        )
        Path(filename).write_text(text, encoding="utf-8")


Pipeline.__doc__ = signature.with_settings(Pipeline.__doc__ or "")


def _refuse(problem: str, error: type[GraphError] = GraphError) -> NoReturn:
    raise error(problem) from None
