# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The engine behind stoker. Use the package; this module may change."""

from collections.abc import Mapping, Sequence
from typing import Any, SupportsIndex

from numpy.typing import DTypeLike, NDArray

from stoker._batch_shape import BatchShape

__version__: str

class Error(RuntimeError):
    """The base of all exceptions that Stoker raises."""

class GraphError(Error, ValueError):
    """A wrong graph: an unknown operator or argument, a bad value, types that do not fit."""

class GraphTypeError(GraphError, TypeError):
    """What was given is of a type that cannot be right there."""

class GraphIndexError(GraphError, IndexError):
    """An axis that is not there, by its number."""

class GraphKeyError(GraphError, KeyError):
    """A name that nothing has."""

class SampleError(Error, ValueError):
    """Samples that could not be delivered.

    ``samples`` lists each: index_in_batch, epoch, position, index, source, offset, operator,
    instance, where, message.
    """

    samples: list[dict[str, Any]]

class SampleIndexError(SampleError, IndexError):
    """The first of the samples has no axis of a number that was given."""

class BudgetError(Error, MemoryError):
    """A memory budget is too small."""

class DeviceError(Error):
    """A device is missing, or work on it failed."""

class SourceError(Error):
    """The data for an input did not come: nobody fed it, or its source failed."""

class SourceIndexError(SourceError, IndexError):
    """Nothing was fed for a step."""

class StateError(Error):
    """A state or saved graph does not fit, or a pipeline is used after fork or by two threads."""

def codecs() -> list[dict[str, Any]]:
    """A dict for each format, with the fields of stoker.Codec as keys."""

def picture_endings() -> dict[str, list[str]]:
    """The endings of the files of each picture format, as [".tif", ".tiff"]."""

def content_of(head: bytes) -> tuple[str, str]:
    """What a file is that begins with these bytes: the format as codecs() names it ("" if no
    image decoder that was built knows it), and words for a message.
    """

def write_jpeg(
    pixels: bytes, height: int, width: int, channels: int, quality: int, subsampled: bool
) -> bytes:
    """The bytes of a JPEG file of dense gray or RGB pixels."""

def rewrite_jpeg(file: bytes) -> tuple[bytes | None, str]:
    """The same picture as a JPEG file that is read faster; None for the bytes of one that is
    to stay as it is. The text says what would be lost; "" if it is fast already. Raises
    SampleError where the file is damaged.
    """

def jpeg_info(data: Any, request: dict[str, Any]) -> dict[str, Any]:
    """What stoker.jpeg.Info holds."""

def jpeg_output(data: Any, request: dict[str, Any]) -> tuple[tuple[int, int, int], str]:
    """The shape and the dtype that jpeg_decode() fills."""

def jpeg_decode(data: Any, request: dict[str, Any], index: Any, out: Any) -> bool:
    """Fills dense memory with pixels. Whether the index was used."""

def join_jpeg_indexes(indexes: list[bytes]) -> bytes:
    """The bytes of a .sti file, of the indexes of many files, thinned to what pipelines take."""

def jpeg_index(data: Any, every: int) -> bytes:
    """The index of a file."""

def tfrecord_index(path: str) -> str:
    """The text of the index of a TFRecord file. Raises SampleError where it is damaged."""

def recordio_index(path: str) -> str:
    """The text of the index of a RecordIO file. Raises SampleError where it is damaged."""

def webdataset_index(path: str) -> str:
    """The text of the index of a tar archive. Raises SampleError where it is damaged."""

def class_folders(root: str, filters: list[str], case_sensitive: bool) -> list[str]:
    """The names of the folders of which readers.file makes classes, by label."""

def surprises_of(root: str) -> str:
    """What readers.file warns of where it reads a folder of classes."""

def devices() -> list[dict[str, Any]]:
    """A dict for each device, with the fields of stoker.Device as keys."""

def simulated_timeline(index: int) -> list[tuple[str, str, int, int]]:
    """The work that a simulated device has done, as (name, stream, start, end).

    Times are nanoseconds of the device's virtual clock.
    """

def simulated_fail(index: int, work: str, nth: int, at_once: bool) -> None:
    """Makes the nth piece of work of a kind fail, counted from 1 and from now on.

    ``work`` is "allocate", "pin", "copy" or "launch". With ``at_once`` the call that asks for the
    work fails; for memory this means that there is no room. Otherwise the work fails when it runs.
    """

def simulated_delay(index: int, seed: int, microseconds: int) -> None:
    """From now on each stream pauses before each piece of work, for at most so many microseconds.

    ``seed`` decides how long the pauses are.
    """

def simulated_forget(index: int) -> int:
    """Cancels the faults and delays that are still to come, and drops unreported failures.

    Returns how many faults were cancelled.
    """

def missing_gpu() -> str:
    """Why there is no GPU; "" if there is one."""

