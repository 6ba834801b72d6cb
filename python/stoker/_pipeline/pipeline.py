# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The pipeline: a graph with settings, which is built and then gives batches."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NoReturn

from stoker import _core, _state_entries
from stoker._graph import current
from stoker._graph.calls import as_node
from stoker._graph.node import DataNode
from stoker._messages import user_level
from stoker._pipeline.iterations import BASIC, Styles
from stoker._pipeline.readers import Facts
from stoker._pipeline.saved import Saved
from stoker._pipeline.settings import (
    WITHOUT_EFFECT,
    WORKER_SETTINGS,
    Depth,
    Options,
    make_options,
    make_worker_options,
    unknown_setting,
    usable_cpus,
)
from stoker._sources.inputs import EpochEndError, Inputs
from stoker.errors import GraphError

Batches = tuple[_core.Batch, ...]


class Pipeline(Facts, Saved, Styles):
    """A graph of operators with the settings to run it.

    Usually made by a function decorated with ``pipeline_def``; or by hand, ``with pipe:`` around
    the operator calls and then ``pipe.set_outputs(...)``; or by a subclass with ``define_graph()``.
    The settings:

    - ``batch_size``: samples in a batch.
    - ``num_threads``: CPU workers; default: the CPUs that this process may use.
    - ``device_id``: the GPU; None for a pipeline on the CPU alone; "auto": the launcher's local
      rank.
    - ``set_affinity``: whether the workers run on the CPUs near the GPU, as far as NVML tells them
      and this process may use them. ``DALI_AFFINITY_MASK=3,5`` in the environment puts the first
      two workers on these CPUs. ``plan()`` says which they are, or what is missing.
    - ``seed``: of everything random; None draws one and keeps it in the state.
    - ``prefetch_queue_depth``: batches prepared ahead.
    - ``on_error``: what a damaged sample does: ``"raise"``, ``"skip"`` (a shorter batch) or
      ``"replace"``.
    - ``memory_limit``: bytes of host memory; 0 is half of the machine's. ``device_memory_limit``:
      bytes of the GPU's that steps and your batches hold; 0 is all of it. CUDA may map up to
      ``prefetch_queue_depth`` + 1 times as much before it reuses memory. ``read_ahead_limit``:
      bytes of files read ahead, by ``io_threads``; None is 16 MiB for each of num_threads.
    - ``executor``: ``"pipelined"``, or ``"simple"``: one thread, no overlap and no rewrites, to
      compare against.
    - ``shard_id``, ``num_shards``: which part of the samples a pipeline without a reader counts;
      "auto": the launcher's rank and world size (``stoker.launcher``).
    - ``fuse``, ``demand``: whether operators may be joined, and decoders may skip what is not
      needed; neither changes a byte.
    - ``output_dtype``, ``output_ndim``, ``output_layout``: what the outputs must be; one for all
      or a list; None is anything.
    - ``checkpoint``: a state to begin from.
    - ``py_num_workers``, ``py_start_method``, ``py_callback_pickler``: the processes that run
      sources of ``fn.external_source(parallel=True)``: how many; ``"fork"``, ``"spawn"`` or
      ``"forkserver"``; a module with ``dumps`` and ``loads``, or these two, for what is sent to
      them.

    Further settings of the established library are accepted without effect. A pipeline is used by
    one thread at a time, and not in a forked child of the process that built it.
    """

    def __init__(
        self,
        batch_size: int | None = None,
        num_threads: int | str | None = None,
        device_id: int | Literal["auto"] | None = None,
        seed: int | None = None,
        exec_pipelined: bool = True,
        prefetch_queue_depth: Depth = 2,
        exec_async: bool = True,
        bytes_per_sample: int = 0,
        set_affinity: bool = False,
        max_streams: int | None = None,
        default_cuda_stream_priority: int | None = None,
        *,
        on_error: str = "raise",
        memory_limit: int = 0,
        device_memory_limit: int = 0,
        read_ahead_limit: int | None = None,
        io_threads: int | None = None,
        executor: str = "pipelined",
        shard_id: int | Literal["auto"] = 0,
        num_shards: int | Literal["auto"] = 1,
        fuse: bool = True,
        demand: bool = True,
        output_dtype: Any = None,
        output_ndim: Any = None,
        output_layout: Any = None,
        checkpoint: str | Mapping[str, Any] | None = None,
        max_batch_size: int | None = None,
        py_num_workers: int = 1,
        py_start_method: str = "fork",
        py_callback_pickler: Any = None,
        **without_effect: Any,
    ) -> None:
        super().__init__()
        for name in without_effect:
            if name not in WITHOUT_EFFECT:
                raise unknown_setting(name)
        if without_effect.get("debug"):
            warnings.warn(
                "debug=True has no effect: operators run when the pipeline runs",
                stacklevel=user_level(),
            )
        self._without_effect = {
            **WITHOUT_EFFECT,
            **without_effect,
            "exec_pipelined": exec_pipelined,
            "exec_async": exec_async,
            "bytes_per_sample": bytes_per_sample,
            "max_streams": max_streams,
            "default_cuda_stream_priority": default_cuda_stream_priority,
        }
        settings = {name: value for name, value in locals().items() if name in Options._fields}
        settings["batch_size"] = max_batch_size if batch_size is None else batch_size
        if max_batch_size not in (None, settings["batch_size"]):
            raise GraphError(f"batch_size={batch_size}, but max_batch_size={max_batch_size}")
        self._options = make_options(settings)
        self._workers = make_worker_options(py_num_workers, py_start_method, py_callback_pickler)
        self._checkpoint = checkpoint
        self._inputs = Inputs()
        self._graph = _core.Graph()
        self._outputs: list[tuple[int, int]] = []
        self._engine: _core.Pipeline | None = None

    # Defining.

    def __enter__(self) -> Pipeline:
        current.push(self)
        return self

    def __exit__(self, *_: object) -> None:
        current.pop()

    @staticmethod
    def current() -> Pipeline | None:
        """The pipeline that operator calls in this thread belong to."""
        return current.current()

    @staticmethod
    def push_current(pipeline: Pipeline) -> None:
        """Makes a pipeline the current one; ``pop_current`` ends that."""
        current.push(pipeline)

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
        self._graph_to_change()
        with self:
            nodes = [as_node(o, f"output {i}", _refuse) for i, o in enumerate(outputs)]
        for node in nodes:
            self._check_own(node)
        self._outputs = [(n._node, n._output) for n in nodes]
        self._graph.set_outputs([(n._node, n._output, n._is_copy) for n in nodes])

    def add_sink(self, node: DataNode) -> None:
        """Says that a node is wanted although it is no output.

        Nothing more follows from it: operators do nothing but make their outputs.
        """
        if not isinstance(node, DataNode):
            raise GraphError(f"add_sink expects a node, got {node!r}")
        self._graph_to_change()
        self._check_own(node)

    def _check_own(self, node: DataNode) -> None:
        if node._pipeline is not self:
            raise GraphError(f"{node!r} belongs to another pipeline")

    def build(self) -> None:
        """Checks the graph and opens what is read; the first use does it otherwise.

        No sample is made yet: ``run()``, a loop or ``schedule_run()`` begins with that. Where the
        type of an ``fn.external_source`` is not declared, checks come with its first batch.
        """
        if self._engine is not None:
            return
        if self._options.batch_size is None:
            raise GraphError("batch_size is required")
        if not self._outputs:
            with self:
                outputs = self.define_graph()
            self.set_outputs(*outputs if isinstance(outputs, (list, tuple)) else [outputs])
        depth = self._options.prefetch_queue_depth
        self._inputs.open(self._options.batch_size, depth, self._workers)
        if self._inputs.knows_types(self._graph):
            self._build_engine()

    def _build_engine(self) -> None:
        self._check_declared_outputs()
        self._engine = _core.Pipeline(self._graph, self._options.for_engine())
        self._inputs.attach(self._engine)
        if self._checkpoint is not None:
            self.restore(self._checkpoint)

    # Running.

    def __iter__(self) -> Iterator[Batches]:
        """The steps up to the end of the epoch; the next loop goes on with the next epoch.

        After a ``break`` the next loop goes on in the same epoch. Without a reader there is no end
        but that of a source, or of ``iter_setup()`` by ``StopIteration``.
        """
        self._use(BASIC)
        self.reset()
        ends_epoch = False
        while not ends_epoch:
            self._begin_ahead()
            step = None if self._is_at_end() else self._counted_step()
            if step is None:
                self._is_over = True
                return
            batches, ends_epoch = step
            yield self._handed_out(batches)

    def reset(self) -> None:
        """Begins the next epoch of sources, or of ``iter_setup()``, that ended theirs; a loop does
        it by itself. A reader's end needs no reset.
        """
        super().reset()
        self._inputs.reset()

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
        name = data_node.name if isinstance(data_node, DataNode) else str(data_node)
        self._inputs.feed(self._graph, name, data, layout)

    def start_py_workers(self) -> None:
        """Starts the processes for ``fn.external_source(parallel=True)``; ``run()`` would do it.

        To be called before what must not be forked, such as a CUDA context, is there.
        """
        self.build()
        self._inputs.start_workers()

    def close(self) -> None:
        """Stops the workers and frees what was prepared ahead; ``run()`` starts them again.

        Batches that were fed, or that sources gave, are kept until they are received.
        """
        self._inputs.stop()
        if self._engine is not None:
            self._engine.close()

    # State.

    def state(self) -> dict[str, Any]:
        """Where the pipeline stands after what was received: a small dict that JSON can hold.

        Raises ``StateError`` that names the source of an ``fn.external_source`` that cannot say
        where it stands: a generator, an iterable or a callable of nothing, without ``state()`` and
        ``restore()``, or ``state_dict()`` and ``load_state_dict()``.
        """
        state: dict[str, Any] = json.loads(self._built().state())
        sources = self._inputs.state()
        return {**state, "sources": sources} if sources else state

    def restore(self, state: str | Mapping[str, Any], force: bool = False) -> None:
        """Goes on where ``state`` was taken, also with other batch sizes, threads or shards.

        Raises ``StateError`` when the order is another one (other files, another key), or when
        there are other random operators or keys of them; ``force=True`` overrides. Warns of
        another explicit seed and of other edits of the graph.
        """
        text = _state_entries.text(state)
        engine = self._built()
        sources: dict[str, Any] = {}
        if (loaded := _state_entries.of_pipeline(text)) is not None:
            sources = _state_entries.entry(
                {"sources": {}, **loaded}, "sources", dict, "a pipeline's"
            )
            self._inputs.positions_in(sources)
        self._inputs.stop()
        messages = engine.restore(text, force)
        self._inputs.restore(sources)
        for message in messages:
            warnings.warn(message, stacklevel=user_level())

    def checkpoint(self, filename: str | os.PathLike[str] | None = None) -> str:
        """``state()`` as text for ``Pipeline(checkpoint=)``, also written to a file."""
        text = json.dumps(self.state())
        if filename is not None:
            Path(filename).write_text(text, encoding="utf-8")
        return text

    # Settings.

    @property
    def is_restored_from_checkpoint(self) -> bool:
        """Whether it began, or will begin, from ``checkpoint=``."""
        return self._checkpoint is not None

    @property
    def max_batch_size(self) -> int | None:
        """``batch_size``; None when none was given."""
        return self._options.batch_size

    @property
    def num_threads(self) -> int:
        """CPU workers."""
        return self._options.num_threads or usable_cpus()

    @property
    def seed(self) -> int | None:
        """The seed in use; None before the build when none was given."""
        return self._options.seed if self._engine is None else self._engine.seed

    @property
    def num_outputs(self) -> int:
        """Outputs of ``run()``; 0 before they are set."""
        return len(self._outputs)

    def __getattr__(self, name: str) -> Any:
        if name in Options._fields:  # settings can be read under the names that they are given by
            return getattr(self._options, name)
        if name in WITHOUT_EFFECT:
            return self._without_effect[name]
        if name in WORKER_SETTINGS:
            return self._workers.setting(name)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __repr__(self) -> str:
        stage = "defined" if self._engine is None else "built"
        return (
            f"<{type(self).__name__} batch_size={self.batch_size} num_threads={self.num_threads} "
            f"outputs={self.num_outputs} {stage}>"
        )

    # Inside.

    def _built(self) -> _core.Pipeline:
        self.build()
        if self._engine is None:
            self._inputs.learn_types(self._graph)
            self._build_engine()
        assert self._engine is not None
        return self._engine

    def _step(self) -> tuple[Batches, bool] | None:
        """The next step and whether it ends the epoch; None where a source ended its epoch."""
        if self._inputs.is_ended:
            return None
        try:
            engine = self._built()
        except EpochEndError:
            return None
        self._inputs.start()
        try:
            step = engine.run()
        finally:
            failure = self._inputs.received()
            if failure is not None:
                self._count_step()
                raise failure from failure.__cause__  # alone: the engine knows no reason
        if step is None:
            self._inputs.meet_end()
        return step

    def _schedule(self) -> None:
        if self._inputs.is_ended:
            return
        try:
            engine = self._built()
        except EpochEndError:  # for the step to say
            return
        self._inputs.start()
        engine.schedule()

    def _note_without_effect(self, what: str) -> None:
        """Told of arguments that are accepted without effect."""

    def _note_missing(self, what: str) -> None:
        """Told of what was asked of nodes and is not there."""

    def _graph_to_change(self) -> _core.Graph:
        if self._engine is not None:
            raise GraphError("the pipeline is built: its graph cannot be changed any more")
        return self._graph

    def _check_declared_outputs(self) -> None:
        found = self._graph.check()
        for i, (node, output) in enumerate(self._outputs):
            dtype, layout, shape = found[node][output]
            for what, declared, came in (
                ("dtype", self._options.output_dtype, dtype),
                ("ndim", self._options.output_ndim, len(shape)),
                ("layout", self._options.output_layout, layout),
            ):
                expected = _declared_for(declared, i, len(self._outputs), what)
                if expected is not None and expected != came:
                    place = DataNode(self, node, output, "").name
                    raise GraphError(
                        f"output {i} ({place}): output_{what} expects {expected!r}, got {came!r}"
                    )


def _declared_for(declared: Any, index: int, count: int, what: str) -> Any:
    if not isinstance(declared, list):
        return declared
    if len(declared) != count:
        raise GraphError(f"output_{what} has {len(declared)} entries for {count} outputs")
    return declared[index]


def _refuse(problem: str) -> NoReturn:
    raise GraphError(problem)
