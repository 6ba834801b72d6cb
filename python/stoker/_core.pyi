# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The engine behind stoker. Use the package; this module may change."""

from collections.abc import Mapping, Sequence
from typing import Any, SupportsIndex

from numpy.typing import DTypeLike, NDArray

__version__: str

class Error(RuntimeError):
    """Anything that Stoker raises."""

class GraphError(Error, ValueError):
    """A wrong graph: an unknown operator or argument, a bad value, types that do not fit."""

class SampleError(Error):
    """Samples that could not be delivered.

    ``samples`` lists each: index_in_batch, epoch, position, index, source, offset, operator,
    instance, where, message.
    """

    samples: list[dict[str, Any]]

class BudgetError(Error, MemoryError):
    """A memory budget does not suffice."""

class DeviceError(Error):
    """A device is missing, or work on it failed."""

class SourceError(Error):
    """Data that was to be fed did not come: nothing was fed, or a source failed."""

class StateError(Error):
    """A state or saved graph that does not fit; a pipeline used after fork or from two threads."""

def devices() -> list[dict[str, Any]]:
    """A dict for each device, of what stoker.Device names."""

def simulated_timeline(index: int) -> list[tuple[str, str, int, int]]:
    """What a simulated device did: (name, stream, start, end) of each piece of work, in virtual
    nanoseconds.
    """

def simulated_fail(index: int, work: str, nth: int, at_once: bool) -> None:
    """The nth such work from now on fails: "allocate", "pin", "copy" or "launch". At once, so that
    there is no room for memory, or where it is done.
    """

def simulated_delay(index: int, seed: int, microseconds: int) -> None:
    """From now on each stream stands still for up to so long before whatever it does."""

def simulated_forget(index: int) -> int:
    """Forgets the faults and delays still to come, and failures that nobody was told; how many
    faults there were.
    """

def missing_gpu() -> str:
    """Why there is no GPU; "" if there is one."""

def operators() -> list[Any]:
    """Every operator's description."""

def did_you_mean(wrong: str, names: Sequence[str]) -> str:
    """ " Did you mean 'x'?" or nothing."""

class Graph:
    """Operator nodes and the edges between them."""

    def __init__(self) -> None: ...
    def add(
        self,
        op: str,
        inputs: Sequence[tuple[int, int] | None],
        arguments: Mapping[str, Any],
        links: Mapping[str, tuple[int, int]],
        name: str,
        device: str,
        where: str,
        lead: bool = False,
        key: str = "",
    ) -> int:
        """Appends a node and returns its number. Nodes of one key draw alike."""

    def output_count(self, arg: int, /) -> int:
        """How many outputs a node has."""

    def set_argument(self, node: int, name: str, value: Any) -> None:
        """A constant argument of a node, once it is known."""

    def argument(self, node: int, name: str) -> Any:
        """A constant argument of a node."""

    def set_outputs(self, arg: Sequence[tuple[int, int, bool]], /) -> None:
        """The outputs of the whole graph, as (node, output, whether to copy it to the host)."""

    def outputs(self) -> list[tuple[int, int]]:
        """The (node, output) that set_outputs was given."""

    def check(self) -> list[list[tuple[str, str, list[int]]]]:
        """(dtype, layout, shape) of every output of every node; -1: an extent not known yet."""

    def nodes(self) -> list[dict[str, Any]]:
        """op, name, key, device, where, lead and the number of outputs of every node."""

    def save(self, options: str) -> str:
        """Versioned JSON; `options` is the pipeline's own part."""

    @staticmethod
    def load(arg: str, /) -> tuple[Graph, str]:
        """What save() gave: the graph and the options."""

class Tensor:
    """An n-d array. It keeps its memory for as long as it, or anything made from it, lives."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> str:
        """As NumPy spells it."""

    @property
    def layout(self) -> str:
        """The meaning of each axis, e.g. "HWC"; "" when unknown."""

    @property
    def ndim(self) -> int: ...
    @property
    def source_info(self) -> str:
        """Where the sample came from: a path, an archive entry."""

    @property
    def data_ptr(self) -> int: ...
    @property
    def device(self) -> str:
        """ "cpu", or a device's name, e.g. "cuda:0"."""

    def as_cpu(self) -> Tensor:
        """This tensor in host memory; itself if it is there."""

    @property
    def __array_interface__(self) -> dict[str, Any]: ...
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """Of version 3, on a GPU only: for the legacy default stream, until this tensor ends."""

    def __dlpack__(self, **options: Any) -> Any:
        """A capsule. stream: the consumer's CUDA stream, which waits for these bytes; max_version,
        dl_device, copy as the Python array standard has them.
        """

    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __array__(
        self, dtype: DTypeLike | None = None, copy: bool | None = None
    ) -> NDArray[Any]: ...
    def as_array(self) -> NDArray[Any]:
        """A NumPy array on the same memory."""

    def __len__(self) -> int: ...
    def __repr__(self) -> str: ...