def operators() -> list[Any]:
    """The descriptions of all operators."""

def did_you_mean(wrong: str, names: Sequence[str]) -> str:
    """The text " Did you mean 'x'?" with the nearest name; "" if none is near."""

def settings() -> list[Any]:
    """The descriptions of a pipeline's settings."""

def checked_settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """All settings: those that are given, and the defaults of the others."""

def usable_cpus() -> int:
    """How many CPUs this thread may use."""

def cpu_level() -> str:
    """The instructions that plain loops use on this CPU."""

class Memory:
    """The memory of samples that a function of the user's gets, as a buffer."""

def settle(made: list[Any]) -> None:
    """Replaces the last element of a list by a copy if it is an array of NumPy that others can
    write into.
    """

class UserFunction:
    """A function of the user's, for a node of a graph.

    ``target`` is held weakly. It is called with the number of steps that were received before this
    one, and a list of samples for each input, which are arrays that cannot be written into or, with
    ``gives_tensors``, tensors in memory of their own. It returns a tuple with a list for each
    output, or a text that says why it failed. Its ``array`` makes an array of what is none.
    """

    def __init__(self, target: Any, stateful: bool, gives_tensors: bool) -> None: ...
    def keep_calls(self, keeps: bool) -> None:
        """Whether the results of calls are kept from now on. A later call for the same step with
        the same inputs then gives the same, and the target is not called.
        """

    def forget_calls(self) -> None:
        """Drops what was kept."""

    def let_go(self) -> None:
        """Frees what was returned and is not needed any more."""

    @property
    def learned(self) -> list[tuple[str, int]] | None:
        """The (dtype, ndim) of each output in the first kept call that succeeded, or None."""

class Node:
    """A node to add to a graph. Edges are (node, output), by the nodes' numbers."""

    name: str
    key: str  # nodes with the same key draw alike; "" gives it its own
    lead: bool
    scope: str  # keys are counted within it

    def __init__(self, op: str, where: str = "", device: str = "cpu") -> None: ...
    def set_inputs(self, edges: Sequence[tuple[int, int] | None]) -> None:
        """None stands for an optional input."""

    def set_arguments(self, constants: Mapping[str, Any]) -> None: ...
    def set_links(self, edges: Mapping[str, tuple[int, int]]) -> None:
        """Arguments that other nodes compute."""

    def set_guards(self, conditions: Sequence[tuple[int, int, bool]]) -> None:
        """Each a node, its output, and the truth for which this node is made."""

    def set_function(self, function: UserFunction) -> None:
        """For operators that are user code."""

class Graph:
    """Operator nodes and the edges between them."""

    def __init__(self) -> None: ...
    def add(self, node: Node) -> int:
        """Appends a node and returns its number."""

    def probe(self, node: int, function: UserFunction) -> Graph:
        """The same nodes up to this one, which calls its function and gives one int32 for each
        sample. Outputs are those of the readers that the outputs of this graph need.
        """

    def guards(self, node: int) -> list[tuple[int, int, bool]]:
        """The guards of a node, in the order of their conditions."""

    def output_count(self, arg: int, /) -> int:
        """How many outputs a node has."""

    def output_names(self, arg: int, /) -> list[str]:
        """The names of a node's outputs."""

    def set_argument(self, node: int, name: str, value: Any) -> None:
        """Sets a constant argument of a node."""

    def argument(self, node: int, name: str) -> Any:
        """A constant argument of a node."""

    def set_outputs(self, arg: Sequence[tuple[int, int, bool]], /) -> None:
        """Sets the graph's outputs: (node, output, whether to copy the output to the host)."""

    def outputs(self) -> list[tuple[int, int]]:
        """The (node, output) that set_outputs was given."""

    def check(self) -> list[list[list[tuple[str, str, list[int]]]]]:
        """For every output of every node the (dtype, layout, shape) it may have; -1: unknown."""

    def types_of(self, node: int, output: int) -> list[tuple[str, str, list[int]]]:
        """The (dtype, layout, shape) that one output may have; later nodes are not checked."""

    def nodes(self) -> list[dict[str, Any]]:
        """For every node a dict of op, name, key, device, where and lead."""

    def node(self, number: int, /) -> dict[str, Any]:
        """The dict of one node, by its number, without those of the others."""

    def save(self, options: str) -> str:
        """The graph as versioned JSON, with `options`, a text of the pipeline, inside."""

    @staticmethod
    def load(arg: bytes, /) -> tuple[Graph, str]:
        """The graph and the options from a text that save() returned."""

