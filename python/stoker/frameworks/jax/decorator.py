# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The decorators that turn a function that defines a pipeline into one that makes a JAX iterator.

``Decorator`` is their type, and ``make_decorator`` makes one for a class of iterators.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, Protocol, TypeVar, cast, overload

import jax
from jax.sharding import Sharding

from stoker import Pipeline
from stoker._pipeline.pipeline_def import Factory, PipelineFunction, decorated
from stoker.errors import GraphError
from stoker.frameworks._arguments.constructors import JaxDecorator
from stoker.frameworks._arguments.table import with_arguments
from stoker.frameworks.jax.placement import blocks_of, local_blocks

P = ParamSpec("P")
Iterator = TypeVar("Iterator", covariant=True)


class Given(JaxDecorator):
    """The arguments of a decorator: where the steps go, and ``of_iterator``, the iterator's."""

    def _take(self, given: dict[str, Any]) -> None:
        self.sharding: Sharding | None = given.pop("sharding")
        self.devices: Sequence[jax.Device] | None = given.pop("devices")
        if self.sharding is not None and self.devices is not None:
            raise GraphError("sharding= and devices= exclude each other")
        self.of_iterator = given


class Decorator(Protocol[P, Iterator]):
    """A decorator whose functions return iterators of one class.

    Called without ``pipeline_fn``, it returns a decorator.
    """

    @overload
    def __call__(
        self, pipeline_fn: PipelineFunction, *args: P.args, **keywords: P.kwargs
    ) -> Callable[..., Iterator]: ...

    @overload
    def __call__(
        self, pipeline_fn: None = None, *args: P.args, **keywords: P.kwargs
    ) -> Callable[[PipelineFunction], Callable[..., Iterator]]: ...


def make_decorator(
    make_iterator: Callable[..., Iterator],
    take: Callable[P, Given],
    name: str,
    doc: str,
    make_pipeline: type[Pipeline] = Pipeline,
) -> Decorator[P, Iterator]:
    """The decorator for a class of iterators. ``take`` has the signature of its arguments.

    ``make_pipeline`` is the class of the pipelines; ``with_pipelines`` of the result makes the
    same decorator for another class.
    """

    def decorate(pipeline_fn: PipelineFunction | None = None, *args: Any, **keywords: Any) -> Any:
        own = take(*args, **keywords)
        if pipeline_fn is None:
            return lambda function: _decorated(function, make_iterator, own, make_pipeline)
        return _decorated(pipeline_fn, make_iterator, own, make_pipeline)

    first, *_ = inspect.signature(decorate).parameters.values()
    others = inspect.signature(take).parameters.values()
    decorate.__signature__ = inspect.Signature([first, *others])  # type: ignore[attr-defined]
    again = functools.partial(make_decorator, make_iterator, take, name, doc)
    decorate.with_pipelines = again  # type: ignore[attr-defined]
    decorate.__name__ = decorate.__qualname__ = name
    decorate.__doc__ = with_arguments(doc, "JaxDecorator")
    return decorate


def _decorated(
    function: PipelineFunction,
    make_iterator: Callable[..., Iterator],
    own: Given,
    make_pipeline: type[Pipeline],
) -> Callable[..., Iterator]:
    places: dict[str, Any] = {"sharding": own.sharding, "devices": own.devices}
    places = {name: place for name, place in places.items() if place is not None}

    @functools.wraps(function)
    def create(*args: Any, checkpoints: Sequence[str] | None = None, **keywords: Any) -> Any:
        define = cast(Factory, decorated(function, {}, make_pipeline))
        pipes = _pipelines(define, args, keywords, own, checkpoints)
        return make_iterator(pipes, **own.of_iterator, **places)

    return create


def _pipelines(
    define: Factory,
    args: tuple[Any, ...],
    keywords: dict[str, Any],
    own: Given,
    checkpoints: Sequence[str] | None,
) -> list[Pipeline]:
    shards, total = [0], 1
    if own.sharding is not None:
        shards, total = local_blocks(own.sharding), blocks_of(own.sharding)
    elif own.devices is not None:
        shards, total = list(range(len(own.devices))), len(own.devices)
    if checkpoints is not None and len(checkpoints) != len(shards):
        raise GraphError(f"{len(shards)} pipelines expect as many checkpoints: {len(checkpoints)}")
    if own.sharding is not None or own.devices is not None:
        keywords["batch_size"] = _divided(keywords.get("batch_size"), total)
    pipes = []
    for i, shard in enumerate(shards):
        settings = dict(keywords)
        if total > 1:
            settings.update(shard_id=shard, num_shards=total)
        if checkpoints is not None:
            settings["checkpoint"] = checkpoints[i]
        pipes.append(define(*args, **settings))
        _check_shards(pipes[-1], define.__name__, shard, total)
    return pipes


def _divided(batch_size: Any, total: int) -> int:
    if not isinstance(batch_size, int) or batch_size % total:
        raise GraphError(
            f"batch_size expects the size of the global batch, a multiple of the {total} parts "
            f"that go to the devices, got {batch_size!r}"
        )
    return batch_size // total


def _check_shards(pipe: Pipeline, name: str, shard: int, total: int) -> None:
    """Raises ``GraphError`` if the lead reader does not read the shard of its device."""
    reader = pipe.lead_reader
    if total == 1 or reader is None:
        return
    meta = pipe.reader_meta(reader)
    if (meta["shard_id"], meta["number_of_shards"]) != (shard, total):
        raise GraphError(
            f"reader '{reader}' of {name} reads shard {meta['shard_id']} of "
            f"{meta['number_of_shards']}, expected shard {shard} of {total}: take the arguments "
            "shard_id and num_shards in the function and hand them to the reader"
        )