class Batch:
    """The samples of one output. They belong to whoever holds them."""

    def __len__(self) -> int: ...
    def __getitem__(self, arg: SupportsIndex, /) -> Tensor: ...
    def at(self, i: SupportsIndex) -> Any:
        """Sample i on the same memory: a NumPy array, on a device a Tensor."""

    def shape(self) -> list[tuple[int, ...]]:
        """The shape of each sample."""

    @property
    def dtype(self) -> str:
        """As NumPy spells it."""

    @property
    def layout(self) -> str:
        """Of one sample, e.g. "HWC"; "" when unknown."""

    @property
    def device(self) -> str:
        """ "cpu", or a device's name, e.g. "cuda:0"."""

    @property
    def is_dense(self) -> bool:
        """Whether the samples lie one behind the other, all of one shape."""

    def as_tensor(self) -> Tensor:
        """All samples as one tensor, the batch as first axis: no copy if is_dense.

        Raises GraphError where shapes differ.
        """

    def as_array(self) -> NDArray[Any]:
        """as_tensor() as a NumPy array."""

    def __array__(
        self, dtype: DTypeLike | None = None, copy: bool | None = None
    ) -> NDArray[Any]: ...
    def __dlpack__(self, **options: Any) -> Any:
        """That of as_tensor()."""

    def __dlpack_device__(self) -> tuple[int, int]: ...
    def as_cpu(self) -> Batch:
        """This batch in host memory; itself if it is there."""

    def index_in_batch(self, i: SupportsIndex) -> int:
        """Sample i's place in the whole batch: not i where on_error='skip' left samples out."""

    def source_info(self, i: int) -> str:
        """Where sample i came from."""

    def __repr__(self) -> str: ...

def expect_leaks() -> None:
    """Something that cannot be ended holds objects of this module at the exit."""

class Fed:
    """A batch to be fed: a list of arrays, or an array of the batch first."""

    def __init__(self, data: Any, layout: str) -> None: ...
    def __len__(self) -> int: ...
    @property
    def dtype(self) -> str: ...
    @property
    def ndim(self) -> int: ...
    @property
    def layout(self) -> str: ...
    def copy(self) -> Fed:
        """The same, in memory of its own."""

class Pipeline:
    """A graph that is being run."""

    def __init__(self, graph: Graph, options: Mapping[str, Any]) -> None: ...
    def run(self) -> tuple[tuple[Batch, ...], bool] | None:
        """(batches, ends_epoch) of the next step; None where an epoch of what is fed ends."""

    def feed(self, name: str, fed: Fed, copy: bool, wait_ms: int) -> bool:
        """The input's next batch; False where there was no room for a copy for so long."""

    def fail(self, names: Sequence[str], exception: BaseException) -> None:
        """What run() raises in place of the next batch of all these inputs."""

    def end_epoch(self, name: str) -> None:
        """An epoch ends before the input's next batch."""

    def set_awaited(self, name: str, awaited: bool) -> None:
        """Whether run() waits for the input to be fed."""

    def is_used(self, name: str) -> bool:
        """Whether an output needs this input."""

    @property
    def received(self) -> int:
        """Steps that run() handed out, or raised for, since the pipeline was built."""

    def schedule(self) -> None:
        """Begins preparing batches."""

    def state(self) -> str:
        """What was received so far, as JSON."""

    def restore(self, state: str, force: bool = False) -> list[str]:
        """Goes on after a state; returns warnings."""

    def steps_left(self) -> int:
        """In this epoch, the coming one included."""

    def reader_meta(self, name: str | None = None) -> dict[str, Any]: ...
    def stats(self) -> dict[str, Any]: ...
    def plan(self) -> str: ...
    def quarantine(self) -> list[dict[str, Any]]: ...
    def trim(self) -> None: ...
    def close(self) -> None:
        """Joins threads and frees what was ahead; run() starts again."""

    @property
    def seed(self) -> int: ...