class Tensor:
    """An n-d array. Its memory lives as long as the array or anything made from it."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> str:
        """The element type as NumPy spells it."""

    @property
    def layout(self) -> str:
        """The meaning of each axis, e.g. "HWC"; "" when unknown."""

    @property
    def ndim(self) -> int: ...
    @property
    def source_info(self) -> str:
        """Where the sample came from: a path or an archive entry."""

    @property
    def data_ptr(self) -> int: ...
    @property
    def device(self) -> str:
        """ "cpu", or a device's name, e.g. "cuda:0"."""

    def as_cpu(self) -> Tensor:
        """A copy in host memory; the tensor itself if it is in host memory."""

    @property
    def __array_interface__(self) -> dict[str, Any]: ...
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """Version 3 of the interface, for tensors on a GPU.

        The memory is ready for the legacy default stream while this tensor lives.
        """

    def __dlpack__(self, **options: Any) -> Any:
        """A DLPack capsule. ``stream`` is the consumer's CUDA stream, which waits for these bytes.

        ``max_version``, ``dl_device`` and ``copy`` are those of the Python array standard.
        """

    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __array__(
        self, dtype: DTypeLike | None = None, copy: bool | None = None
    ) -> NDArray[Any]: ...
    def as_array(self) -> NDArray[Any]:
        """A NumPy array on the same memory."""

    def viewed(self, dtype: str = "", shape: Sequence[int] | None = None) -> Tensor:
        """The same memory as another element type that is as large, or in another shape.

        The shape must have as many elements; then there is no layout. Raises GraphError.
        """

    def __len__(self) -> int: ...
    def __repr__(self) -> str: ...

class Batch:
    """The samples of one output. Their memory belongs to the holder of the batch."""

    def __len__(self) -> int: ...
    def __getitem__(self, arg: SupportsIndex, /) -> Tensor: ...
    def at(self, i: SupportsIndex) -> Any:
        """Sample i on the same memory: a NumPy array, or a Tensor if it is on a device."""

    @property
    def shape(self) -> BatchShape:
        """The shape of the whole batch; called, the shape of each sample."""

    @property
    def dtype(self) -> str:
        """The element type as NumPy spells it."""

    @property
    def layout(self) -> str:
        """The layout of one sample, e.g. "HWC"; "" when unknown."""

    @property
    def device(self) -> str:
        """ "cpu", or a device's name, e.g. "cuda:0"."""

    @property
    def is_dense(self) -> bool:
        """Whether all samples have one shape and lie one behind the other."""

    def as_tensor(self) -> Tensor:
        """All samples as one tensor, with the batch as the first axis; no copy if is_dense.

        Raises GraphError if the shapes differ.
        """

    def as_array(self) -> NDArray[Any]:
        """The tensor of as_tensor() as a NumPy array."""

    def __array__(
        self, dtype: DTypeLike | None = None, copy: bool | None = None
    ) -> NDArray[Any]: ...
    def __dlpack__(self, **options: Any) -> Any:
        """The DLPack capsule of as_tensor()."""

    def __dlpack_device__(self) -> tuple[int, int]: ...
    def as_cpu(self) -> Batch:
        """A copy in host memory; the batch itself if it is in host memory."""

    def viewed(self, dtype: str = "", layout: str | None = None) -> Batch:
        """The same memory as another element type that is as large, or with another layout.

        The layout has a letter for each axis of a sample. Raises GraphError.
        """

    def index_in_batch(self, i: SupportsIndex) -> int:
        """The place of sample i in the whole batch; not i if on_error= left samples out."""

    def source_info(self, i: int) -> str:
        """Where sample i came from."""

    def _repr_html_(self) -> str: ...
    def __repr__(self) -> str: ...

def expect_leaks() -> None:
    """Turns off leak warnings at the exit, when threads that cannot be ended hold objects."""

class CallMemory:
    """The memory that calls have in common; a limit of 0 is half of what the process may take."""

    def __init__(self, limit: int = 0) -> None: ...
    @property
    def kept(self) -> int: ...
    @property
    def in_use(self) -> int: ...
    @property
    def jpeg_index_hits(self) -> int: ...
    def read(self, paths: list[str], crew: Crew | None = None) -> list[FileBytes]: ...

class Crew:
    """Threads that make the samples of batches."""

    def __init__(self, threads: int) -> None: ...
    @property
    def threads(self) -> int: ...

class PilPixels:
    """A picture of PIL, where it lies."""

    def __init__(self, capsule: object, height: int, width: int, channels: int) -> None: ...

class FileBytes:
    """A file that was read."""

    def __len__(self) -> int: ...
    @property
    def path(self) -> str: ...

class Call:
    """A graph that is run at once, in the calling thread."""

    def __init__(self, graph: Graph, memory: CallMemory) -> None: ...
    def run(self, inputs: tuple[Any, ...], key: int, position: int = 0) -> tuple[Tensor, ...]: ...
    def run_batch(
        self,
        inputs: tuple[Sequence[Any], ...],
        size: int,
        key: int,
        position: int = 0,
        crew: Crew | None = None,
    ) -> tuple[Batch, ...]: ...
    def input_types(self) -> list[tuple[str, int, str]]: ...

