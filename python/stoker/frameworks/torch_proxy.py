# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""A pipeline that makes the samples of a PyTorch ``DataLoader``'s workers.

A dataset calls ``server.proxy`` with what the pipeline's inputs are to get. In a worker process
that only wraps the arrays; collated, they become one ``BatchRef``. The process with the pipeline
then runs it on them: ``server.produce_data``, or the ``DataLoader`` of this module, which begins
batches ahead. Batches are made in the order in which the loader gives them, so draws do not depend
on the number of workers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch.utils import data
from torch.utils.data._utils.collate import default_collate_fn_map

from stoker import Pipeline
from stoker._pipeline.internals import internals
from stoker.errors import GraphError, StateError
from stoker.frameworks.torch import _whole


class _Call:
    """A call of the proxy: what the inputs are to get for one sample.

    The first call of a batch also stands for the batch, as it stays one object for all references
    to it, in other processes too.
    """

    def __init__(self, inputs: dict[str, Any]) -> None:
        self.inputs = inputs
        self.is_begun = False  # the batch is in the pipeline, or was
        self.made: list[Any] | Exception | None = None  # the batch's outputs, or what went wrong


class SampleRef:
    """One output of the pipeline for one sample, which is still to be made."""

    def __init__(self, call: _Call, output: int) -> None:
        self.call = call
        self.output = output


class BatchRef:
    """One output of a batch that is still to be made, for ``DALIServer.produce_data``."""

    def __init__(self, refs: Sequence[SampleRef]) -> None:
        self.calls = [ref.call for ref in refs]
        self.output = refs[0].output


class DALIProxy:
    """Called with the inputs of one sample, gives a reference for each output; one alone as it is.

    It can be sent to worker processes, as it holds the names of the inputs and no pipeline.
    """

    def __init__(self, names: Sequence[str], outputs: int) -> None:
        self._names = list(names)
        self._outputs = outputs

    def __call__(self, *inputs: Any, **by_name: Any) -> Any:
        """References to the sample's outputs. The inputs are arrays, by position or by name.

        Raises ``TypeError`` if they are not those of the pipeline.
        """
        given = {**dict(zip(self._names, inputs, strict=False)), **by_name}
        if len(inputs) + len(by_name) != len(self._names) or given.keys() != set(self._names):
            raise TypeError(
                f"the proxy expects each input of the pipeline once ({', '.join(self._names)}), "
                f"got {len(inputs)} by position and {sorted(by_name)} by name"
            )
        call = _Call({name: _array(value) for name, value in given.items()})
        refs = tuple(SampleRef(call, k) for k in range(self._outputs))
        return refs[0] if self._outputs == 1 else refs


def _array(value: Any) -> Any:
    is_bytes = isinstance(value, (bytes, bytearray, memoryview))
    return np.frombuffer(value, np.uint8) if is_bytes else np.asarray(value)


def _collated(refs: Sequence[SampleRef], **_: Any) -> BatchRef:
    return BatchRef(refs)


# What default_collate does with references.
default_collate_fn_map[SampleRef] = _collated


