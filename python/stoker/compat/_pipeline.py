# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The pipeline as scripts of DALI use it."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, NoReturn

from stoker import Batch
from stoker._describe.registry import Operator
from stoker._graph.definition import Manner
from stoker._messages import shown, user_level
from stoker._pipeline import pipeline
from stoker._pipeline.pipeline_def import decorated
from stoker._settings.table import depth
from stoker._settings.table import settings as pipeline_settings
from stoker.compat._arguments import spelled
from stoker.compat._enumerations import as_numbers, kind_of, mark, types_of_outputs
from stoker.compat._gpu_tensors import as_list
from stoker.compat._report import report
from stoker.compat._types import to_dali_type
from stoker.errors import GraphError, SourceError

if TYPE_CHECKING:
    from stoker._graph.node import DataNode
    from stoker._sources.worker_pool import WorkerPool


class StreamPolicy(Enum):
    """Which streams of CUDA operators use in DALI. Has no effect here."""

    SINGLE = 16
    PER_BACKEND = 32
    PER_OPERATOR = 48
    UNSPECIFIED = 0


class OperatorConcurrency(Enum):
    """Which operators run at the same time in DALI. Has no effect here."""

    NONE = 2
    BACKEND = 4
    FULL = 6
    UNSPECIFIED = 0


class _Established(Manner):
    """The manner of the established library. Reports what a script asked for in vain."""

    lists_outputs = True
    unpacks_lists_of_one = True
    copies_inputs = True
    narrows_outputs = True

    def defaults(self, op: Operator) -> Mapping[str, Any]:
        """What resizes takes the outermost pixel again where its filter reaches beyond the edge."""
        omits = any(a["name"] == "border" and "omit" in a["names"] for a in op["arguments"])
        return {"border": "clamp"} if omits else {}

    def spelled(
        self, op: Operator, constants: dict[str, Any], computed: Collection[str]
    ) -> dict[str, Any]:
        return spelled(op, as_numbers(op["name"], constants), computed)

    def dtype_of(self, value: Any) -> str | None:
        """Members of enumerations claim to be of a type that no tensor has."""
        return kind_of(value)

    def added(self, nodes: Sequence[DataNode], constants: Mapping[str, Any]) -> None:
        mark(nodes, constants)

    def without_effect(self, what: str) -> None:
        report.ignore(what)


class PyPool:
    """The worker processes of a pipeline's sources."""

    def __init__(self, pool: WorkerPool) -> None:
        self._pool = pool

    @property
    def num_workers(self) -> int:
        """How many there are to be."""
        return self._pool.size

    def pids(self) -> list[int]:
        """The numbers of the processes that run."""
        return [int(process.pid) for process in self._pool.workers()]


