# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Calls the source of an ``external_source``, in this process or in a worker process."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from stoker._graph.source_group import SourceGroup
from stoker._messages import raised
from stoker.errors import GraphTypeError
from stoker.types import BatchInfo, SampleInfo

Data = list[Any]  # for each output a list of samples, or an array whose first axis is the batch


class Spec(NamedTuple):
    """How to call a source. If ``num_outputs`` is None, it gives one output and no tuple."""

    batch: bool
    batch_info: bool
    num_outputs: int | None
    batch_size: int
    is_endless: bool  # the first sample of an iterable follows its last, also within a batch

    @classmethod
    def of(cls, group: SourceGroup, batch_size: int) -> Spec:
        is_endless = group.cycle == "quiet" and not group.batch
        return cls(group.batch, group.batch_info, group.num_outputs, batch_size, is_endless)


class CallError(Exception):
    """The source raised ``__cause__``, or it gave something wrong.

    The text says in which call, e.g. ", sample 3".
    """


def in_words(failure: BaseException) -> str:
    """What a source raised, in words."""
    is_behind = isinstance(failure, IndexError)  # probably of its own data
    way = "; where its data ends, a source raises StopIteration" if is_behind else ""
    return f"{raised(failure)}{way}"


class Caller:
    """Calls one source. Used by one thread at a time.

    An iterable gives one batch or sample after the other, from a new ``iter()`` in every epoch. Any
    other source is called without arguments, or with an index or info.
    """

    def __init__(self, source: Any, spec: Spec) -> None:
        self._source = source
        self._spec = spec
        self.is_iterable = is_iterable(source)
        # A class of the user's own may begin anew whenever iter() is called.
        begins_anew = inspect.isfunction(getattr(type(source), "__iter__", None))
        self.is_one_pass = isinstance(source, Iterator) and not begins_anew
        self.takes_index = not self.is_iterable and _arity(source) == 1
        self._hooks = _hooks(source)
        self._iterator: Iterator[Any] | None = None
        self._is_over = False

    def begin_epoch(self) -> None:
        """Makes the next call the first of an epoch; an iterable starts over."""
        self._iterator = None
        self._is_over = False

    def batch(self, epoch: int, iteration: int, first: int, count: int) -> Data:
        """The ``count`` samples of a batch from ``first`` on; in batch mode the whole batch.

        Raises StopIteration at the end of the epoch, and CallError. After its end, an iterable
        raises StopIteration until ``begin_epoch`` is called.
        """
        if self._is_over:
            raise StopIteration
        try:
            return self._batch(epoch, iteration, first, count)
        except StopIteration:
            self._is_over = self.is_iterable  # not every iterator raises it a second time
            raise

    def _batch(self, epoch: int, iteration: int, first: int, count: int) -> Data:
        if self._spec.batch:
            info = BatchInfo(iteration, epoch) if self._spec.batch_info else iteration
            return _outputs(self._call(info, ""), self._spec.num_outputs, "")
        columns: Data = [[] for _ in range(self._spec.num_outputs or 1)]
        for k in range(first, first + count):
            where = f", sample {k}"
            index = iteration * self._spec.batch_size + k
            value = self._call(SampleInfo(index, k, iteration, epoch), where)
            sample = _outputs(value, self._spec.num_outputs, where)
            for column, output in zip(columns, sample, strict=True):
                column.append(output)
        return columns

    def _call(self, info: Any, where: str) -> Any:
        try:
            if self.is_iterable:
                return self._next()
            return self._source(info) if self.takes_index else self._source()
        except StopIteration:
            raise
        except BaseException as e:
            raise CallError(where) from e

    def _next(self) -> Any:
        if self._spec.is_endless and self._iterator is not None:
            try:
                return next(self._iterator)
            except StopIteration:
                self._iterator = None
        if self._iterator is None:
            again = self._source() if inspect.isgeneratorfunction(self._source) else None
            self._iterator = iter(self._source if again is None else again)
        return next(self._iterator)

    # State.

    @property
    def has_state(self) -> bool:
        """Whether the source can be asked for its state."""
        return self._hooks is not None

    def state(self) -> str | None:
        """The source's own state as JSON; None if the source has no methods for it."""
        return None if self._hooks is None else json.dumps(self._hooks[0]())

    def restore(self, state: str | None) -> None:
        """Restores a state from ``state()``; an iterable continues from there."""
        if self._hooks is not None and state is not None:
            self._hooks[1](json.loads(state))
        self.begin_epoch()


def is_iterable(source: Any) -> bool:
    """Whether a source is iterated over rather than called."""
    return inspect.isgeneratorfunction(source) or hasattr(source, "__iter__")


def _outputs(value: Any, count: int | None, where: str) -> list[Any]:
    if count is None:
        if isinstance(value, tuple) and _are_outputs(value, is_sample=bool(where)):
            wrong = TypeError(
                f"a tuple of {len(value)} outputs came, but num_outputs is not given; with "
                f"num_outputs={len(value)} each is an output, and a list is a batch of one output"
            )
            raise CallError(where) from wrong
        return [value]
    try:
        if _length(value) == count:
            return [value[k] for k in range(count)]
    except Exception as e:  # what the value's own methods raise
        raise CallError(where) from e
    came = f"{len(value)}" if isinstance(value, (list, tuple)) else f"a {type(value).__name__}"
    wrong = TypeError(f"expected a tuple of num_outputs={count} outputs, got {came}")
    raise CallError(where) from wrong


def _length(value: Any) -> int | None:
    """How many elements a sequence or an array has; None if it is neither, or of no axes."""
    if isinstance(value, (str, bytes, Mapping)) or not hasattr(value, "__getitem__"):
        return None
    try:
        return len(value)
    except TypeError:
        return None


def _are_outputs(value: tuple[Any, ...], is_sample: bool) -> bool:
    """Whether the elements cannot be samples of one batch, or parts of one sample.

    Samples of a batch have one dtype and number of axes, parts of a sample also one shape.
    """

    def kind(v: Any) -> tuple[str, Any]:
        shape = tuple(getattr(v, "shape", ()))
        return str(getattr(v, "dtype", "")), shape if is_sample else len(shape)

    kinds = set(map(kind, value))
    return len(value) > 1 and (len(kinds) > 1 or any(isinstance(v, (list, tuple)) for v in value))


def _arity(source: Callable[..., Any]) -> int:
    """How many arguments to call the source with, 0 or 1."""
    if not callable(source):
        raise GraphTypeError(
            "source expects a callable, an iterable or a generator function, "
            f"got a {type(source).__name__}{_as_samples(source)}"
        )
    try:
        parameters = inspect.signature(source).parameters.values()
    except (TypeError, ValueError):  # some builtins do not tell their signature
        return 0
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    required = [p for p in positional if p.default is p.empty]
    if len(required) > 1:
        raise GraphTypeError(
            f"the source is called with nothing or one argument, it takes {len(required)}"
        )
    return min(len(positional), 1)


def _as_samples(source: Any) -> str:
    """How to feed the samples of what is indexed, such as a Dataset of PyTorch."""
    if not hasattr(source, "__getitem__"):
        return ""
    return (
        "; one that is indexed is fed by source=lambda info: data[info.idx_in_epoch], batch=False, "
        "and raises StopIteration behind its last sample"
    )


def _hooks(source: Any) -> tuple[Callable[[], Any], Callable[[Any], Any]] | None:
    for get, put in (("state", "restore"), ("state_dict", "load_state_dict")):
        if callable(getattr(source, get, None)) and callable(getattr(source, put, None)):
            return getattr(source, get), getattr(source, put)
    return None