def keep_for_ever(object: object) -> None: ...
def picture_shape(data: Any) -> tuple[int, int, int]: ...

class Fed:
    """A batch of at most ``most`` samples to feed.

    From a list of arrays or one array whose first axis is the batch.
    """

    def __init__(self, data: Any, layout: str, most: int) -> None: ...
    def __len__(self) -> int: ...
    @property
    def dtype(self) -> str: ...
    @property
    def ndim(self) -> int: ...
    @property
    def layout(self) -> str: ...
    def copy(self) -> Fed:
        """The same batch in memory of its own."""

class OneCaller:
    """A context that one thread at a time may enter, and no source that it would wait for.

    ``source_thread`` is the thread that calls the sources of the engine, by its identifier, and
    ``function_thread`` the one that calls functions of the user's; None while there is none. A
    source may use another pipeline, and so wait for the thread of that
    pipeline's sources, and so on. Raises ``StateError``.
    """

    @property
    def source_thread(self) -> int | None: ...
    @source_thread.setter
    def source_thread(self, thread: int | None) -> None: ...
    @property
    def function_thread(self) -> int | None: ...
    @function_thread.setter
    def function_thread(self, thread: int | None) -> None: ...
    def __enter__(self) -> None: ...
    def __exit__(self, *exception: object) -> None: ...

class ErrorPolicy:
    """What becomes of bad samples, by a pipeline's on_error."""

    def __init__(self, on_error: str) -> None: ...
    @property
    def on_error(self) -> str: ...
    @property
    def leaves_samples_out(self) -> bool:
        """Whether a batch may lack samples."""

    @property
    def replaces_samples(self) -> bool:
        """Whether other samples take the place of bad ones."""

    @property
    def drops_empty_steps(self) -> bool:
        """Whether a step without a good sample is left out. Otherwise it is an error."""

    def without_dropping(self) -> ErrorPolicy:
        """The same for all samples, but a step without a good one is an error."""

class Pipeline:
    """Runs a graph."""

    def __init__(
        self, graph: Graph, options: Mapping[str, Any], drawn_seed: int | None = None
    ) -> None:
        """``drawn_seed`` is the one to take where the options have none."""

    def run(self) -> tuple[tuple[Batch, ...], bool] | None:
        """The (batches, ends_epoch) of the next step; no batches where on_error='drop' drops it,
        and None at an end that end_epoch() marked.
        """

    def feed(self, name: str, fed: Fed, copy: bool, wait_ms: int) -> bool:
        """Gives the input its next batch. Returns False if a copy found no room for so long."""

    def fail(self, names: Sequence[str], exception: BaseException) -> None:
        """Makes run() raise this exception in place of the next batch of all these inputs.

        Requires: an output needs each of them.
        """

    def end_epoch(self, name: str) -> None:
        """Ends an epoch before the input's next batch."""

    def set_awaited(self, name: str, awaited: bool) -> None:
        """Sets whether run() waits until the input is fed."""

    def is_used(self, name: str) -> bool:
        """Whether an output needs this input."""

    @property
    def received(self) -> int:
        """How many steps run() has returned or raised for since the pipeline was built."""

    def schedule(self) -> None:
        """Starts to prepare batches."""

    def skip(self, steps: int) -> None:
        """Goes on behind so many steps, which are not made; drops what was fed for them."""

    def state(self) -> str:
        """The state after the steps received so far, as JSON."""

    def restore(self, state: bytes, force: bool = False) -> list[str]:
        """Continues after a state. Returns warnings."""

    def steps_left(self) -> int:
        """How many steps of this epoch are left, including the next one."""

    def begins_epoch(self) -> bool:
        """Whether the next step is the first of an epoch of the lead reader."""

    def reader_meta(self, name: str | None = None) -> dict[str, Any]: ...
    def stats(self) -> dict[str, Any]: ...
    def jpeg_indexes(self) -> bytes: ...
    def add_jpeg_indexes(self, saved: bytes) -> None: ...
    def plan(self) -> str: ...
    def warnings(self) -> list[str]:
        """What the user should know of what the readers opened."""

    def quarantine(self) -> list[dict[str, Any]]: ...
    def take_notice(self) -> str: ...
    def take_remarks(self) -> list[str]: ...
    def trim(self) -> None: ...
    def close(self) -> None:
        """Joins the threads and frees the steps made ahead; run() starts again."""

    @property
    def seed(self) -> int: ...

class ReadFaults:
    """For tests: while it lives, reads of files whose names end in ``name`` fail or stall."""

    def __init__(
        self, name: str, error: int = 0, from_byte: int = 0, stalls: bool = False
    ) -> None: ...
    @property
    def reads(self) -> int: ...
    def go_on(self) -> None: ...