class Pipeline(pipeline.Pipeline):
    """Stoker's pipeline with DALI's batches, and with saved graphs and checkpoints as ``bytes``.

    Sources are called in the thread that runs the pipeline.
    """

    _manner = _Established()
    _calls_sources_itself = True
    _refused: GraphError | None = None

    def __init__(
        self,
        *args: Any,
        checkpoint: str | bytes | Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> None:
        begin = checkpoint.decode() if isinstance(checkpoint, bytes) else checkpoint
        super().__init__(*args, checkpoint=begin, **settings)
        self._warns_of_sources = settings.get("enable_checkpointing") is True
        self._has_no_workers = "py_num_workers" in settings and settings["py_num_workers"] is None
        for name, setting in pipeline_settings().items():
            value = self._settings[name]
            if not setting.help and value != setting.default:
                report.ignore(f"Pipeline({name}={value!r})")

    # Outputs that are none are refused by build(), as in DALI.

    def set_outputs(self, *outputs: Any) -> None:
        """Says what ``run()`` gives. What is no output, ``build()`` refuses."""
        self._definition.graph_to_change()
        self._taking_outputs(super().set_outputs, *outputs)

    def _set_outputs_of(self, function: str, outputs: Any) -> None:
        # A list of numbers is one constant; a tuple of them or a list of nodes is several outputs.
        is_one = isinstance(outputs, list) and outputs and all(map(_is_number, outputs))
        self._taking_outputs(super()._set_outputs_of, function, [outputs] if is_one else outputs)

    def _taking_outputs(self, take: Callable[..., None], *given: Any) -> None:
        self._refused = None
        try:
            take(*given)
        except GraphError as e:
            self._refused = e.with_traceback(None)

    def build(self) -> None:
        """Checks the graph and opens what is read, as ``stoker.Pipeline.build``."""
        if self._refused is not None:
            raise self._refused
        super().build()
        if self._warns_of_sources:
            self._warns_of_sources = False
            for problem in self._engine.inputs.problems_of_state():
                message = f"enable_checkpointing: checkpoint() will fail, as {problem}"
                warnings.warn(message, stacklevel=user_level())

    def _take(self, given: dict[str, Any]) -> None:
        depth = given["prefetch_queue_depth"]
        if isinstance(depth, int) and depth < 1:
            raise GraphError(f"Pipeline: prefetch_queue_depth expects at least 1, got {depth}")
        super()._take(given)  # type: ignore[misc] # the stub of settings leaves it out
        one = self._settings["prefetch_queue_depth"]
        self._depth: Any = dict(depth) if isinstance(depth, Mapping) else one

    # Running.

    def run(self, cuda_stream: Any = None, /, **pipeline_inputs: Any) -> Any:
        """The next batch of every output, after feeding the inputs that are given by name."""
        if cuda_stream is not None:
            report.ignore("Pipeline.run(cuda_stream)")
        for name, data in pipeline_inputs.items():
            self.feed_input(name, data)
        return super().run()

    def outputs(self, cuda_stream: Any = None) -> Any:
        """The batches of the oldest step that ``schedule_run`` began."""
        if cuda_stream is not None:
            report.ignore("Pipeline.outputs(cuda_stream)")
        return super().outputs()

    def share_outputs(self, cuda_stream: Any = None) -> Any:
        """The same as ``outputs()``."""
        return self.outputs(cuda_stream)

    def input_feed_count(self, input_name: str) -> int:
        """How often an input may be fed before the first ``run()``: once for each step ahead.

        Raises ``KeyError`` if no ``fn.external_source`` has this name.
        """
        self.build()
        if not self._engine.inputs.has(input_name):
            raise KeyError(f"the pipeline has no input named '{input_name}'")
        return max(1, depth(self._settings))

    def output_stream(self) -> None:
        """None: outputs belong to no stream of their own, consumers wait by themselves."""
        report.ignore("Pipeline.output_stream()")

    def external_source_shm_statistics(self) -> dict[str, list[int]]:
        """The sizes in bytes of the memory that worker processes share, and for each sample."""
        self.build()
        sizes = self._engine.inputs.shared_memory()
        batch_size = self.max_batch_size or 1
        return {
            "capacities": sizes,
            "per_sample_capacities": [-(-size // batch_size) for size in sizes],
        }

    # What tests and subclasses look at, though it is private there.

    @property
    def _py_pool(self) -> PyPool | None:
        pool = self._engine.inputs.pool
        return None if pool is None else PyPool(pool)

    @property
    def _py_num_workers(self) -> int | None:
        return self.py_num_workers

    def _taken(self) -> Any:
        try:
            return super()._taken()
        except SourceError as e:
            if e.__cause__ is None:
                raise
            raise e.__cause__ from None  # what the source raised

    # Saving.

    def serialize(  # type: ignore[override]
        self, define_graph: Any = None, filename: str | os.PathLike[str] | None = None
    ) -> bytes:
        """The graph and the settings. Writes them to a file too if ``filename`` is given.

        ``define_graph`` is a function that is called instead of the method of this name.
        """
        if define_graph is not None:
            if not callable(define_graph):
                _refuse(f"serialize: define_graph expects a function, got {shown(define_graph)}")
            self.define_graph = define_graph  # type: ignore[method-assign]
        return super().serialize(filename).encode()

    def checkpoint(  # type: ignore[override]
        self, filename: str | os.PathLike[str] | None = None
    ) -> bytes:
        """The state, for ``Pipeline(checkpoint=)``. Writes it to a file too if one is given."""
        return super().checkpoint(filename).encode()

    # Settings.

    @property
    def seed(self) -> int | None:
        """The setting of this name; None if none was given, also where one was drawn."""
        seed: int | None = self._settings["seed"]
        return seed

    @property
    def py_num_workers(self) -> int | None:
        """The setting of this name; None if that was given."""
        return None if self._has_no_workers else self._settings["py_num_workers"]

    @property
    def max_streams(self) -> int:
        """The setting of this name, which has no effect; -1 unless it was given."""
        return self._given("max_streams", -1)

    @property
    def exec_dynamic(self) -> bool:
        """The setting of this name, which has no effect; True unless it was given."""
        return bool(self._given("exec_dynamic", True))

    @property
    def default_cuda_stream_priority(self) -> int:
        """The setting of this name, which has no effect; 0 unless it was given."""
        return self._given("default_cuda_stream_priority", 0)

    def _given(self, setting: str, default: int) -> int:
        value = self._settings[setting]
        return default if value is None else int(value)

    @property
    def prefetch_queue_depth(self) -> Any:
        """The setting of this name: a dict if one was given."""
        return self._depth

    @property
    def cpu_queue_size(self) -> int:
        """What was given as the depth of the CPU's queue. There is one, of the greater depth."""
        return int(self._depth["cpu_size"] if isinstance(self._depth, dict) else self._depth)

    @property
    def gpu_queue_size(self) -> int:
        """What was given as the depth of the GPU's queue, likewise."""
        return int(self._depth["gpu_size"] if isinstance(self._depth, dict) else self._depth)

    def output_dtype(self) -> list[Any]:
        """The setting ``output_dtype`` for each output."""
        dtypes = self._for_each_output("output_dtype")
        return [None if dtype is None else to_dali_type(dtype) for dtype in dtypes]

    def output_ndim(self) -> list[int | None]:
        """The setting ``output_ndim`` for each output."""
        return self._for_each_output("output_ndim")

    def output_layout(self) -> list[str | None]:
        """The setting ``output_layout`` for each output."""
        return self._for_each_output("output_layout")

    def _for_each_output(self, setting: str) -> list[Any]:
        value = self._settings[setting]
        return list(value) if isinstance(value, list) else [value] * self.num_outputs

    def _handed_out(self, batches: tuple[Batch, ...]) -> Any:
        types = types_of_outputs(self._definition)
        return tuple(as_list(b, t) for b, t in zip(batches, types, strict=True))


def pipeline_def(definition: Any = None, /, **settings: Any) -> Any:
    """Does what ``stoker.pipeline_def`` does, with the pipelines of this module."""
    return decorated(definition, settings, Pipeline)


def _is_number(value: Any) -> bool:
    return isinstance(value, (bool, int, float, Enum))


def _refuse(problem: str) -> NoReturn:
    raise TypeError(problem)