class DALIServer:
    """Runs a pipeline for the references that its ``proxy`` gave.

    - ``pipeline``: has at least one ``fn.external_source`` without a source.
    - ``deterministic``: has no effect, as batches are always made in one order.
    - ``input_names``: the order of the proxy's arguments; default: that of the definition.

    It makes batches inside of its context only, ``with DALIServer(pipe) as server``, and is used by
    one thread. Raises ``GraphError`` for a pipeline without such inputs.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        deterministic: bool = False,
        input_names: Sequence[str] | None = None,
    ) -> None:
        pipeline.build()
        names = internals(pipeline).engine.inputs.names_fed_by_hand()
        if not names:
            raise GraphError(
                "DALIServer expects a pipeline with an input to feed: fn.external_source(name=...) "
                "without a source"
            )
        if input_names is not None and sorted(input_names) != sorted(names):
            raise GraphError(f"input_names expects {names} in any order, got {list(input_names)}")
        self.depth = int(pipeline.prefetch_queue_depth)  # of batches made ahead
        self._pipe = pipeline
        self._names = names if input_names is None else list(input_names)
        self._is_running = False
        self._begun: deque[_Call] = deque()  # first calls of batches in the pipeline, in order

    @property
    def proxy(self) -> DALIProxy:
        """What a dataset calls for each sample."""
        return DALIProxy(self._names, self._pipe.num_outputs)

    def start_thread(self) -> None:
        """Does what entering the context does."""
        self._is_running = True

    def stop_thread(self) -> None:
        """Does what leaving the context does."""
        self._is_running = False

    def __enter__(self) -> DALIServer:
        self.start_thread()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop_thread()

    def begin(self, obj: Any) -> None:
        """Lets the pipeline begin the batches to which an object refers."""
        _replaced(obj, self._begin)

    def produce_data(self, obj: Any) -> Any:
        """The same object with tensors for references, in lists, tuples, dicts and objects too.

        Raises what the pipeline raises, ``StateError`` if the server does not run, and
        ``TypeError`` for a reference to a single sample.
        """
        return _replaced(obj, self._tensor)

    def _begin(self, ref: BatchRef) -> None:
        first = ref.calls[0]
        if first.is_begun:
            return
        if not self._is_running:
            raise StateError("the DALIServer does not run: use it inside `with DALIServer(pipe):`")
        for name in self._names:
            self._pipe.feed_input(name, [call.inputs[name] for call in ref.calls])
        self._pipe.schedule_run()
        first.is_begun = True
        self._begun.append(first)

    def _tensor(self, ref: BatchRef) -> Any:
        self._begin(ref)
        made = ref.calls[0]
        while made.made is None:
            self._begun.popleft().made = self._outputs()
        if isinstance(made.made, Exception):
            raise made.made
        return made.made[ref.output]

    def _outputs(self) -> list[Any] | Exception:
        """The tensors of the oldest batch in the pipeline, or what went wrong with it."""
        try:
            batches = self._pipe.outputs()
        except Exception as e:
            return e
        own = [getattr(batch, "_batch", batch) for batch in batches]  # of the compatibility layer
        return [_whole(batch, len(batch)) for batch in own]


class DataLoader(data.DataLoader):  # type: ignore[misc] # PyTorch is unknown to the checker
    """PyTorch's ``DataLoader`` with a server before its arguments, which makes its batches."""

    def __init__(self, dali_server: DALIServer, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.dali_server = dali_server

    def __iter__(self) -> Iterator[Any]:
        server = self.dali_server
        ahead: deque[Any] = deque()
        for batch in super().__iter__():
            server.begin(batch)
            ahead.append(batch)
            if len(ahead) >= server.depth:
                yield server.produce_data(ahead.popleft())
        while ahead:
            yield server.produce_data(ahead.popleft())


def _replaced(obj: Any, of: Callable[[BatchRef], Any]) -> Any:
    """The object with what a function gives for each reference in it."""
    if isinstance(obj, BatchRef):
        return of(obj)
    if isinstance(obj, SampleRef):
        raise TypeError(
            "a reference to a single sample cannot be replaced: collate samples to a batch, by "
            "batch_size= of the DataLoader or torch.utils.data.default_collate"
        )
    if isinstance(obj, dict):
        return {key: _replaced(value, of) for key, value in obj.items()}
    if isinstance(obj, tuple) and hasattr(obj, "_fields"):
        return type(obj)(*(_replaced(item, of) for item in obj))
    if isinstance(obj, (list, tuple)):
        return type(obj)(_replaced(item, of) for item in obj)
    if getattr(obj, "__dict__", None) and not isinstance(obj, torch.Tensor):
        made = obj.__class__.__new__(obj.__class__)
        made.__dict__.update(_replaced(obj.__dict__, of))
        return made
    return obj
